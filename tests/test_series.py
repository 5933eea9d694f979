"""`[record.flows]` and `record.classes`: which flows are recorded, what is refused, and what charts show."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway.report.flows import of_classes, of_flows
from clearway.report.page import page
from clearway.runs import Run
from clearway.seeds import Seeds

from tests.conftest import SMALL, Clearway, nothing_but, written

STEP_US = 20.0
SERIES: dict[str, Any] = {"flows": {"every": "20us", "slowest": 2}, "classes": "20us"}
WATCHED: dict[str, Any] = {**SMALL, "record": SERIES}
TWO: dict[str, Any] = {
    **SMALL,
    "class": {"low": {"priority": 1}, "high": {}},
    "transport": {
        "bulk": {"protocol": "swift", "class": "low"},
        "rival": {"protocol": "dctcp", "class": "high"},
    },
    "traffic": [
        {**SMALL["traffic"][0], "transport": name, "flows_per_pair": 2} for name in ("bulk", "rival")
    ],
    "record": {"flows": {"every": "20us", "class": "high"}, "classes": "20us", "throughput": "20us"},
}


@pytest.fixture(scope="module")
def watched() -> Run:
    return cw.run(WATCHED)


@pytest.fixture(scope="module")
def two() -> Run:
    return cw.run(TWO)


def test_the_slowest_are_those_of_the_table_of_flows(watched: Run) -> None:
    order = np.argsort(-watched.flows["slowdown"], kind="stable")
    assert sorted(set(watched.flows_series["flow"].tolist())) == sorted(order[:2].tolist())
    assert watched.digest == cw.run({**SMALL, "record": {}}).digest


def test_what_flows_delivered_adds_up(watched: Run) -> None:
    rows = watched.flows_series
    for flow in set(rows["flow"].tolist()):
        of_flow = rows["flow"] == flow
        assert rows["goodput_gbps"][of_flow].sum() * STEP_US * 125 == pytest.approx(100_000)


def test_a_directory_has_the_tables(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("run", written(workspace / "w.toml", WATCHED), "--out", "there")
    assert answer.status == 0, answer.err
    saved, again = cw.load_run("there"), cw.run(WATCHED)
    assert isinstance(saved, Run)
    for table in ("flows_series", "classes_series"):
        for column, values in again.table(table).items():
            assert saved.table(table)[column].tolist() == pytest.approx(values.tolist(), nan_ok=True), column


def test_frames_have_units(watched: Run) -> None:
    pytest.importorskip("pandas")
    units = watched.to_pandas("flows_series").attrs["units"]
    assert units["goodput_gbps"] == "Gb/s"
    assert units["rtt_mean_us"] == "us"
    assert "took" in watched.to_pandas("flows_series").attrs["meanings"]["goodput_gbps"]


def test_flows_of_a_class_are_those_of_its_transport(two: Run) -> None:
    names = two.flows["transport"][two.flows_series["flow"].astype(int)]
    assert set(names.tolist()) == {"rival"}
    assert len(set(two.flows_series["flow"].tolist())) == 8
    of_transport = {
        name: two.throughput["goodput_gbps"][two.throughput["transport"] == name].tolist()
        for name in ("bulk", "rival")
    }
    rows = two.classes_series
    for name, transport in (("low", "bulk"), ("high", "rival")):
        assert rows["goodput_gbps"][rows["class"] == name].tolist() == pytest.approx(of_transport[transport])


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"flows": [0, 4]}, r"record\.flows\.flows: found 4, but the 4 flows .* numbered from 0 to 3"),
        ({"class": "gold"}, r"record\.flows\.class: .*there is no \[class\.NAME\]"),
        ({"transport": "bulky"}, r"record\.flows\.transport: .*expected one of bulk; did you mean bulk"),
        ({}, r"record\.flows\.flows: missing, expected which flows: flows = \"0\.\.10\""),
        (
            {"first": 1, "slowest": 1},
            r"record\.flows\.slowest: first says which flows, too: give one of the two",
        ),
        ({"flows": 1, "transport": "bulk"}, r"record\.flows\.transport: flows says which by number"),
    ],
)
def test_a_wrong_choice_is_refused(
    choice: dict[str, Any], said: str, clearway: Clearway, workspace: Path
) -> None:
    record = {"flows": {"every": "10us", **choice}}
    answer = clearway("run", written(workspace / "w.toml", {**SMALL, "record": record}), "--out", "there")
    assert answer.status == 2
    assert re.search(rf"w\.toml:\d+: {said}", answer.err), answer.err
    assert nothing_but(workspace, "w.toml")


@pytest.mark.parametrize("rule", ["slowest", "largest"])
def test_flows_that_never_end_are_not_ranked(rule: str, clearway: Clearway, workspace: Path) -> None:
    endless = {"pattern": "incast", "transport": "bulk", "from": "0..4", "to": 4}
    scenario = {**SMALL, "traffic": [endless], "record": {"flows": {"every": "10us", rule: 2}}}
    answer = clearway("run", written(workspace / "w.toml", scenario))
    assert answer.status == 2
    said = rf"w\.toml:\d+: record\.flows\.{rule}: .*no flow has a size.*give \[\[traffic\]\]\s+bytes"
    assert re.search(said, answer.err, re.DOTALL), answer.err


def test_set_takes_a_choice(small: Path, clearway: Clearway) -> None:
    answer = clearway("run", small, "--set", 'record.flows={every="50us",first=1}', "--out", "there")
    assert answer.status == 0, answer.err
    run = cw.load_run("there")
    assert isinstance(run, Run)
    assert set(run.flows_series["flow"].tolist()) == {int(np.argmin(run.flows["start_us"]))}


def test_several_seeds_choose_their_own_flows() -> None:
    several = cw.run(WATCHED, seeds=3)
    for run in several.runs:
        order = np.argsort(-run.flows["slowdown"], kind="stable")
        assert sorted(set(run.flows_series["flow"].tolist())) == sorted(order[:2].tolist())
    # Flow 1 of one seed is another than that of the next, so that lines are of all of them.
    goodput = of_flows([("several", several)])[0]
    assert [line.label for line in goodput.lines] == ["bulk, median", "bulk, p10", "bulk, p90"]


# CHARTS


def test_a_line_a_flow_has_its_rows(watched: Run) -> None:
    goodput, window, rate, round_trips = of_flows([("run", Seeds([watched]))])
    rows = watched.flows_series
    flows = sorted(set(rows["flow"].tolist()))
    assert [line.label for line in goodput.lines] == [f"flow {flow:.0f}" for flow in flows]
    for chart, column in ((goodput, "goodput_gbps"), (window, "cwnd_packets"), (round_trips, "rtt_mean_us")):
        for flow, line in zip(flows, chart.lines, strict=True):
            values = rows[column][rows["flow"] == flow]
            there = np.isfinite(values)
            assert there[1:].all(), "else there are gaps"
            assert line.y[there].tolist() == pytest.approx(values[there].tolist())
    assert rate.lines == []
    assert "us" in round_trips.y


def test_a_line_has_a_gap_where_nothing_came(watched: Run) -> None:
    nan = float("nan")
    rows = {name: np.arange(1.0, 8.0) for name in watched.flows_series}
    rows |= {"flow": np.zeros(7), "rtt_mean_us": np.array([5.0, nan, nan, nan, 7.0, nan, nan])}
    made_up = replace(watched, tables={**watched.tables, "flows_series": rows})
    (line,) = of_flows([("run", Seeds([made_up]))])[3].lines
    assert line.x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert line.y.tolist() == pytest.approx([5.0, 5.0, nan, nan, 7.0, 7.0, nan, nan], nan_ok=True)


def test_many_flows_are_quantiles(two: Run) -> None:
    every = cw.run({**TWO, "record": {"flows": {"every": "20us", "first": 16}}})
    goodput = of_flows([("run", Seeds([every]))])[0]
    assert [line.label for line in goodput.lines] == [
        f"{name}, {what}" for name in ("bulk", "rival") for what in ("median", "p10", "p90")
    ]
    assert "tenth and ninetieth percentile" in goodput.note
    assert len(of_flows([("run", Seeds([two]))])[0].lines) == 8


def test_classes_have_lines(two: Run) -> None:
    goodput, sent, round_trips = of_classes([("run", Seeds([two]))])
    for chart in (goodput, sent, round_trips):
        assert [line.label for line in chart.lines] == ["high", "low"]
    assert max(goodput.lines[0].y) < max(sent.lines[0].y), "headers are sent, too"


def test_a_page_shows_them(watched: Run) -> None:
    shown = page([("watched", watched)])
    for title in ("Goodput of flows", "Window of flows", "Round-trip time of flows", "Goodput by class"):
        assert f">{title}<" in shown, title


@pytest.mark.parametrize(("kind", "panels"), [("flows", 3), ("classes", 3)])
def test_plots_have_their_panels(kind: str, panels: int, watched: Run) -> None:
    pytest.importorskip("matplotlib")
    assert len(watched.plot(kind).axes) == panels


def test_fairness_is_of_goodput_where_flows_are_recorded(two: Run) -> None:
    pytest.importorskip("matplotlib")
    (axes,) = two.plot("fairness").axes
    (line,) = axes.get_lines()
    rows = two.flows_series
    wanted: dict[float, float] = {}
    for time in sorted(set(rows["time_us"].tolist())):
        rates: list[float] = []
        for flow in set(rows["flow"].tolist()):
            of_flow = rows["time_us"][rows["flow"] == flow]
            at = (rows["flow"] == flow) & (rows["time_us"] == time)
            if at.any() and of_flow.min() < time < of_flow.max():
                rates.append(float(rows["goodput_gbps"][at][0]))
        if len(rates) > 1 and sum(rates) > 0:
            wanted[time] = sum(rates) ** 2 / len(rates) / sum(rate * rate for rate in rates)
    assert np.asarray(line.get_ydata()).tolist() == pytest.approx(list(wanted.values()))
    assert len(wanted) > 5
    assert min(wanted.values()) < 0.99
