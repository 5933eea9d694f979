"""The page about a sweep: each figure over the main axis, the frontier if one is asked for, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from clearway.documents import quantity
from clearway.figures import readable
from clearway.report.charts import Chart, Line
from clearway.report.page import table
from clearway.report.sheet import Bar, Bars, Sheet
from clearway.sweep.figures import described, name_of
from clearway.sweep.frontier import Frontier
from clearway.sweep.frontier_charts import frontier_charts
from clearway.sweep.overrides import label_of
from clearway.sweep.table import column_of

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


def _frontier_section(sheet: Sheet, combinations: Sequence[Combination], frontier: Frontier) -> str:
    rows = [means for _, means in combinations]
    labels = {name: _axis_label(name, "bytes") for name in frontier.objectives}
    words = frontier.in_words([label_of(overrides) for overrides, _ in combinations], rows)
    drawn = sheet.drawn(frontier_charts(labels, rows, frontier))
    return f'<section class="figure"><h2>Frontier</h2><p class="note">{escape(words)}</p>{drawn}</section>'


def _figures(combinations: Sequence[Combination]) -> list[str]:
    """List the figures worth a chart: those that differ between combinations, or all if none do."""
    names = dict.fromkeys(name for _, means in combinations for name in means)
    headline = [name for name in names if described(name).headline]
    differing = [
        name for name in headline if len({means.get(name) for _, means in combinations} - {None}) > 1
    ]
    return differing or headline


def _main_axis(keys: Sequence[str], combinations: Sequence[Combination]) -> str | None:
    """Choose the numeric axis with the most values."""
    numeric = {
        key: len({str(overrides[key]) for overrides, _ in combinations})
        for key in keys
        if column_of(key, [overrides[key] for overrides, _ in combinations])[1] is not None
    }
    return max(numeric, key=lambda key: numeric[key]) if max(numeric.values(), default=0) > 1 else None


def _over_axis(axis: str, figure: str, combinations: Sequence[Combination], over: str) -> Chart:
    groups: dict[str, dict[float, float]] = {}
    divisor = 1e3 if described(figure).kind == "bytes" else 1.0  # as the axis says
    for overrides, means in combinations:
        rest = label_of({key: value for key, value in overrides.items() if key != axis})
        at = quantity(overrides[axis])
        assert at is not None
        if figure in means:
            groups.setdefault(rest, {})[at.value] = means[figure] / divisor
    lines = []
    for colour, (label, series) in enumerate(list(groups.items())[:_MOST_LINES]):
        xs = np.array(sorted(series))
        lines.append(Line(label or name_of(figure), colour, xs, np.array([series[x] for x in xs])))
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
    kind = described(figure).kind
    return Bars(
        _title(figure),
        f"By combination{over}.",
        [
            Bar(label_of(overrides) or "all", means[figure], readable(kind, means[figure]))
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
        f'<th scope="col">{escape(head)}</th>' for head in [*keys, *(name_of(name) for name in figures)]
    )
    rows = []
    for index, (overrides, means) in enumerate(combinations[:_MOST_ROWS]):
        cells = [escape(str(overrides[key])) for key in keys]
        cells += [escape(readable(described(name).kind, means.get(name))) for name in figures]
        first, *others = cells or [""]
        row = f'<th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in others)
        rows.append(f'<tr class="chosen">{row}</tr>' if index == best else f"<tr>{row}</tr>")
    more = len(combinations) - _MOST_ROWS
    note = f"<p>And {more} rows more: the table beside this page has them all.</p>" if more > 0 else ""
    return f"<section><h2>Points</h2>{table(heads, rows)}{note}</section>"


def _title(figure: str) -> str:
    name = name_of(figure)
    return name[0].upper() + name[1:]


def _axis_label(name: str, of_bytes: str = "kB") -> str:
    unit = {"time": "us", "bytes": of_bytes, "rate": "Gb/s", "share": "share"}.get(described(name).kind, "")
    return f"{name_of(name)} ({unit})" if unit else name_of(name)
