"""`import clearway as cw`."""

import sys
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import documents
from clearway.errors import ClearwayError
from clearway.figures import readable

from tests.conftest import ENDLESS, SMALL, Clearway, written


def test_a_run_has_figures_and_numpy_columns(small: Path) -> None:
    run = cw.run(small)
    assert run.summary["completed"] == 4
    assert run.flows["fct_us"].shape == (4,)
    assert run.flows["fct_us"].dtype == np.float64
    assert run.flows["bytes"].tolist() == [100_000] * 4
    assert set(run.flows["transport"]) == {"bulk"}
    assert run.digest.startswith("v")
    assert run.packet_hops > 0
    for table in (run.links, run.rtt, run.queues, run.windows, run.rtt_series, run.throughput):
        assert len({len(column) for column in table.values()}) == 1


def test_text_is_as_good_as_a_file(small: Path) -> None:
    assert cw.run(documents.text_of(SMALL)).digest == cw.run(small).digest == cw.run(str(small)).digest


def test_sets_take_python_values(small: Path) -> None:
    run = cw.run(small, {"network.hosts": 7, "duration": "1ms", "transport.bulk.protocol": "dctcp"}, seed=4)
    assert run.seed == 4
    assert run.scenario["network"]["hosts"] == 7
    assert run.scenario["transport"]["bulk"]["protocol"] == "dctcp"


def test_sets_take_numpy_values_and_refuse_others(small: Path) -> None:
    plain = cw.run(small, {"seed": 3})
    assert cw.run(small, {"seed": np.int64(3)}).digest == plain.digest
    assert cw.run(small, {"seed": np.array([3])[0]}).digest == plain.digest
    with pytest.raises(ClearwayError, match="no value of a scenario"):
        cw.run(small, {"seed": object()})


def test_errors_are_value_errors_with_the_key(small: Path) -> None:
    with pytest.raises(cw.ScenarioError, match=r"network\.hots"):
        cw.run(small, {"network.hots": 7})
    with pytest.raises(ValueError, match="duration"):
        cw.run(small, {"duration": 7})
    with pytest.raises(cw.ClearwayError, match="no such file"):
        cw.run("nowhere.toml")


def test_a_table_that_is_not_there_says_how_to_record_it(small: Path) -> None:
    run = cw.run(small)
    with pytest.raises(cw.ClearwayError, match="operations = true"):
        _ = run.operations
    with pytest.raises(cw.ClearwayError, match="there is"):
        run.table("nonsense")


def test_saved_and_loaded(small: Path) -> None:
    run = cw.run(small)
    path = run.save("saved")
    back = cw.load_run(path)
    assert isinstance(back, cw.Run)
    assert (back.digest, back.summary, back.scenario) == (run.digest, run.summary, run.scenario)
    with pytest.raises(cw.ClearwayError, match="not empty"):
        run.save("saved")


def test_pandas(small: Path) -> None:
    pytest.importorskip("pandas")
    frame = cw.run(small).to_pandas("flows")
    assert frame["bytes"].sum() == 400_000


def test_polars(small: Path) -> None:
    pytest.importorskip("polars")
    frame = cw.run(small).to_polars("flows")
    assert frame["bytes"].sum() == 400_000


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_without_the_library_the_error_names_it(
    library: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    run = cw.run(small)
    with pytest.raises(cw.ClearwayError, match=f"pip install {library}"):
        getattr(run, f"to_{library}")("flows")


def test_schema_is_one() -> None:
    schema = cw.schema()
    assert schema["$schema"].startswith("https://json-schema.org/")


def test_a_run_and_several_seeds_are_written_in_some_ten_lines(workspace: Path) -> None:
    document = {
        **SMALL,
        "name": "a < b",
        "transport": {name: {"protocol": "swift"} for name in ("bulk", "other")},
    }
    document["traffic"] = [{**SMALL["traffic"][0], "transport": name} for name in document["transport"]]
    runs = [cw.run(written(workspace / "two.toml", document), seed=seed) for seed in (1, 2, 3)]
    title, heads, *rows = repr(runs[0]).splitlines()
    assert title == "a < b (seed 1)"
    assert heads.split() == ["all", "bulk", "other"]
    assert 8 <= len(rows) <= 12
    assert all(len(row) <= 80 for row in rows)
    (goodput,) = [row for row in rows if row.startswith("goodput")]
    of_all = readable("rate", runs[0].summary["goodput_gbps"])
    of_bulk = readable("rate", runs[0].summary["transports"]["bulk"]["goodput_gbps"])
    assert of_all in goodput
    assert of_bulk in goodput
    assert any(row.startswith("flows unfinished") for row in rows)
    seeds = cw.Seeds(runs)
    assert repr(seeds).startswith("a < b (seeds 1 to 3: mean and 95 % interval)\n")
    assert " ± " in repr(seeds)
    for shown in (runs[0], seeds):
        table = shown._repr_html_()
        assert table.startswith("<table>")
        assert "<caption>a &lt; b (seed" in table
        assert table.count("<tr>") == len(repr(shown).splitlines()) - 1


def test_several_seeds_are_a_group_with_intervals(small: Path) -> None:
    group = cw.run(small, seeds=3)
    assert isinstance(group, cw.Seeds)
    assert [run.seed for run in group.runs] == [7, 8, 9]
    assert [run.digest for run in group.runs] == [cw.run(small, seed=seed).digest for seed in (7, 8, 9)]
    mean = group.intervals()["fct_mean_us"]
    assert mean.count == 3
    assert mean.mean == pytest.approx(np.mean([run.summary["fct_mean_us"] for run in group.runs]))
    assert mean.half_width is not None
    assert mean.half_width > 0
    assert len(cw.run(small, seeds=1).runs) == 1


@pytest.mark.parametrize("seeds", [0, -1, 10_001, 2.5, "3", True])
def test_seeds_that_are_no_count_are_refused(seeds: Any, small: Path) -> None:
    with pytest.raises(cw.ClearwayError, match=r"seeds: found .*, expected a whole number from 1 to 10,000"):
        cw.run(small, seeds=seeds)
    with pytest.raises(cw.ClearwayError, match=r"seeds: found .*, expected a whole number from 1 to 10,000"):
        cw.compare(small, seeds=seeds)


def test_a_seed_and_several_exclude_each_other(small: Path) -> None:
    with pytest.raises(cw.ClearwayError, match="seed and seeds exclude each other"):
        cw.run(small, seed=1, seeds=2)  # type: ignore[call-overload]


def test_progress_of_several_seeds_is_the_sum_and_stops_them() -> None:
    endless = documents.text_of(ENDLESS)
    seen: list[tuple[float, float]] = []

    def progress(simulated_us: float, end_us: float, _hops: int) -> bool | None:
        seen.append((simulated_us, end_us))
        return False if len(seen) == 5 else None

    with pytest.raises(cw.Interrupted):
        cw.run(endless, seeds=2, progress=progress)
    assert len(seen) == 5
    assert {end for _, end in seen} == {2e9}


SWEEP: dict[str, Any] = {**SMALL, "record": {}, "sweep": {"transport.bulk.base_target": ["15us", "25us"]}}


def test_a_sweep_has_points_with_runs_and_frames(workspace: Path) -> None:
    swept = cw.sweep(SWEEP, {"network.hosts": 7}, jobs=2)
    assert isinstance(swept, cw.Sweep)
    assert [point.overrides for point in swept.points] == [
        {"transport.bulk.base_target": "15us"},
        {"transport.bulk.base_target": "25us"},
    ]
    for point in swept.points:
        alone = cw.run(documents.text_of({**SMALL, "record": {}}), {"network.hosts": 7, **point.overrides})
        assert point.run.digest == alone.digest
        assert point.run.flows["fct_us"].tolist() == alone.flows["fct_us"].tolist()
    assert swept.table["transport.bulk.base_target_us"].tolist() == [15, 25]
    assert swept.table["digest"].tolist() == [point.run.digest for point in swept.points]
    assert (swept.made.run, swept.made.found) == (2, 0)
    assert repr(swept) == "small incast: 2 points of transport.bulk.base_target: 2 run, 0 found finished"
    again = cw.sweep(SWEEP, {"network.hosts": 7})
    assert (again.made.run, again.made.found) == (0, 2)
    damaged = again.points[0].run.path
    assert damaged is not None
    (damaged / "summary.json").write_text("{}")
    assert repr(cw.sweep(SWEEP, {"network.hosts": 7})).endswith("1 found damaged and run again")
    elsewhere = cw.sweep(SWEEP, {"network.hosts": 7}, store=workspace / "other")
    assert (elsewhere.made.run, elsewhere.made.found) == (2, 0)


def test_a_sweep_is_the_same_from_file_text_and_dict(clearway: Clearway, workspace: Path) -> None:
    scenario = documents.text_of({key: value for key, value in SWEEP.items() if key != "sweep"})
    text = f'{scenario}[sweep]\n"transport.bulk.base_target" = ["15us", "25us"]\n'
    (workspace / "sweep.toml").write_text(text)
    command = clearway("sweep", "sweep.toml", "--json", "--store", "command").json
    for source in (SWEEP, text, "sweep.toml", workspace / "sweep.toml"):
        answer = cw.sweep(source, store="api").as_json()
        assert [each["digest"] for each in answer["points"]] == [each["digest"] for each in command["points"]]
        assert answer["axes"] == command["axes"]


def test_a_sweep_as_frames_and_as_a_directory(workspace: Path) -> None:
    swept = cw.sweep(SWEEP)
    assert swept.to_pandas()["fct_mean_us"].tolist() == swept.table["fct_mean_us"].tolist()
    assert swept.to_polars()["fct_mean_us"].to_list() == swept.table["fct_mean_us"].tolist()
    assert swept.save("saved") == Path("saved")
    assert (workspace / "saved" / "report.html").exists()
    with pytest.raises(cw.ClearwayError, match="not empty"):
        swept.save("saved")


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"sweep": None}, {}, "scenario: has no [sweep] table"),
        ({"sweep": {}}, {}, "scenario: [sweep]: has no axis"),
        ({"sweep": {"seed": 3}}, {}, "scenario: [sweep] seed: expected a list of values or a range"),
        ({"sweep": {"seeed": [1, 2]}}, {}, "scenario: [sweep] seeed = 1: unknown key"),
        ({}, {"sets": {"network.hots": 3}}, "network.hots"),
        (
            {},
            {"sets": {"transport.bulk.base_target": "30us"}},
            "--set transport.bulk.base_target=30us: scenario: [sweep] transport.bulk.base_target is an axis",
        ),
        ({}, {"sets": {"sweep.seed": [1]}}, "--set sweep.seed=[1]: [sweep] is no part of the scenario"),
        ({}, {"jobs": 0}, "jobs: found 0, expected a whole number from 1 to 1,024"),
        ({}, {"on": "tcp://127.0.0.1:1", "jobs": 2}, "on and jobs exclude each other"),
        ({}, {"on": "nowhere"}, "nowhere: is no address of a scheduler"),
    ],
)
def test_sweeps_that_are_refused(
    changes: dict[str, Any], options: dict[str, Any], words: str, workspace: Path
) -> None:
    document = {key: value for key, value in {**SWEEP, **changes}.items() if value is not None}
    with pytest.raises(cw.ClearwayError) as caught:
        cw.sweep(document, **options)
    assert words in str(caught.value)
    assert list(workspace.iterdir()) == []


def test_progress_stops_a_sweep_and_what_is_finished_stays(workspace: Path) -> None:
    endless = {**ENDLESS, "sweep": {"duration": ["2ms", "1000s"]}}

    def progress(_simulated_us: float, _end_us: float, _hops: int) -> bool | None:
        return False if list(workspace.glob(".clearway/runs/*/manifest.json")) else None

    with pytest.raises(cw.Interrupted, match="1 of 2 runs are finished and kept"):
        cw.sweep(endless, jobs=2, progress=progress)
    assert cw.sweep({**endless, "sweep": {"duration": ["2ms"]}}).made.found == 1
