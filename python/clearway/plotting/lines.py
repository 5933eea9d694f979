"""Lines of a chart on axes: with their intervals, in steps or with marks, and their legend above the axes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from clearway.plotting.panels import Curves
from clearway.plotting.style import BAND, DASHES, MARKERS, colour
from clearway.report.chart import Floats, Line

_FEW_DECADES = 2.5  # from here on a logarithmic axis has labels at powers of ten alone
_UNIT = re.compile(r"\(us\)$")
_MARGIN = 4.0  # pixels beside a legend
_WRAPPED = (80, 40, 30, 20, 12)  # characters of a line of a label, tried in turn until the legend fits

Entry = tuple[str, Artist]
"""A label of a legend, and what shows how it is drawn."""


def draw(axes: Axes, curves: Curves) -> list[Entry]:
    """Draw the lines on axes; return the entries of their legend, none if a single line needs none."""
    chart = curves.chart
    for line in chart.lines:
        _draw_line(axes, line, steps=curves.steps, marked=chart.points)
    axes.set_xlabel(with_units(chart.x))
    axes.set_ylabel(with_units(chart.y))
    if chart.log_x:
        logarithmic(axes.xaxis, [line.x for line in chart.lines])
    if chart.log_y:
        logarithmic(axes.yaxis, [line.y for line in chart.lines])
    elif curves.steps:
        axes.set_ylim(0.0, 102.0)
    elif not chart.zoom:
        axes.set_ylim(bottom=0.0)
    if chart.time:
        axes.set_xlim(min(line.x[0] for line in chart.lines), max(line.x[-1] for line in chart.lines))
    entries = [_entry(line, marked=chart.points, dashed=not curves.statistics) for line in chart.lines]
    shown = list(dict(entries).items()) if len(dict(entries)) > 1 else []
    return shown + [
        (name, Line2D([], [], color="#555555", linestyle=DASHES[place]))
        for place, name in enumerate(curves.statistics)
    ]


def with_units(label: str) -> str:
    """Write an axis label as a paper does: microseconds with their own letter."""
    return _UNIT.sub("(µs)", label)


def legend(figure: Figure, axes: Axes, entries: Sequence[Entry]) -> float:
    """Put a legend above axes that are laid out, in as few rows as fit; return its height in inches.

    Without entries there is none.
    """
    room = figure.get_figwidth() * figure.dpi - axes.get_window_extent().x0 - _MARGIN
    height = 0.0
    for characters in _WRAPPED:
        labels = [textwrap.fill(_shown(label), characters) for label, _ in entries]
        for columns in range(len(entries), 0, -1):
            drawn = axes.legend(
                [artist for _, artist in entries],
                labels,
                loc="lower left",
                bbox_to_anchor=(0.0, 1.0),
                ncols=columns,
                handlelength=1.0 if isinstance(entries[0][1], Patch) else None,
            )
            box = drawn.get_window_extent(figure.canvas.get_renderer())  # type: ignore[attr-defined]
            height = float(box.height / figure.dpi)
            if box.width <= room:
                return height
    return height


def printable(text: str) -> str:
    """Replace what no file can show, such as a zero byte in a name."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _shown(label: str) -> str:
    """Keep the legend from leaving out a label that begins with an underscore."""
    clean = printable(label)
    return f" {clean}" if clean.startswith("_") else clean


def _draw_line(axes: Axes, line: Line, *, steps: bool, marked: bool) -> None:
    x, y, low, high = line.x, line.y, line.low, line.high
    if steps and len(x):
        x, y = np.append(x[:1], x), np.append(0.0, y)
        low, high = (None if end is None else np.append(0.0, end) for end in (low, high))
    look = colour(line.colour)
    drawn = {"color": look, "zorder": 3.0 if line.thin else 4.0, "label": _shown(line.label)}
    if marked or line.scatter:
        drawn |= {"marker": MARKERS[line.colour % len(MARKERS)]}
    drawn |= {
        "linestyle": "none" if line.scatter else DASHES[line.dash],
        "linewidth": 0.7 if line.thin else 1.2,
    }
    axes.plot(x, y, drawstyle="steps-post" if steps else "default", **drawn)  # type: ignore[arg-type]
    if low is None or high is None:
        return
    if marked or line.scatter:
        sides = np.nan_to_num(np.array([y - low, high - y]))
        axes.errorbar(x, y, yerr=np.maximum(sides, 0.0), fmt="none", ecolor=look, elinewidth=0.7, capsize=1.5)
    else:
        axes.fill_between(x, low, high, color=look, alpha=BAND, linewidth=0.0, step="post" if steps else None)


def _entry(line: Line, *, marked: bool, dashed: bool) -> Entry:
    """Show the look of a line; without its dashes where these stand for a statistic."""
    style: Any = "none" if line.scatter else DASHES[line.dash if dashed else 0]
    marker = MARKERS[line.colour % len(MARKERS)] if marked or line.scatter else "none"
    width = 0.7 if line.thin else 1.2
    shown = Line2D([], [], color=colour(line.colour), linestyle=style, marker=marker, linewidth=width)
    return line.label, shown


def logarithmic(axis: Axis, values: Sequence[Floats]) -> None:
    """Make an axis logarithmic, with labels at powers of ten, and between them where it is short."""
    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")  # type: ignore[attr-defined]
    every = np.concatenate([each[np.isfinite(each) & (each > 0)] for each in values])
    decades = np.log10(every.max() / every.min()) if len(every) else 0.0
    axis.set_major_locator(LogLocator(subs=(1.0,) if decades > _FEW_DECADES else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _short(float(value))))
    axis.set_minor_formatter(NullFormatter())


def _short(value: float) -> str:
    """Write a number with the prefix of its thousands: 200, 10k, 5M."""
    for power, prefix in ((9, "G"), (6, "M"), (3, "k")):
        if value >= 10**power:
            return f"{value / 10**power:g}{prefix}"
    return f"{value:g}"
