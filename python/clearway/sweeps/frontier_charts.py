"""Charts of a frontier: every point in two of the objectives, and which of them are worth having."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearway.figures import AtLeast
from clearway.report.chart import Chart, Line, ends_of
from clearway.sweeps.frontier import Frontier


def frontier_charts(
    labels: Mapping[str, str],
    rows: Sequence[Mapping[str, float]],
    frontier: Frontier,
    texts: Sequence[str],
    reference: int | None = None,
    half_widths: Sequence[Mapping[str, float | None]] = (),
) -> list[Chart]:
    """Draw every other objective against the one that decides.

    `texts` say of each point what it is; `reference` is the place of the set in use; `half_widths` are half
    the intervals of each point's figures over its seeds.
    """
    return [
        _chart(frontier.decide, name, labels, rows, frontier, texts, reference, half_widths)
        for name in frontier.objectives
        if name != frontier.decide
    ]


def _chart(
    x: str,
    y: str,
    labels: Mapping[str, str],
    rows: Sequence[Mapping[str, float]],
    frontier: Frontier,
    texts: Sequence[str],
    reference: int | None,
    half_widths: Sequence[Mapping[str, float | None]],
) -> Chart:
    """Draw all points in two objectives: the dominated ones, the frontier, the recommended one, ours."""
    members = frontier.members(rows)
    best = frontier.recommended(rows)
    there = [index for index, row in enumerate(rows) if x in row and y in row]
    groups: dict[str, tuple[int, list[int]]] = {
        "dominated": (7, [index for index in there if index not in members]),
        "on the frontier": (0, [index for index in members if index not in (best, reference)]),
    }
    if best is not None and best == reference:
        groups["recommended, and the set in use"] = (1, [best])
    else:
        groups["recommended"] = (1, [] if best is None else [best])
        groups["the set in use"] = (3, [] if reference is None else [reference])
    lines = []
    for label, (colour, chosen) in groups.items():
        if chosen:
            order = sorted(chosen, key=lambda index: rows[index][x])
            xs = apart([rows[index][x] for index in order])
            ys = np.array([rows[index][y] for index in order], dtype=float)
            low, high = ends_of(ys, [half_widths[index].get(y) for index in order] if half_widths else [])
            shown = [texts[index] for index in order]
            lines.append(Line(label, colour, xs, ys, scatter=True, low=low, high=high, texts=shown))
    spread = [row[x] for row in rows if row.get(x, 0) > 0]
    bounds = [index for index in there if any(isinstance(rows[index][name], AtLeast) for name in (x, y))]
    note = (
        "Every point; those on the frontier are beaten in no objective without winning in another. Point at "
        "one to see what it is."
    )
    if any(line.low is not None for line in lines):
        note += " Bars are 95 % intervals of the mean over the seeds."
    if bounds:
        note += f" Lower bounds at {len(bounds)} of {len(there)}."
    return Chart(
        f"{labels[y]} against {labels[x]}",
        note,
        labels[x],
        labels[y],
        lines,
        "no point has both figures",
        log_x=bool(spread) and max(spread) > 20 * min(spread),
        zoom=True,
    )


def apart(values: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Part equal values, by less than the page takes for a difference: a line has one point at each x."""
    seen: set[float] = set()
    apart = []
    for value in values:
        place = float(value)
        while place in seen:
            place = place * (1 + 1e-9) or 1e-9
        seen.add(place)
        apart.append(place)
    return np.array(apart)
