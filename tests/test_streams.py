"""Streams, paths and directories as hostile as they come: a message, the documented status, no traceback."""

import io
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import console
from clearway.cli import app
from clearway.commands.output import Output
from typer.testing import CliRunner

from tests.conftest import SMALL, Answer, Clearway, child, finished, nothing_but, written

COMMANDS: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    "help of a command": ("run", "--help"),
    "version": ("--version",),
    "schema": ("schema",),
    "import": ("import", "flows.cm", "--force"),
    "run": ("run", "small.toml"),
    "seeds": ("run", "small.toml", "--seeds", "2"),
    "json": ("run", "small.toml", "--json"),
    "compare": ("compare", "there", "there"),
    "report": ("report", "there", "-o", "r.html"),
    "sweep": ("sweep", "sweep.toml"),
    "tune": ("tune", "tune.toml"),
    "list": ("paper", "swift", "--list"),
    "plan": ("plan", "dci-buffer", "--rate", "400Gbps", "--distance", "80km"),
}
"""A command line of each command, all of which succeed."""


ASCII = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii:strict"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all that these command lines name."""
    folder = tmp_path_factory.mktemp("prepared")
    named = {**SMALL, "name": "small ± incast"}
    written(folder / "small.toml", named)
    written(folder / "sweep.toml", {**named, "record": {}})
    with (folder / "sweep.toml").open("a") as file:
        file.write("[sweep]\nseed = [1, 2]\n'transport.bulk.base_target' = ['15us', '25us']\n")
    written(folder / "tune.toml", {**named, "record": {}})
    with (folder / "tune.toml").open("a") as file:
        file.write("[tune]\nobjective.rtt_mean_us = 'lower'\ntrials = 2\nseeds = 1\nconfirm = 2\n")
        file.write("range.transport.bulk.ai = [0.5, 1.0, 2.0]\n")
    (folder / "flows.cm").write_text("Nodes 4\nConnections 1\n0->1 start 0 size 2000\n")
    assert finished(child("run", "small.toml", "--out", "there", cwd=folder)).status == 0
    return folder


@pytest.fixture
def there(prepared: Path, workspace: Path) -> Path:
    shutil.copytree(prepared, workspace, dirs_exist_ok=True)
    return workspace


def ended(status: int, *arguments: str, **options: Any) -> Answer:
    """Run a command in a process, which ends with this status and without a traceback."""
    answer = finished(child(*arguments, **options))
    assert "Traceback" not in answer.err, answer.err
    assert answer.status == status, answer
    return answer


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ["help", "version", "json", "compare"])
def test_standard_output_that_is_full(name: str) -> None:
    with Path("/dev/full").open("w") as full:
        answer = ended(2, *COMMANDS[name], stdout=full)
    assert "error: standard output: no space left on device" in answer.err


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("arguments", "status"), [(("schema",), 0), (("run", "none.toml"), 2), (("rnu",), 2)]
)
def test_standard_error_that_is_full_or_closed_changes_nothing(
    arguments: tuple[str, ...], status: int
) -> None:
    with Path("/dev/full").open("w") as full:
        ended(status, *arguments, stderr=full)
    ended(status, *arguments, prepare=lambda: os.close(2))


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_has_seen_enough_is_no_error(name: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert ended(0, *COMMANDS[name], stdout=writer).err == ""
    finally:
        os.close(writer)


def test_standard_output_that_is_closed() -> None:
    assert "closed" in ended(2, "schema", prepare=lambda: os.close(1)).err
    ended(2, "schema", prepare=lambda: os.closerange(0, 3))


def on_terminal_of(charset: str, *arguments: str) -> Answer:
    """Run a command in this process, with streams of this encoding."""
    result = CliRunner(charset=charset).invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", COMMANDS)
def test_terminals_that_know_ascii_only(name: str) -> None:
    answer = on_terminal_of("ascii", *COMMANDS[name])
    assert answer.status == 0
    assert answer.out.isascii()
    assert answer.out.count("?") == on_terminal_of("utf-8", *COMMANDS[name]).out.count("?")
    if name == "seeds":
        assert "small +- incast" in answer.out
        assert " +- " in answer.out.replace("small +- incast", "")


def test_a_process_on_a_terminal_of_ascii(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in ASCII.items():
        monkeypatch.setenv(key, value)
    assert "small +- incast" in ended(0, "run", "small.toml", "--seeds", "2").out
    assert (there / "runs").is_dir()


def test_what_an_encoding_lacks_is_written_in_other_words() -> None:
    console.accept_all()
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="clearway")
    stream.write("1 ± 2, \u2265 3, \u2500, \udcff")
    stream.flush()
    assert raw.getvalue() == b"1 +- 2, >= 3, ?, \xff"
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", errors="clearway")
    stream.write("± \udcff")
    stream.flush()
    assert raw.getvalue() == "± ".encode() + b"\xff"


ODD = os.fsdecode(b"odd\xff")


def test_paths_that_are_not_utf_8(there: Path) -> None:
    for name in ("small.toml", "sweep.toml", "there"):
        (there / name).rename(there / f"{ODD}-{name}")
    run, sweep, saved = (f"{ODD}-{name}" for name in ("small.toml", "sweep.toml", "there"))
    for charset in ("ascii", "utf-8"):
        out = f"{ODD}-{charset}"
        answer = on_terminal_of(charset, "run", run, "--out", f"{out}-run")
        assert (answer.status, (there / f"{out}-run").is_dir()) == (0, True), answer
        assert "written to odd" in answer.out
        answer = on_terminal_of(charset, "run", run, "--out", f"{out}/run", "--seeds", "2", "--json")
        assert answer.json["out"] == f"{out}/run"
        assert on_terminal_of(charset, "compare", saved, run).status == 0
        assert on_terminal_of(charset, "report", saved, f"{out}-run", "-o", f"{out}.html").status == 0
        page = (there / f"{out}.html").read_text(encoding="utf-8")
        assert "odd\\xff-there" in page
        store = f"{ODD}-store"
        answer = on_terminal_of(charset, "sweep", sweep, "--store", store, "--out", f"{out}-sweep")
        assert (answer.status, (there / f"{out}-sweep" / "report.html").is_file()) == (0, True), answer
        assert on_terminal_of(charset, "run", f"{ODD}-none.toml").status == 2
        assert on_terminal_of(charset, "report", saved, "-o", f"{ODD}/none/r.html").status == 2


def test_a_process_writes_paths_as_they_are(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "utf-8:strict")
    answer = ended(0, "run", "small.toml", "--out", f"{ODD}-out", errors="surrogateescape")
    assert f"written to {ODD}-out" in answer.out
    assert (there / f"{ODD}-out").is_dir()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "small.toml", "--set", f"name={ODD}"), "--set name=odd"),
        (("run", "small.toml", "--set", f"{ODD}=3"), "--set odd"),
        (("compare", "small.toml", "--set", f"{ODD}=3"), "--set odd"),
        (("plan", "dci-buffer", "--rate", ODD), "--rate odd"),
        (("paper", ODD), "no such paper"),
        (("paper", "swift", ODD), "no such experiment"),
        ((ODD,), "No such command"),
        (("run", f"--{ODD}"), "No such option"),
    ],
)
def test_texts_that_are_not_utf_8(
    arguments: tuple[str, ...], words: str, clearway: Clearway, there: Path
) -> None:
    before = sorted(path.name for path in there.iterdir())
    answer = clearway(*arguments)
    assert answer.status == 2
    assert words in answer.err
    assert nothing_but(there, *before)


LOST: dict[str, tuple[int, Callable[[Path], tuple[str, ...]]]] = {
    "schema": (0, lambda _: ("schema",)),
    "a run of its own": (0, lambda there: ("run", f"{there}/small.toml", "--out", f"{there}/out")),
    "a run": (2, lambda there: ("run", f"{there}/small.toml")),
    "a sweep": (2, lambda there: ("sweep", f"{there}/sweep.toml")),
    "a report": (2, lambda there: ("report", f"{there}/there", "-o", "r.html")),
    "an import": (2, lambda there: ("import", f"{there}/flows.cm")),
    "a demo": (2, lambda _: ("demo",)),
    "a comparison": (0, lambda there: ("compare", f"{there}/there", f"{there}/there")),
}


@pytest.mark.parametrize("name", LOST)
def test_a_working_directory_that_is_gone(name: str, clearway: Clearway, there: Path) -> None:
    status, arguments = LOST[name]
    (there / "gone").mkdir()
    os.chdir(there / "gone")
    (there / "gone").rmdir()
    answer = clearway(*arguments(there))
    assert answer.status == status, answer
    if status:
        assert "the working directory: no such file or directory\n  change to one that is there" in answer.err


def test_a_process_without_a_working_directory(there: Path) -> None:
    def lose() -> None:
        (there / "gone").mkdir()
        os.chdir(there / "gone")
        (there / "gone").rmdir()

    assert "the working directory" in ended(2, "run", f"{there}/small.toml", prepare=lose).err


def test_a_page_takes_the_place_of_files_only(clearway: Clearway, there: Path) -> None:
    """What is no file, such as /dev/null, is not replaced by one."""
    os.mkfifo(there / "pipe")
    answer = clearway("report", "there", "-o", "pipe")
    assert answer.status == 2
    assert "pipe: is a device or a pipe\n  name the file to write" in answer.err
    assert stat.S_ISFIFO((there / "pipe").stat().st_mode)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "small.toml", "--out", "loop"), "loop: is a broken link"),
        (("run", "small.toml", "--out", "loop/x"), "loop: is a broken link, so loop/x cannot be made in it"),
        (("sweep", "sweep.toml", "--store", "loop"), "loop: is a broken link"),
        (("report", "there", "-o", "loop"), "loop: is a broken link"),
        (("run", "loop"), "loop: cannot be read: too many levels of symbolic links"),
        (("compare", "loop"), "loop"),
        (("run", "small.toml", "--out", "n" * 300), "file name too long"),
        (("run", "small.toml", "--out", f"new/{'n' * 300}"), "file name too long"),
        (("sweep", "sweep.toml", "--store", "n" * 300), "file name too long"),
        (("report", "there", "-o", "n" * 300), "file name too long"),
        (("report", "n" * 300, "-o", "r.html"), "file name too long"),
        (("compare", "n" * 300), "file name too long"),
    ],
)
def test_links_in_a_circle_and_names_too_long(
    arguments: tuple[str, ...], words: str, clearway: Clearway, there: Path
) -> None:
    (there / "loop").symlink_to("loop")
    before = sorted(path.name for path in there.iterdir())
    answer = clearway(*arguments)
    assert answer.status == 2, answer
    assert words in answer.err
    assert nothing_but(there, *before)


def test_the_working_directory_is_no_place_for_results(clearway: Clearway, there: Path) -> None:
    """It would be replaced, and whoever is in it would be nowhere."""
    (there / "empty").mkdir()
    os.chdir(there / "empty")
    answer = clearway("run", "../small.toml", "--out", ".")
    assert answer.status == 2
    assert ".: is the working directory\n  name a directory in it" in answer.err


def test_who_is_too_late_for_a_name_loses_nothing(there: Path) -> None:
    """Another command has taken the directory while this one ran."""
    wanted = Output(there / "out", there / "unused")
    (there / "out").mkdir()
    (there / "out" / "precious").touch()
    written_to = wanted.write(lambda path: (path / "mine").touch())
    assert written_to == there / "out-2"
    assert nothing_but(there / "out", "precious")
    assert nothing_but(there / "out-2", "mine")


@pytest.mark.parametrize("width", ["0", "1", "-5", "x", "9" * 20])
def test_widths_that_no_terminal_has(
    width: str, clearway: Clearway, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert clearway("compare", there / "there", there / "there").status == 0
    assert clearway("--help").status == 0
    assert clearway("rnu").status == 2


REFUSED = ("/proc/x", "/proc/self/x", "/dev/x", "/dev/null/x", "/sys/x", "/sys/kernel/x", "linked/x")


@pytest.mark.parametrize("place", REFUSED)
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "small.toml", "--out"),
        ("run", "small.toml", "--seeds", "2", "--out"),
        ("sweep", "sweep.toml", "--out"),
        ("sweep", "sweep.toml", "--store"),
        ("demo", "--out"),
        ("paper", "swift", "table3", "--out"),
        ("paper", "swift", "table3", "--store"),
        ("report", "there", "-o"),
    ],
    ids=" ".join,
)
def test_nothing_is_written_where_the_system_shows_itself(
    place: str,
    arguments: tuple[str, ...],
    clearway: Clearway,
    there: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a run was begun")

    (there / "linked").symlink_to("/dev")
    monkeypatch.setattr("clearway.execution.execute_each", fail)
    monkeypatch.setattr("clearway.sweeps.making.execute_each", fail)
    option = {"--out": "--out", "--store": "--store", "-o": "-o/--output"}[arguments[-1]]
    answer = clearway(*arguments, place)
    assert answer.status == 2
    assert answer.out == ""
    folder = "/dev" if place.startswith("linked") else f"/{place.split('/')[1]}"
    assert answer.err.endswith(
        f"error: {place}: is in {folder}, which is the system's own\n  choose another {option}\n"
    ), answer.err


@pytest.mark.usefixtures("there")
def test_the_api_refuses_such_places_too() -> None:
    run = cw.run("small.toml")
    for call in (run.save, lambda path: cw.sweep("sweep.toml", store=path)):
        with pytest.raises(cw.ClearwayError, match="is in /dev, which is the system's own"):
            call("/dev/x")
