"""Runs side by side: figures in columns, the differences in words, and what the scenarios have in common.

With several seeds a difference is called one only if Welch's t test says so at the 5 % level; with one seed
each there is nothing to test, and the comparison says that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from clearway.figures import (
    AtLeast,
    Figure,
    figures_in,
    interval_in_words,
    is_of,
    readable,
    unfinished_beside,
)
from clearway.overview import MAIN, Overview
from clearway.runs import Seeds
from clearway.statistics import Interval, differ

_WORTH_SAYING = 0.01  # relative; below it two single runs are called alike
_MANY = 10.0  # from here on a factor has no decimals
_TWICE = 2.0  # from here on a factor reads better than a percentage


@dataclass(frozen=True)
class Row:
    """One figure in all columns."""

    figure: Figure
    group: str
    """The transport, or nothing for the whole run."""
    values: Sequence[Interval | None]
    best: frozenset[int]
    """Columns with the best value and those as good as it; none if all are."""
    unfinished: Sequence[float]
    """How many flows or operations are in each value with their age, as they were unfinished."""

    @property
    def label(self) -> str:
        """Return the label of the row."""
        return f"{self.group}: {self.figure.label}" if self.group else self.figure.label

    @property
    def heading(self) -> str:
        """Return the label, marked where the figure covers the whole run."""
        return f"{self.group}: {self.figure.heading}" if self.group else self.figure.heading

    def readable(self, column: int) -> str:
        """Write the value in a column with its unit."""
        value = self.values[column]
        return "-" if value is None else readable(self.figure.kind, value.mean, value.half_width)

    def in_words(self, column: int) -> str:
        """Write the value in a column, and how much was unfinished."""
        count = self.unfinished[column]
        return self.readable(column) + (f", {readable('count', count)} unfinished" if count else "")


@dataclass(frozen=True)
class Comparison:
    """Several runs, side by side."""

    labels: Sequence[str]
    groups: Sequence[Seeds]
    """What each column is made of."""
    rows: Sequence[Row]
    findings: Sequence[str]
    """The differences in words."""
    settings: Mapping[str, Sequence[Any]]
    """Scenario keys that differ, with the value in each column."""

    def __repr__(self) -> str:
        """Write the main figures side by side, and the differences in words."""
        return "\n".join([self._main_figures().text("side by side"), *self.findings])

    def _repr_html_(self) -> str:
        """Write the main figures as a table and the differences as a list, for notebooks."""
        items = "".join(f"<li>{escape(finding)}</li>" for finding in self.findings)
        return self._main_figures().html("side by side") + (f"<ul>{items}</ul>" if items else "")

    @property
    def interval(self) -> str:
        """Say what the figures cover."""
        return interval_in_words([run.summary for group in self.groups for run in group.runs])

    def _main_figures(self) -> Overview:
        rows = [
            (row.heading, [row.readable(column) for column in range(len(row.values))])
            for row in self.rows
            if row.figure.key in MAIN
        ]
        return Overview(self.labels, rows)

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints of a comparison."""
        columns = [
            {
                "label": label,
                "name": group.name,
                "seeds": [run.seed for run in group.runs],
                "digests": [run.digest for run in group.runs],
                "summary": group.runs[0].summary if len(group.runs) == 1 else group.summary(),
            }
            for label, group in zip(self.labels, self.groups, strict=True)
        ]
        return {"columns": columns, "findings": list(self.findings), "settings": dict(self.settings)}


def compare(items: Sequence[tuple[str, Seeds]], *, labelled: bool = False) -> Comparison:
    """Compare runs, each with where it came from; with `labelled`, with what it is to be called."""
    sources = [(source, group.name) for source, group in items]
    labels = [source for source, _ in sources] if labelled else labels_of(sources)
    groups = [group for _, group in items]
    rows = [*_rows("", [group.intervals() for group in groups]), *_transport_rows(groups)]
    return Comparison(
        labels=labels,
        groups=groups,
        rows=rows,
        findings=[
            *(
                f"{label}: {of.interruption}"
                for label, of in zip(labels, groups, strict=True)
                if of.interruption
            ),
            *(finding for row in rows if row.figure.headline for finding in _findings(row, labels)),
        ],
        settings=_differing([group.runs[0].scenario for group in groups]),
    )


def labels_of(sources: Sequence[tuple[str, str]]) -> list[str]:
    """Label runs from (where it came from, its name): names if they differ, else file names, else paths."""
    names = [name for _, name in sources]
    stems = [Path(source).stem or name for source, name in sources]
    paths = [source or name for source, name in sources]
    for candidate in (names, stems, paths):
        if len(set(candidate)) == len(candidate):
            return candidate
    return [f"{name} #{number}" for number, name in enumerate(names, 1)]


def setting(value: Any) -> str:
    """Write the value of a scenario's key as a person would."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def _rows(group: str, columns: Sequence[Mapping[str, Interval]]) -> list[Row]:
    means = [{key: value.mean for key, value in column.items()} for column in columns]
    rows = []
    for figure in figures_in(means):
        values = [column.get(figure.key) if is_of(figure, column) else None for column in columns]
        missing = unfinished_beside(figure.key) or ""
        unfinished = [of.mean if (of := column.get(missing)) else 0.0 for column in columns]
        rows.append(Row(figure, group, values, _best(figure, values), unfinished))
    return rows


def _transport_rows(groups: Sequence[Seeds]) -> list[Row]:
    """Compare transport by transport those that somewhere are not the only one of a run."""
    by_run = [run.summary.get("transports") or {} for group in groups for run in group.runs]
    names = dict.fromkeys(name for transports in by_run if len(transports) > 1 for name in transports)
    return [row for name in names for row in _rows(name, [group.intervals(name) for group in groups])]


def _best(figure: Figure, values: Sequence[Interval | None]) -> frozenset[int]:
    """Return the columns with the best value and those as good as it; none if all are."""
    there = {index: value for index, value in enumerate(values) if value is not None}
    if figure.better is None or not there:
        return frozenset()
    choose = min if figure.better == "lower" else max
    best = choose(there.values(), key=lambda value: value.mean)
    if figure.better == "lower" and isinstance(best.mean, AtLeast):
        return frozenset()  # the true value may be the largest of all
    as_good = frozenset(
        index for index, value in there.items() if _alike(best, value) and not isinstance(value.mean, AtLeast)
    )
    return as_good if len(as_good) < len(there) else frozenset()


def _alike(best: Interval, value: Interval) -> bool:
    """Tell whether the difference is none, too small to speak of, or within chance."""
    return (
        abs(best.mean - value.mean) <= _WORTH_SAYING * max(abs(best.mean), abs(value.mean))
        or differ(best, value) is False
    )


def _findings(row: Row, labels: Sequence[str]) -> list[str]:
    """Say how far the best column is ahead of each other one, and which differences are not significant."""
    there = [index for index, value in enumerate(row.values) if value is not None]
    if row.figure.better is None or len(there) < 2:
        return []
    sign = 1 if row.figure.better == "lower" else -1
    winner, *others = sorted(there, key=lambda index: sign * _mean(row, index))
    if isinstance(_mean(row, winner), AtLeast):
        smallest = f"{labels[winner]} ({row.in_words(winner)})"
        return [f"{row.label}: not ranked, as the smallest is a lower bound: {smallest}"]
    leaders = [labels[index] for index in there if _mean(row, index) == _mean(row, winner)]
    ahead: list[str] = []
    alike: list[str] = []
    open_: list[str] = []
    for index in others:
        best, value = row.values[winner], row.values[index]
        assert best is not None
        assert value is not None
        if isinstance(value.mean, AtLeast) and _alike(best, value):
            open_.append(f"{labels[index]} ({row.in_words(index)})")
            continue
        if not _alike(best, value):
            count = f" ({readable('count', number)} unfinished)" if (number := row.unfinished[index]) else ""
            ahead.append(f"{_distance(row, winner, index, named=not ahead)} than {labels[index]}{count}")
        elif differ(best, value) is False and value.mean != best.mean:
            alike.append(f"{labels[index]} ({row.readable(index)})")
    found = []
    if ahead:
        found.append(f"{' and '.join(leaders)}: {', '.join(ahead)}")
    if alike:
        found.append(
            f"{row.label}: no significant difference between {' and '.join(leaders)}"
            f" ({row.readable(winner)}) and {', '.join(alike)}"
        )
    if open_:
        found.append(f"{row.label}: not ranked, as of lower bounds nothing more is known: {', '.join(open_)}")
    return found


def _mean(row: Row, column: int) -> float:
    value = row.values[column]
    assert value is not None
    return value.mean


def _distance(row: Row, winner: int, other: int, *, named: bool) -> str:
    """Write how much better: a factor, a percentage, or both values if one is zero; at what, if named."""
    what = f" {row.figure.better} {row.label}" if named else ""
    best, worse = _mean(row, winner), _mean(row, other)
    small, large = sorted((best, worse))
    if small <= 0:
        return f"{what} ({row.readable(winner)}, not {row.readable(other)})".strip()
    factor = large / small
    at_least = "at least " if isinstance(worse, AtLeast) else ""
    if factor >= _TWICE:
        return f"{at_least}{factor:.2g}x{what}" if factor < _MANY else f"{at_least}{factor:,.0f}x{what}"
    return f"{at_least}{abs(best - worse) / worse * 100:.2g} %{what}"


def _differing(scenarios: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the keys whose values differ between scenarios; None where one has no such key."""
    flat = [_flatten(scenario) for scenario in scenarios]
    keys = dict.fromkeys(key for scenario in flat for key in scenario)
    differing = {}
    for key in keys:
        values = [scenario.get(key) for scenario in flat]
        if key not in {"name", "seed"} and any(value != values[0] for value in values):
            differing[key] = values
    return differing


def _flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    if isinstance(value, Mapping):
        entries = [(f"{prefix}.{key}" if prefix else str(key), entry) for key, entry in value.items()]
    elif isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        entries = [(f"{prefix}[{index}]", entry) for index, entry in enumerate(value)]
    else:
        return {prefix: value}
    flat: dict[str, Any] = {}
    for path, entry in entries:
        flat.update(_flatten(entry, path))
    return flat
