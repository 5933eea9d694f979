"""Plots of an experiment: what a file may say of one, and how it is drawn from the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearway.figures import Kind, readable
from clearway.paper.checker import Checker, Table
from clearway.paper.evaluation import Runs, SeedsDifferError, evaluate, with_axis
from clearway.paper.experiment import PlannedRun
from clearway.paper.expressions import check_expression
from clearway.paper.measures import Series
from clearway.paper.sampling import of_first_seed
from clearway.report.chart import Chart, Line
from clearway.report.sheet import Bar, Bars
from clearway.sweeps.overrides import label_of

_PLOT = {
    "title": str,
    "note": str,
    "kind": str,
    "x": str,
    "y": str,
    "x_scale": (int, float),
    "log_x": bool,
    "log_y": bool,
    "points": bool,
    "line": list,
    "bar": list,
}
_LINE = {"label": str, "of": object, "paper": bool, "each": str, "scatter": bool, "colour": int}
_BAR = {"label": str, "of": object, "paper": object}
_PAPER_COLOUR = 7  # grey: what is not ours
_MOST_POINTS = 400  # of a line


def check_plot(plot: Any, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a plot of a file can be drawn: its keys, expressions and axes."""
    check.keys(plot, _PLOT, where, required=("title",))
    check.one_of(plot.get("kind", "line"), ("line", "bars"), f"{where}.kind")
    for key, known in (("line", _LINE), ("bar", _BAR)):
        for index, entry in enumerate(plot.get(key, [])):
            check.keys(entry, known, f"{where}.{key}[{index}]", required=("label", "of"))
            check_expression(entry["of"], f"{where}.{key}[{index}].of", runs, check)
            if not isinstance(entry.get("paper", False), bool):
                check_expression(entry["paper"], f"{where}.{key}[{index}].paper", runs, check)
            if "each" in entry:
                _check_each(entry, f"{where}.{key}[{index}]", runs, check)


def _check_each(line: Table, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a line for each value of an axis is of a measure of a run that has this axis."""
    of = line["of"]
    if not isinstance(of, Mapping) or "run" not in of:
        raise check.error(f"{where}.each", "goes with a measure of a run", "give a line to each value")
    check.one_of(line["each"], runs[of["run"]].variants[0], f"{where}.each")


def drawn(plot: Table, runs: Runs) -> Chart | Bars:
    """Draw a plot from the runs of its experiment."""
    if plot.get("kind", "line") == "bars":
        return _bars(plot, runs)
    lines: list[Line] = []
    for entry in plot.get("line", []):
        for label, expression in _each(entry, runs):
            found = _averaged(expression, runs)
            if not isinstance(found, Series) or not len(found.x):
                continue
            is_paper = entry.get("paper", False)
            colour = entry.get(
                "colour", _PAPER_COLOUR if is_paper else sum(line.colour != _PAPER_COLOUR for line in lines)
            )
            x, y = _thinned(found)
            x = x * plot.get("x_scale", 1.0)
            scatter = entry.get("scatter", False)
            lines.append(Line(label, colour, x, y, dash=int(is_paper), scatter=scatter))
    return Chart(
        plot["title"],
        plot.get("note", ""),
        plot.get("x", ""),
        plot.get("y", ""),
        lines,
        "Nothing was measured.",
        log_x=plot.get("log_x", False),
        log_y=plot.get("log_y", False),
        points=plot.get("points", False),
    )


def _averaged(expression: Any, runs: Runs) -> Any:
    """Return the mean over the seeds; of what has none, such as a distribution, that of the first seed."""
    try:
        return evaluate(expression, runs)
    except SeedsDifferError:
        return evaluate(expression, of_first_seed(runs))


def _each(entry: Table, runs: Runs) -> list[tuple[str, Any]]:
    """Return the label and the expression of a line, or of one for each value of an axis."""
    axis = entry.get("each")
    if axis is None:
        return [(entry["label"], entry["of"])]
    points = runs[entry["of"]["run"]].points
    values = {repr(axes[axis]): axes[axis] for axes, _ in points}.values()
    return [
        (f"{entry['label']} {label_of({axis: value})}".strip(), with_axis(entry["of"], axis, value))
        for value in values
    ]


def _bars(plot: Table, runs: Runs) -> Bars:
    kind: Kind = plot.get("y", "plain")
    bars: list[Bar] = []
    for entry in plot.get("bar", []):
        for value, colour in (
            (evaluate(entry["of"], runs), 0),
            (evaluate(entry.get("paper"), runs), _PAPER_COLOUR),
        ):
            if isinstance(value, (int, float)):
                name = entry["label"] if colour == 0 else ""
                bars.append(Bar(name, float(value), readable(kind, float(value)), colour))
    key = {0: "ours", _PAPER_COLOUR: "the paper"} if any(bar.colour for bar in bars) else {}
    return Bars(plot["title"], plot.get("note", ""), bars, plot.get("log_y", False), key)


def _thinned(series: Series) -> tuple[Any, Any]:
    step = -(-len(series.x) // _MOST_POINTS)
    kept = np.arange(0, len(series.x), max(step, 1))
    return series.x[kept], series.y[kept]
