"""`clearway report`: one page, complete in itself, whatever the runs are called and have recorded."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import documents, report
from clearway.report import charts
from clearway.report.chart import Line, coinciding
from clearway.report.recorded import recorded
from clearway.report.slowdowns import slowdowns
from clearway.runs import HOW_TO_RECORD, Run
from clearway.seeds import Seeds

from tests.conftest import SMALL, Clearway, written


def chart_data(page: str) -> list[dict[str, Any]]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    value = json.loads(found.group(1))
    assert isinstance(value, list)
    return value


CENSORED = {
    "transport": np.array(["bulk"] * 4),
    "bytes": np.array([1000] * 4, dtype=np.uint64),
    "fct_us": np.array([1.0, 2.0, 3.0, np.nan]),
    "ideal_us": np.ones(4),
    "slowdown": np.array([1.0, 2.0, 3.0, np.nan]),
    "age_us": np.array([np.nan, np.nan, np.nan, 50.0]),
}
T_OF_3 = 4.302652729911275  # the 97.5 % quantile of Student's t with two degrees of freedom


def with_tables(run: Run, **tables: dict[str, Any]) -> tuple[str, Seeds]:
    return "one", Seeds([replace(run, tables=tables)])


def several_transports(workspace: Path, names: list[str]) -> Path:
    transports = {name: {"protocol": "swift"} for name in names}
    traffic = [
        {**SMALL["traffic"][0], "transport": name, "bytes": f"{50 * (number + 1)}kB"}
        for number, name in enumerate(names)
    ]
    return written(workspace / "several.toml", {**SMALL, "transport": transports, "traffic": traffic})


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
    chart = charts.queue([with_tables(run, queues=queues)])
    assert chart.lines[0].y.max() == 1000  # kB
    assert len(chart.lines[0].y) <= 1000


def test_an_idle_time_is_drawn_at_zero(workspace: Path) -> None:
    """Two bursts with a pause between them: the samples of nothing are in the table."""
    bursts = [
        {"pattern": "incast", "from": "0..3", "to": 3, "bytes": "30kB", "start": start}
        for start in ("0us", "500us")
    ]
    record = {"queues": "10us", "links": "10us"}
    paused = cw.run(written(workspace / "paused.toml", {**SMALL, "traffic": bursts, "record": record}))
    (line,) = charts.queue([("", Seeds([paused]))]).lines
    (port,) = next(
        chart.lines for chart in recorded([("", Seeds([paused]))]) if chart.title == "Busiest port"
    )
    for drawn in (line, port):
        pause = (drawn.x > 0.2) & (drawn.x < 0.5 - 1e-9)  # ms
        assert pause.sum() == 29
        assert not drawn.y[pause].any()
        assert drawn.y[drawn.x > 0.5].max() == drawn.y.max() > 0


def test_cdf_ends_at_all_and_is_right_at_the_median(run: Run) -> None:
    rtt = {
        "transport": np.full(1000, "bulk"),
        "rtt_us": np.arange(1, 1001, dtype=float),
        "count": np.ones(1000, dtype=np.uint64),
    }
    (line,) = charts.rtt_cdf([with_tables(run, rtt=rtt)]).lines
    assert line.y[-1] == 100
    assert np.interp(500, line.x, line.y) == pytest.approx(50, abs=0.5)
    assert (np.diff(line.y) >= 0).all()


def test_slowdown_by_size_ignores_flows_that_did_not_complete(run: Run) -> None:
    flows = {
        "transport": np.array(["bulk"] * 4),
        "bytes": np.array([1000, 1000, 1_000_000, 5], dtype=np.uint64),
        "slowdown": np.array([1.0, 3.0, 2.0, np.nan]),
    }
    median, tail = charts.slowdown_by_size([with_tables(run, flows=flows)]).lines
    np.testing.assert_allclose(median.x, [1000, 1_000_000])
    np.testing.assert_allclose(median.y, [2.0, 2.0])
    assert (median.thin, tail.thin) == (False, True)
    nothing = {**flows, "slowdown": np.full(4, np.nan)}
    assert not charts.slowdown_by_size([with_tables(run, flows=nothing)]).lines


def test_flows_of_one_size_have_a_distribution(run: Run) -> None:
    chart = charts.completion([("one", Seeds([run]))])
    assert chart.title == "Completion time"
    assert chart.lines[0].y[-1] == 100


def test_seeds_are_one_line_with_an_interval(clearway: Clearway, small: Path) -> None:
    assert clearway("run", small, "--seeds", "3", "--out", "many").status == 0
    assert clearway("report", "many", "-o", "page.html").status == 0
    page = Path("page.html").read_text()
    runs = [cw.load_run(f"many/seed-{seed}") for seed in (7, 8, 9)]
    goodputs = np.array([run.throughput["goodput_gbps"][:5] for run in runs if isinstance(run, Run)])
    (line,) = next(chart for chart in chart_data(page) if "goodput" in chart["y"])["lines"]
    np.testing.assert_allclose(line["y"][:5], goodputs.mean(axis=0), rtol=1e-4)
    halves = T_OF_3 * goodputs.std(axis=0, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(line["high"][:5], goodputs.mean(axis=0) + halves, rtol=1e-4)
    for chart in chart_data(page):
        assert len({line["label"] for line in chart["lines"]}) == len(chart["lines"])
        assert all("low" in line for line in chart["lines"] if not line["thin"])
    assert "3 seeds" in page
    assert re.search(r"mean RTT</th><td>[\d.]+ ± [\d.]+ us", page)
    assert all(run.digest in page for run in runs if isinstance(run, Run))


def test_several_seeds_beside_a_run(clearway: Clearway, small: Path) -> None:
    assert clearway("run", small, "--seeds", "2", "--out", "many").status == 0
    assert clearway("run", small, "--seed", "9", "--out", "one").status == 0
    assert clearway("report", "many", "one", "-o", "page.html").status == 0
    page = Path("page.html").read_text()
    for chart in chart_data(page):
        assert {line["run"] for line in chart["lines"]} == {0, 1}
    assert page.count("data-run=") == 2


def test_unfinished_flows_are_counted_and_never_make_a_chart_better(run: Run) -> None:
    labelled = [with_tables(run, flows=CENSORED)]
    distribution = charts.completion_cdf(labelled)
    assert distribution.lines[0].y[-1] == 75
    assert "Unfinished at the end: 1." in distribution.note
    by_size = charts.slowdown_by_size(labelled)
    assert by_size.lines[1].y[0] == pytest.approx(np.quantile([1, 2, 3, 50], 0.99))
    assert "Unfinished at the end: 1; they count with their age" in by_size.note


def test_transports_of_a_run_differ_in_colour_and_dash(clearway: Clearway, workspace: Path) -> None:
    names = ["first", "second", "third"]
    assert clearway("run", several_transports(workspace, names), "--out", "there").status == 0
    assert clearway("report", "there", "-o", "page.html").status == 0
    page = Path("page.html").read_text()
    for chart in chart_data(page):
        looks = {(line["colour"], line["dash"]) for line in chart["lines"]}
        if len(chart["lines"]) >= 3:
            assert len(looks) == 3
            assert len({colour for colour, _ in looks}) == len({dash for _, dash in looks}) == 3
    assert re.search("<th scope=.col.><i class=.swatch. [^>]*series-2[^>]*></i>second</th>", page)


def test_many_lines_of_one_colour_differ_in_dash(run: Run) -> None:
    lines = charts.throughput([(str(number), Seeds([run])) for number in range(20)]).lines
    assert len({(line.colour, line.dash) for line in lines}) == 20


def test_lines_that_coincide_say_so(run: Run) -> None:
    other = replace(
        run, tables={"throughput": {**run.throughput, "goodput_gbps": run.throughput["goodput_gbps"] / 2}}
    )
    groups = [("one", Seeds([run])), ("two", Seeds([run])), ("half", Seeds([other]))]
    assert charts.throughput(groups).full_note.endswith("Lines that coincide: “one” and “two”.")
    assert "coincide" not in charts.throughput(groups[1:]).full_note
    page = report.page(groups)
    assert "Lines that coincide: “one” and “two”." in page


def test_lines_a_few_pixels_apart_do_not_coincide() -> None:
    x = np.linspace(1.0, 100.0, 500)
    flat, near, far = (
        Line(name, colour, x, np.sqrt(x) * factor)
        for colour, (name, factor) in enumerate({"flat": 1.0, "near": 1.002, "far": 1.05}.items())
    )
    assert coinciding([flat, near, far]) == [["flat", "near"]]
    # On a logarithmic axis what is small counts as much as what is large.
    small = Line("small", 3, x, np.where(x < 50, 1e-3, 1.0) * np.sqrt(x))
    smaller = Line("smaller", 4, x, np.where(x < 50, 1e-4, 1.0) * np.sqrt(x))
    assert coinciding([small, smaller]) == [["small", "smaller"]]
    assert coinciding([small, smaller], log_y=True) == []


def test_windows_operations_and_links_have_charts(clearway: Clearway, workspace: Path) -> None:
    loops = [
        {
            "pattern": "closed_loop",
            "transport": name,
            "from": "0..4",
            "to": 4,
            "operation": "write",
            "bytes": "20kB",
        }
        for name in ("bulk", "other")
    ]
    file = written(
        workspace / "loops.toml",
        {
            **SMALL,
            "transport": {"bulk": {"protocol": "swift"}, "other": {"protocol": "dctcp"}},
            "traffic": loops,
            "record": {"windows": "50us", "operations": True, "links": "100us"},
            "probe": [{"from": 0, "to": 4, "interval": "100us"}],
        },
    )
    assert clearway("run", file, "--out", "there").status == 0
    run = cw.load_run("there")
    assert isinstance(run, Run)
    by_title = {chart.title: chart for chart in recorded([("one", Seeds([run]))])}
    assert list(by_title) == [
        "Congestion window",
        "Latency of operations",
        "Busiest port",
        "Round trips of probes",
    ]
    median, low, high = by_title["Congestion window"].lines[:3]
    assert [line.label for line in (median, low, high)] == ["bulk, median", "bulk, p10", "bulk, p90"]
    of_bulk = np.isin(run.windows["flow"], run.flows["flow"][run.flows["transport"] == "bulk"])
    at = of_bulk & (run.windows["time_us"] == 1000.0)
    windows = np.sort(run.windows["cwnd_packets"][at])
    assert windows[0] < windows[-1]
    assert [line.y[line.x == 1.0][0] for line in (low, median, high)] == list(windows[[0, 2, 3]])
    latencies = by_title["Latency of operations"]
    assert [line.label for line in latencies.lines] == ["bulk", "other"]
    assert (
        f"Unfinished at the end: {int(np.isfinite(run.operations['age_us']).sum() / 2)} of bulk"
        in latencies.note
    )
    (port,) = by_title["Busiest port"].lines
    sent = run.links_series["sent_bytes"][run.links_series["link"] == port.label]
    np.testing.assert_allclose(port.y, sent * 8 / 100e3)
    assert port.label.endswith("h4")
    assert clearway("report", "there", "-o", "page.html").status == 0
    page = Path("page.html").read_text()
    assert all(f"<h2>{title}</h2>" in page for title in by_title)


def test_drops_have_a_chart_where_there_are_any(run: Run) -> None:
    assert "Drops over time" not in [chart.title for chart in recorded([("one", Seeds([run]))])]
    links = {
        "time_us": np.repeat([1000.0, 2000.0, 3000.0], 2),
        "link": np.tile(["a->b", "c->d"], 3),
        "class": np.full(6, ""),
        "sent_bytes": np.array([1000, 2000, 0, 0, 3000, 0], dtype=np.uint64),
        "dropped_bytes": np.array([125_000, 125_000, 0, 0, 500_000, 0], dtype=np.uint64),
    }
    of_ms = replace(run, scenario={**run.scenario, "record": {"links": "1ms"}})
    (dropped,) = next(
        chart.lines
        for chart in recorded([with_tables(of_ms, links_series=links)])
        if chart.title == "Drops over time"
    )
    np.testing.assert_allclose(dropped.x, [1, 2, 3])
    np.testing.assert_allclose(dropped.y, [2, 0, 4])


def test_slowdowns_are_in_a_table_by_size(run: Run) -> None:
    flows = {
        "transport": np.array(["bulk"] * 7),
        "bytes": np.array([1000] * 4 + [50_000] * 3, dtype=np.uint64),
        "fct_us": np.array([1.0, 2.0, 3.0, np.nan, 8.0, 9.0, 10.0]),
        "ideal_us": np.ones(7),
        "slowdown": np.array([1.0, 2.0, 3.0, np.nan, 8.0, 9.0, 10.0]),
        "age_us": np.array([np.nan] * 3 + [50.0] + [np.nan] * 3),
    }
    found = slowdowns([with_tables(run, flows=flows)])
    assert [(size, fared[0].cells()) for size, fared in found] == [
        ("1 kB", ["4", "1", "≥ 14", "2", "≥ 50"]),
        ("50 kB", ["3", "0", "9", "9", "10"]),
    ]
    page = report.page([("one", replace(run, tables={**run.tables, "flows": flows}))])
    assert ">1 kB</th>" in page
    assert "<td>≥ 14</td><td>2</td><td>≥ 50</td>" in page
    many = {
        "transport": np.array(["bulk"] * 20),
        "bytes": np.arange(100, 2100, 100, dtype=np.uint64),
        "slowdown": np.ones(20),
    }
    sizes = [(size, fared[0].flows.mean) for size, fared in slowdowns([with_tables(run, flows=many)])]
    assert sizes == [("100 B to 1 kB", 9), ("1 kB to 10 kB", 11)]


def test_slowdowns_agree_with_the_summary(run: Run) -> None:
    ((_, (fared,)),) = slowdowns([("one", Seeds([run]))])
    assert fared.median.mean == pytest.approx(run.summary["slowdown_p50"])
    assert fared.tail.mean == pytest.approx(run.summary["slowdown_p99"])
    assert fared.mean.mean == pytest.approx(run.summary["slowdown_mean"])


def test_the_scenario_is_in_the_page_and_runs_as_it_stands(run: Run) -> None:
    page = report.page(
        [("one", run), ("two", replace(run, name="again", scenario={**run.scenario, "seed": 8}))]
    )
    (text,) = re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)
    assert "<details>" in page
    assert "As one, but for name and seed." in page
    assert cw.run(unescape(text)).digest == run.digest


def test_keys_that_only_some_scenarios_have_are_folded_away(run: Run) -> None:
    other = replace(run, scenario={**run.scenario, "duration": "3ms", "host": {"slow": {"model": "snap"}}})
    page = report.page([("one", run), ("two", other)])
    before, inside = page.split("keys that not all of them have</summary>")
    assert "<code>duration</code>" in before
    assert "<code>host.slow.model</code>" in inside
    assert "<code>host.slow.model</code>" not in before


def test_a_document_in_tables_reads_as_it_was() -> None:
    document = {
        "a": 1,
        "list": [1, 2],
        "one": {"b": "x", "two": {"c": {"d": True}}, "empty": {}},
        "entries": [{"e": 1, "inner": {"f": 2}}, {}, {"e": 3, "more": [{"g": 1}]}],
    }
    assert documents.parse(documents.tables_of(document), "text") == document


def test_a_flow_that_there_is_not_is_an_error_with_its_table(run: Run) -> None:
    windows = {**run.windows, "flow": run.windows["flow"] + np.uint64(4)}
    broken = replace(run, tables={**run.tables, "windows": windows})
    with pytest.raises(cw.ClearwayError, match="table windows: flow 7 is none of 4"):
        report.page([("one", broken)])
