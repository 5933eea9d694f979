"""What is measured on this machine: the binding, its errors, its place in the store, and its claims."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from clearway import _clearway, execution
from clearway.errors import ClearwayError
from clearway.machine import machine
from clearway.measurement import Measurement
from clearway.paper import papers, reading
from clearway.sweeps import making, points
from clearway.sweeps.points import Point
from clearway.sweeps.store import Store

from tests.conftest import Clearway

SMALL = {"racks": 4, "hosts": 4, "repeats": 5}
RATE = {"racks": 4, "hosts": 4, "step_ms": 2, "backlog": 2000}


def measured(kind: str, arguments: dict[str, Any], seed: int = 1) -> Measurement:
    return Measurement.read(kind, arguments, "m", seed)


def test_paths_have_a_time_for_each_repeat() -> None:
    measurement = measured("paths", SMALL)
    result = measurement.run()
    times = result.tables["repeats"]["slot_us"]
    assert len(times) == 5
    assert (times > 0).all()
    summary = json.loads(result.summary)
    assert (summary["slot_least_us"], summary["slot_median_us"]) == (min(times), sorted(times)[2])
    assert json.loads(measurement.resolved)["arguments"] == {
        "racks": 4,
        "hosts": 4,
        "paths": 4,
        "utilisation": 0.9,
        "repeats": 5,
    }


@pytest.mark.parametrize("work", ["allocation", "both", "both_on_two"])
def test_allocation_has_a_row_for_each_rate(work: str) -> None:
    result = measured("allocation", {**RATE, "work": work}).run()
    steps = result.tables["steps"]
    held = steps["sustained"] == 1
    assert (steps["backlog_slots"][held] <= 2000).all()
    assert (steps["backlog_slots"][~held] > 2000).all()
    assert json.loads(result.summary)["sustained_gbps"] == max(steps["offered_gbps"][held], default=0)
    by_the_clock = work == "both_on_two"
    assert ("waited_share" in json.loads(result.summary)) == by_the_clock
    assert (steps["waited_seconds"] >= 0).all()
    assert result.threads == (2 if work == "both_on_two" else 1)


def test_rates_double_until_one_is_not_sustained_and_then_close_in(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []

    def try_rate(rate: float, *_: Any, **__: Any) -> tuple[float, float, int, float, float]:
        tried.append(rate)
        return rate, rate, 3000 if rate > 10_000 else 0, 1.0, 0.0

    monkeypatch.setattr(_clearway, "try_rate", try_rate)
    steps = measured("allocation", RATE).run().tables["steps"]
    rates = [2000, 4000, 8000, 16000, 12000, 10000, 11000, 10500, 10250, 10125, 10062.5]
    assert list(steps["offered_gbps"]) == rates
    assert list(steps["sustained"]) == [1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    assert tried.count(16000) == 3


def test_rates_that_are_all_sustained_end() -> None:
    endless = {"racks": 1, "hosts": 2, "step_ms": 1, "backlog": 1 << 40}
    assert len(measured("allocation", endless).run().tables["steps"]["seconds"]) == 19


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("allocations", {}, "m: measure: found allocations, expected allocation or paths"),
        ("paths", {"rack": 4}, r"m: arguments.rack: unknown key\n  one of racks, hosts"),
        ("paths", {"racks": 0}, "m: arguments.racks: found 0, expected a whole number from 1 to 128"),
        ("paths", {"utilisation": "all"}, 'arguments.utilisation: found "all", expected a number from 0.01'),
        ("allocation", {"work": "some"}, 'arguments.work: found "some", expected allocation, both or'),
    ],
)
def test_wrong_arguments_are_named(kind: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ClearwayError, match=message):
        measured(kind, arguments)


def test_a_measurement_stops_when_it_is_told_to() -> None:
    with pytest.raises(_clearway.Interrupted):
        measured("paths", {"racks": 32, "repeats": 1_000_000}).run(lambda *_: False)


def test_times_of_another_machine_are_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    point = Point(measured("paths", SMALL))
    here = point.key
    assert making.run_points([point], Store(tmp_path)).run == 1
    assert making.run_points([Point(measured("paths", SMALL))], Store(tmp_path)).found == 1
    monkeypatch.setattr(points, "identity_of_machine", lambda: "another")
    assert point.key != here
    assert making.run_points([point], Store(tmp_path)).run == 1


def test_nothing_runs_beside_a_measurement(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[tuple[list[str], int | None]] = []
    execute = execution.execute_each

    def watched(scenarios: Sequence[Any], keep: Callable[..., None], watch: Any, jobs: int | None) -> None:
        calls.append(([type(scenario).__name__ for scenario in scenarios], jobs))
        execute(scenarios, keep, watch, jobs)

    monkeypatch.setattr(making, "execute_each", watched)
    scenario = _clearway.load(Path(__file__).parent.parent / "scenarios" / "paced.toml")
    both = [Point(measured("paths", SMALL)), Point(scenario), Point(measured("paths", SMALL, seed=2))]
    assert [run.seed for run in making.run_points(both, Store(tmp_path), jobs=4).runs] == [1, 1, 2]
    assert calls == [(["Scenario"], 4), (["Measurement", "Measurement"], 1)]


TIMED = """
figure = "Timed"
title = "Paths"
[runs.paths]
measure = "paths"
arguments = { racks = 4, hosts = 4, repeats = 3 }
seeds = 2
[runs.paths.sweep]
utilisation = [0.5, 1.0]
[[claim]]
text = "It takes time"
paper = 1
ours = { measure = "summary", run = "paths", key = "slot_median_us", where = { utilisation = 0.5 } }
holds = { between = [-1000000, 1000000] } # noise may widen the interval of two seeds below zero
"""


@pytest.fixture
def timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper with one experiment that measures."""
    folder = tmp_path / "papers" / "timed"
    folder.mkdir(parents=True)
    parameter = 'key = "network.rate"\nvalue = "10Gbps"\nsource = "ours"\nwhy = "It is."\n'
    (folder / "parameters.toml").write_text(f"[[parameter]]\n{parameter}")
    (folder / "paths.toml").write_text(TIMED)
    monkeypatch.setattr(papers, "folder_of_papers", lambda: tmp_path / "papers")
    return folder / "paths.toml"


@pytest.mark.usefixtures("timed")
def test_a_claim_says_that_it_holds_of_this_machine(clearway: Clearway, tmp_path: Path) -> None:
    out, store = tmp_path / "out", tmp_path / "store"
    answer = clearway("paper", "timed", "--json", "--out", str(out), "--store", str(store))
    assert answer.status == 0, answer.err
    (claim,) = answer.json["claims"]
    assert (claim["verdict"], claim["machine"], claim["samples"]) == ("reproduced", machine(), 2)
    page = (out / "report.html").read_text()
    assert f"Timed on: {machine()}" in page
    assert "on this machine" in page
    assert "reproduced, on this machine" in clearway("paper", "timed", "--store", str(store)).out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'measure = "paths"',
            'measure = "paths"\nscenario = "a"',
            "runs.paths.scenario: a run has a scenario or a",
        ),
        ('measure = "paths"\n', "", "runs.paths.arguments: a run without measure has none"),
    ],
)
def test_a_run_has_a_scenario_or_a_measure(timed: Path, old: str, new: str, message: str) -> None:
    timed.write_text(TIMED.replace(old, new, 1))
    with pytest.raises(ClearwayError, match=message):
        reading.read(papers.paper_named("timed"), "paths", full=False)
