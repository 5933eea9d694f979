"""`clearway report`: one page, complete in itself, whatever the runs are called and have recorded."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import report
from clearway.report import charts
from clearway.runs import HOW_TO_RECORD, Run

from tests.conftest import SMALL, Clearway, written


def chart_data(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    value = json.loads(found.group(1))
    assert isinstance(value, list)
    return value


@pytest.fixture
def run(small: Path) -> Run:
    return cw.run(small)


def test_has_every_chart_with_units_and_the_summary(clearway: Clearway, small: Path) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    answer = clearway("report", "there", "-o", "page.html")
    assert answer.status == 0
    assert "page.html" in answer.out
    page = Path("page.html").read_text()
    assert len(page) < 3_000_000
    assert "p99 RTT" in page
    for chart in chart_data(page):
        assert chart["lines"], chart["y"]
        assert chart["y"].endswith(")")
        assert chart["x"].endswith(")")
        for line in chart["lines"]:
            assert len(line["x"]) == len(line["y"]) > 0
            assert line["x"] == sorted(line["x"])


def test_needs_no_network(run: Run) -> None:
    page = report.page([("one", run)])
    assert "default-src 'none'" in page
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", page)
    assert "@import" not in page


def test_says_how_to_record_what_is_not_there(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "bare.toml", {**SMALL, "name": "bare", "record": {}})
    assert clearway("run", file, "--out", "bare").status == 0
    assert clearway("report", "bare", "-o", "page.html").status == 0
    page = Path("page.html").read_text()
    for name in ("queues", "throughput", "rtt"):
        assert f"add {name} = &quot;10us&quot; under [record]" in page


def test_every_remedy_records_the_table(workspace: Path) -> None:
    """What the page tells the reader to write must work."""
    for table, remedy in HOW_TO_RECORD.items():
        if found := re.fullmatch(r'add (\w+) = "(\w+)" under \[record\]', remedy):
            recorded = {**SMALL, "record": {found.group(1): found.group(2)}}
            assert table in cw.run(written(workspace / "one.toml", recorded)).tables


def test_runs_that_lack_what_others_have_are_named(run: Run) -> None:
    without = replace(run, tables={name: run.tables[name] for name in ("flows", "links", "rtt")})
    page = report.page([("rich", run), ("poor", without)])
    assert "Not recorded by poor: add queues" in page


def test_names_are_text_not_markup(run: Run) -> None:
    evil = '</script><script>alert(1)</script><img src=x onerror="alert(2)">{{data}}'
    page = report.page([(evil, run), ("other", run)])
    assert "<img" not in page
    assert "<script>alert" not in page
    assert chart_data(page)[0]["lines"][0]["label"].startswith(evil)

    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.scripts = 0

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
            self.scripts += tag == "script"

    tags = Tags()
    tags.feed(page)
    assert tags.scripts == 3


def test_many_long_runs_stay_small(run: Run) -> None:
    rows = 200_000
    long = replace(
        run,
        tables={
            **run.tables,
            "queues": {
                "time_us": np.arange(rows, dtype=float),
                "link": np.full(rows, "a->b"),
                "queue_bytes": np.random.default_rng(1).integers(0, 1_000_000, rows).astype(np.uint64),
            },
        },
    )
    page = report.page([(f"run {number}", long) for number in range(20)])
    assert len(page) < 3_000_000


def test_thinning_keeps_peaks(run: Run) -> None:
    depths = np.zeros(100_000, dtype=np.uint64)
    depths[54_321] = 1_000_000
    times = np.arange(len(depths), dtype=float)
    queues = {"time_us": times, "link": np.full(len(depths), "a->b"), "queue_bytes": depths}
    chart = charts.queue([("one", replace(run, tables={"queues": queues}))])
    assert chart.lines[0].y.max() == 1000  # kB
    assert len(chart.lines[0].y) <= 1000


def test_cdf_ends_at_all_and_is_right_at_the_median(run: Run) -> None:
    rtt = {
        "transport": np.full(1000, "bulk"),
        "rtt_us": np.arange(1, 1001, dtype=float),
        "count": np.ones(1000, dtype=np.uint64),
    }
    (line,) = charts.rtt_cdf([("one", replace(run, tables={"rtt": rtt}))]).lines
    assert line.y[-1] == 100
    assert np.interp(500, line.x, line.y) == pytest.approx(50, abs=0.5)
    assert (np.diff(line.y) >= 0).all()


def test_slowdown_by_size_ignores_flows_that_did_not_complete(run: Run) -> None:
    flows = {
        "transport": np.array(["bulk"] * 4),
        "bytes": np.array([1000, 1000, 1_000_000, 5], dtype=np.uint64),
        "slowdown": np.array([1.0, 3.0, 2.0, np.nan]),
    }
    median, tail = charts.slowdown_by_size([("one", replace(run, tables={"flows": flows}))]).lines
    np.testing.assert_allclose(median.x, [1000, 1_000_000])
    np.testing.assert_allclose(median.y, [2.0, 2.0])
    assert tail.dashed
    nothing = {**flows, "slowdown": np.full(4, np.nan)}
    assert not charts.slowdown_by_size([("one", replace(run, tables={"flows": nothing}))]).lines


def test_flows_of_one_size_have_a_distribution(run: Run) -> None:
    chart = charts.completion([("one", run)])
    assert chart.title == "Completion time"
    assert chart.lines[0].y[-1] == 100


def test_seeds_are_lines_of_their_own(clearway: Clearway, small: Path) -> None:
    assert clearway("run", small, "--seeds", "2", "--out", "many").status == 0
    assert clearway("report", "many", "-o", "page.html").status == 0
    lines = chart_data(Path("page.html").read_text())[1]["lines"]
    assert len({line["label"] for line in lines}) == 2


def test_unfinished_flows_are_counted_and_never_make_a_chart_better(run: Run) -> None:
    flows = {
        "transport": np.array(["bulk"] * 4),
        "bytes": np.array([1000] * 4, dtype=np.uint64),
        "fct_us": np.array([1.0, 2.0, 3.0, np.nan]),
        "ideal_us": np.ones(4),
        "slowdown": np.array([1.0, 2.0, 3.0, np.nan]),
        "age_us": np.array([np.nan, np.nan, np.nan, 50.0]),
    }
    labelled = [("one", replace(run, tables={"flows": flows}))]
    distribution = charts.completion_cdf(labelled)
    assert distribution.lines[0].y[-1] == 75
    assert "Unfinished at the end: 1." in distribution.note
    by_size = charts.slowdown_by_size(labelled)
    assert by_size.lines[1].y[0] == pytest.approx(np.quantile([1, 2, 3, 50], 0.99))
    assert "Unfinished at the end: 1; they count with their age" in by_size.note
