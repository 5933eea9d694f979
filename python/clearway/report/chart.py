"""A chart as data: axes, and lines with what a page's script needs to draw them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ALIKE = 0.006  # of an axis: less than two pixels
_MOST_COMPARED = 40  # lines of a chart that are compared with each other
_SAMPLES = 200  # of a line that is compared


@dataclass(frozen=True)
class Line:
    """One line of a chart."""

    label: str
    colour: int
    x: Floats
    y: Floats
    dash: int = 0
    """Which pattern of dashes it has; 0 is none."""
    thin: bool = False
    """Whether it is beside another of its colour and dash, as a tail is beside its median."""
    scatter: bool = False
    """Whether its points are all there is of it: no line joins them."""
    run: int = 0
    """The index of the run that it belongs to, with which it is shown and hidden."""
    low: Floats | None = None
    """The lower end of an interval around each point, if there are intervals."""
    high: Floats | None = None
    """The upper end of it."""
    texts: Sequence[str] = ()
    """What is shown beside each point when the cursor is near it."""

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script reads; five digits are more than a pixel shows.

        Equal places of a scatter chart are told apart by their last digits.
        """
        digits = 12 if self.scatter else 6
        value: dict[str, Any] = {
            "label": self.label,
            "run": self.run,
            "colour": self.colour,
            "dash": self.dash,
            "thin": self.thin,
            "scatter": self.scatter,
            "x": [float(f"{value:.{digits}g}") for value in self.x],
            "y": _rounded(self.y),
        }
        if self.low is not None and self.high is not None:
            value |= {"low": _rounded(self.low), "high": _rounded(self.high)}
        if self.texts:
            value["texts"] = list(self.texts)
        return value


@dataclass(frozen=True)
class Chart:
    """Axes and lines, or what to do to get some."""

    title: str
    note: str
    x: str
    y: str
    lines: Sequence[Line] = field(default_factory=list)
    remedy: str = ""
    """What to do where there are no lines; nothing if there is nothing to do."""
    log_x: bool = False
    log_y: bool = False
    points: bool = False
    """Whether each point is worth a mark: true where they are few."""
    zoom: bool = False
    """Whether y begins near its smallest value and not at zero."""
    time: bool = False
    """Whether x is simulated time, which the cursor shares between charts."""

    def as_json(self) -> dict[str, Any]:
        """Return what the page's script reads."""
        return {
            "x": self.x,
            "y": self.y,
            "logX": self.log_x,
            "logY": self.log_y,
            "points": self.points,
            "zoom": self.zoom,
            "time": self.time,
            "lines": [line.as_json() for line in self.lines],
        }

    @property
    def full_note(self) -> str:
        """The note, and which lines or points cannot be seen because they lie on others."""
        groups = coinciding(self.lines, log_x=self.log_x, log_y=self.log_y)
        # Labels have commas and conjunctions of their own.
        quoted = [[f"“{label}”" for label in group] for group in groups]
        hidden = [f"{', '.join(group[:-1])} and {group[-1]}" for group in quoted]
        what = "Points" if all(line.scatter for line in self.lines) else "Lines"
        return f"{self.note} {what} that coincide: {'; '.join(hidden)}." if hidden else self.note


def ends_of(means: Floats, half_widths: Sequence[float | None]) -> tuple[Floats | None, Floats | None]:
    """Return the lower and upper ends of intervals around means; nothing where there are no intervals."""
    if not any(half_widths):
        return None, None
    half = np.array([math.nan if width is None else width for width in half_widths])
    return np.maximum(means - half, 0.0), means + half  # no figure is ever below zero


def coinciding(lines: Sequence[Line], *, log_x: bool = False, log_y: bool = False) -> list[list[str]]:
    """Return the labels of lines that lie on each other everywhere, by group."""
    drawn = [line for line in lines[:_MOST_COMPARED] if len(line.x) and np.isfinite(line.y).any()]
    if len(drawn) < 2:
        return []
    ways = _on_paper(drawn, log_x=log_x, log_y=log_y)
    groups: list[list[int]] = []
    for first, second in combinations(range(len(drawn)), 2):
        # A tail may lie on its own median: both have one look, and nothing is hidden.
        alike = (drawn[first].colour, drawn[first].dash) == (drawn[second].colour, drawn[second].dash)
        if not alike and _on_each_other(ways[first], ways[second]):
            known = next((group for group in groups if first in group), None)
            if known is None:
                groups.append([first, second])
            elif second not in known:
                known.append(second)
    return [[drawn[index].label for index in group] for group in groups]


def _on_paper(lines: Sequence[Line], *, log_x: bool, log_y: bool) -> list[Floats]:
    """Return points along each line, close to each other, with 0 and 1 as the ends of the axes."""
    points = []
    for line in lines:
        there = np.isfinite(line.y)
        x, y = line.x[there], line.y[there]
        x = np.log(np.maximum(x, 1e-300)) if log_x else x
        points.append(np.column_stack((x, np.log(np.maximum(y, 1e-300)) if log_y else y)))
    every = np.concatenate(points)
    low, high = every.min(axis=0), every.max(axis=0)
    if not log_y:
        low[1] = min(low[1], 0.0)
    spans = np.where(high > low, high - low, 1.0)
    return [
        scaled if line.scatter else _dense(scaled)
        for line, scaled in zip(lines, ((each - low) / spans for each in points), strict=True)
    ]


def _dense(points: Floats) -> Floats:
    """Walk along a line in steps of one length."""
    steps = np.hypot(*np.diff(points, axis=0).T)
    way = np.concatenate(([0.0], np.cumsum(steps)))
    if way[-1] == 0:
        return points[:1]
    at = np.linspace(0.0, way[-1], _SAMPLES)
    return np.column_stack([np.interp(at, way, points[:, axis]) for axis in (0, 1)])


def _on_each_other(a: Floats, b: Floats) -> bool:
    """Tell whether every point of each line has one of the other beside it."""
    if np.abs(a.min(axis=0) - b.min(axis=0)).max() > _ALIKE:
        return False
    if np.abs(a.max(axis=0) - b.max(axis=0)).max() > _ALIKE:
        return False
    distances = np.hypot(a[:, None, 0] - b[None, :, 0], a[:, None, 1] - b[None, :, 1])
    # Two lines that are walked in steps have points up to half a step apart.
    steps = max((np.hypot(*np.diff(each, axis=0).T).max() for each in (a, b) if len(each) > 1), default=0.0)
    nearest = max(distances.min(axis=0).max(), distances.min(axis=1).max())
    return bool(nearest <= _ALIKE + steps / 2)


def _rounded(values: Floats) -> list[float | None]:
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in values]
