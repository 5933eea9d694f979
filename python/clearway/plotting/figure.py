"""Figures of panels, and their files, which are the same bytes for the same runs."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, FigureBase
from matplotlib.layout_engine import ConstrainedLayoutEngine

from clearway import _clearway, directory
from clearway.plotting.lines import Entry, draw, legend, printable
from clearway.plotting.others import draw_bars, draw_heat, draw_lanes, draw_ranking
from clearway.plotting.panels import Curves, Heat, Lanes, Panel, Ranking
from clearway.plotting.style import WIDTHS, style
from clearway.report.sheet import Bars

_LINES = {1: 1.9, 2: 2.2}  # inches of height
_AROUND = 0.6  # inches of the axis below a panel
_CHARACTERS_AN_INCH = 15  # of a title
_LINE = 0.14  # inches
_LETTER = re.compile(r"\([a-z]\) ")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class _Rounded(ConstrainedLayoutEngine):
    """The constrained layout with rounded places: the last bits of its solution vary."""

    def execute(self, fig: FigureBase) -> Any:
        figure = cast(Figure, fig)
        made = super().execute(figure)
        for axes in figure.axes:
            takes_part = axes.get_in_layout()
            left, bottom, width, height = (round(each, 6) for each in axes.get_position().bounds)
            axes.set_position((left, bottom, width, height))
            axes.set_in_layout(takes_part)
        return made


def figure_of(panels: Sequence[Panel], columns: int) -> Figure:
    """Draw panels below each other, as wide as one column or two of a paper."""
    with style(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a letter that the font has not
        heights = [_height(panel, columns) for panel in panels]
        figure = Figure(figsize=(WIDTHS[columns], sum(heights)), layout=_Rounded())
        FigureCanvasAgg(figure)
        grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)
        drawn = list(zip(grid[:, 0], panels, strict=True))
        entries = [_drawn(axes, panel) for axes, panel in drawn]
        figure.draw_without_rendering()  # lays axes out
        room = 0.0
        for number, (axes, panel) in enumerate(drawn):
            _wrap_label(axes)
            if len(panels) > 1 or not axes.get_xlabel():
                has_letter = len(panels) == 1 or _LETTER.match(panel.title)
                letter = "" if has_letter else f"({_LETTERS[number % len(_LETTERS)]}) "
                room += _name(axes, f"{letter}{panel.title}")
        figure.draw_without_rendering()
        room += sum(legend(figure, axes, shown) for (axes, _), shown in zip(drawn, entries, strict=True))
        figure.set_figheight(sum(heights) + room)
        return figure


def contents_of(figure: Figure, ending: str, subject: str) -> bytes:
    """Return the file of a figure as PDF, SVG or PNG; `subject` is what its metadata say of it."""
    said = {"Title": "Clearway", "Creator": f"clearway {_clearway.VERSION}"}
    clean = printable(subject)
    by_ending: dict[str, dict[str, str | None]] = {
        "pdf": {**said, "Subject": clean, "CreationDate": None},
        "svg": {**said, "Description": clean, "Date": None},
        "png": {"Title": "Clearway", "Software": said["Creator"], "Description": clean},
    }
    buffer = io.BytesIO()
    with style(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure.savefig(buffer, format=ending, metadata=by_ending[ending])
    return buffer.getvalue()


def write(target: Path, figure: Figure, subject: str) -> None:
    """Write the file of a figure whole or not at all."""
    directory.write_bytes(target, contents_of(figure, target.suffix[1:].lower(), subject))


def _wrap_label(axes: Axes) -> None:
    """Break the label of the vertical axis where it is longer than the axis."""
    inches = axes.get_window_extent().height / axes.figure.dpi
    label = axes.get_ylabel()
    if len(label) > inches * _CHARACTERS_AN_INCH:
        what, has_unit, unit = label.rpartition(" (")
        axes.set_ylabel(f"{what}\n({unit}" if has_unit else textwrap.fill(label, 12))


def _name(axes: Axes, title: str) -> float:
    """Write what a panel is below it; return the inches that this takes more than was planned."""
    inches = axes.get_window_extent().width / axes.figure.dpi
    lines = textwrap.wrap(printable(title), max(int(inches * _CHARACTERS_AN_INCH), 20))
    axes.set_xlabel("\n".join([axes.get_xlabel(), *lines]).lstrip())
    return _LINE * len(lines)


def _drawn(axes: Axes, panel: Panel) -> list[Entry]:
    match panel:
        case Curves():
            return draw(axes, panel)
        case Ranking():
            return draw_ranking(axes, panel)
        case Heat():
            return draw_heat(axes, panel)
        case Lanes():
            return draw_lanes(axes, panel)
        case Bars():
            return draw_bars(axes, panel)


def _height(panel: Panel, columns: int) -> float:
    """Return the inches that a panel needs without its legend."""
    match panel:
        case Curves():
            return _LINES[columns]
        case Ranking():
            return _AROUND + 0.17 * len(panel.places) * max(1.0, 0.6 * len(panel.series))
        case Heat():
            return _AROUND + min(max(0.1 * len(panel.rows), 1.2), 3.2)
        case Lanes():
            return _AROUND + max(0.16 * len(panel.timeline.ranks), 0.8)
        case Bars():
            return _AROUND + 0.2 * max(len(panel.bars), 3)
