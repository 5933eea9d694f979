"""Charts of a frontier: every point in two of the objectives, and which of them are worth having."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearway.report.charts import Chart, Line
from clearway.sweep.frontier import Frontier


def frontier_charts(
    labels: Mapping[str, str],
    rows: Sequence[Mapping[str, float]],
    frontier: Frontier,
    reference: int | None = None,
) -> list[Chart]:
    """Draw every other objective against the one that decides; `reference` is the place of the set in use."""
    return [
        _chart(frontier.decide, name, labels, rows, frontier, reference)
        for name in frontier.objectives
        if name != frontier.decide
    ]


def _chart(
    x: str,
    y: str,
    labels: Mapping[str, str],
    rows: Sequence[Mapping[str, float]],
    frontier: Frontier,
    reference: int | None,
) -> Chart:
    """Draw all points in two objectives: the dominated ones, the frontier, the recommended one, ours."""
    members = frontier.members(rows)
    best = frontier.recommended(rows)
    there = [index for index, row in enumerate(rows) if x in row and y in row]
    groups = {
        "dominated": (7, [index for index in there if index not in members]),
        "on the frontier": (0, [index for index in members if index != best]),
        "recommended": (1, [] if best is None else [best]),
        "the set in use": (3, [] if reference is None else [reference]),
    }
    lines = []
    for label, (colour, chosen) in groups.items():
        if chosen:
            xs = _apart([rows[index][x] for index in chosen])
            order = np.argsort(xs)
            ys = np.array([rows[index][y] for index in chosen])
            lines.append(Line(label, colour, xs[order], ys[order], scatter=True))
    spread = [row[x] for row in rows if row.get(x, 0) > 0]
    return Chart(
        f"{labels[y]} against {labels[x]}",
        "Every point; those on the frontier are beaten in no objective without winning in another.",
        labels[x],
        labels[y],
        lines,
        "no point has both figures",
        log_x=bool(spread) and max(spread) > 20 * min(spread),
        zoom=True,
    )


def _apart(values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Part equal values by less than a pixel: a chart has one point at each x of a line."""
    seen: set[float] = set()
    apart = []
    for value in values:
        place = value
        while place in seen:
            place = place * (1 + 1e-5) or 1e-9
        seen.add(place)
        apart.append(place)
    return np.array(apart)
