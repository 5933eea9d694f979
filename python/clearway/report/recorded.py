"""Charts of what only some runs record: windows, rates, links, flows and classes over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.chart import Chart, Floats, Line
from clearway.report.charts import (
    how_long,
    over_time,
    scaled,
    series,
    time_unit,
    under_way,
)
from clearway.report.flows import of_classes, of_flows
from clearway.report.quantiles import over_flows
from clearway.report.sources import Labelled, Source, another, by_run, interval_us

_FLOWS = "Median over the flows of a transport; thin: the tenth and the ninetieth percentile of them."


def recorded(groups: Labelled) -> list[Chart]:
    """Return the charts of what some run has recorded."""
    drawn = [windows(groups), rates(groups), operations(groups), links(groups), drops(groups), probes(groups)]
    drawn += [*of_flows(groups), *of_classes(groups)]
    return [chart for chart in drawn if chart.lines]


def windows(groups: Labelled) -> Chart:
    """Congestion windows over time."""
    lines = over_flows(groups, "windows", "cwnd_packets")
    return over_time(groups, "Congestion window", _FLOWS, "window", lines, "windows", (1.0, "packets"))


def rates(groups: Labelled) -> Chart:
    """Draw over time the sending rates of transports that control a rate."""
    lines = over_flows(groups, "windows", "rate_gbps")
    return over_time(groups, "Sending rate of a flow", _FLOWS, "rate", lines, "windows", (1.0, "Gb/s"))


def operations(groups: Labelled) -> Chart:
    """Cumulative distribution of the latency of operations."""
    lines, unfinished = how_long(groups, "operations", "latency_us")
    divisor, unit = time_unit(lines, lambda line: line.x)
    return Chart(
        "Latency of operations",
        "Share of operations, those of the warm-up included, that are known to have taken at most this long."
        + unfinished,
        f"latency ({unit})",
        "share of operations (%)",
        [scaled(line, x=divisor) for line in lines],
        log_x=True,
    )


def links(groups: Labelled) -> Chart:
    """Draw what the port of each run that sent the most sent over time, by traffic class."""
    lines: list[Line] = []
    for source, step in _sampled(groups):
        busiest = _busiest(source.tables)
        classes = np.unique(np.concatenate([rows["class"] for rows in source.tables]))
        for number, name in enumerate(classes):
            seeds = [
                _rate(rows, (rows["link"] == busiest) & (rows["class"] == name), "sent_bytes", step)
                for rows in source.tables
            ]
            of_class = another(source, f"{busiest}, {name}" if len(classes) > 1 else busiest, number)
            lines.extend(series(of_class, seeds, np.nanmean, len(groups) * len(classes)))
    return over_time(
        groups,
        "Busiest port",
        "What the switch port of each run that sent the most bytes sent, headers included.",
        "sent",
        lines,
        "links_series",
        (1.0, "Gb/s"),
    )


def drops(groups: Labelled) -> Chart:
    """Bytes that all switch ports together dropped over time, where any were."""
    lines: list[Line] = []
    for source, step in _sampled(groups):
        if any(rows["dropped_bytes"].any() for rows in source.tables):
            seeds = [_rate(rows, rows["dropped_bytes"] >= 0, "dropped_bytes", step) for rows in source.tables]
            lines.extend(series(source.named("dropped"), seeds, np.nanmean, len(groups)))
    note = "What all switch ports together dropped."
    return over_time(groups, "Drops over time", note, "dropped", lines, "links_series", (1.0, "Gb/s"))


def probes(groups: Labelled) -> Chart:
    """Round trips of probes over time."""
    lines: list[Line] = []
    lost = []
    for source in by_run(groups, "probes"):
        numbers = np.unique(np.concatenate([rows["probe"] for rows in source.tables]))
        for number in numbers:
            seeds = []
            for rows in source.tables:
                there = (rows["probe"] == number) & np.isfinite(rows["rtt_us"])
                seeds.append((rows["sent_us"][there], rows["rtt_us"][there]))
            first = next(rows for rows in source.tables if (rows["probe"] == number).any())
            of_probe = first["probe"] == number
            ends = f"{first['from'][of_probe][0]} to {first['to'][of_probe][0]}"
            of_number = another(source, ends, int(number))
            lines.extend(series(of_number, seeds, np.nanmax, len(groups) * len(numbers)))
        lost.append((source.label, float(sum(np.isnan(rows["rtt_us"]).sum() for rows in source.tables))))
    divisor, unit = time_unit(lines, lambda line: line.y)
    of_time = time_unit(lines, lambda line: line.x)
    unanswered = under_way(lost).replace("Unfinished at the end", "Without an answer")
    return Chart(
        "Round trips of probes",
        f"By when the probe was sent; where points are merged, the longest is kept.{unanswered}",
        f"simulated time ({of_time[1]})",
        f"round trip ({unit})",
        [scaled(line, x=of_time[0], y=divisor) for line in lines],
        time=True,
    )


def _busiest(tables: Sequence[Mapping[str, NDArray[Any]]]) -> str:
    """Name the port that sent the most bytes, over all seeds."""
    names, places = np.unique(np.concatenate([rows["link"] for rows in tables]), return_inverse=True)
    sent = np.bincount(places, weights=np.concatenate([rows["sent_bytes"] for rows in tables]))
    return str(names[int(np.argmax(sent))])


def _sampled(groups: Labelled) -> Iterator[tuple[Source, float]]:
    """Yield the samples of links of each run, and their interval."""
    for source in by_run(groups, "links_series"):
        step = interval_us(groups[source.look.run][1].runs[0], "links")
        if step is not None:
            yield source, step


def _rate(
    rows: Mapping[str, NDArray[Any]], chosen: NDArray[Any], column: str, step: float
) -> tuple[Floats, Floats]:
    """Add up a column of bytes over the chosen rows of each time, in Gb/s."""
    times, places = np.unique(rows["time_us"][chosen], return_inverse=True)
    sums = np.bincount(places, weights=rows[column][chosen].astype(float), minlength=len(times))
    return times, sums * 8 / (step * 1e3)
