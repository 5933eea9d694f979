"""What the charts of a report show: columns of a run become a few hundred points a line.

Every chart is built from the tables it needs; where no run has them, it says how to record them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.runs import HOW_TO_RECORD, Run

Floats = NDArray[np.float64]
Labelled = Sequence[tuple[str, Run]]

_POINTS = 900  # of a line: more than a chart has pixels to show
_POINTS_OF_ALL = 40_000  # of all lines of a chart: keeps a page with many runs small
_CDF_POINTS = 300
_SIZE_BINS = 24


@dataclass(frozen=True)
class Line:
    """One line of a chart."""

    label: str
    run: int
    """The index of the run that it belongs to, which gives the colour."""
    x: Floats
    y: Floats
    dashed: bool = False
    scatter: bool = False
    """Whether its points are all there is of it: no line joins them."""

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script reads; five digits are more than a pixel shows."""
        return {
            "label": self.label,
            "run": self.run,
            "x": [float(f"{value:.6g}") for value in self.x],
            "y": [float(f"{value:.5g}") for value in self.y],
            "dashed": self.dashed,
            "scatter": self.scatter,
        }


@dataclass(frozen=True)
class Chart:
    """Axes and lines, or what to do to get some."""

    title: str
    note: str
    x: str
    y: str
    lines: Sequence[Line] = field(default_factory=list)
    remedy: str = ""
    """The text that is shown where there are no lines."""
    log_x: bool = False
    log_y: bool = False
    points: bool = False
    """Whether each point is worth a mark: true where they are few."""
    zoom: bool = False
    """Whether y begins near its smallest value and not at zero."""
    time: bool = False
    """Whether x is simulated time, which the cursor shares between charts."""

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script reads."""
        return {
            "x": self.x,
            "y": self.y,
            "logX": self.log_x,
            "logY": self.log_y,
            "points": self.points,
            "zoom": self.zoom,
            "time": self.time,
            "lines": [line.as_json() for line in self.lines],
        }


def charts(runs: Labelled) -> list[Chart]:
    """Return all charts of a report, in the order of the page."""
    return [completion(runs), rtt_cdf(runs), queue(runs), throughput(runs), rtt_over_time(runs)]


def completion(runs: Labelled) -> Chart:
    """Completion by size; as a distribution where all flows that completed are of one size."""
    sizes: set[int] = set()
    for _, _, _, flows in _by_transport(runs, "flows"):
        sizes.update(np.unique(flows["bytes"][np.isfinite(flows["fct_us"])]).tolist())
    return completion_cdf(runs) if len(sizes) == 1 else slowdown_by_size(runs)


def completion_cdf(runs: Labelled) -> Chart:
    """Cumulative distribution of completion times."""
    lines, unfinished = [], 0
    for index, label, transport, flows in _by_transport(runs, "flows"):
        done = flows["fct_us"][np.isfinite(flows["fct_us"])]
        under_way = int(np.isfinite(_ages(flows)).sum())
        unfinished += under_way
        if len(done):
            times, shares = _cumulative(done, np.ones(len(done)))
            known = len(done) / (len(done) + under_way)
            lines.append(Line(_line_label(label, transport), index, times, shares * known))
    divisor, unit = _time_unit(lines, lambda line: line.x)
    return Chart(
        "Completion time",
        "Share of flows that are known to have taken at most this long." + _under_way(unfinished),
        f"completion time ({unit})",
        "share of flows (%)",
        [_scaled(line, x=divisor) for line in lines],
    )


def slowdown_by_size(runs: Labelled) -> Chart:
    """Completion time over the ideal one, by flow size: median and p99 of each bin."""
    lines, unfinished = [], 0
    for index, label, transport, flows in _by_transport(runs, "flows"):
        done = np.isfinite(flows["slowdown"]) & (flows["bytes"] > 0)
        under_way = np.isfinite(_ages(flows))
        unfinished += int(under_way.sum())
        if not done.any():
            continue
        slowdowns = flows["slowdown"].copy()
        if under_way.any():
            slowdowns[under_way] = np.maximum(_ages(flows)[under_way] / flows["ideal_us"][under_way], 1)
        there = done | under_way
        sizes, of_median, of_tail = _by_size(flows["bytes"][there].astype(float), slowdowns[there])
        name = _line_label(label, transport)
        lines.append(Line(f"{name} median", index, sizes, of_median))
        lines.append(Line(f"{name} p99", index, sizes, of_tail, dashed=True))
    spread = _largest(lines, lambda line: line.y) > 20 * _smallest(lines, lambda line: line.y)
    return Chart(
        "Completion time by flow size",
        "Slowdown: completion time over that of an empty network. Line: median; dashed: 99th percentile."
        + _under_way(unfinished, "; they count with their age, so the lines are lower bounds where they are"),
        "flow size (bytes)",
        "slowdown (times ideal)",
        lines,
        "No flow of known size completed: give [[traffic]] a size, or run for longer.",
        log_x=True,
        log_y=spread,
        points=True,
    )


def rtt_cdf(runs: Labelled) -> Chart:
    """Cumulative distribution of round-trip times."""
    lines = []
    for index, label, transport, rtt in _by_transport(runs, "rtt"):
        if rtt["count"].sum() > 0:
            times, shares = _cumulative(rtt["rtt_us"].astype(float), rtt["count"].astype(float))
            lines.append(Line(_line_label(label, transport), index, times, shares))
    return Chart(
        "Round-trip time",
        "Share of packets with at most this round-trip time.",
        "RTT (us)",
        "share of packets (%)",
        lines,
        "No packet was acknowledged after the warm-up: run for longer.",
        log_x=True,
    )


def queue(runs: Labelled) -> Chart:
    """Bytes waiting over time at the port of each run that had the most."""
    lines = []
    for index, (label, run) in enumerate(runs):
        samples = run.tables.get("queues")
        if samples is None or len(samples["queue_bytes"]) == 0:
            continue
        busiest = samples["link"][int(np.argmax(samples["queue_bytes"]))]
        at = samples["link"] == busiest
        times, depths = _thinned(
            samples["time_us"][at].astype(float), samples["queue_bytes"][at].astype(float), len(runs), np.max
        )
        lines.append(Line(f"{label}, {busiest}", index, times, depths))
    return _over_time(
        runs,
        "Queue",
        "Bytes waiting at the port of each run whose queue was the longest; peaks are kept.",
        "queue",
        lines,
        HOW_TO_RECORD["queues"],
        _byte_unit(lines, lambda line: line.y),
    )


def throughput(runs: Labelled) -> Chart:
    """Payload delivered over time."""
    lines = []
    for index, label, transport, samples in _by_transport(runs, "throughput"):
        times, rates = _thinned(samples["time_us"], samples["goodput_gbps"], len(runs), np.mean)
        lines.append(Line(_line_label(label, transport), index, times, rates))
    return _over_time(
        runs,
        "Throughput",
        "Payload delivered, all flows of a transport together.",
        "goodput",
        lines,
        HOW_TO_RECORD["throughput"],
        (1.0, "Gb/s"),
    )


def rtt_over_time(runs: Labelled) -> Chart:
    """Mean and largest round-trip time over time."""
    lines = []
    for index, label, transport, samples in _by_transport(runs, "rtt_series"):
        name = _line_label(label, transport)
        for column, merge, dashed in (("rtt_mean_us", np.mean, False), ("rtt_max_us", np.max, True)):
            there = np.isfinite(samples[column])
            times, rtts = _thinned(samples["time_us"][there], samples[column][there], 2 * len(runs), merge)
            lines.append(Line(f"{name} {'largest' if dashed else 'mean'}", index, times, rtts, dashed=dashed))
    return _over_time(
        runs,
        "Round-trip time over time",
        "Line: mean; dashed: largest in each interval.",
        "RTT",
        [line for line in lines if len(line.x)],
        HOW_TO_RECORD["rtt_series"],
        _time_unit(lines, lambda line: line.y),
    )


def _over_time(
    runs: Labelled,
    title: str,
    note: str,
    what: str,
    lines: Sequence[Line],
    record: str,
    unit: tuple[float, str],
) -> Chart:
    divisor, time_unit = _time_unit(lines, lambda line: line.x)
    drawn = {line.run for line in lines}
    without = [label for index, (label, _) in enumerate(runs) if index not in drawn]
    return Chart(
        title,
        f"{note} Not recorded by {', '.join(without)}: {record}." if lines and without else note,
        f"simulated time ({time_unit})",
        f"{what} ({unit[1]})",
        [_scaled(line, x=divisor, y=unit[0]) for line in lines],
        f"Not recorded: {record}.",
        time=True,
    )


def _by_transport(runs: Labelled, table: str) -> Iterator[tuple[int, str, str, Mapping[str, NDArray[Any]]]]:
    """Yield the rows of each transport of each run; the transport's name only where a run has several."""
    for index, (label, run) in enumerate(runs):
        rows = run.tables.get(table)
        if rows is None:
            continue
        names = np.unique(rows["transport"])
        for name in names:
            chosen = rows["transport"] == name
            yield (
                index,
                label,
                str(name) if len(names) > 1 else "",
                {column: values[chosen] for column, values in rows.items()},
            )


def _ages(flows: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return how old each flow was that was under way at the end; NaN for the others."""
    ages = flows.get("age_us")
    return np.full(len(flows["bytes"]), np.nan) if ages is None else ages


def _under_way(flows: int, consequence: str = "") -> str:
    """Say how many flows were unfinished, and what follows from that."""
    return f" Unfinished at the end: {flows:,}{consequence}." if flows else ""


def _line_label(label: str, transport: str) -> str:
    return f"{label}, {transport}" if transport else label


def _by_size(sizes: Floats, slowdowns: Floats) -> tuple[Floats, Floats, Floats]:
    """Bin by size: one bin a size where there are few sizes, logarithmic bins where there are many."""
    distinct = np.unique(sizes)
    if len(distinct) <= _SIZE_BINS:
        edges = distinct
    else:
        edges = np.geomspace(distinct[0], distinct[-1], _SIZE_BINS + 1)[:-1]
    # Rounding of the first edge must not leave the smallest size without a bin.
    bins = np.maximum(np.searchsorted(edges, sizes, side="right") - 1, 0)
    used = np.unique(bins)
    chosen = [bins == number for number in used]
    centres = np.array([np.exp(np.log(sizes[rows]).mean()) for rows in chosen])
    medians = np.array([np.quantile(slowdowns[rows], 0.5) for rows in chosen])
    tails = np.array([np.quantile(slowdowns[rows], 0.99) for rows in chosen])
    return centres, medians, tails


def _cumulative(times: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Turn a histogram into a cumulative distribution in per cent, thinned where it hardly rises."""
    order = np.argsort(times)
    times, counts = times[order], counts[order]
    there = np.flatnonzero(counts)
    # The bin before the first that is used: where the distribution leaves zero.
    there = np.concatenate((there[:1] - 1, there)) if there[0] > 0 else there
    shares = 100 * np.cumsum(counts) / counts.sum()
    times, shares = times[there], shares[there]
    if len(times) > _CDF_POINTS:
        by_share = np.searchsorted(shares, np.linspace(0, 100, _CDF_POINTS // 2))
        by_place = np.linspace(0, len(times) - 1, _CDF_POINTS // 2).astype(int)
        kept = np.unique(np.clip(np.concatenate((by_share, by_place)), 0, len(times) - 1))
        times, shares = times[kept], shares[kept]
    return times, shares


def _thinned(times: Floats, values: Floats, lines: int, merge: Callable[..., Any]) -> tuple[Floats, Floats]:
    """Merge neighbours so that a line has no more points than can be seen."""
    points = max(100, min(_POINTS, _POINTS_OF_ALL // max(lines, 1)))
    together = -(-len(times) // points)
    if together <= 1:
        return times, values
    starts = range(0, len(times), together)
    merged = np.array([merge(values[start : start + together]) for start in starts])
    return times[::together], merged


def _scaled(line: Line, x: float = 1.0, y: float = 1.0) -> Line:
    return Line(line.label, line.run, line.x / x, line.y / y, line.dashed, line.scatter)


def _time_unit(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> tuple[float, str]:
    largest = _largest(lines, axis)
    return next((unit for unit in ((1e6, "s"), (1e3, "ms")) if largest >= 2 * unit[0]), (1.0, "us"))


def _byte_unit(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> tuple[float, str]:
    largest = _largest(lines, axis)
    units = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    return next((unit for unit in units if largest >= 2 * unit[0]), (1.0, "B"))


def _largest(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> float:
    return max((float(axis(line).max()) for line in lines if len(line.x)), default=0.0)


def _smallest(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> float:
    return min((float(axis(line).min()) for line in lines if len(line.x)), default=0.0)
