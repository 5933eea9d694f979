"""What lines of a report are made of: rows by run and transport, and several seeds made one line."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.columns import REMEDY, where
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.report.chart import Floats, Line
from clearway.runs import Run
from clearway.seeds import Seeds
from clearway.statistics import CONFIDENCE, t_quantile

Labelled = Sequence[tuple[str, Seeds]]
"""What a report is about: runs, or one scenario under several seeds, each with the label it goes by."""

COLOURS = 8  # that style.css defines
DASHES = 4  # that page.js knows
_POINTS = 900  # of a line: more than a chart has pixels to show
_POINTS_OF_ALL = 40_000  # of all lines of a chart: keeps a page with many runs small


@dataclass(frozen=True)
class Look:
    """How the lines of one transport of one run are told apart from others."""

    run: int
    colour: int
    dash: int

    def line(self, label: str, x: Floats, y: Floats, **more: Any) -> Line:
        """Make a line that looks like this."""
        return Line(label, self.colour, x, y, self.dash, run=self.run, **more)


@dataclass(frozen=True)
class Source:
    """The rows of one transport, of each seed that has some."""

    label: str
    look: Look
    tables: Sequence[Mapping[str, NDArray[Any]]]

    def named(self, what: str) -> Source:
        """Say in the label what of it is drawn."""
        return replace(self, label=f"{self.label}, {what}" if self.label else what)


@dataclass(frozen=True)
class Estimates:
    """The mean over seeds at each place, and its interval where there are several."""

    mean: Floats
    low: Floats | None
    high: Floats | None


def look_of(number: int) -> tuple[int, int]:
    """Return the colour and the dash of the line of this number: both differ between neighbours."""
    # Where colours begin anew, dashes go on.
    return number % COLOURS, (number + number // COLOURS) % DASHES


def looks(groups: Labelled) -> list[dict[str, Look]]:
    """Give each transport of each run a colour and a dash; a scenario without any has one for itself."""
    found: list[dict[str, Look]] = []
    number = 0
    for index, (_, group) in enumerate(groups):
        of_group = {}
        for name in group.transports() or [""]:
            of_group[name] = Look(index, *look_of(number))
            number += 1
        found.append(of_group)
    return found


def by_transport(groups: Labelled, table: str) -> Iterator[Source]:
    """Yield the rows of each transport of each run."""
    for (label, group), of_group in zip(groups, looks(groups), strict=True):
        for name, look in of_group.items():
            tables = [_rows(run, table, name) for run in group.runs]
            there = [rows for rows in tables if rows is not None]
            if there:
                of_run = [label] if len(groups) > 1 else []
                of_transport = [name] if len(of_group) > 1 or not of_run else []
                yield Source(", ".join([*of_run, *of_transport]), look, there)


def by_run(groups: Labelled, table: str) -> Iterator[Source]:
    """Yield the rows of each run."""
    for (label, group), of_group in zip(groups, looks(groups), strict=True):
        there = [run.tables[table] for run in group.runs if table in run.tables]
        if there and any(len(next(iter(rows.values()))) for rows in there):
            yield Source(label if len(groups) > 1 else "", next(iter(of_group.values())), there)


def without(groups: Labelled, table: str) -> list[str]:
    """List the labels of runs that have no such table."""
    return [label for label, group in groups if not any(table in run.tables for run in group.runs)]


def another(source: Source, what: str, number: int) -> Source:
    """Give each of several lines of one run a label, a colour and a dash of its own."""
    look = source.look
    of_line = Look(look.run, (look.colour + number) % COLOURS, (look.dash + number) % DASHES)
    return replace(source.named(what), look=of_line)


def interval_us(run: Run, key: str) -> float | None:
    """Return the interval of a sample that `[record]` asks for."""
    given = quantity((run.scenario.get("record") or {}).get(key))
    return None if given is None else given.value


def _rows(run: Run, table: str, transport: str) -> Mapping[str, NDArray[Any]] | None:
    """Return the rows of a transport, or of its flows; None if there are none."""
    rows = run.tables.get(table)
    if rows is None:
        return None
    if "transport" in rows:
        chosen = rows["transport"] == transport
    elif "flow" in rows and "flows" in run.tables:
        of_flow = run.tables["flows"]["transport"] == transport
        flows = rows["flow"].astype(int)
        if (flows >= len(of_flow)).any():
            raise ClearwayError(
                f"{run.path or run.name}: table {table}: flow {flows.max()} is none of {len(of_flow)}", REMEDY
            )
        chosen = of_flow[flows]
    else:
        return rows
    if chosen.all() and len(chosen):
        return rows
    return where(rows, chosen) if chosen.any() else None


def aligned(samples: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Put the samples of several seeds below each other, a column a time; NaN where a seed has none."""
    times = np.unique(np.concatenate([times for times, _ in samples]))
    values = np.full((len(samples), len(times)), np.nan)
    for row, (at, what) in enumerate(samples):
        values[row, np.searchsorted(times, at)] = what
    return times, values


def thinned(times: Floats, values: Floats, lines: int, merge: Callable[..., Any]) -> tuple[Floats, Floats]:
    """Merge neighbours, in each row of values, so that a line has no more points than can be seen."""
    points = max(100, min(_POINTS, _POINTS_OF_ALL // max(lines, 1)))
    together = -(-len(times) // points)
    if together <= 1:
        return times, values
    starts = range(0, len(times), together)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where a seed has none of them
        merged = [merge(values[:, start : start + together], axis=1) for start in starts]
    return times[::together], np.column_stack(merged)


def over_seeds(values: Floats) -> Estimates:
    """Take the mean of each column over the seeds that have a value there, and its 95 % interval.

    None of what is drawn is ever below zero, so an interval ends there.
    """
    there = np.isfinite(values)
    counts = there.sum(axis=0)
    sums = np.where(there, values, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums / counts
        if len(values) < 2:
            return Estimates(mean, None, None)
        squares = np.where(there, (values - mean) ** 2, 0.0).sum(axis=0)
        spread = np.sqrt(squares / (counts - 1) / counts)
    half = np.array([_t(int(count)) for count in counts]) * spread
    return Estimates(mean, np.maximum(mean - half, 0.0), mean + half)


@cache
def _t(count: int) -> float:
    return t_quantile(0.5 + CONFIDENCE / 2, count - 1) if count > 1 else np.nan
