"""The page and the table of a sweep: intervals over seeds, what was unfinished, and what a frontier shows."""

import math
import re
import statistics
from pathlib import Path

import clearway as cw
import pytest
from clearway.figures import AtLeast, readable
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.frontier_charts import frontier_charts
from clearway.sweeps.overrides import label_of

from tests.conftest import Clearway
from tests.test_report import T_OF_3, chart_data
from tests.test_sweep import AXES, swept

CENSORED = """
[sweep]
"transport.bulk.base_target" = ["15us", "25us", "40us"]
duration = ["150us", "2ms"]
seed = [1, 2]
[sweep.frontier]
objectives = { goodput_gbps = "higher", fct_p99_us = "lower" }
decide = "fct_p99_us"
"""
"""Flows of 100 kB take some 400 us: at the shorter duration none is finished."""


def test_a_lower_bound_beats_no_point_and_keeps_no_limit() -> None:
    frontier = Frontier({"jain": "higher", "fct": "lower"}, {"fct": 100.0}, "fct")
    rows = [
        {"jain": 0.9, "fct": AtLeast(20.0)},  # may be anything above
        {"jain": 0.9, "fct": 30.0},
        {"jain": 0.9, "fct": AtLeast(40.0)},  # more than 30 for certain
        {"jain": 0.9},
    ]
    assert frontier.members(rows) == [0, 1]
    assert frontier.recommended(rows) == 1
    words = frontier.in_words(["a", "b", "c", "d"], rows)
    assert "something was unfinished, at a; c:" in words
    assert "Not ranked, as an objective has no value: d." in words
    assert frontier.recommended(rows[:1]) is None
    unlimited = Frontier({"jain": "higher", "fct": "lower"}, {}, "fct")
    assert unlimited.recommended(rows[:1]) is None
    assert "lower bounds" not in unlimited.in_words(["b"], rows[1:2])


def test_unfinished_flows_stand_beside_completions(
    clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    answer = clearway("sweep", swept(workspace, CENSORED), "--json", "--out", "there")
    censored = answer.json["frontier"]["lower_bounds"]
    assert {point["duration"] for point in censored} == {"150us"}
    assert len(censored) == 3
    assert answer.json["frontier"]["recommended"]["duration"] == "2ms"
    shown = clearway("sweep", "sweep.toml", "--out", "again").out
    heads = next(line for line in shown.splitlines() if "p99 completion" in line)
    assert heads.index("flows unfinished") < heads.index("p99 completion")
    row = next(line for line in shown.splitlines() if line.split()[:2] == ["15us", "150us"])
    assert re.search(r"  4  ≥ ", row)
    assert "Objectives are lower bounds" in shown
    page = Path("there/report.html").read_text()
    assert '<th scope="col">flows unfinished</th><th scope="col">p99 completion</th>' in page
    assert "Lower bounds at 3 of 6." in page
    assert "Lower bounds, as something was unfinished: 3 of 6 points." in page


def test_pointing_at_a_frontier_shows_what_a_point_is(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("sweep", swept(workspace, CENSORED), "--json", "--out", "there")
    frontier = chart_data(Path("there/report.html").read_text())[0]
    texts = [text for line in frontier["lines"] for text in line["texts"]]
    assert len(texts) == 6
    for point in answer.json["points"]:
        label = label_of({key: value for key, value in point["overrides"].items() if key != "seed"})
        (text,) = [text for text in texts if text.startswith(f"{label}\n")]
        assert "flows unfinished: " in text
        assert "p99 completion: " in text
    assert all(len(line["texts"]) == len(line["x"]) for line in frontier["lines"])
    (censored,) = {line["label"] for line in frontier["lines"] for text in line["texts"] if "150us" in text}
    assert censored == "on the frontier"


def test_equal_points_of_a_frontier_are_all_drawn_and_stay_equal() -> None:
    rows = [{"fct": 5.0, "goodput": 97.48}, {"fct": 4.0, "goodput": 97.48}, {"fct": 3.0, "goodput": 97.48}]
    frontier = Frontier({"fct": "lower", "goodput": "higher"}, {}, "goodput")
    labels = {name: name for name in frontier.objectives}
    (chart,) = frontier_charts(labels, rows, frontier, ["a", "b", "c"])
    dominated = chart.as_json()["lines"][0]
    assert dominated["label"] == "dominated"
    assert len(set(dominated["x"])) == 2
    assert dominated["x"] == pytest.approx([97.48, 97.48], rel=1e-8)


def test_points_of_a_frontier_have_error_bars(clearway: Clearway, workspace: Path) -> None:
    table = '[sweep.frontier]\nobjectives = { rtt_mean_us = "lower", goodput_gbps = "higher" }\n'
    axes = AXES + table + 'decide = "goodput_gbps"\n'
    answer = clearway("sweep", swept(workspace, axes), "--json", "--out", "there")
    chart = chart_data(Path("there/report.html").read_text())[0]
    assert chart["y"] == "mean RTT (us)"
    ends = [end for line in chart["lines"] for end in zip(line["low"], line["y"], line["high"], strict=True)]
    assert len(ends) == len({str(list(p["overrides"].values())[:2]) for p in answer.json["points"]})
    assert all(low < mean < high for low, mean, high in ends)


def test_charts_of_a_sweep_have_error_bars(clearway: Clearway, workspace: Path) -> None:
    answer = clearway(
        "sweep", swept(workspace, AXES.replace("[1, 2]", "[1, 2, 3]")), "--json", "--out", "there"
    )
    page = Path("there/report.html").read_text()
    (chart,) = [chart for chart in chart_data(page) if chart["y"] == "mean RTT (us)"]
    assert chart["lines"][0]["label"] == "base_target 15us"
    samples = [
        point["summary"]["rtt_mean_us"]
        for point in answer.json["points"]
        if list(point["overrides"].values())[:2] == ["15us", 0.5]
    ]
    mean = statistics.fmean(samples)
    half = T_OF_3 * statistics.stdev(samples) / math.sqrt(3)
    assert len(samples) == 3
    assert half > 0
    line = chart["lines"][0]
    assert [line[key][0] for key in ("y", "low", "high")] == pytest.approx(
        [mean, mean - half, mean + half], rel=1e-4
    )
    assert readable("time", mean, half) in page


def test_bars_of_a_sweep_have_intervals(clearway: Clearway, workspace: Path) -> None:
    axes = '\n[sweep]\n"transport.bulk.protocol" = ["swift", "cubic"]\nseed = [1, 2, 3]\n'
    assert clearway("sweep", swept(workspace, axes), "--out", "there").status == 0
    page = Path("there/report.html").read_text()
    interval = r'<i class="interval" style="left: ([\d.]+)%; width: ([\d.]+)%'
    bars = re.findall(rf'class="bar" style="width: ([\d.]+)%[^>]*></i>{interval}', page)
    assert bars
    for bar, left, width in bars:
        assert float(width) > 0
        assert float(left) <= float(bar) <= float(left) + float(width) + 0.01


def test_a_sweep_is_a_table_in_a_notebook(workspace: Path) -> None:
    done = cw.sweep(swept(workspace))
    table = done._repr_html_()
    assert table.count("<tr>") == 1 + len(done.combinations)
    mean = done.intervals[0]["rtt_mean_us"]
    assert f"<td>{readable('time', mean.mean, mean.half_width)}</td>" in table
    assert "base_target 15us, ai 0.5</th>" in table
