"""Signals at any instant of any command: the documented status, no traceback, whole results or none.

The commands are processes that were forked from one that has imported everything: so a hundred of them take
seconds. What happens while a command imports is in test_start_up.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import clearway as cw
import pytest
from clearway import documents, stops
from clearway.runs import Run

from tests.conftest import SMALL, written

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
NURSERY = """
import json, os, signal, sys, time, traceback
from pathlib import Path
from clearway import __main__, cli
from clearway.paper import papers
from typer.testing import CliRunner
for name in cli.COMMANDS:
    cli._command(name)
import pyarrow.parquet
# What reads a command's arguments is imported with the first that is given some.
first = ["plan", "dci-buffer", "--rate", "1Gbps", "--distance", "1km"]
assert CliRunner().invoke(cli.app, first).exit_code == 0
from tests.conftest import brief_demo
papers.folder_of_papers = lambda: Path("papers")
brief_demo()

def child(order):
    os.chdir(order["folder"])
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["clearway", *order["arguments"]]
    begin = __main__.stops.begin
    # The parent waits for this, as before it Python itself would be hit.
    __main__.stops.begin = lambda: (begin(), os.write(order["ready"], b"."))
    __main__.main()

for line in sys.stdin:
    order = json.loads(line)
    told, order["ready"] = os.pipe()
    started = time.monotonic()
    process = os.fork()
    if process == 0:
        try:
            child(order)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(99)
    os.read(told, 1)
    if order["signal"]:
        time.sleep(order["instant"])
        for _ in range(order["times"]):
            os.kill(process, order["signal"])
    _, ended = os.waitpid(process, 0)
    os.close(told), os.close(order["ready"])
    print(json.dumps([os.waitstatus_to_exitcode(ended), time.monotonic() - started]), flush=True)
"""
"""A process that forks a command for each line of its standard input, and stops it with a signal."""

COMMANDS: dict[str, list[str]] = {
    "run": ["run", "small.toml"],
    "seeds": ["run", "small.toml", "--seeds", "3", "--out", "made/for/it"],
    "compare": ["compare", "there", "small.toml"],
    "report": ["report", "there", "-o", "page.html"],
    "sweep": ["sweep", "sweep.toml", "--out", "swept"],
    "paper": ["paper", "toy", "--out", "of_paper"],
    "plan": ["plan", "dci-buffer", "--rate", "400Gbps", "--distance", "80km"],
    "schema": ["schema"],
    "import": ["import", "flows.cm", "-o", "imported/scenario.toml"],
    "demo": ["demo"],
}
INSTANTS = {"run": 50, "sweep": 50, "report": 25, "demo": 5}
"""How many instants of a command, if not 15: most of those that write. The environment may ask for more."""
OURS = {"measure": "summary", "run": "on", "key": "rtt_mean_us"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Nursery:
    """Commands, each in a process and a directory of its own."""

    def __init__(self, saved: Path, folder: Path) -> None:
        self._saved = saved
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def run(self, arguments: list[str], number: int = 0, instant: float = 0, times: int = 1) -> "Ended":
        there = self._folder / "there"
        shutil.rmtree(there, ignore_errors=True)
        shutil.copytree(self._saved, there)
        streams = {name: str(self._folder / name) for name in ("out", "err")}
        order = {
            "folder": str(there),
            "arguments": arguments,
            "signal": number,
            "instant": instant,
            "times": times,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order | streams) + "\n")
        self._process.stdin.flush()
        status, seconds = json.loads(self._process.stdout.readline())
        out, err = (Path(streams[name]).read_text() for name in ("out", "err"))
        return Ended(status, seconds, out, err, there)

    def close(self) -> None:
        self._process.communicate(timeout=60)


class Ended:
    """A command that has ended, and what it left."""

    def __init__(self, status: int, seconds: float, out: str, err: str, folder: Path) -> None:
        self.status, self.seconds, self.out, self.err, self.folder = status, seconds, out, err, folder

    def check(self, number: int, saved: Path) -> None:
        """Check that it ended as documented, and left whole results or none."""
        assert self.status in (0, 128 + number), (self.status, self.err)
        assert "Traceback" not in self.err, self.err
        assert "Exception ignored" not in self.err, self.err
        before = {path.name for path in saved.iterdir()}
        made = {path.name for path in self.folder.iterdir()} - before
        assert not [path for path in self.folder.rglob(".*") if path.name != ".clearway"]
        for path in (self.folder / ".clearway" / "runs").glob("*"):
            assert isinstance(cw.load_run(path), Run)
        results = made - {".clearway"}
        assert results <= {"runs", "made", "swept", "of_paper", "page.html", "imported"}
        if "imported" in results:
            names = {path.name for path in (self.folder / "imported").iterdir()}
            assert names == {"scenario.toml", "scenario.trace.csv"}
        for page in self.folder.rglob("*.html"):
            assert page.read_text(encoding="utf-8").endswith("</html>\n")
        for kept in ("runs/small-incast-7", "made/for/it"):
            if (self.folder / kept).exists():
                cw.load_run(self.folder / kept)
        for name in {"swept", "of_paper"} & results:
            assert (self.folder / name / "report.html").exists()
        if "nothing written" in self.err:
            assert not results, (results, self.err)
        if "is written" in self.err:
            assert results, self.err


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    written(folder / "small.toml", SMALL)
    written(folder / "sweep.toml", {**SMALL, "record": {}})
    with (folder / "sweep.toml").open("a") as file:
        file.write("[sweep]\nseed = [1, 2, 3]\n")
    (folder / "flows.cm").write_text("Nodes 4\nConnections 1\n0->1 start 0 size 2000\n")
    cw.run(documents.text_of(SMALL)).save(folder / "there")
    toy = folder / "papers" / "toy"
    toy.mkdir(parents=True)
    (toy / "parameters.toml").write_text("parameter = []\n")
    claim = {"text": "It is quick", "paper": "yes", "ours": OURS, "holds": {"at_most": 1e9}}
    scenario = {key: value for key, value in SMALL.items() if key not in ("format", "name", "seed", "record")}
    figure = {"figure": "Fig 1", "title": "Any", "seeds": 2, "scenario": scenario, "runs": {"on": {}}}
    written(toy / "fig1.toml", {**figure, "claim": [claim]})
    return folder


@pytest.fixture(scope="module")
def nurseries(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator["SimpleQueue[Nursery]"]:
    """As many as there are cores to two: a command is mostly alone on a core of its own."""
    idle: SimpleQueue[Nursery] = SimpleQueue()
    for _ in range(2):
        idle.put(Nursery(saved, tmp_path_factory.mktemp("nursery")))
    yield idle
    while not idle.empty():
        idle.get().close()


@pytest.mark.parametrize("name", COMMANDS)
def test_any_instant(name: str, nurseries: "SimpleQueue[Nursery]", saved: Path) -> None:
    """The instants are spread over the time that the command takes here and now."""
    draw = random.Random(name)  # noqa: S311 - no secret
    count = int(os.environ.get("CLEARWAY_SIGNAL_INSTANTS", INSTANTS.get(name, 15)))

    def stopped(place: int, number: int, share: float, times: int) -> bool:
        nursery = nurseries.get()
        try:
            ended = nursery.run(COMMANDS[name], number, seconds * (place + share) / count, times)
            ended.check(number, saved)
        finally:
            nurseries.put(nursery)
        return ended.status == 128 + number

    nursery = nurseries.get()
    whole = nursery.run(COMMANDS[name])
    nurseries.put(nursery)
    assert whole.status in (0, 1), whole.err
    seconds = whole.seconds
    drawn = [(draw.choice(SIGNALS), draw.random(), draw.choice((1, 1, 3))) for _ in range(count)]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(stopped, range(count), *zip(*drawn, strict=True)))
    assert sum(ended) > count // 4, "the signals came too late to say anything"


LOST = """
import os, signal, time
from clearway import stops
signal.signal(signal.SIGINT, signal.default_int_handler)
stops.begin()
stops.listen()

class Odd:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)

try:
    Odd()
    print("lost", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("heard", stops.status())
"""
"""A signal that comes while a destructor runs, out of which nothing can be raised."""


def test_a_signal_in_a_destructor_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, check=True, timeout=20
    )
    assert done.stdout == "lost\nheard 130\n"
    assert done.stderr == ""


WRAPPED = """
import os, signal, sys, time
from clearway import __main__, scenario_schema

class Odd:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)

def schema():
    class Owner:
        odd = Odd()

scenario_schema.schema = schema
sys.argv = ["clearway", "schema"]
__main__.main()
"""
"""A signal where Python raises another exception for the one that it gets: out of `__set_name__`."""


def test_a_signal_that_arrives_as_another_exception_stops_as_well() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRAPPED], capture_output=True, text=True, check=False, timeout=20
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stdout == ""
    assert done.stderr == "error: interrupted, nothing written\n"


def test_a_signal_that_was_put_off_goes_to_whom_it_would_have_gone() -> None:
    """In a program that is not ours that is its own handler, and no later command is taken for stopped."""
    heard: list[int] = []
    previous = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with stops.put_off():
            signal.raise_signal(signal.SIGTERM)
            assert not heard
        assert heard == [signal.SIGTERM]
        assert not stops.were_heard()
    finally:
        signal.signal(signal.SIGTERM, previous)
