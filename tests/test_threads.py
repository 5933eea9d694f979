"""How many threads a run has: as asked for, by default, and when several runs go on at once."""

import json
import threading
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import execution

from tests.conftest import Clearway, brief_demo


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """What each run is started with, on a machine of four cores, where the demo is a short one."""
    brief_demo(monkeypatch)
    asked: list[int | None] = []
    run = execution._run

    def watched(scenario: Any, position: Any, cancelled: Any, threads: int | None, keeps_part: bool) -> Any:
        asked.append(threads)
        return run(scenario, position, cancelled, None, keeps_part)

    monkeypatch.setattr(execution, "_run", watched)
    monkeypatch.setattr(execution, "cores", lambda: 4)
    return asked


def test_a_run_by_itself_is_left_to_the_simulator(
    clearway: Clearway, small: Path, started: list[int | None]
) -> None:
    assert clearway("run", small).status == 0
    assert clearway("compare", small).status == 0
    assert clearway("run", small, "--seeds", 1).status == 0
    assert started == [None, None, None]


def test_of_several_at_once_each_has_one(clearway: Clearway, small: Path, started: list[int | None]) -> None:
    assert clearway("run", small, "--seeds", 2).status == 0
    assert clearway("compare", small, small).status == 0
    assert clearway("demo").status == 0
    assert started == [1] * (2 + 2 + 9)


def test_each_has_as_many_as_asked_for(clearway: Clearway, small: Path, started: list[int | None]) -> None:
    assert clearway("run", small, "--threads", 3).status == 0
    assert clearway("compare", small, small, "--threads", 2).status == 0
    assert clearway("demo", "--threads", 64).status == 0
    assert started == [3, 2, 2, *[64] * 9]


@pytest.mark.parametrize(("threads", "at_once"), [(None, 4), (1, 4), (2, 2), (3, 1), (5, 1)])
def test_as_many_runs_at_once_as_there_are_cores_for(
    threads: int | None, at_once: int, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    class Worker:
        """Stands in for a thread: does its work at once."""

        ident = 1

        def __init__(self, target: Any, daemon: bool) -> None:
            self.start = target
            assert daemon
            started.append(self)

        def join(self, _patience_s: float) -> None: ...

    monkeypatch.setattr(execution, "cores", lambda: 4)
    monkeypatch.setattr("threading.Thread", Worker)
    monkeypatch.setattr(execution, "_run", lambda *_: None)
    scenarios = [cw.api.load_scenario(small, [], seed) for seed in range(5)]
    execution.execute(scenarios, threads=threads)
    assert len(started) == at_once


def test_one_job_at_a_time_is_left_to_the_simulator(small: Path, started: list[int | None]) -> None:
    scenarios = [cw.api.load_scenario(small, [], seed) for seed in range(2)]
    for jobs in (1, 2):
        execution.execute_each(scenarios, lambda *_: None, jobs=jobs)
    assert started == [None, None, 1, 1]


def test_the_manifest_says_how_many_it_ran_on(clearway: Clearway, small: Path) -> None:
    assert clearway("run", small, "--threads", 1, "--out", "one").status == 0
    assert json.loads(Path("one/manifest.json").read_text())["threads"] == 1
    loaded = cw.load_run("one")
    assert isinstance(loaded, cw.Run)
    assert loaded.threads == cw.run(small, threads=1).threads == 1


def test_any_number_gives_the_same_result(clearway: Clearway, small: Path) -> None:
    for threads in (1, 2, 3):
        assert clearway("run", small, "--threads", threads, "--out", f"on{threads}").status == 0
    manifests = [json.loads(Path(f"on{threads}/manifest.json").read_text()) for threads in (1, 2, 3)]
    assert [manifest["threads"] for manifest in manifests] == [1, 2, 3]
    assert len({manifest["digest"] for manifest in manifests}) == 1
    folders = [f"on{threads}" for threads in (1, 2, 3)]
    tables = [{name: table.read_bytes() for name, table in run_files(folder)} for folder in folders]
    assert tables[0] == tables[1] == tables[2]
    assert "flows" in "".join(tables[0])


def run_files(directory: str) -> list[tuple[str, Path]]:
    """List the tables of a run directory, with their names."""
    return [(path.name, path) for path in sorted(Path(directory).iterdir()) if path.suffix != ".json"]


@pytest.mark.parametrize("threads", [0, -1, 65, "two", "1.5"])
@pytest.mark.parametrize("command", ["run", "demo", "compare"])
def test_what_is_no_number_of_threads(
    command: str, threads: object, clearway: Clearway, small: Path, workspace: Path
) -> None:
    file = [] if command == "demo" else [small]
    answer = clearway(command, *file, "--threads", threads)
    assert answer.status == 2
    assert "--threads" in answer.err
    assert not (workspace / "runs").exists()


@pytest.mark.parametrize("threads", [0, -1, 65])
def test_the_api_refuses_it_too(threads: int, small: Path) -> None:
    for call in (cw.run, cw.compare):
        with pytest.raises(
            cw.ClearwayError, match=f"threads: found {threads}, expected a whole number from 1"
        ):
            call(small, threads=threads)


@pytest.mark.parametrize("command", ["run", "demo", "compare"])
def test_the_help_says_what_it_is_by_default(command: str, clearway: Clearway) -> None:
    words = " ".join(clearway(command, "--help").out.replace("│", " ").split())
    assert "by default 1, and all cores for a single large run" in words


@pytest.mark.parametrize("most", [0, 1])
def test_where_the_system_starts_no_more_threads(
    most: int, clearway: Clearway, small: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is enough for all runs, one after the other."""
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def limited(thread: threading.Thread) -> None:
        if len(started) == most:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(execution, "cores", lambda: 4)
    monkeypatch.setattr(threading.Thread, "start", limited)
    answer = clearway("run", small, "--seeds", 3)
    if most:
        assert answer.status == 0, answer
        return
    assert answer.status == 2
    assert "no thread can be started\n  end other processes" in answer.err
    assert sorted(path.name for path in workspace.iterdir()) == [small.name]


def test_more_threads_than_a_run_is_worth_are_remarked_on(clearway: Clearway, small: Path) -> None:
    """The rule is the simulator's: a thread for each 256 hosts, and no more than there are cores."""
    answer = clearway("run", small, "--threads", 2, "--json")
    assert answer.err == (
        "note: small incast is worth 1 thread on this machine: on 2, which wait for each other, "
        "it is likely to take longer\n"
    )
    assert answer.json["digest"] == cw.run(small).digest
    assert clearway("compare", small, small, "--threads", 3).err.count("note: small incast is worth") == 1
    for threads in ((), ("--threads", 1)):
        assert clearway("run", small, *threads).err == ""
