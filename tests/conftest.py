"""What the tests share: small scenarios, the command line in this process and as a child."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from clearway import documents
from clearway.cli import app
from clearway.demonstration import demonstration
from typer.testing import CliRunner

from tests import relays
from tools.hosts.wire import Wire, wire

# As the command line has it, for processes that import NumPy by themselves.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SMALL: dict[str, Any] = {
    "format": 1,
    "name": "small incast",
    "seed": 7,
    "duration": "2ms",
    "network": {"topology": "star", "hosts": 5, "rate": "10Gbps", "delay": "1us", "mtu": "1500B"},
    "switch": {"default": {"buffer": "1MB"}},
    "transport": {"bulk": {"protocol": "swift"}},
    "traffic": [
        {
            "pattern": "incast",
            "transport": "bulk",
            "from": "0..4",
            "to": 4,
            "bytes": "100kB",
            "start": "0us..50us",
        }
    ],
    "record": {"queues": "10us", "windows": "50us", "rtt": "50us", "throughput": "50us"},
}
"""Every table but operations, in a few milliseconds."""

ENDLESS: dict[str, Any] = {
    **SMALL,
    "name": "endless",
    "duration": "1000s",
    "traffic": [{"pattern": "incast", "transport": "bulk", "from": "0..4", "to": 4}],
    "record": {},
}
"""Takes hours: for tests that stop it."""

BRIEF: dict[str, dict[str, Any]] = {
    "fabric_fastpass": {"duration": "3ms"},
    "fabric_hashed": {"duration": "3ms"},
    "fabric_sprayed": {"duration": "3ms"},
    "fastpass_order": {"duration": "60ms"},
    "hpcc": {"duration": "2500us"},
    "incast_fastpass": {"duration": "50ms"},
    "lossless_datacenters": {"duration": "4ms"},
    "poisson_queue": {"duration": "30ms"},
    "relayed_datacenters": {"duration": "4ms"},
    "swift_incast_5000": {"duration": "200ms"},
    "three_systems": {"duration": "25ms"},
    "websearch": {"duration": "5ms", "warmup": "1ms"},
}
"""What makes a scenario that ships take a fraction of a second, by the name of its file."""


@dataclass(frozen=True)
class Answer:
    """What a command left on its way out."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Clearway = Callable[..., Answer]


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test is in a directory of its own, so that `runs/` is its own too."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def relays_run_here() -> None:
    """Skip what needs relays between namespaces where there can be none."""
    if reason := relays.what_is_missing():
        pytest.skip(reason)


@pytest.fixture
def through(relays_run_here: None) -> Iterator[Wire]:  # noqa: ARG001 - it skips
    """Two hosts of namespaces with room for a relay between them."""
    with wire() as made:
        yield made


@pytest.fixture
def config(workspace: Path) -> Path:
    """Write the file of a relay."""
    path = workspace / "relay.toml"
    path.write_text(relays.CONFIG)
    return path


@pytest.fixture
def clearway() -> Clearway:
    """The command line, in this process: fast enough to be called hundreds of times."""

    def call(*arguments: object) -> Answer:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def small(workspace: Path) -> Path:
    """A scenario file that runs in a moment."""
    return written(workspace / "small.toml", SMALL)


@pytest.fixture
def endless(workspace: Path) -> Path:
    """A scenario file that does not end while anyone waits."""
    return written(workspace / "endless.toml", ENDLESS)


def written(path: Path, scenario: dict[str, Any]) -> Path:
    path.unlink(missing_ok=True)  # some file systems write a file to disk that takes the place of another
    path.write_text(documents.text_of(scenario), encoding="utf-8")
    return path


def brief_demo(patch: pytest.MonkeyPatch | None = None) -> None:
    """Have the demo run scenarios with fewer bytes and hosts: for what does not look at its figures."""
    patch = patch or pytest.MonkeyPatch()  # that of a process of its own, in which nothing is undone
    shorter = {
        'bytes = "1MB"': 'bytes = "50kB"',
        'bytes = "50MB"': 'bytes = "5MB"',
        'warmup = "10ms"': 'warmup = "5ms"',
        'fairness = "20ms"': 'fairness = "1ms"',
        'duration = "10ms"': 'duration = "3ms"',
        "k = 8 ": "k = 4 ",
        '"0..127"': '"0..15"',
        '"h127"': '"h15"',
    }
    text_of = demonstration._text

    def shortened(name: str) -> str:
        text = text_of(name)
        for long, short in shorter.items():
            text = text.replace(long, short)
        return text

    patch.setattr(demonstration, "_text", shortened)


def child(*arguments: object, **options: Any) -> "subprocess.Popen[str]":
    """The command line as a process of its own, to which signals and limits apply."""
    prepare = options.pop("prepare", lambda: None)
    program = options.pop("program", ("-m", "clearway"))

    def before() -> None:
        # A shell that runs the tests in the background has its children ignore the first, and nohup the last.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        prepare()

    return subprocess.Popen(
        [sys.executable, *program, *(str(argument) for argument in arguments)],
        text=True,
        env=os.environ | {"TERM": "xterm"} | options.pop("variables", {}),
        preexec_fn=before,  # noqa: PLW1509 - pytest has no threads to fear for
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


_WATCHED = """
import os
from clearway import __main__, execution

collect = execution.collect

def watched(count, finished, positions, keep, watch):
    done = []

    def kept(*outcome):
        keep(*outcome)
        done.append(outcome)

    def look(positions):
        if watch is not None:
            watch(positions)
        running = sum(0 < position.simulated_us < position.end_us for position in positions)
        if "TOLD" in os.environ and len(done) + running == min(count, execution.cores()):
            os.write(int(os.environ.pop("TOLD")), b".")

    collect(count, finished, positions, kept, look)

execution.collect = watched
__main__.main()
"""
"""The command line in a process that tells a pipe when each run is under way or done, or a core has one."""


def under_way(*arguments: object, **options: Any) -> "subprocess.Popen[str]":
    """The command line as a process of its own that has come to simulate something."""
    reader, writer = os.pipe()
    process = child(
        *arguments, program=("-c", _WATCHED), pass_fds=(writer,), variables={"TOLD": str(writer)}, **options
    )
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as told:
        ready, _, _ = select.select([told], [], [], 60)
        if not ready or not told.read(1):
            process.kill()
            pytest.fail(f"it did not come to simulate anything: {finished(process)}")
    return process


def finished(process: "subprocess.Popen[str]", patience_s: float = 60) -> Answer:
    out, err = process.communicate(timeout=patience_s)
    return Answer(process.returncode, out or "", err or "")


def nothing_but(workspace: Path, *names: str) -> bool:
    """Whether only these files are there: no run directory, no remains of one."""
    return sorted(path.name for path in workspace.iterdir()) == sorted(names)
