"""Charts of chosen flows and of traffic classes over time, of runs that record them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.chart import Chart, Floats, Line
from clearway.report.charts import over_time, series, time_unit
from clearway.report.quantiles import over_flows
from clearway.report.sources import Labelled, Source, another, by_run

_FLOWS = "flows_series"
_CLASSES = "classes_series"
_MOST = 8
"""The most flows of a run of which each has a line: with more they cannot be told apart."""


def of_flows(groups: Labelled) -> list[Chart]:
    """Return the charts of what chosen flows did."""
    return [goodput(groups), window(groups), rate(groups), round_trips(groups)]


def of_classes(groups: Labelled) -> list[Chart]:
    """Return the charts of what traffic classes did."""
    return [class_goodput(groups), class_sent(groups), class_round_trips(groups)]


def goodput(groups: Labelled) -> Chart:
    """Payload that chosen flows delivered over time."""
    return _chart(groups, "Goodput of flows", "Payload delivered.", "goodput", "goodput_gbps", "Gb/s")


def window(groups: Labelled) -> Chart:
    """Congestion windows of chosen flows over time."""
    return _chart(groups, "Window of flows", "Congestion window.", "window", "cwnd_packets", "packets")


def rate(groups: Labelled) -> Chart:
    """Draw over time the rates of chosen flows whose schemes control one."""
    note = "The rate at which congestion control lets packets leave."
    return _chart(groups, "Sending rate of flows", note, "rate", "rate_gbps", "Gb/s")


def round_trips(groups: Labelled) -> Chart:
    """Mean round-trip times of chosen flows over time."""
    note = "Mean over the acknowledgements of each interval."
    return _chart(groups, "Round-trip time of flows", note, "RTT", "rtt_mean_us", None)


def class_goodput(groups: Labelled) -> Chart:
    """Payload that flows of each class delivered over time."""
    lines = _by_class(groups, "goodput_gbps")
    note = "Payload delivered, all flows of a class together."
    return over_time(groups, "Goodput by class", note, "goodput", lines, _CLASSES, (1.0, "Gb/s"))


def class_sent(groups: Labelled) -> Chart:
    """Bytes that all hosts sent over time, by class."""
    lines = _by_class(groups, "sent_gbps")
    note = "What all hosts sent, headers and acknowledgements included."
    return over_time(groups, "Sent by class", note, "sent", lines, _CLASSES, (1.0, "Gb/s"))


def class_round_trips(groups: Labelled) -> Chart:
    """Mean round-trip times of each class over time."""
    lines = _by_class(groups, "rtt_mean_us")
    note = "Mean over the acknowledgements of each interval."
    unit = time_unit(lines, lambda line: line.y)
    return over_time(groups, "Round-trip time by class", note, "RTT", lines, _CLASSES, unit)


def _chart(groups: Labelled, title: str, note: str, what: str, column: str, unit: str | None) -> Chart:
    """Draw a column of chosen flows, in this unit or the best one of time."""
    each = _each(groups, column)
    lines = over_flows(groups, _FLOWS, column) if each is None else each
    if each is None:
        note = f"{note} Median over the flows that are recorded; thin: their tenth and ninetieth percentile."
    best = (1.0, unit) if unit else time_unit(lines, lambda line: line.y)
    return over_time(groups, title, note, what, lines, _FLOWS, best)


def _each(groups: Labelled, column: str) -> list[Line] | None:
    """Draw a line a flow; None where there are too many of them, or several seeds, whose flows differ."""
    lines: list[Line] = []
    for source in by_run(groups, _FLOWS):
        flows = np.unique(source.tables[0]["flow"]).astype(int)
        if len(flows) > _MOST or len(groups[source.look.run][1].runs) > 1:
            return None
        for place, flow in enumerate(flows):
            of_flow = another(source, f"flow {flow}", place)
            there = source.tables[0]["flow"] == flow
            lines += _line(of_flow, [_some(source.tables[0], there, column)], len(groups) * len(flows))
    return lines


def _by_class(groups: Labelled, column: str) -> list[Line]:
    lines: list[Line] = []
    for source in by_run(groups, _CLASSES):
        classes = np.unique(np.concatenate([rows["class"] for rows in source.tables]))
        for place, name in enumerate(classes):
            of_class = another(source, str(name) or "all traffic", place)
            seeds = [_some(rows, rows["class"] == name, column) for rows in source.tables]
            lines += _line(of_class, seeds, len(groups) * len(classes))
    return lines


def _some(rows: Mapping[str, NDArray[Any]], there: NDArray[Any], column: str) -> tuple[Floats, Floats]:
    """Return the times and the values of the rows that are there; nothing if none has a value.

    A line has a gap where there is no value. One behind a gap is that of its whole interval, so that a single
    one is seen, too.
    """
    times, values = rows["time_us"][there].astype(float), rows[column][there].astype(float)
    if not np.isfinite(values).any():
        return times[:0], values[:0]
    alone = np.flatnonzero(np.isnan(values[:-1]) & np.isfinite(values[1:]))
    values[alone] = values[alone + 1]
    if np.isnan(values[1:2]).any():
        times, values = np.append(2 * times[0] - times[1], times), np.append(values[0], values)
    return times, values


def _line(source: Source, seeds: Sequence[tuple[Floats, Floats]], lines: int) -> list[Line]:
    drawn = series(source, seeds, np.nanmean, lines)
    return [replace(line, low=None, high=None) if len(seeds) == 1 else line for line in drawn]
