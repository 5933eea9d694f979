"""Reading the tables of a run: the rows that match, and their columns as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.errors import ClearwayError
from clearway.paper.measures.values import Floats
from clearway.runs import Run

_TIMED = ("fct_us", "latency_us", "slowdown")  # what something unfinished has an age instead of


def rows_of(
    run: Run, table: str, match: Mapping[str, Any] | None, from_us: float, to_us: float
) -> Mapping[str, NDArray[Any]]:
    """Choose the rows in which columns have these values, after `from_us` and up to `to_us`.

    A list of two numbers stands for all values from the one to the other.
    """
    rows = run.table(table)
    chosen = np.ones(len(next(iter(rows.values()))), dtype=bool)
    for column, value in (match or {}).items():
        if column not in rows:
            raise ClearwayError(f"{run.name}: there is no column {column}", f"there is {', '.join(rows)}")
        chosen &= _matches(rows[column], value)
    if "time_us" in rows:
        # A sample stands at the end of its interval.
        chosen &= (rows["time_us"] > from_us) & (rows["time_us"] <= to_us)
    return {name: values[chosen] for name, values in rows.items()}


def column_of(run: Run, rows: Mapping[str, NDArray[Any]], column: str) -> Floats:
    """Return a column of these rows as numbers."""
    if column not in rows:
        raise ClearwayError(f"{run.name}: there is no column {column}", f"there is {', '.join(rows)}")
    return rows[column].astype(float)


@dataclass(frozen=True)
class Rows:
    """A column of a run's table, in the rows that match and lie between two times."""

    run: Run
    table: str
    column: str
    match: Mapping[str, Any] | None = None
    from_us: float = 0.0
    to_us: float = math.inf

    def chosen(self) -> Mapping[str, NDArray[Any]]:
        """Return all columns of these rows."""
        return rows_of(self.run, self.table, self.match, self.from_us, self.to_us)


@dataclass(frozen=True)
class Weighted(Rows):
    """The same, each row weighted by another column or by 1."""

    weight: str | None = None

    def finished(self) -> tuple[Floats, Floats]:
        """Return the column and the weight of each row; rows that lack a value or a weight are left out."""
        rows = self.chosen()
        return self._with_weights(rows, column_of(self.run, rows, self.column))

    def unfinished(self) -> tuple[Floats, Floats]:
        """Return lower bounds, and weights, for rows of flows or operations that were under way at the end.

        There are none of a column that is no completion time, latency or slowdown.
        """
        rows = self.chosen()
        if self.column not in _TIMED or "age_us" not in rows:
            return np.array([]), np.array([])
        bounds = rows["age_us"].astype(float)
        if self.column == "slowdown":
            # However young a flow is, it will not be quicker than on an empty network.
            bounds = np.maximum(bounds / column_of(self.run, rows, "ideal_us"), 1.0)
        return self._with_weights(rows, bounds)

    def _with_weights(self, rows: Mapping[str, NDArray[Any]], values: Floats) -> tuple[Floats, Floats]:
        weights = np.ones(len(values)) if self.weight is None else column_of(self.run, rows, self.weight)
        there = np.isfinite(values) & (weights > 0)
        return values[there], weights[there]


def _matches(values: NDArray[Any], wanted: Any) -> NDArray[np.bool_]:
    """Tell where a column has a value, or is between two; a text with a star matches as file names do."""
    if isinstance(wanted, list):
        low, high = wanted
        return np.asarray((values >= low) & (values <= high), dtype=bool)
    if isinstance(wanted, str) and "*" in wanted:
        names, places = np.unique(values, return_inverse=True)
        return np.array([fnmatchcase(str(name), wanted) for name in names], dtype=bool)[places]
    return np.asarray(values == wanted, dtype=bool)
