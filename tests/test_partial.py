"""Runs that are interrupted: what was simulated is said, and kept if that is asked for, marked as a part."""

import json
import os
import pty
import re
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import api, execution
from clearway.runs import Run

from tests.conftest import SMALL, Answer, Clearway, child, finished, nothing_but, under_way, written

pytestmark = pytest.mark.slow

_BEGUN_S = 1.0  # of processor time: more than it takes until a run is under way
_PATIENCE_S = 120


def interrupted(*arguments: object, **options: Any) -> Answer:
    """Run a command that has no end, and stop it when it has come to simulate something."""
    process = under_way(*arguments, **options)
    process.send_signal(signal.SIGINT)
    return finished(process)


def interrupted_program(code: str) -> Answer:
    """Run Python code that has no end, and stop it when it has worked for a while."""
    process = child(program=("-c", code))
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while (stat := Path(f"/proc/{process.pid}/stat").read_text()) and time.monotonic() < deadline:
            user, system = stat.rpartition(")")[2].split()[11:13]
            if (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") > _BEGUN_S:
                break
            time.sleep(0.05)
        assert process.poll() is None, finished(process)
        process.send_signal(signal.SIGINT)
        return finished(process)
    finally:
        process.kill()


def test_what_was_simulated_is_said(endless: Path, workspace: Path) -> None:
    answer = interrupted("run", endless.name)
    assert answer.status == 130
    found = re.search(r"nothing written: simulated (\S+ \w+) of 1,000 s, ([\d,]+) packet-hops\n", answer.err)
    assert found is not None, answer.err
    assert int(found[2].replace(",", "")) > 0
    assert "--keep-partial writes what there is" in answer.err
    assert nothing_but(workspace, endless.name)


def test_of_several_it_is_said_which_were_finished(endless: Path, workspace: Path) -> None:
    answer = interrupted("run", endless.name, "--seeds", 3)
    assert re.search(r"of 3,000 s, [\d,]+ packet-hops; 0 of 3 runs finished\n", answer.err), answer.err
    written(workspace / "other.toml", SMALL)
    answer = interrupted("compare", "other.toml", endless.name)
    assert re.search(r"; 1 of 2 runs finished\n$", answer.err), answer.err
    assert nothing_but(workspace, endless.name, "other.toml")


def test_a_part_that_is_kept_says_so_everywhere(endless: Path, workspace: Path, clearway: Clearway) -> None:
    answer = interrupted("run", endless.name, "--keep-partial", "--out", "part")
    assert answer.status == 130
    assert re.search(r"^warning: interrupted at .* of 1,000 s; part is not of the whole run$", answer.err)
    assert re.search(r"^endless \(seed 7\): interrupted at .* of 1,000 s\n", answer.out)
    assert "written to part" in answer.out
    assert nothing_but(workspace, endless.name, "part")
    summary, manifest = (
        json.loads((workspace / "part" / name).read_text()) for name in ("summary.json", "manifest.json")
    )
    at = summary["simulated_us"]
    assert 0 < at < 1e9
    assert summary["interrupted_at_us"] == manifest["interrupted_at_us"] == at
    assert manifest["measured"]["until_us"] == at
    part = cw.load_run("part")
    assert isinstance(part, Run)
    assert part.interrupted_at_us == at
    said = part.interruption
    assert said in repr(part)
    assert said in part._repr_html_()
    for command in (("compare", "part", "part"), ("compare", "part", "part", "--json")):
        assert clearway(*command).out.count(f": {said}") == 2
    assert clearway("report", "part", "-o", "page.html").status == 0
    assert said in (workspace / "page.html").read_text()


def test_a_part_is_what_a_shorter_run_is(endless: Path) -> None:
    part = cw.run(endless, keep_partial=True, progress=lambda *_: False)
    assert part.interrupted_at_us is not None
    at_ps = round(part.interrupted_at_us * 1e6)
    shorter = cw.run(endless, {"duration": f"{at_ps}ps"})
    assert shorter.interrupted_at_us is None
    assert shorter.interruption == ""
    assert part.digest == shorter.digest
    assert {**part.summary, "interrupted_at_us": None} == {**shorter.summary, "interrupted_at_us": None}


def test_a_part_that_was_still_warming_up_says_so(endless: Path) -> None:
    part = cw.run(endless, {"warmup": "900s"}, keep_partial=True, progress=lambda *_: False)
    assert part.interruption.endswith("of 1,000 s, still warming up: no figure is of the steady state")


def test_a_whole_run_is_not_marked(small: Path, clearway: Clearway) -> None:
    answer = clearway("run", small, "--keep-partial", "--json")
    assert answer.json["interrupted_at_us"] is None
    assert "interrupted_at_us" not in answer.json["summary"]
    assert "interrupted" not in answer.err


def test_json_of_a_part_is_one_object(endless: Path) -> None:
    answer = interrupted("run", endless.name, "--keep-partial", "--json")
    assert answer.status == 130
    assert answer.json["interrupted_at_us"] == answer.json["summary"]["simulated_us"]


_TOLD_AT_THE_END = """
import os, signal, sys
from clearway import __main__, execution, runs

def told(function):
    def first(*arguments, **options):
        done = function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGINT)
        return done
    return first

place, name = (runs.Run, "write_into") if sys.argv.pop(1) == "writing" else (execution, "execute_each")
setattr(place, name, told(getattr(place, name)))
__main__.main()
"""
"""The command line in a process that hears Ctrl-C at the end of a run, or at the end of `writing` it."""


@pytest.mark.parametrize("seeds", [(), ("--seeds", 2)])
@pytest.mark.parametrize(
    ("when", "status", "said"),
    [("running", 0, ""), ("writing", 130, "error: interrupted; part is written\n")],
)
def test_a_run_that_was_whole_when_ctrl_c_came_is_written(
    small: Path, workspace: Path, when: str, status: int, said: str, seeds: tuple[object, ...]
) -> None:
    """If nothing was left to be done but to write it, that is no failure."""
    ordered = ("run", small.name, "--keep-partial", "--out", "part", *seeds)
    answer = finished(child(when, *ordered, program=("-c", _TOLD_AT_THE_END)))
    assert (answer.status, answer.err) == (status, said)
    assert ("written to part" in answer.out) == (status == 0)
    assert cw.load_run(workspace / "part").interruption == ""


def test_without_being_asked_nothing_is_kept_of_a_run_that_was_being_written(
    small: Path, workspace: Path
) -> None:
    ordered = ("run", small.name, "--out", "part")
    answer = finished(child("writing", *ordered, program=("-c", _TOLD_AT_THE_END)))
    assert (answer.status, answer.err) == (130, "error: interrupted, nothing written\n")
    assert nothing_but(workspace, small.name)


def some_finished(monkeypatch: pytest.MonkeyPatch, finished_seeds: int) -> None:
    """Have the runs of the first seeds end, and Ctrl-C come after the last of them."""
    whole = execution.execute_each

    def first(scenarios: Any, keep: Any, *arguments: Any, **options: Any) -> None:
        positions = options.pop("positions")[:finished_seeds]
        if finished_seeds:
            whole(scenarios[:finished_seeds], keep, *arguments, positions=positions, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "execute_each", first)


def test_of_several_seeds_the_finished_ones_are_kept(
    small: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, clearway: Clearway
) -> None:
    some_finished(monkeypatch, 2)
    answer = clearway("run", small, "--seeds", 5, "--keep-partial", "--out", "part", "--json")
    said = "interrupted before seeds 9 to 11 finished"
    assert answer.err == f"warning: {said}; part is not of the whole run\n"
    assert answer.json["seeds"] == [7, 8]
    assert answer.json["missing_seeds"] == [9, 10, 11]
    for name in ("summary.json", "manifest.json"):
        assert json.loads((workspace / "part" / name).read_text())["missing_seeds"] == [9, 10, 11]
    assert sorted(path.name for path in (workspace / "part").glob("seed-*")) == ["seed-7", "seed-8"]
    part = cw.load_run("part")
    assert isinstance(part, cw.Seeds)
    assert (part.missing, part.interruption) == ((9, 10, 11), said)
    assert said in repr(part)
    assert said in cw.compare(part, part).findings[0]


def test_of_several_seeds_of_which_none_is_finished_nothing_is(
    small: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, clearway: Clearway
) -> None:
    some_finished(monkeypatch, 0)
    answer = clearway("run", small, "--seeds", 5, "--keep-partial")
    assert (answer.status, answer.out) == (130, "")
    assert "interrupted, nothing written" in answer.err
    assert "0 of 5 runs finished" in answer.err
    assert nothing_but(workspace, small.name)


@pytest.mark.parametrize("when", ["at once", "when it is done"])
def test_ctrl_c_at_any_moment_ends_it(when: str, small: Path, endless: Path) -> None:
    """Before the worker has begun, and after the only run was handed over."""
    scenario = api.load_scenario(endless if when == "at once" else small, [], None)

    def watch(positions: Sequence[execution.Position]) -> None:
        if when == "at once" or positions[0].simulated_us == positions[0].end_us:
            raise KeyboardInterrupt

    (run,) = execution.execute([scenario], watch, keep_partial=True)
    assert (run.interrupted_at_us is None) == (when == "when it is done")


def test_ctrl_c_before_a_worker_has_begun_is_heard(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(execution, "_start", interrupt)
    with pytest.raises(execution.RunsInterrupted, match="simulated 0 us of 2 ms, 0 packet-hops"):
        execution.execute([api.load_scenario(small, [], None)], keep_partial=True)


def test_the_api_keeps_finished_seeds(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some_finished(monkeypatch, 1)
    group = cw.run(small, seeds=3, keep_partial=True)
    assert [run.seed for run in group.runs] == [7]
    assert list(group.missing) == [8, 9]
    with pytest.raises(KeyboardInterrupt, match=r"1 of 3 runs finished \(seed 7\)"):
        cw.run(small, seeds=3)


def test_ctrl_c_in_the_api_keeps_a_part_if_that_is_asked_for(endless: Path) -> None:
    code = "import clearway as cw; run = cw.run({!r}, keep_partial={}); print(run.interruption)"
    answer = interrupted_program(code.format(endless.name, True))
    assert answer.status == 0, answer.err
    assert answer.out.startswith("interrupted at ")
    answer = interrupted_program(code.format(endless.name, False))
    assert answer.status != 0
    assert "KeyboardInterrupt" in answer.err


def shown_on_a_terminal(*arguments: object) -> tuple[str, Answer]:
    """Run a command that is stopped, with standard error a terminal and standard output a pipe."""
    terminal, its_end = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        # Until no process has the other end: a terminal that nobody reads makes who writes to it wait.
        with suppress(OSError):
            while part := os.read(terminal, 1 << 16):
                shown.append(part)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        answer = interrupted(*arguments, stderr=its_end)
    finally:
        os.close(its_end)
        reader.join()
        os.close(terminal)
    return b"".join(shown).decode(), answer


def test_json_shows_progress_on_standard_error(endless: Path) -> None:
    """Whoever reads the JSON is a program; words on standard output may be for one that shows them."""
    shown, answer = shown_on_a_terminal("run", endless.name, "--json", "--keep-partial")
    assert re.search(r"endless .*of 1,000 s", shown), shown
    assert answer.json["name"] == "endless"
    shown, _ = shown_on_a_terminal("run", endless.name)
    assert not re.search(r"endless .*of 1,000 s", shown), shown
