"""Jain's index over time, of the rates at which flows may send, as samples of their windows have them.

Goodput is recorded by transport and not by flow. So the index of a moment is that of what congestion control
lets each flow send: the rate of a scheme that has one, and else its window over its smoothed round-trip time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.chart import Chart, Floats, Line
from clearway.report.charts import over_time, series
from clearway.report.sources import Labelled, Source, by_run, by_transport
from clearway.statistics import jain_of

_NOTE = (
    "Jain's index of what congestion control lets each flow send: its rate, or its window over its smoothed "
    "round-trip time. Flows count from their first round trip to their end; fewer than two have no index."
)


def fairness(groups: Labelled) -> Chart:
    """Draw the index over time of each transport's flows; of all of a run if no transport has two."""
    lines: list[Line] = []
    for source in by_transport(groups, "windows"):
        lines += _line(source, len(groups))
    if not lines:
        for source in by_run(groups, "windows"):
            lines += _line(source.named("all flows"), len(groups))
    chart = over_time(groups, "Fairness", _NOTE, "Jain's index", lines, "windows", (1.0, "1 = equal"))
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


def _line(source: Source, lines: int) -> list[Line]:
    seeds = [_of_each_instant(rows) for rows in source.tables]
    drawn = series(source, seeds, np.nanmean, lines)
    return [line if line.high is None else replace(line, high=np.minimum(line.high, 1.0)) for line in drawn]


def _of_each_instant(rows: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
    """Return the instants at which at least two flows have a rate, and the index at each."""
    rates = _rates(rows)
    there = rates > 0
    times, places = np.unique(rows["time_us"][there].astype(float), return_inverse=True)
    by_instant = np.split(
        rates[there][np.argsort(places, kind="stable")], np.cumsum(np.bincount(places))[:-1]
    )
    several = np.array([len(each) > 1 for each in by_instant], bool) if len(times) else np.empty(0, bool)
    found = [jain_of(each) for each in by_instant if len(each) > 1]
    return times[several], np.array(found, float)


def _rates(rows: Mapping[str, NDArray[Any]]) -> Floats:
    """Return what each flow may send at each instant, in its transport's unit; 0 where that is not known."""
    rate = rows["rate_gbps"].astype(float)
    window, round_trip = rows["cwnd_packets"].astype(float), rows["srtt_us"].astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_window = np.where(round_trip > 0, window / round_trip, np.nan)
    return np.nan_to_num(np.where(np.isfinite(rate), rate, by_window))
