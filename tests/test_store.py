"""The store of finished points: what is damaged in it, and what killed processes left there."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clearway import directory, unfinished
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.sweeps.store import SEAL, Store

from tests.conftest import Answer, Clearway, child, finished
from tests.test_sweep import swept

THREE = "\n[sweep]\nseed = [1, 2, 3]\n"


@pytest.fixture
def entries(clearway: Clearway, workspace: Path) -> list[Path]:
    """The store of a sweep of three points that is done."""
    answer = clearway("sweep", swept(workspace, THREE), "--json")
    assert (answer.json["run"], answer.json["damaged"]) == (3, 0)
    return [Path(point["path"]) for point in answer.json["points"]]


def edit_figure(path: Path, number: str) -> None:
    summary = path / directory.SUMMARY
    figures = json.loads(summary.read_text())
    text = summary.read_text().replace(
        f'"goodput_gbps": {figures["goodput_gbps"]}', f'"goodput_gbps": {number}'
    )
    assert text != summary.read_text()
    summary.write_text(text)


def cut_table(path: Path) -> None:
    (table,) = path.glob("flows.*")
    table.write_bytes(table.read_bytes()[:-1])


def empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def put_a_file_there(path: Path) -> None:
    shutil.rmtree(path)
    path.write_text("")


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "edited figure": lambda path: edit_figure(path, "12.5"),
    "NaN": lambda path: edit_figure(path, "NaN"),
    "edited digest": lambda path: (path / directory.MANIFEST).write_text(
        (path / directory.MANIFEST).read_text().replace('"seed": 1', '"seed": 4')
    ),
    "truncated manifest": lambda path: (path / directory.MANIFEST).write_text("{"),
    "truncated table": cut_table,
    "no summary": lambda path: (path / directory.SUMMARY).unlink(),
    "no seal": lambda path: (path / SEAL).unlink(),
    "a seal that is no text": lambda path: (path / SEAL).write_bytes(b"\xff"),
    "emptied": empty,
    "a file": put_a_file_there,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_damaged_is_run_again(damage: str, entries: list[Path], clearway: Clearway) -> None:
    digests = [Run.load(path).digest for path in entries]
    DAMAGE[damage](entries[0])
    answer = clearway("sweep", "sweep.toml", "--json")
    assert answer.status == 0, answer.err
    assert (answer.json["run"], answer.json["found"], answer.json["damaged"]) == (1, 2, 1)
    assert [point["digest"] for point in answer.json["points"]] == digests
    assert answer.err.count("warning: 1 run was not in .clearway/runs as") == 1
    again = clearway("sweep", "sweep.toml", "--json")
    assert (again.json["found"], again.json["damaged"], again.err) == (3, 0, "")


def test_points_in_each_other_s_place_are_run_again_and_counted(
    entries: list[Path], clearway: Clearway
) -> None:
    digests = [Run.load(path).digest for path in entries]
    entries[0].rename("other")
    entries[1].rename(entries[0])
    Path("other").rename(entries[1])
    answer = clearway("sweep", "sweep.toml", "--json")
    assert (answer.json["run"], answer.json["found"], answer.json["damaged"]) == (2, 1, 2)
    assert [point["digest"] for point in answer.json["points"]] == digests
    assert "warning: 2 runs were not in .clearway/runs as" in answer.err


def test_what_is_no_file_of_the_store_harms_nothing(entries: list[Path], clearway: Clearway) -> None:
    (entries[0] / ".DS_Store").write_text("")
    assert clearway("sweep", "sweep.toml", "--json").json["found"] == 3


def test_what_another_process_has_made_meanwhile_stays(entries: list[Path]) -> None:
    store = Store(entries[0].parent)
    run = Run.load(entries[0])
    before = (entries[0] / directory.MANIFEST).stat().st_ino
    assert store.save(entries[0].name, run).digest == run.digest
    assert (entries[0] / directory.MANIFEST).stat().st_ino == before


def test_a_run_directory_with_nan_is_refused(entries: list[Path]) -> None:
    edit_figure(entries[0], "NaN")
    with pytest.raises(ClearwayError, match=r"summary.json: not JSON: NaN is no number"):
        Run.load(entries[0])


HANGING = """
import sys, time
from pathlib import Path
from clearway.directory import Staging
with Staging(Path(sys.argv[1]), exact=sys.argv[2] == "exact") as staging:
    (staging.path / "half").write_text("")
    print(staging.path, flush=True)
    time.sleep(60)
"""


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def writing(target: Path) -> Any:
    """A process that is in the middle of writing a run directory."""
    process = child("-c", HANGING, target, "exact", program=())
    assert process.stdout is not None
    assert Path(process.stdout.readline().strip()).is_dir()
    return process


@pytest.mark.parametrize("folder", [".clearway/runs", "runs"])
def test_what_a_killed_process_left_is_removed_and_a_live_one_s_stays(
    folder: str, clearway: Clearway, workspace: Path
) -> None:
    swept(workspace, THREE)
    killed, live = writing(workspace / folder / "killed"), writing(workspace / folder / "live")
    try:
        killed.kill()
        killed.wait()
        assert len(hidden(workspace / folder)) == 2
        answer = clearway("sweep", "sweep.toml")
        assert answer.status == 0, answer.err
        (left,) = hidden(workspace / folder)
        assert left.startswith(".live-")
        assert (workspace / folder / left / "half").exists()
    finally:
        live.send_signal(signal.SIGINT)
        finished(live)
    assert hidden(workspace / folder) == []


def test_what_another_machine_is_writing_stays_for_a_day(workspace: Path) -> None:
    fresh, old, mine = (
        workspace / name for name in (".a-00000000-12345678", ".b-00000000-12345678", ".mine-1")
    )
    for path in (fresh, old, mine):
        path.mkdir()
    (old / "half").write_text("")
    then = time.time() - 25 * 3600
    for path in (old, mine):
        os.utime(path, (then, then))
    unfinished.remove_left(workspace)
    assert (fresh.exists(), old.exists(), mine.exists()) == (True, False, True)


def test_a_directory_that_was_taken_for_left_is_made_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks between the moment a directory is made and the moment it is locked."""
    mkdir, made = Path.mkdir, []

    def making(path: Path, *arguments: Any, **options: Any) -> None:
        mkdir(path, *arguments, **options)
        made.append(path)
        if len(made) == 1:
            unfinished.remove_left(workspace)

    monkeypatch.setattr(Path, "mkdir", making)
    being_written = unfinished.Unfinished(workspace / "target")
    assert [path.exists() for path in made] == [False, True]
    assert being_written.path == made[1]
    unfinished.remove_left(workspace)
    assert being_written.path.exists()
    being_written.close()
    unfinished.remove_left(workspace)
    assert not being_written.path.exists()


def test_two_who_write_one_point_at_a_time(workspace: Path) -> None:
    file = swept(workspace, THREE)
    (workspace / ".clearway" / "runs").mkdir(parents=True)
    answers: list[Answer] = [
        finished(process) for process in [child("sweep", file, "--json") for _ in range(3)]
    ]
    assert [answer.status for answer in answers] == [0, 0, 0], answers
    assert len({answer.json["points"][0]["digest"] for answer in answers}) == 1
    assert hidden(workspace / ".clearway" / "runs") == []
