"""Command lines as nobody would write them: each ends with an answer or a message, and as documented."""

import os
import random
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import clearway as cw
import pytest
from clearway import documents
from clearway.cli import COMMANDS

from tests.conftest import SMALL, Answer, Clearway, child, finished, written

ODD = os.fsdecode(b"odd\xff")
PATHS = [
    *(
        "small.toml",
        "sweep.toml",
        "tune.toml",
        "there",
        "nowhere",
        "new/there",
        ".",
        "/proc/self/mem",
        "empty",
        "bytes.bin",
    ),
    *("small.toml/", "there/manifest.json", "there/flows.parquet", "loop", "loop/x", ODD, "n" * 300, "-", ""),
    *("\x00", "\n", "ü±", "~", "*", "[bold]", "%s"),
]
WORDS = [
    *(" ", "--", "---", "=", "0", "-1", "1.5", "1e9", "nan", "inf", "99999999999999999999", "true", "null"),
    *("\x1b[2J", "{}", "${HOME}", "'\"", "\\", "swift", "fig20", "dci-buffer", *PATHS),
]
SETS = [
    *(
        "network.hosts=99999999999",
        "network.hosts=-1",
        "network.hosts=1e400",
        "network.hosts='4'",
        "=1",
        "==",
    ),
    *("duration=1e30s", "duration=-1s", "duration=''", "seed=1.5", "seed=-1", "seed=18446744073709551616"),
    *("record.queues=1ps", "record.queues=[]", "record={}", "record=[[[[[[[[", "traffic=[]", "..=..", ".=1"),
    *("traffic[0].to=99", "traffic[9].to=1", "traffic[-1].to=1", "traffic[x].to=1", "traffic.to=1", "x"),
    *("transport.*.beta=1", "name=''", "name='\\u0000'", "name=\x07", "a.b.c.d.e.f=1", "transport.bulk={}"),
    *("transport.bulk.protocol=none", "transport.bulk.base_target=0us", "network.delay=1e-30us", f"x={ODD}"),
    "x=" + "[" * 3000,
]
NUMBERS = ("0", "-1", "1", "2", "10001", "9007199254740993", "1e3", "0x10", "", "nan", "\u0661", "1_0")
AMOUNTS = (
    "400Gbps",
    "80km",
    "9000B",
    "1",
    "0.5",
    "0bps",
    "-1km",
    "1e300km",
    "1e-300Gbps",
    "80",
    "km",
    "",
    "1 e 3 B",
)
VALUES: dict[str, Sequence[str]] = {
    **dict.fromkeys(("--out", "--store", "-o", "--output", "--files"), PATHS),
    **dict.fromkeys(
        ("--seed", "--seeds", "--trials", "--threads", "--jobs", "--priorities", "--flow"), NUMBERS
    ),
    **dict.fromkeys(
        ("--rate", "--distance", "--buffer", "--drain", "--mtu", "--hysteresis", "--response"), AMOUNTS
    ),
    **dict.fromkeys(("--hosts", "--flows", "--load", "--message", "--batch", "--racks", "--ahead"), NUMBERS),
    **dict.fromkeys(("--slot", "--delay"), AMOUNTS),
    "--kind": ("fct-slowdown", "queue", "rtt-cdf", "pause", "sweep", "list", "", "x"),
    "--columns": NUMBERS,
    "--label": ("a", "", "$x$", ODD, "\x00", "jain"),
    "--topology": ("star", "fat_tree", "", "x"),
    **dict.fromkeys(
        ("--figure", "--transport", "--class"),
        ("goodput", "rtt_*", "[", "bulk", "$x$", "\x00", "jain", "", "x"),
    ),
    "--format": ("htsim-matrix", "ns3-flows", "", "x"),
    "--start-unit": ("ps", "us", "s", ""),
    **dict.fromkeys(("--force", "--json", "--list", "--full", "--check", "--help", "--version"), ()),
    "--set": SETS,
    **dict.fromkeys(("--sed", "-x", "--json=1", "--seed=", "--out="), WORDS),
}
"""Options, of which some are none, and what they may be given."""
OWN: dict[str, Sequence[str]] = {
    "demo": ("--out", "--json", "--threads"),
    "run": ("--set", "--set", "--seed", "--seeds", "--threads", "--out", "--json"),
    "show": ("--set", "--seed", "-o", "--json"),
    "compare": ("--set", "--seeds", "--threads", "--figure", "--transport", "--class", "--json"),
    "sweep": ("--jobs", "--out", "--store", "--json"),
    "tune": ("--trials", "--set", "--jobs", "--out", "--store", "--json"),
    "paper": ("--jobs", "--out", "--store", "--list", "--json"),
    "report": ("-o", "--output", "--figure", "--transport", "--class"),
    "replay": ("-o", "--output", "--files"),
    "plot": ("--kind", "-o", "--output", "--columns", "--label", "--figure"),
    "export perfetto": ("-o", "--output"),
    "export pcapng": ("-o", "--output"),
    "export dissector": ("-o", "--output"),
    "why": ("--flow", "--files", "--threads", "--json"),
    "import": ("-o", "--output", "--format", "--start-unit", "--force", "--json"),
    "plan target-delay": ("--rate", "--topology", "--hosts", "--flows", "--delay", "--mtu", "--json"),
    "plan arbiter": ("--rate", "--hosts", "--load", "--message", "--batch", "--racks", "--slot", "--json"),
    "plan dci-buffer": (
        "--rate",
        "--distance",
        "--buffer",
        "--drain",
        "--mtu",
        "--hysteresis",
        "--priorities",
        "--json",
    ),
}
"""The options of a command."""
FILES = {
    "run": ("small.toml", "small.toml", *PATHS),
    "show": ("small.toml", "small.toml", *PATHS),
    "compare": PATHS,
    "sweep": ("sweep.toml", *PATHS),
    "tune": ("tune.toml", *PATHS),
    "report": PATHS,
    "replay": PATHS,
    "plot": PATHS,
    "export perfetto": PATHS,
    "export pcapng": PATHS,
    "why": PATHS,
    "import": ("flows.cm", "small.toml", *PATHS),
}
BELOW = (
    "plan arbiter",
    "plan dci-buffer",
    "plan target-delay",
    "export perfetto",
    "export pcapng",
    "export dissector",
)
"""Commands of commands."""
TOO_LONG = {"demo", "paper"}
"""Commands that take seconds or hours for what is right: they are asked for something wrong as well."""


def lines(draw: random.Random) -> Iterator[list[str]]:
    """Yield command lines without end, of every command in turn."""
    while True:
        for command in (*COMMANDS, *BELOW, "nothing"):
            line = command.split()
            if command in FILES:
                line.append(draw.choice(FILES[command]))
            for _ in range(draw.choice((0, 0, 1, 1, 2, 4))):
                line += argument(command, draw)
            if command in TOO_LONG and not {"--help", "--list"} & set(line):
                line += ["--jobs", "0"]
            yield line


def argument(command: str, draw: random.Random) -> list[str]:
    """Return an option with a value of some kind, or a word."""
    if draw.random() < 0.1:
        return [draw.choice(WORDS)]
    option = draw.choice(OWN.get(command, ()) if command in OWN and draw.random() < 0.8 else list(VALUES))
    values = VALUES[option] if draw.random() < 0.9 else WORDS
    return [option, draw.choice(values)] if values else [option]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what these command lines may name."""
    folder = tmp_path_factory.mktemp("saved")
    quick = {**SMALL, "record": {}}
    written(folder / "small.toml", quick)
    written(folder / "sweep.toml", quick)
    with (folder / "sweep.toml").open("a") as file:
        file.write("[sweep]\nseed = [1, 2]\n")
    written(folder / "tune.toml", quick)
    with (folder / "tune.toml").open("a") as file:
        file.write("[tune]\nobjective = { rtt_mean_us = 'lower' }\ntrials = 3\nseeds = 1\nconfirm = 2\n")
        file.write("range.transport.bulk.ai = [0.5, 1.0, 2.0]\n")
    (folder / "bytes.bin").write_bytes(bytes(range(256)) * 4)
    (folder / "flows.cm").write_text("Nodes 4\nConnections 1\n0->1 start 0 size 2000\n")
    (folder / "empty").mkdir()
    (folder / "loop").symlink_to("loop")
    cw.run(documents.text_of(quick)).save(folder / "there")
    return folder


@pytest.fixture
def there(saved: Path, workspace: Path) -> Path:
    """A copy of it, in which a test is."""
    shutil.copytree(saved, workspace, dirs_exist_ok=True, symlinks=True)
    return workspace


def check(line: Sequence[str], answer: Answer) -> None:
    assert "Traceback" not in answer.err, (line, answer.err)
    assert answer.status in (0, 1, 2), (line, answer)
    if answer.status:
        assert answer.err.strip() or answer.out.strip(), line
    if answer.status == 2:
        assert "error" in answer.err.lower() or "Usage" in answer.err + answer.out, (line, answer)


def check_left(there: Path, line: Sequence[str]) -> None:
    """Check that nothing half written is left, and that what was there is there still."""
    left = [path for path in there.rglob(".*") if path.name != ".clearway"]
    assert not left, (line, left)
    for name in ("small.toml", "sweep.toml", "bytes.bin", "there/manifest.json", "empty"):
        assert (there / name).exists(), line
    for folder in there.glob("runs/*"):
        assert any((folder / name).exists() for name in ("manifest.json", "sweep.json", "report.html")), line


@pytest.mark.parametrize("block", range(20))
def test_hostile_command_lines(block: int, clearway: Clearway, there: Path) -> None:
    """200 of them."""
    drawn = lines(random.Random(block))  # noqa: S311 - no secret
    for _ in range(10):
        line = next(drawn)
        check(line, clearway(*line))
        check_left(there, line)


@pytest.mark.slow
def test_hostile_command_lines_as_processes(there: Path) -> None:
    """A few, as arguments without a zero byte."""
    drawn = lines(random.Random("processes"))  # noqa: S311 - no secret
    chosen = [
        line for line, _ in zip(drawn, range(24), strict=False) if not any("\x00" in word for word in line)
    ]

    def answer(line: Sequence[str]) -> Answer:
        return finished(child(*line, errors="surrogateescape", start_new_session=True))

    with ThreadPoolExecutor(2) as pool:
        for line, told in zip(chosen, pool.map(answer, chosen), strict=True):
            check(line, told)
            assert not told.err or "Error" in told.err or "error: " in told.err or "warning: " in told.err
    check_left(there, ["processes"])
