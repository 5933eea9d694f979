"""Jain's index over time: of goodput by flow where that is recorded, else of the rates they may have.

Goodput by flow is in runs with `[record.flows]`. Where there is none, the index of a moment is that of what
congestion control lets each flow send: the rate of a scheme that has one, and else its window over its
smoothed round-trip time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.chart import Chart, Floats, Line
from clearway.report.charts import over_time, series
from clearway.report.sources import Labelled, Source, by_run, by_transport
from clearway.seeds import Seeds
from clearway.statistics import jain_of

_FLOWS = "flows_series"
_OF_GOODPUT = (
    "Jain's index of the payload that each recorded flow delivered. A flow counts in the intervals in which "
    "it was under way throughout; fewer than two have no index."
)
_OF_RATES = (
    "Jain's index of what congestion control lets each flow send: its rate, or its window over its smoothed "
    "round-trip time. Flows count from their first round trip to their end; fewer than two have no index."
)


def fairness(groups: Labelled) -> Chart:
    """Draw the index over time of each transport's flows; of all of a run if no transport has two."""
    lines: list[Line] = []
    for source in _sources(groups, by_transport):
        lines += _line(source, len(groups))
    if not lines:
        for source in _sources(groups, by_run):
            lines += _line(source.named("all flows"), len(groups))
    of_goodput = [_has_goodput(group) for _, group in groups]
    notes = [
        note for note, there in ((_OF_GOODPUT, any(of_goodput)), (_OF_RATES, not all(of_goodput))) if there
    ]
    # Its own note: runs without windows may have goodput.
    chart = over_time(groups, "Fairness", "", "Jain's index", lines, "windows", (1.0, "1 = equal"))
    chart = replace(chart, note=" ".join(notes))
    if lines:
        return chart
    return Chart(
        chart.title,
        chart.note,
        chart.x,
        chart.y,
        [],
        "no two flows had a rate at any instant: run for longer",
    )


def _has_goodput(group: Seeds) -> bool:
    return any(_FLOWS in run.tables for run in group.runs)


def _sources(groups: Labelled, by: Callable[[Labelled, str], Iterator[Source]]) -> Iterator[Source]:
    """Yield the samples of flows of each run, of their windows where there are no others."""
    yield from by(groups, _FLOWS)
    for source in by(groups, "windows"):
        if not _has_goodput(groups[source.look.run][1]):
            yield source


def _line(source: Source, lines: int) -> list[Line]:
    seeds = [_of_each_instant(rows) for rows in source.tables]
    drawn = series(source, seeds, np.nanmean, lines)
    return [line if line.high is None else replace(line, high=np.minimum(line.high, 1.0)) for line in drawn]


def _of_each_instant(rows: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
    """Return the instants at which at least two flows have a rate, and the index at each."""
    rates = _rates(rows)
    there = _throughout(rows) if "goodput_gbps" in rows else rates > 0
    times, places = np.unique(rows["time_us"][there].astype(float), return_inverse=True)
    by_instant = np.split(
        rates[there][np.argsort(places, kind="stable")], np.cumsum(np.bincount(places))[:-1]
    )
    several = np.array([len(each) > 1 for each in by_instant], bool) if len(times) else np.empty(0, bool)
    found = np.array([jain_of(each) for each in by_instant if len(each) > 1], float)
    known = np.isfinite(found)  # where nobody delivered anything there is nothing to share
    return times[several][known], found[known]


def _throughout(rows: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
    """Tell for each row if its flow was under way throughout, which is not known of its first and last."""
    there = np.ones(len(rows["flow"]), bool)
    for order in (slice(None), slice(None, None, -1)):
        _, ends = np.unique(rows["flow"][order], return_index=True)
        there[order][ends] = False
    return there


def _rates(rows: Mapping[str, NDArray[Any]]) -> Floats:
    """Return what each flow delivered or may send, in its transport's unit; 0 where that is not known."""
    if "goodput_gbps" in rows:
        return rows["goodput_gbps"].astype(float)
    rate = rows["rate_gbps"].astype(float)
    window, round_trip = rows["cwnd_packets"].astype(float), rows["srtt_us"].astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_window = np.where(round_trip > 0, window / round_trip, np.nan)
    return np.nan_to_num(np.where(np.isfinite(rate), rate, by_window))
