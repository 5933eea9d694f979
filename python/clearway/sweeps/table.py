"""The table of a sweep: a row a point, with its axes, every figure it measured, and where it is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearway.columns import Columns
from clearway.documents import quantity
from clearway.errors import shown
from clearway.figures import AtLeast
from clearway.runs import Run
from clearway.sweeps.figures import figures_of
from clearway.sweeps.points import Point


def columns(keys: Sequence[str], points: Sequence[Point], runs: Sequence[Run]) -> Columns:
    """Make the table from the points and their runs, in the same order."""
    table: Columns = {}
    for key in keys:
        values = [point.overrides[key] for point in points]
        name, numbers = column_of(key, values)
        table[name] = np.array([str(value) for value in values]) if numbers is None else np.array(numbers)
    rows = [dict(figures_of(run.summary)) for run in runs]
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        if all(isinstance(cell, int) and cell >= 0 for cell in cells):
            table[name] = np.array(cells, dtype=np.uint64)
        else:
            table[name] = np.array([math.nan if cell is None else float(cell) for cell in cells])
    bounds = [" ".join(name for name, cell in row.items() if isinstance(cell, AtLeast)) for row in rows]
    table["lower_bounds"] = np.array(bounds)
    table["digest"] = np.array([run.digest for run in runs])
    table["run"] = np.array([shown(run.path or "") for run in runs])
    return table


def column_of(key: str, values: Sequence[Any]) -> tuple[str, list[float] | None]:
    """Name the column of an axis with its unit, and give numbers if all its values are of one kind."""
    quantities = [quantity(value) for value in values]
    units = {entry.unit for entry in quantities if entry is not None}
    if None in quantities or len(units) != 1:
        return key, None
    unit = units.pop()
    return f"{key}_{unit}" if unit else key, [entry.value for entry in quantities if entry is not None]
