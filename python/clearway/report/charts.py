"""What the charts of a report show: columns of a run become a few hundred points a line.

Every chart is built from the tables it needs; where no run has them, it says how to record them. A line of
several seeds is their mean, with its 95 % interval as a band.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.chart import Chart, Floats, Line
from clearway.report.sources import (
    Labelled,
    Source,
    aligned,
    by_run,
    by_transport,
    over_seeds,
    thinned,
    without,
)
from clearway.runs import HOW_TO_RECORD

_CDF_POINTS = 300
_SIZE_BINS = 24

Distribution = tuple[Floats, Floats, float]
"""Times, how often each was, and how many more there are of which the time is not known."""

Statistic = Callable[[Floats], float]

STATISTICS: Mapping[str, Statistic] = {
    "mean": lambda values: float(np.mean(values)),
    "median": lambda values: float(np.quantile(values, 0.5)),
    "p99": lambda values: float(np.quantile(values, 0.99)),
}
"""The statistics of the slowdowns of flows of a size, by name."""


def charts(groups: Labelled) -> list[Chart]:
    """Return the charts of what every run has or may sample, in the order of the page."""
    return [completion(groups), rtt_cdf(groups), queue(groups), throughput(groups), rtt_over_time(groups)]


def completion(groups: Labelled) -> Chart:
    """Completion by size; as a distribution where all flows that completed are of one size."""
    sizes: set[int] = set()
    for source in by_transport(groups, "flows"):
        for flows in source.tables:
            sizes.update(np.unique(flows["bytes"][np.isfinite(flows["fct_us"])]).tolist())
    return completion_cdf(groups) if len(sizes) == 1 else slowdown_by_size(groups)


def completion_cdf(groups: Labelled) -> Chart:
    """Cumulative distribution of completion times."""
    lines, unfinished = how_long(groups, "flows", "fct_us")
    divisor, unit = time_unit(lines, lambda line: line.x)
    return Chart(
        "Completion time",
        "Share of flows that are known to have taken at most this long." + unfinished,
        f"completion time ({unit})",
        "share of flows (%)",
        [scaled(line, x=divisor) for line in lines],
        "No flow of known size completed: give [[traffic]] a size, or run for longer.",
    )


def slowdown_by_size(groups: Labelled) -> Chart:
    """Completion time over the ideal one, by flow size: median and p99 of each bin."""
    found, unfinished = by_flow_size(groups, {name: STATISTICS[name] for name in ("median", "p99")})
    lines = [replace(line, thin=name == "p99") for name, _, line in found]
    return slowdown_chart(lines, "Thick: median; thin: 99th percentile.", unfinished)


def by_flow_size(
    groups: Labelled, statistics: Mapping[str, Statistic]
) -> tuple[list[tuple[str, Source, Line]], str]:
    """Draw statistics of slowdowns by flow size, each with its name and source; say what was unfinished."""
    found: list[tuple[str, Source, Line]] = []
    unfinished = []
    for source in by_transport(groups, "flows"):
        seeds = [sized(flows) for flows in source.tables]
        unfinished.append((source.label, _unfinished(source)))
        if not any(len(sizes) for sizes, _ in seeds) or not _completed(source):
            continue
        edges = size_edges(np.concatenate([sizes for sizes, _ in seeds]))
        for name, statistic in statistics.items():
            sizes, values = _by_size(seeds, edges, statistic)
            each = over_seeds(values)
            label = source.named(name).label
            found.append(
                (name, source, source.look.line(label, sizes, each.mean, low=each.low, high=each.high))
            )
    lower_bounds = "; they count with their age, so the lines are lower bounds where they are"
    return found, under_way(unfinished, lower_bounds)


def slowdown_chart(lines: Sequence[Line], key: str, unfinished: str) -> Chart:
    """Make the chart of slowdowns by flow size; `key` says which line is which statistic."""
    spread = largest(lines, lambda line: line.y) > 20 * _smallest(lines, lambda line: line.y)
    return Chart(
        "Completion time by flow size",
        f"Slowdown: completion time over that of an empty network. {key}{unfinished}",
        "flow size (bytes)",
        "slowdown (times ideal)",
        lines,
        "No flow of known size completed: give [[traffic]] a size, or run for longer.",
        log_x=True,
        log_y=spread,
        points=True,
    )


def rtt_cdf(groups: Labelled) -> Chart:
    """Cumulative distribution of round-trip times."""
    lines: list[Line] = []
    for source in by_transport(groups, "rtt"):
        seeds = [(rtt["rtt_us"].astype(float), rtt["count"].astype(float), 0.0) for rtt in source.tables]
        lines.extend(distribution(source, seeds))
    return Chart(
        "Round-trip time",
        "Share of packets with at most this round-trip time.",
        "RTT (us)",
        "share of packets (%)",
        lines,
        "No packet was acknowledged after the warm-up: run for longer.",
        log_x=True,
    )


def queue(groups: Labelled) -> Chart:
    """Bytes waiting over time at the port of each run that had the most."""
    lines = []
    for source in by_run(groups, "queues"):
        port = _port_of_most(source.tables[0]) if len(source.tables) == 1 else None
        seeds = [_deepest(rows, port) for rows in source.tables]
        lines.extend(series(source.named(port or "the longest"), seeds, np.nanmax, len(groups)))
    seeds_too = any(len(group.runs) > 1 for _, group in groups)
    of_seeds = "; of several seeds, at the port whose queue is the longest at the time" if seeds_too else ""
    return over_time(
        groups,
        "Queue",
        f"Bytes waiting at the port whose queue was the longest of the run{of_seeds}. Peaks are kept.",
        "queue",
        lines,
        "queues",
        byte_unit(lines, lambda line: line.y),
    )


def throughput(groups: Labelled) -> Chart:
    """Payload delivered over time."""
    lines: list[Line] = []
    for source in by_transport(groups, "throughput"):
        seeds = [(rows["time_us"], rows["goodput_gbps"]) for rows in source.tables]
        lines.extend(series(source, seeds, np.nanmean, len(groups)))
    return over_time(
        groups,
        "Throughput",
        "Payload delivered, all flows of a transport together.",
        "goodput",
        lines,
        "throughput",
        (1.0, "Gb/s"),
    )


def rtt_over_time(groups: Labelled) -> Chart:
    """Mean and largest round-trip time over time."""
    lines: list[Line] = []
    for source in by_transport(groups, "rtt_series"):
        for column, name, merge in (
            ("rtt_mean_us", "mean", np.nanmean),
            ("rtt_max_us", "largest", np.nanmax),
        ):
            seeds = []
            for rows in source.tables:
                there = np.isfinite(rows[column])
                seeds.append((rows["time_us"][there], rows[column][there]))
            drawn = series(source.named(name), seeds, merge, 2 * len(groups))
            lines.extend(replace(line, thin=name == "largest") for line in drawn)
    return over_time(
        groups,
        "Round-trip time over time",
        "Thick: mean; thin: largest in each interval.",
        "RTT",
        lines,
        "rtt_series",
        time_unit(lines, lambda line: line.y),
    )


def how_long(groups: Labelled, table: str, column: str) -> tuple[list[Line], str]:
    """Draw the distribution of how long flows or operations took, and say how many were unfinished."""
    lines: list[Line] = []
    unfinished = []
    for source in by_transport(groups, table):
        seeds: list[Distribution] = []
        for rows in source.tables:
            done = rows[column][np.isfinite(rows[column])]
            seeds.append((done, np.ones(len(done)), float(np.isfinite(ages(rows)).sum())))
        unfinished.append((source.label, sum(open_ for *_, open_ in seeds)))
        lines.extend(distribution(source, seeds))
    return lines, under_way(unfinished)


def distribution(source: Source, seeds: Iterable[Distribution]) -> list[Line]:
    """Draw the cumulative distribution of each seed's times, as one line; none where nothing has a time."""
    some = [(times, counts, open_) for times, counts, open_ in seeds if counts.sum() > 0]
    if not some:
        return []
    every = np.concatenate([times for times, *_ in some])
    at = _places(every, np.concatenate([counts for _, counts, _ in some]))
    values = np.vstack([_shares(times, counts, open_, at) for times, counts, open_ in some])
    found = over_seeds(values)
    high = None if found.high is None else np.minimum(found.high, 100.0)
    return [source.look.line(source.label, at, found.mean, low=found.low, high=high)]


def series(
    source: Source, seeds: Sequence[tuple[Floats, Floats]], merge: Callable[..., Any], lines: int
) -> list[Line]:
    """Draw what was sampled over time, each seed's times and values, as one line; no line of no samples."""
    some = [(times, values) for times, values in seeds if len(times)]
    if not some:
        return []
    times, values = thinned(*aligned(some), lines, merge)
    found = over_seeds(values)
    return [source.look.line(source.label, times, found.mean, low=found.low, high=found.high)]


def over_time(
    groups: Labelled,
    title: str,
    note: str,
    what: str,
    lines: Sequence[Line],
    table: str,
    unit: tuple[float, str],
) -> Chart:
    """Make the chart of a sampled table, with the best units."""
    divisor, of_time = time_unit(lines, lambda line: line.x)
    missing = without(groups, table)
    record = HOW_TO_RECORD[table]
    return Chart(
        title,
        f"{note} Not recorded by {', '.join(missing)}: {record}." if lines and missing else note,
        f"simulated time ({of_time})",
        f"{what} ({unit[1]})",
        [scaled(line, x=divisor, y=unit[0]) for line in lines],
        f"Not recorded: {record}.",
        time=True,
    )


def ages(flows: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return how old each row was that was under way at the end; NaN for the others."""
    found = flows.get("age_us")
    return np.full(len(flows["bytes"]), np.nan) if found is None else found


def sized(flows: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
    """Return sizes and slowdowns of flows of a known size; what is unfinished has that of its age."""
    done = np.isfinite(flows["slowdown"]) & (flows["bytes"] > 0)
    open_ = np.isfinite(ages(flows))
    slowdowns = flows["slowdown"].copy()
    if open_.any():
        slowdowns[open_] = np.maximum(ages(flows)[open_] / flows["ideal_us"][open_], 1)
    there = done | open_
    return flows["bytes"][there].astype(float), slowdowns[there]


def size_edges(sizes: Floats) -> Floats:
    """Return where bins begin: one a size where there are few, logarithmic ones where there are many."""
    distinct = np.unique(sizes)
    if len(distinct) <= _SIZE_BINS:
        return distinct
    return np.geomspace(distinct[0], distinct[-1], _SIZE_BINS + 1)[:-1]


def under_way(unfinished: Iterable[tuple[str, float]], consequence: str = "") -> str:
    """Say how many were unfinished, of each line if there are several, and what follows from that."""
    some = [(label, count) for label, count in unfinished]
    total = sum(count for _, count in some)
    if not total:
        return ""
    each = ", ".join(f"{count:,.0f} of {label}" for label, count in some if count)
    counts = each if len(some) > 1 else f"{total:,.0f}"
    return f" Unfinished at the end: {counts}{consequence}."


def scaled(line: Line, x: float = 1.0, y: float = 1.0) -> Line:
    """Change the units of a line."""
    low, high = (None if end is None else end / y for end in (line.low, line.high))
    return replace(line, x=line.x / x, y=line.y / y, low=low, high=high)


def time_unit(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> tuple[float, str]:
    """Choose the unit of time for an axis, and what microseconds are to be divided by."""
    return unit_of_time(largest(lines, axis))


def unit_of_time(most: float) -> tuple[float, str]:
    """Choose the unit for times up to `most` microseconds, and what microseconds are to be divided by."""
    return next((unit for unit in ((1e6, "s"), (1e3, "ms")) if most >= 2 * unit[0]), (1.0, "us"))


def byte_unit(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> tuple[float, str]:
    """Choose the unit of sizes for an axis, and what bytes are to be divided by."""
    most = largest(lines, axis)
    units = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    return next((unit for unit in units if most >= 2 * unit[0]), (1.0, "B"))


def largest(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> float:
    """Return the largest value on an axis; 0 where there is none."""
    return max((float(np.nanmax(axis(line))) for line in lines if len(line.x)), default=0.0)


def _smallest(lines: Sequence[Line], axis: Callable[[Line], Floats]) -> float:
    return min((float(np.nanmin(axis(line))) for line in lines if len(line.x)), default=0.0)


def _port_of_most(rows: Mapping[str, NDArray[Any]]) -> str:
    """Name the port at which the most bytes ever waited."""
    return str(rows["link"][int(np.argmax(rows["queue_bytes"]))])


def _deepest(rows: Mapping[str, NDArray[Any]], port: str | None) -> tuple[Floats, Floats]:
    """Return the bytes that wait at a port at each time, or the most that wait at any."""
    at = rows["link"] == port if port is not None else np.ones(len(rows["link"]), bool)
    times, places = np.unique(rows["time_us"][at].astype(float), return_inverse=True)
    most = np.zeros(len(times))
    np.maximum.at(most, places, rows["queue_bytes"][at].astype(float))
    return times, most


def _unfinished(source: Source) -> float:
    return float(sum(np.isfinite(ages(flows)).sum() for flows in source.tables))


def _completed(source: Source) -> bool:
    return any(bool((np.isfinite(rows["slowdown"]) & (rows["bytes"] > 0)).any()) for rows in source.tables)


def _by_size(
    seeds: Sequence[tuple[Floats, Floats]], edges: Floats, statistic: Statistic
) -> tuple[Floats, Floats]:
    """Return the centre of each bin that is used, and a row of statistics of slowdowns for each seed."""
    # Rounding of the first edge must not leave the smallest size without a bin.
    bins = [np.maximum(np.searchsorted(edges, sizes, side="right") - 1, 0) for sizes, _ in seeds]
    used = np.unique(np.concatenate(bins))
    values = np.full((len(seeds), len(used)), np.nan)
    for row, ((_, slowdowns), places) in enumerate(zip(seeds, bins, strict=True)):
        for column, number in enumerate(used):
            if (places == number).any():
                values[row, column] = statistic(slowdowns[places == number])
    every, of_every = np.concatenate([sizes for sizes, _ in seeds]), np.concatenate(bins)
    centres = [np.exp(np.log(every[of_every == number]).mean()) for number in used]
    return np.array(centres), values


def _places(times: Floats, counts: Floats) -> Floats:
    """Return the times at which a distribution is drawn: fewer where it hardly rises."""
    order = np.argsort(times, kind="stable")
    times, counts = times[order], counts[order]
    there = np.flatnonzero(counts)
    # The bin before the first that is used: where the distribution leaves zero.
    there = np.concatenate((there[:1] - 1, there)) if there[0] > 0 else there
    shares = np.cumsum(counts)[there] / counts.sum()
    times = times[there]
    if len(times) > _CDF_POINTS:
        by_share = np.searchsorted(shares, np.linspace(0, 1, _CDF_POINTS // 2))
        by_place = np.linspace(0, len(times) - 1, _CDF_POINTS // 2).astype(int)
        kept = np.unique(np.clip(np.concatenate((by_share, by_place)), 0, len(times) - 1))
        times = times[kept]
    return np.unique(times)


def _shares(times: Floats, counts: Floats, open_: float, at: Floats) -> Floats:
    """Return the share of all, in per cent, that is known to have taken at most each of these times."""
    order = np.argsort(times, kind="stable")
    upto = np.concatenate(([0.0], np.cumsum(counts[order])))
    known = upto[np.searchsorted(times[order], at, side="right")]
    shares: Floats = 100 * known / (counts.sum() + open_)
    return shares
