"""The page about a sweep: each figure over the main axis, the frontier if one is asked for, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from clearway.documents import quantity
from clearway.figures import AtLeast
from clearway.report.chart import Chart, Line, ends_of
from clearway.report.page import table
from clearway.report.sheet import Bar, Bars, Sheet
from clearway.report.sources import look_of
from clearway.statistics import Interval, exact
from clearway.sweeps.figures import described, name_of, with_unfinished, written
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.frontier_charts import frontier_charts
from clearway.sweeps.overrides import label_of, short_keys
from clearway.sweeps.standing import Standing
from clearway.sweeps.table import column_of

_MOST_LINES = 24  # of a chart: more cannot be told apart
_MOST_ROWS = 500
_UNITS = {"us": "us", "bytes": "bytes", "gbps": "Gb/s", "": ""}


@dataclass(frozen=True)
class Combination:
    """The values of a point's axes, seeds left out, and the intervals of its figures over the seeds."""

    overrides: Mapping[str, Any]
    intervals: Mapping[str, Interval]
    without_chance: bool = False
    """Whether every seed gives these figures."""

    @property
    def known(self) -> Mapping[str, Interval]:
        """The intervals; those of what leaves nothing to chance have no width, even of one seed."""
        if not self.without_chance:
            return self.intervals
        return {key: exact(of) for key, of in self.intervals.items()}

    @property
    def means(self) -> dict[str, float]:
        """The mean of every figure."""
        return {key: of.mean for key, of in self.intervals.items()}


def page(
    title: str,
    combinations: Sequence[Combination],
    columns: Sequence[str],
    seeds: int,
    frontier: Frontier | None,
) -> str:
    """Return the page; `columns` are the figures of its table."""
    sheet = Sheet(title)
    keys = list(combinations[0].overrides)
    figures = figures_shown(combinations)
    over = over_seeds(seeds)
    if frontier is not None:
        sheet.sections.append(_frontier_section(sheet, combinations, columns, frontier))
    main = main_axis(keys, combinations)
    drawings: list[Chart | Bars] = [
        over_axis(main, figure, combinations, over) if main else bars_of(figure, combinations, over)
        for figure in figures
    ]
    sheet.sections.append(sheet.drawn(drawings))
    sheet.sections.append(_table_section(keys, columns, combinations, frontier))
    return sheet.page()


def over_seeds(seeds: int) -> str:
    """Say of a figure that it is the mean of several seeds, where it is."""
    return f", mean of {seeds} seeds with its 95 % interval" if seeds > 1 else ""


def _frontier_section(
    sheet: Sheet, combinations: Sequence[Combination], columns: Sequence[str], frontier: Frontier
) -> str:
    rows = [each.means for each in combinations]
    labels = {name: axis_label(name, "bytes") for name in frontier.objectives}
    points = [label_of(each.overrides) for each in combinations]
    standing = Standing.of(frontier, [each.known for each in combinations], frontier.recommended(rows))
    words = frontier.in_words(points, rows, standing.in_words(frontier, points))
    shown = with_unfinished(list(frontier.objectives), set(columns))
    texts = [
        "\n".join([point, *(f"{name_of(key)}: {written(key, each.intervals)}" for key in shown)])
        for point, each in zip(points, combinations, strict=True)
    ]
    half_widths = [{key: of.half_width for key, of in each.intervals.items()} for each in combinations]
    drawn = sheet.drawn(frontier_charts(labels, rows, frontier, texts, half_widths=half_widths))
    return f'<section class="figure"><h2>Frontier</h2><p class="note">{escape(words)}</p>{drawn}</section>'


def figures_shown(combinations: Sequence[Combination]) -> list[str]:
    """List the figures worth a chart: those that differ between combinations, or all if none do."""
    rows = [each.means for each in combinations]
    names = dict.fromkeys(name for row in rows for name in row)
    headline = [name for name in names if described(name).headline]
    differing = [name for name in headline if len({row.get(name) for row in rows} - {None}) > 1]
    return differing or headline


def main_axis(keys: Sequence[str], combinations: Sequence[Combination]) -> str | None:
    """Choose the numeric axis with the most values."""
    numeric = {
        key: len({str(each.overrides[key]) for each in combinations})
        for key in keys
        if column_of(key, [each.overrides[key] for each in combinations])[1] is not None
    }
    return max(numeric, key=lambda key: numeric[key]) if max(numeric.values(), default=0) > 1 else None


def _varying(combinations: Sequence[Combination]) -> list[str]:
    """List the keys that have more than one value."""
    keys = combinations[0].overrides
    return [key for key in keys if len({str(each.overrides[key]) for each in combinations}) > 1]


def over_axis(axis: str, figure: str, combinations: Sequence[Combination], over: str) -> Chart:
    """Draw a figure over an axis, a line for each combination of the other axes' values."""
    groups: dict[str, dict[float, Interval]] = {}
    others = [key for key in _varying(combinations) if key != axis]
    for each in combinations:
        rest = label_of({key: each.overrides[key] for key in others})
        at = quantity(each.overrides[axis])
        assert at is not None
        if figure in each.intervals:
            groups.setdefault(rest, {})[at.value] = each.intervals[figure]
    lines = [
        _line(label or name_of(figure), number, figure, series)
        for number, (label, series) in enumerate(list(groups.items())[:_MOST_LINES])
    ]
    unit = next(entry.unit for each in combinations if (entry := quantity(each.overrides[axis])))
    every = [value for series in groups.values() for value in series]
    ys = [of.mean for series in groups.values() for of in series.values()]
    left = f" The first {_MOST_LINES} of {len(groups)} lines." if len(groups) > _MOST_LINES else ""
    return Chart(
        title_of(figure),
        f"Over {axis}{over}.{left}{_bounds(figure, combinations)}",
        f"{axis} ({_UNITS[unit]})" if unit else axis,
        axis_label(figure),
        lines,
        "No point has it.",
        log_x=bool(every) and min(every) > 0 and max(every) > 20 * min(every),
        log_y=bool(ys) and min(ys) > 0 and max(ys) > 50 * min(ys),
        points=True,
    )


def _line(label: str, number: int, figure: str, series: Mapping[float, Interval]) -> Line:
    """Draw a figure over the values of the main axis, with its intervals where there are any."""
    divisor = 1e3 if described(figure).kind == "bytes" else 1.0  # as the axis says
    at = sorted(series)
    means = np.array([float(series[x].mean) for x in at]) / divisor
    halves = [series[x].half_width for x in at]
    low, high = ends_of(means, [None if half is None else half / divisor for half in halves])
    colour, dash = look_of(number)
    return Line(label, colour, np.array(at), means, dash, low=low, high=high)


def _bounds(figure: str, combinations: Sequence[Combination]) -> str:
    """Say where a figure is a lower bound."""
    points = [each for each in combinations if isinstance(each.means.get(figure), AtLeast)]
    if not points:
        return ""
    return f" Lower bounds, as something was unfinished: {len(points)} of {len(combinations)} points."


def bars_of(figure: str, combinations: Sequence[Combination], over: str) -> Bars:
    """Draw a figure of each combination as a bar, where no axis is of numbers."""
    return Bars(
        title_of(figure),
        f"By combination{over}.{_bounds(figure, combinations)}",
        [
            Bar(
                label_of({key: each.overrides[key] for key in _varying(combinations)}) or "all",
                float(each.intervals[figure].mean),
                written(figure, each.intervals),
                half_width=each.intervals[figure].half_width or 0.0,
            )
            for each in combinations[:_MOST_LINES]
            if figure in each.intervals
        ],
    )


def _table_section(
    keys: Sequence[str],
    figures: Sequence[str],
    combinations: Sequence[Combination],
    frontier: Frontier | None,
) -> str:
    best = frontier.recommended([each.means for each in combinations]) if frontier else None
    # A short name stands for its key, which the pointer shows whole.
    heads = "".join(
        f'<th scope="col" title="{escape(key)}">{escape(short)}</th>'
        for key, short in zip(keys, short_keys(keys), strict=True)
    )
    heads += "".join(f'<th scope="col">{escape(name_of(name))}</th>' for name in figures)
    rows = []
    for index, each in enumerate(combinations[:_MOST_ROWS]):
        cells = [escape(str(each.overrides[key])) for key in keys]
        cells += [escape(written(name, each.intervals)) for name in figures]
        first, *others = cells or [""]
        row = f'<th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in others)
        rows.append(f'<tr class="chosen">{row}</tr>' if index == best else f"<tr>{row}</tr>")
    more = len(combinations) - _MOST_ROWS
    note = f"<p>And {more} rows more: the table beside this page has them all.</p>" if more > 0 else ""
    return f"<section><h2>Points</h2>{table(heads, rows)}{note}</section>"


def title_of(figure: str) -> str:
    """Return a figure's name as a title."""
    name = name_of(figure)
    return name[0].upper() + name[1:]


def unit_of(value: Any) -> str:
    """Return the unit of an axis for a value of a scenario; nothing for a plain number, or for none."""
    found = quantity(value)
    return "" if found is None else _UNITS[found.unit]


def axis_label(name: str, of_bytes: str = "kB") -> str:
    """Return a figure's name with its unit, for an axis."""
    unit = {"time": "us", "bytes": of_bytes, "rate": "Gb/s", "share": "share"}.get(described(name).kind, "")
    return f"{name_of(name)} ({unit})" if unit else name_of(name)
