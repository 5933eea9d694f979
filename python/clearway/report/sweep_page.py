"""The page about a sweep: each figure over the main axis, the frontier if one is asked for, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from clearway import axes
from clearway.documents import quantity
from clearway.figures import figure_of, readable
from clearway.frontier import Frontier
from clearway.report.charts import Chart, Line
from clearway.report.page import table
from clearway.report.sheet import Bar, Bars, Sheet

_MOST_LINES = 24  # of a chart: more cannot be told apart
_MOST_ROWS = 500
_UNITS = {"us": "us", "bytes": "bytes", "gbps": "Gb/s", "": ""}

Combination = tuple[Mapping[str, Any], Mapping[str, float]]
"""The values of a point's axes, seeds left out, and the means of its figures over the seeds."""


def page(title: str, combinations: Sequence[Combination], seeds: int, frontier: Frontier | None) -> str:
    """Return the page."""
    sheet = Sheet(title)
    keys = list(combinations[0][0])
    figures = _figures(combinations)
    over = f", mean of {seeds} seeds" if seeds > 1 else ""
    if frontier is not None:
        sheet.sections.append(_frontier_section(sheet, combinations, frontier))
    main = _main_axis(keys, combinations)
    drawings: list[Chart | Bars] = [
        _over_axis(main, figure, combinations, over) if main else _bars(figure, combinations, over)
        for figure in figures
    ]
    sheet.sections.append(sheet.drawn(drawings))
    sheet.sections.append(_table_section(keys, figures, combinations, frontier))
    return sheet.page()


def frontier_chart(
    x: str,
    y: str,
    labels: Mapping[str, str],
    rows: Sequence[Mapping[str, float]],
    frontier: Frontier,
    reference: int | None = None,
) -> Chart:
    """All points in two of the objectives: the dominated ones, the frontier, the recommended one, ours."""
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


def frontier_charts(
    labels: Mapping[str, str],
    rows: Sequence[Mapping[str, float]],
    frontier: Frontier,
    reference: int | None = None,
) -> list[Chart]:
    """Every other objective against the one that decides."""
    return [
        frontier_chart(frontier.decide, name, labels, rows, frontier, reference)
        for name in frontier.objectives
        if name != frontier.decide
    ]


def frontier_words(labels: Sequence[str], rows: Sequence[Mapping[str, float]], frontier: Frontier) -> str:
    """Say which point is recommended, and by which rule."""
    best = frontier.recommended(rows)
    members = len(frontier.members(rows))
    count = f"{members} of {len(rows)} points are on the frontier. "
    if best is None:
        return f"{count}None is recommended: no point keeps the limits. The rule: {frontier.rule}."
    return f"{count}Recommended: {labels[best]}. The rule: {frontier.rule}."


def _frontier_section(sheet: Sheet, combinations: Sequence[Combination], frontier: Frontier) -> str:
    rows = [means for _, means in combinations]
    labels = {name: _axis_label(name, "bytes") for name in frontier.objectives}
    words = frontier_words([axes.label_of(overrides) for overrides, _ in combinations], rows, frontier)
    drawn = sheet.drawn(frontier_charts(labels, rows, frontier))
    return f'<section class="figure"><h2>Frontier</h2><p class="note">{escape(words)}</p>{drawn}</section>'


def _figures(combinations: Sequence[Combination]) -> list[str]:
    """List the figures worth a chart: those that differ between combinations, or all if none do."""
    names = dict.fromkeys(name for _, means in combinations for name in means)
    headline = [name for name in names if figure_of(name.rpartition(".")[2]).headline]
    differing = [
        name for name in headline if len({means.get(name) for _, means in combinations} - {None}) > 1
    ]
    return differing or headline


def _main_axis(keys: Sequence[str], combinations: Sequence[Combination]) -> str | None:
    """Choose the numeric axis with the most values."""
    numeric = {
        key: len({str(overrides[key]) for overrides, _ in combinations})
        for key in keys
        if axes.column_of(key, [overrides[key] for overrides, _ in combinations])[1] is not None
    }
    return max(numeric, key=lambda key: numeric[key]) if max(numeric.values(), default=0) > 1 else None


def _over_axis(axis: str, figure: str, combinations: Sequence[Combination], over: str) -> Chart:
    groups: dict[str, dict[float, float]] = {}
    divisor = 1e3 if figure_of(figure.rpartition(".")[2]).kind == "bytes" else 1.0  # as the axis says
    for overrides, means in combinations:
        rest = axes.label_of({key: value for key, value in overrides.items() if key != axis})
        at = quantity(overrides[axis])
        assert at is not None
        if figure in means:
            groups.setdefault(rest, {})[at.value] = means[figure] / divisor
    lines = []
    for colour, (label, series) in enumerate(list(groups.items())[:_MOST_LINES]):
        xs = np.array(sorted(series))
        lines.append(Line(label or axes.name_of(figure), colour, xs, np.array([series[x] for x in xs])))
    unit = next(entry.unit for overrides, _ in combinations if (entry := quantity(overrides[axis])))
    every = [value for series in groups.values() for value in series]
    ys = [value for series in groups.values() for value in series.values()]
    left = f" The first {_MOST_LINES} of {len(groups)} lines." if len(groups) > _MOST_LINES else ""
    return Chart(
        _title(figure),
        f"Over {axis}{over}.{left}",
        f"{axis} ({_UNITS[unit]})" if unit else axis,
        _axis_label(figure),
        lines,
        "No point has it.",
        log_x=bool(every) and min(every) > 0 and max(every) > 20 * min(every),
        log_y=bool(ys) and min(ys) > 0 and max(ys) > 50 * min(ys),
        points=True,
    )


def _bars(figure: str, combinations: Sequence[Combination], over: str) -> Bars:
    kind = figure_of(figure.rpartition(".")[2]).kind
    return Bars(
        _title(figure),
        f"By combination{over}.",
        [
            Bar(axes.label_of(overrides) or "all", means[figure], readable(kind, means[figure]))
            for overrides, means in combinations[:_MOST_LINES]
            if figure in means
        ],
    )


def _table_section(
    keys: Sequence[str],
    figures: Sequence[str],
    combinations: Sequence[Combination],
    frontier: Frontier | None,
) -> str:
    best = frontier.recommended([means for _, means in combinations]) if frontier else None
    heads = "".join(
        f'<th scope="col">{escape(head)}</th>' for head in [*keys, *(axes.name_of(name) for name in figures)]
    )
    rows = []
    for index, (overrides, means) in enumerate(combinations[:_MOST_ROWS]):
        cells = [escape(str(overrides[key])) for key in keys]
        cells += [
            escape(readable(figure_of(name.rpartition(".")[2]).kind, means.get(name))) for name in figures
        ]
        first, *others = cells or [""]
        row = f'<th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in others)
        rows.append(f'<tr class="chosen">{row}</tr>' if index == best else f"<tr>{row}</tr>")
    more = len(combinations) - _MOST_ROWS
    note = f"<p>And {more} rows more: the table beside this page has them all.</p>" if more > 0 else ""
    return f"<section><h2>Points</h2>{table(heads, rows)}{note}</section>"


def _title(figure: str) -> str:
    name = axes.name_of(figure)
    return name[0].upper() + name[1:]


def _axis_label(name: str, of_bytes: str = "kB") -> str:
    unit = {"time": "us", "bytes": of_bytes, "rate": "Gb/s", "share": "share"}.get(
        figure_of(name.rpartition(".")[2]).kind, ""
    )
    return f"{axes.name_of(name)} ({unit})" if unit else axes.name_of(name)


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
