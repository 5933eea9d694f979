"""`clearway plot`: what each kind draws is what the run's tables have, by arithmetic of its own."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import drawing
from clearway.errors import ClearwayError
from clearway.plotting.jobs import CELLS
from clearway.plotting.kinds import KINDS
from clearway.runs import Run
from clearway.seeds import Seeds

from tests.conftest import SMALL, Clearway, written
from tests.test_report import T_OF_3
from tests.test_sweep import swept
from tests.test_training import SCENARIO as TRAINING

pytest.importorskip("matplotlib")

SIZES = ("10kB", "30kB", "100kB")
TRAFFIC = [
    {"pattern": "incast", "transport": name, "from": "0..4", "to": 4, "bytes": size, "start": "0us..1ms"}
    for name in ("bulk", "rival")
    for size in SIZES
]
RECORD = {"queues": "20us", "windows": "20us", "rtt": "50us", "throughput": "50us", "links": "50us"}
SEVERAL: dict[str, Any] = {
    **SMALL,
    "name": "two transports",
    "duration": "8ms",
    "transport": {"bulk": {"protocol": "swift"}, "rival": {"protocol": "dctcp"}},
    "traffic": [{**table, "flows_per_pair": 3} for table in TRAFFIC],
    "record": RECORD,
}
WATCHED = {**SEVERAL, "record": {"classes": "50us", "flows": {"every": "50us", "first": 4}}}
CLASSES: dict[str, Any] = {
    **SEVERAL,
    "name": "two classes",
    "class": {"first": {}, "second": {"priority": 1}},
    "transport": {
        "bulk": {"protocol": "swift", "class": "first"},
        "rival": {"protocol": "dctcp", "class": "second"},
    },
}
LOSSLESS: dict[str, Any] = {
    **SMALL,
    "name": "lossless",
    "switch": {"default": {"pfc": "static", "pfc_xoff": "20kB"}},
    "transport": {"bulk": {"protocol": "none"}},
    "network": {"topology": "star", "hosts": 5, "rate": "10Gbps", "delay": "1us"},
}


@pytest.fixture(scope="module")
def several() -> Run:
    return cw.run(SEVERAL)


@pytest.fixture(scope="module")
def watched() -> Run:
    return cw.run(WATCHED)


@pytest.fixture(scope="module")
def lossless() -> Run:
    return cw.run(LOSSLESS)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return cw.run(written(tmp_path_factory.mktemp("training") / "training.toml", TRAINING))


def axes_of(figure: Any) -> list[Any]:
    """The axes of a figure, without those that are the key of colours."""
    return [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def lines_of(axes: Any) -> dict[str, tuple[list[float], list[float]]]:
    """The lines that were drawn on axes, by label, without those that belong to intervals."""
    return {
        str(line.get_label()).strip(): (line.get_xdata().tolist(), line.get_ydata().tolist())
        for line in axes.get_lines()
        if line.get_label() != "_nolegend_"  # the ends of intervals
    }


def plotted(item: Any, kind: str) -> Any:
    """The figure of a run, a comparison, seeds or a sweep."""
    return item.plot(kind)


def divisor(label: str) -> float:
    """What microseconds or bytes were divided by, as the label of an axis says."""
    unit = label[label.rindex("(") + 1 : label.rindex(")")]
    return {"s": 1e6, "ms": 1e3, "µs": 1.0, "MB": 1e6, "kB": 1e3, "B": 1.0}[unit]


def quantile(values: Sequence[float], share: float) -> float:
    """Interpolate linearly between the two nearest ranks."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def test_slowdowns_by_size(several: Run) -> None:
    (axes,) = plotted(several, "fct-slowdown").axes
    flows = several.flows
    found = [(line.get_label(), line.get_xdata(), line.get_ydata()) for line in axes.get_lines()]
    drawn = [(label, x, y) for label, x, y in found if label != "_nolegend_"]
    assert [label for label, *_ in drawn] == ["bulk"] * 3 + ["rival"] * 3
    assert not np.isfinite(flows["age_us"]).any(), "all are complete, so all have a slowdown"
    measures: Any = (statistics.fmean, lambda each: quantile(each, 0.5), lambda each: quantile(each, 0.99))
    for (label, x, y), measure in zip(drawn, measures * 2, strict=True):
        assert x == pytest.approx([10_000, 30_000, 100_000])
        own = (flows["transport"] == label)[:, None] & (flows["bytes"][:, None] == np.round(x))
        wanted = [measure(flows["slowdown"][own[:, place]].tolist()) for place in range(3)]
        assert y == pytest.approx(wanted, rel=1e-9)
    patterns = [line._dash_pattern for line in axes.get_lines()[:3]]
    assert len(set(map(str, patterns))) == 3
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["bulk", "rival", "mean", "median", "p99"]


def test_completion_times(several: Run) -> None:
    (axes,) = plotted(several, "fct-cdf").axes
    by = divisor(axes.get_xlabel())
    for name, (x, y) in lines_of(axes).items():
        times = sorted(several.flows["fct_us"][several.flows["transport"] == name].tolist())
        assert (x[0], y[0]) == (x[1], 0.0), "it rises from zero"
        assert [each * by for each in x[1:]] == pytest.approx(times)
        assert y[1:] == pytest.approx([100 * (rank + 1) / len(times) for rank in range(len(times))])
    assert {line.get_drawstyle() for line in axes.get_lines()} == {"steps-post"}


def test_flows_under_way_keep_a_distribution_below_all(several: Run) -> None:
    flows = {
        **several.flows,
        "fct_us": several.flows["fct_us"].copy(),
        "age_us": several.flows["age_us"].copy(),
    }
    flows["fct_us"][:9], flows["age_us"][:9] = np.nan, 100.0
    (axes,) = plotted(replace(several, tables={**several.tables, "flows": flows}), "fct-cdf").axes
    bulk = int((flows["transport"] == "bulk").sum())
    assert max(lines_of(axes)["bulk"][1]) == pytest.approx(100 * (bulk - 9) / bulk)


def test_round_trip_times(several: Run) -> None:
    (axes,) = plotted(several, "rtt-cdf").axes
    assert axes.get_xlabel() == "RTT (µs)"
    for name, (x, y) in lines_of(axes).items():
        own = several.rtt["transport"] == name
        times, counts = several.rtt["rtt_us"][own], several.rtt["count"][own].astype(float)
        assert y == pytest.approx([0.0, *(100 * counts[times <= at].sum() / counts.sum() for at in x[1:])])
        assert (max(x), max(y)) == pytest.approx((times.max(), 100.0))


def test_queue_of_the_port_with_the_longest() -> None:
    two = [
        {**SMALL["traffic"][0], "from": "2..4", "to": to, "bytes": size}
        for to, size in ((0, "100kB"), (1, "300kB"))
    ]
    several = cw.run({**SMALL, "traffic": two})
    (axes,) = plotted(several, "queue").axes
    port = several.queues["link"][np.argmax(several.queues["queue_bytes"])]
    own = several.queues["link"] == port
    assert 0 < own.sum() < len(own), "another port has a queue, too"
    ((x, y),) = lines_of(axes).values()
    assert [each * divisor(axes.get_xlabel()) for each in x] == pytest.approx(several.queues["time_us"][own])
    assert [each * divisor(axes.get_ylabel()) for each in y] == pytest.approx(
        several.queues["queue_bytes"][own]
    )
    assert max(y) > 0


def test_throughput_by_transport_and_by_class() -> None:
    run = cw.run(CLASSES)
    above, below = plotted(run, "throughput").axes
    for name, (x, y) in lines_of(above).items():
        own = run.throughput["transport"] == name
        assert [each * divisor(above.get_xlabel().split("\n")[0]) for each in x] == pytest.approx(
            run.throughput["time_us"][own]
        )
        assert y == pytest.approx(run.throughput["goodput_gbps"][own])
    rows = run.links_series
    sent = {link: rows["sent_bytes"][rows["link"] == link].sum() for link in set(rows["link"])}
    busiest = max(sent, key=lambda link: sent[link])
    drawn = lines_of(below)
    assert set(drawn) == {f"{busiest}, first", f"{busiest}, second"}
    for label, (_, y) in drawn.items():
        own = (rows["link"] == busiest) & (rows["class"] == label.split(", ")[1])
        assert y == pytest.approx(rows["sent_bytes"][own] * 8 / 50e3)
    assert [axes.get_xlabel().split("\n")[1] for axes in (above, below)] == [
        "(a) Throughput",
        "(b) Busiest port",
    ]


def test_pauses_by_link(lossless: Run) -> None:
    (axes,) = plotted(lossless, "pause").axes
    rows = lossless.table("pauses")
    shares = {
        str(link): 100 * float(paused) / lossless.summary["simulated_us"]
        for link, paused in zip(rows["link"], rows["paused_us"], strict=True)
        if paused > 0
    }
    assert shares
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert dict(zip(names, [bar.get_width() for bar in axes.patches], strict=True)) == pytest.approx(shares)
    assert list(shares.values()) != sorted(shares.values(), reverse=True), "else the order would show nothing"
    assert [shares[name] for name in names] == sorted(shares.values(), reverse=True)


def test_fairness_of_the_rates_of_flows(several: Run) -> None:
    (axes,) = plotted(several, "fairness").axes
    rows = several.windows
    transports = several.flows["transport"][rows["flow"].astype(int)]
    for name, (x, y) in lines_of(axes).items():
        wanted = {}
        for time in sorted(set(rows["time_us"].tolist())):
            own = (rows["time_us"] == time) & (transports == name) & (rows["srtt_us"] > 0)
            rates = (rows["cwnd_packets"][own] / rows["srtt_us"][own]).tolist()
            if len(rates) > 1:
                wanted[time] = sum(rates) ** 2 / len(rates) / sum(rate * rate for rate in rates)
        assert [each * divisor(axes.get_xlabel()) for each in x] == pytest.approx(list(wanted))
        assert y == pytest.approx(list(wanted.values()))
        assert min(y) < 0.99
    assert set(lines_of(axes)) == {"bulk", "rival"}


def test_fairness_of_transports_with_a_flow_each(several: Run) -> None:
    longest = [int(np.flatnonzero(several.flows["transport"] == name)[-1]) for name in ("bulk", "rival")]
    kept = np.isin(several.windows["flow"], longest)
    windows = {name: values[kept] for name, values in several.windows.items()}
    (axes,) = plotted(replace(several, tables={**several.tables, "windows": windows}), "fairness").axes
    assert len(axes.get_lines()) == 1
    assert 0.5 <= min(axes.get_lines()[0].get_ydata()) <= max(axes.get_lines()[0].get_ydata()) <= 1.0


def test_fairness_of_schemes_that_have_a_rate() -> None:
    dcqcn = {"protocol": "roce", "congestion": "dcqcn"}
    run = cw.run({**SMALL, "transport": {"bulk": dcqcn}, "switch": {"default": {"buffer": "1MB"}}})
    rows = run.windows
    assert np.isfinite(rows["rate_gbps"]).all()
    (axes,) = plotted(run, "fairness").axes
    ((x, y),) = lines_of(axes).values()
    for time, index in zip(x, y, strict=True):
        rates = rows["rate_gbps"][np.isclose(rows["time_us"], time * divisor(axes.get_xlabel()))].tolist()
        assert index == pytest.approx(sum(rates) ** 2 / len(rates) / sum(rate * rate for rate in rates))


def test_timeline_of_a_job(training: Run) -> None:
    (axes,) = plotted(training, "job-timeline").axes
    rows, by = training.table("timeline"), divisor(axes.get_xlabel())
    begin, end = rows["start_us"].min(), rows["end_us"].max()
    cell = (end - begin) / CELLS
    drawn: dict[tuple[int, bool], np.ndarray[Any, Any]] = {}
    at = begin + (np.arange(CELLS) + 0.5) * cell
    for bars in axes.collections:
        for path in bars.get_paths():
            box = path.get_extents()
            rank, computes = round((box.y0 + box.y1) / 2 + 0.01), (box.y0 + box.y1) / 2 % 1 > 0.5
            shown = drawn.setdefault((rank, bool(computes)), np.zeros(CELLS, bool))
            shown |= (at > box.x0 * by) & (at < box.x1 * by)
    assert {rank for rank, _ in drawn} == set(rows["rank"].tolist())
    for (rank, computes), shown in drawn.items():
        own = (rows["rank"] == rank) & ((rows["kind"] == "calc") == computes)
        under_way = np.zeros(CELLS, bool)
        for first, last in zip(rows["start_us"][own], rows["end_us"][own], strict=True):
            under_way |= (at + cell / 2 > first) & (at - cell / 2 < last)
        assert np.array_equal(shown, under_way)
        assert 0 < shown.mean() < 1
    legend = axes.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} <= set(rows["name"].tolist())
    assert axes.get_xlim() == pytest.approx((begin / by, end / by))


def test_load_of_links(several: Run) -> None:
    (axes,) = axes_of(plotted(several, "link-heatmap"))
    (mesh,) = axes.collections
    rows = several.links_series
    names = [text.get_text() for text in axes.get_yticklabels()]
    times = sorted(set(rows["time_us"].tolist()))
    assert sorted(names) == sorted(set(rows["link"].tolist()))
    drawn = np.asarray(mesh.get_array()).reshape(len(names), len(times))
    for link, time, load in zip(rows["link"], rows["time_us"], rows["utilisation"], strict=True):
        assert drawn[names.index(link), times.index(time)] == pytest.approx(100 * load)
    assert drawn.max() > 50
    by = divisor(axes.get_xlabel())
    edges = mesh.get_coordinates()[0, :, 0]
    assert (edges * by).tolist() == pytest.approx([times[0] - 50, *times]), (
        "a sample is of the time before it"
    )
    assert mesh.get_clim() == (0.0, 100.0)


def test_links_are_in_tiers() -> None:
    fabric = {"topology": "leaf_spine", "leaves": 2, "spines": 1, "hosts_per_leaf": 12}
    scenario = {**SMALL, "network": fabric, "record": {"links": "100us"}}
    traffic = [{"pattern": "incast", "transport": "bulk", "from": "0..23", "to": 23, "bytes": "100kB"}]
    run = cw.run({**scenario, "traffic": traffic})
    (axes,) = axes_of(plotted(run, "link-heatmap"))
    names = [text.get_text() for text in axes.get_yticklabels()]
    links = sorted(set(run.links_series["link"].tolist()))
    tiers = {"spine>tor", "tor>h", "tor>spine"}
    assert (set(names) <= set(links)) != (set(names) == tiers)
    numbers = [int(name.rpartition("h")[2]) for name in names if ">h" in name]
    assert numbers == sorted(numbers)


def test_sweeps_have_intervals_over_seeds(clearway: Clearway, workspace: Path) -> None:
    axes_text = '\n[sweep]\n"transport.bulk.base_target" = ["15us", "25us", "50us"]\nseed = [1, 2, 3]\n'
    file = swept(workspace, axes_text)
    answer = clearway("sweep", file, "--json", "--out", "there")
    assert answer.status == 0, answer.err
    sweep = cw.sweep(file)
    making = drawing.making()
    saved = making.of_sweeps(making.swept.read([Path("there")], ["there"]), ["rtt_mean_us"], 1).figure
    for figure in (plotted(sweep, "rtt_mean_us"), saved):
        (axes,) = figure.axes
        ((x, y),) = lines_of(axes).values()
        assert x == [15.0, 25.0, 50.0]
        (bars,) = axes.collections
        ends = [segment[:, 1] for segment in bars.get_segments()]
        for place, target in enumerate(("15us", "25us", "50us")):
            samples = [
                each["summary"]["rtt_mean_us"]
                for each in answer.json["points"]
                if each["overrides"]["transport.bulk.base_target"] == target
            ]
            half = T_OF_3 * statistics.stdev(samples) / math.sqrt(3)
            assert y[place] == pytest.approx(statistics.fmean(samples))
            assert ends[place] == pytest.approx([y[place] - half, y[place] + half])
            assert half > 0
        assert axes.get_ylabel() == "mean RTT (µs)"
        assert axes.get_xlabel() == "transport.bulk.base_target (µs)"


def test_sweeps_side_by_side_and_figures_as_panels(clearway: Clearway, workspace: Path) -> None:
    axes_text = '\n[sweep]\n"transport.bulk.base_target" = ["15us", "25us"]\n'
    for name, size in (("few", "100kB"), ("many", "200kB")):
        traffic = [{**SMALL["traffic"][0], "bytes": size}]
        assert clearway("sweep", swept(workspace, axes_text, traffic=traffic), "--out", name).status == 0
    making = drawing.making()
    sweeps = making.swept.read([Path("few"), Path("many")], ["few", "many"])
    figure = making.of_sweeps(sweeps, ["fct_mean_us", "goodput_gbps"], 2).figure
    assert [list(lines_of(axes)) for axes in figure.axes] == [["few", "many"]] * 2
    assert min(lines_of(figure.axes[0])["many"][1]) > max(lines_of(figure.axes[0])["few"][1])
    with pytest.raises(ClearwayError, match="few: no point has a figure fct_meen"):
        making.of_sweeps(sweeps, ["fct_meen"], 1)


def test_runs_side_by_side_are_lines_of_one_figure(several: Run) -> None:
    other = cw.run(SEVERAL, {"transport.bulk.base_target": "60us", "name": "another"})
    figure = plotted(cw.compare(several, other), "throughput")
    drawn = lines_of(figure.axes[0])
    assert list(drawn) == [
        f"{run}, {name}" for run in ("two transports", "another") for name in ("bulk", "rival")
    ]
    own = other.throughput["transport"] == "bulk"
    assert drawn["another, bulk"][1] == pytest.approx(other.throughput["goodput_gbps"][own])
    looks = {(line.get_color(), str(line._dash_pattern)) for line in figure.axes[0].get_lines()}
    assert len(looks) == 4


def test_seeds_are_a_mean_with_its_interval() -> None:
    seeds = cw.run({**SMALL, "record": {"throughput": "100us"}}, seeds=3)
    (axes,) = plotted(seeds, "throughput").axes
    rates = np.array([run.throughput["goodput_gbps"] for run in seeds.runs])
    ((_, y),) = lines_of(axes).values()
    assert y == pytest.approx(rates.mean(axis=0))
    (band,) = axes.collections
    half = T_OF_3 * rates.std(axis=0, ddof=1) / math.sqrt(3)
    corners = band.get_paths()[0].vertices[:, 1]
    assert corners.max() == pytest.approx((rates.mean(axis=0) + half).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 2])
def test_nothing_lies_on_anything_else(
    kind: str, columns: int, several: Run, watched: Run, lossless: Run, training: Run
) -> None:
    others = {"pause": lossless, "job-timeline": training, "flows": watched, "classes": watched}
    run = others.get(kind, several)
    long = [(f"{number} {'long name ' * number}", Seeds([run])) for number in (1, 4, 9)]
    figure: Any = drawing.plot_runs(long, kind, None, columns)
    figure.canvas.draw()
    assert figure.get_figwidth() == {1: 3.33, 2: 7.0}[columns]
    width, height = figure.get_figwidth() * figure.dpi, figure.get_figheight() * figure.dpi
    for axes in axes_of(figure):
        box = axes.get_window_extent()
        assert box.width > 0.4 * width
        assert box.height > 40
        assert axes.get_xlabel()
        assert "(" in axes.get_xlabel(), "a unit"
        around = axes.get_tightbbox()
        assert -1 <= around.x0 <= around.x1 <= width + 1
        assert -1 <= around.y0 <= around.y1 <= height + 1
        if axes.get_legend() is not None:
            assert axes.get_legend().get_window_extent().y0 >= box.y1 - 1
        labels = [each.get_window_extent() for each in axes.get_xticklabels() if each.get_text()]
        inside = sorted((each.x0, each.x1) for each in labels if box.x0 - 20 < each.x0 < box.x1)
        assert all(end < start for (_, end), (start, _) in pairwise(inside))


def test_a_chart_of_few_cells_is_no_special_case() -> None:
    run = cw.run({**SMALL, "record": {"links": "1ms"}})
    (axes,) = axes_of(plotted(run, "link-heatmap"))
    assert np.asarray(axes.collections[0].get_array()).size >= 2
