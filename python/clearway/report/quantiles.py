"""Lines over time that stand for many flows: the median of them, and what most are between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.chart import Floats, Line
from clearway.report.charts import series
from clearway.report.sources import Labelled, by_transport


def over_flows(groups: Labelled, table: str, column: str) -> list[Line]:
    """Draw the median over flows of a column of a table, and between what most of them are."""
    lines: list[Line] = []
    for source in by_transport(groups, table):
        of_one = all(bool((rows["flow"] == rows["flow"][0]).all()) for rows in source.tables)
        wanted = {"median": 0.5} if of_one else {"median": 0.5, "p10": 0.1, "p90": 0.9}
        seeds = [_of_flows(rows, column, list(wanted.values())) for rows in source.tables]
        for place, (name, quantile) in enumerate(wanted.items()):
            of_name = [(times, values[place]) for times, values in seeds]
            drawn = series(source.named(name), of_name, np.nanmean, 3 * len(groups))
            lines.extend(drawn if quantile == 0.5 else [_thin(line) for line in drawn])
    return lines


def _thin(line: Line) -> Line:
    """Draw a line beside another of its look, without its interval: three bands cannot be told apart."""
    return replace(line, thin=True, low=None, high=None)


def _of_flows(
    rows: Mapping[str, NDArray[Any]], column: str, quantiles: Sequence[float]
) -> tuple[Floats, Floats]:
    """Return a row for each quantile over the flows that have a value at each time."""
    there = np.isfinite(rows[column])
    times, values = rows["time_us"][there], rows[column][there]
    if (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    starts = np.flatnonzero(np.diff(times, prepend=-np.inf))
    found = np.empty((len(quantiles), len(starts)))
    for number, stretch in enumerate(np.split(values, starts[1:]) if len(starts) else []):
        places = np.rint(np.array(quantiles) * (len(stretch) - 1)).astype(int)
        found[:, number] = np.partition(stretch, np.unique(places))[places]
    return times[starts], found
