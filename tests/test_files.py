"""What lies in a run directory, a store or beside a scenario: regular files are read, all else is refused."""

import os
import re
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import files
from clearway.paper import reading
from clearway.paper.papers import Paper
from clearway.sweeps.store import SEAL

from tests.conftest import SMALL, Clearway, written
from tests.test_sweep import swept

_PATIENCE_S = 20
_ROOM = 4 << 30  # of memory, beyond what the process has


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_fifo(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def oversize(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(files.LARGEST_TABLE + 1)


KINDS: dict[Callable[[Path], None], str] = {
    fifo: "is a device or a pipe",
    link_to_a_fifo: "is a device or a pipe",
    link_to_a_device: "is a device or a pipe",
    folder: "is a directory",
    oversize: r"has 17\.18 GB, expected at most",
}
"""What may be where a file is expected, and what is said of it."""

everything = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Fail where a test would wait for ever, or fill the memory."""

    def fail(*_: object) -> None:
        raise AssertionError(f"nothing happened for {_PATIENCE_S} s")

    limits = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _ROOM, limits[1]))
    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(_PATIENCE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, limits)


def replaced(path: Path, kind: Callable[[Path], None]) -> Path:
    path.unlink(missing_ok=True)
    kind(path)
    return path


@everything
@pytest.mark.parametrize("name", ["manifest.json", "summary.json"])
def test_the_json_of_a_run(
    name: str, kind: Callable[[Path], None], clearway: Clearway, small: Path, workspace: Path
) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    replaced(workspace / "there" / name, kind)
    for command in (("compare", "there"), ("report", "there", "-o", "page.html")):
        answer = clearway(*command)
        assert answer.status == 2
        assert re.search(f"^error: there/{name}: {KINDS[kind]}.*\n  run the scenario again", answer.err)
    with pytest.raises(cw.ClearwayError, match=KINDS[kind]):
        cw.load_run("there")


@everything
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_a_run(
    suffix: str, kind: Callable[[Path], None], small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("clearway.columns.parquet_available", lambda: suffix == "parquet")
    path = cw.run(small).save("there")
    replaced(path / f"flows.{suffix}", kind)
    run = cw.load_run(path)
    assert isinstance(run, cw.Run)
    with pytest.raises(
        cw.ClearwayError, match=rf"there/flows\.{suffix}: {KINDS[kind]}.*\n  run the scenario"
    ):
        _ = run.flows


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_with_more_rows_than_there_is_room_for(
    suffix: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("clearway.columns.parquet_available", lambda: suffix == "parquet")
    path = cw.run(small).save("there")
    manifest = path / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows": 4,', f'"rows": {10**12},', 1))
    run = cw.load_run(path)
    assert isinstance(run, cw.Run)
    with pytest.raises(cw.ClearwayError, match=r"has 1,000,000,000,000 rows, which need .* of memory"):
        _ = run.flows


@everything
@pytest.mark.parametrize("name", [SEAL, "manifest.json", "summary.json", "flows.*"])
def test_a_file_of_a_store(
    name: str, kind: Callable[[Path], None], clearway: Clearway, workspace: Path
) -> None:
    """What is no longer as it was kept is run again."""
    sweep = swept(workspace, "\n[sweep]\nseed = [1, 2]\n")
    point = clearway("sweep", sweep, "--json").json["points"][0]
    (path,) = Path(point["path"]).glob(name)
    replaced(path, kind)
    answer = clearway("sweep", sweep, "--json")
    assert answer.status == 0
    assert (answer.json["run"], answer.json["found"], answer.json["damaged"]) == (1, 1, 1)
    assert answer.json["points"][0]["digest"] == point["digest"]
    assert clearway("sweep", sweep, "--json").json["found"] == 2


@everything
def test_the_claims_of_a_paper(kind: Callable[[Path], None], workspace: Path) -> None:
    kind(workspace / "fig1.toml")
    with pytest.raises(cw.ClearwayError, match=rf"fig1\.toml: {KINDS[kind]}"):
        reading.read(Paper("paper", workspace), "fig1", full=False)


@everything
@pytest.mark.parametrize("command", ["run", "compare", "sweep", "tune"])
def test_a_scenario(command: str, kind: Callable[[Path], None], clearway: Clearway, workspace: Path) -> None:
    if (command, kind) == ("compare", folder):
        pytest.skip("a directory is a run's there")
    kind(workspace / "scenario.toml")
    answer = clearway(command, "scenario.toml")
    assert answer.status == 2
    assert re.search(rf"^error: scenario\.toml: {KINDS[kind]}", answer.err)


@everything
@pytest.mark.parametrize(
    "keys",
    [
        {"network": {"topology": "file", "file": "named"}},
        {"traffic": [{"pattern": "trace", "transport": "bulk", "file": "named"}]},
        {
            "traffic": [
                {"pattern": "poisson", "transport": "bulk", "load": 0.1, "sizes": "named"},
            ]
        },
    ],
    ids=["topology", "trace", "sizes"],
)
def test_a_file_that_a_scenario_names(
    keys: dict[str, Any], kind: Callable[[Path], None], clearway: Clearway, workspace: Path
) -> None:
    kind(workspace / "named")
    answer = clearway("run", written(workspace / "scenario.toml", {**SMALL, **keys}))
    assert answer.status == 2
    assert "named" in answer.err
    expected = "longer than" if kind is oversize else "not a file|no such file"
    assert re.search(expected, answer.err), answer.err


def test_links_to_files_are_followed(clearway: Clearway, small: Path, workspace: Path) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    for name in ("manifest.json", "summary.json"):
        moved = (workspace / "there" / name).rename(workspace / name)
        (workspace / "there" / name).symlink_to(moved)
    (workspace / "linked.toml").symlink_to(small)
    answer = clearway("compare", "there", "linked.toml", "--json")
    assert answer.status == 0
    assert len({column["digests"][0] for column in answer.json["columns"]}) == 1


def test_a_file_is_never_read_beyond_its_limit(workspace: Path) -> None:
    """Those of the system say that they are empty, whatever they hold."""
    with pytest.raises(cw.ClearwayError, match="has more than 10 bytes, expected at most 10 B"):
        files.read(Path("/proc/self/status"), 10)
    (workspace / "ten").write_bytes(b"0123456789")
    assert files.read(workspace / "ten", 10) == b"0123456789"
    with pytest.raises(cw.ClearwayError, match=r"has 10 B, expected at most 9 B"):
        files.read(workspace / "ten", 9)
