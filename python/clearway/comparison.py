"""Runs side by side: figures in columns, the differences in words, and what the scenarios have in common.

A difference is called one only if Welch's t test over the seeds says so, or if nothing is left to chance on
either side. All figures of which one can be better, and all pairs of columns, are tested at once, and Holm's
correction keeps the chance that any of what is said is no difference at 5 %. Of one seed there is nothing to
test: the comparison then says what it would need.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import beside, drawing
from clearway.figures import (
    TWICE,
    AtLeast,
    Figure,
    figures_in,
    interval_in_words,
    is_of,
    readable,
    times,
    unfinished_beside,
)
from clearway.overview import MAIN, Overview, listed, reasons_in_words
from clearway.seeds import Seeds
from clearway.selection import EVERYTHING, Selected, Selection
from clearway.statistics import Interval, exact, p_value, told_apart

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

_WORTH_SAYING = 0.01  # relative; below it no difference is worth a word
_SEEDS_TO_TELL = 5  # of each column: where more are needed, the intervals show it


@dataclass(frozen=True)
class Row:
    """One figure in all columns."""

    figure: Figure
    group: str
    """The transport, or nothing for the whole run."""
    values: Sequence[Interval | None]
    unfinished: Sequence[float]
    """How many flows or operations are in each value with their age, as they were unfinished."""
    apart: frozenset[tuple[int, int]] = frozenset()
    """The pairs of columns that differ by more than chance explains, the smaller place first."""

    @property
    def ranked(self) -> Sequence[int]:
        """The columns that can be ranked: their value is of several seeds, or has no part of chance."""
        if self.figure.better is None:
            return []
        return [place for place, of in enumerate(self.values) if of is not None and of.half_width is not None]

    @property
    def best(self) -> frozenset[int]:
        """Columns with the best value and those as good as it; none if all are, or if it cannot be told."""
        there = [place for place, value in enumerate(self.values) if value is not None]
        if self.figure.better is None or list(self.ranked) != there or not there:
            return frozenset()
        best = self.order[0]
        if self.figure.better == "lower" and isinstance(self.mean(best), AtLeast):
            return frozenset()  # the true value may be the largest of all
        as_good = frozenset(
            place for place in there if self.alike(best, place) and not isinstance(self.mean(place), AtLeast)
        )
        return as_good if len(as_good) < len(there) else frozenset()

    @property
    def order(self) -> list[int]:
        """The columns that can be ranked, the best first."""
        sign = 1 if self.figure.better == "lower" else -1
        return sorted(self.ranked, key=lambda place: sign * self.mean(place))

    def mean(self, column: int) -> float:
        """Return the value in a column that has one."""
        value = self.values[column]
        assert value is not None
        return value.mean

    def alike(self, one: int, other: int) -> bool:
        """Tell whether the difference is none, too small to speak of, or within chance."""
        a, b = self.mean(one), self.mean(other)
        too_small = abs(a - b) <= _WORTH_SAYING * max(abs(a), abs(b))
        return too_small or not self.differ(one, other)

    def differ(self, one: int, other: int) -> bool:
        """Tell whether two columns differ by more than chance explains."""
        return (min(one, other), max(one, other)) in self.apart

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
    needs: str = ""
    """What it would take to tell differences that are not spoken of; nothing where all can be told."""
    selection: Selection = EVERYTHING
    """Which of the rows were asked for."""
    selected: Selected = Selected()  # noqa: RUF009 - it cannot be changed
    """The rows and figures of these runs that the selection leaves."""

    def __repr__(self) -> str:
        """Write the main figures side by side, and the differences in words."""
        return "\n".join([self._main_figures().text("side by side"), *self._sentences])

    def _repr_html_(self) -> str:
        """Write the main figures as a table and the differences as a list, for notebooks."""
        return self._main_figures().html("side by side") + listed(self._sentences)

    @property
    def _sentences(self) -> list[str]:
        return [*self.findings, *([self.needs] if self.needs else [])]

    def notes(self, rows: Sequence[Row]) -> list[str]:
        """Say of these rows why a column has no value in some, a line a column."""
        lines = []
        for place, (label, group) in enumerate(zip(self.labels, self.groups, strict=True)):
            reasons = [
                reason
                for row in rows
                if row.values[place] is None
                and (reason := group.absent(row.group or None).get(row.figure.key))
            ]
            lines += reasons_in_words(label, reasons)
        return lines

    @property
    def interval(self) -> str:
        """Say what the figures cover."""
        return interval_in_words([run.summary for group in self.groups for run in group.runs])

    def plot(self, kind: str, path: str | os.PathLike[str] | None = None, *, columns: int = 1) -> Drawing:
        """Draw all columns in one figure for a paper, as `Run.plot` does."""
        return drawing.plot_runs(list(zip(self.labels, self.groups, strict=True)), kind, path, columns)

    def _main_figures(self) -> Overview:
        rows = [
            (row.heading, [row.readable(column) for column in range(len(row.values))])
            for row in self.rows
            if self.selection.figures or row.figure.key in MAIN
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
                "summary": self._summary(group),
            }
            for label, group in zip(self.labels, self.groups, strict=True)
        ]
        return {
            "columns": columns,
            "findings": list(self.findings),
            "needs": self.needs or None,
            "settings": dict(self.settings),
            "selection": self.selection.as_json() if self.selection else None,
        }

    def _summary(self, group: Seeds) -> Mapping[str, Any]:
        summary = group.runs[0].summary if len(group.runs) == 1 else group.summary()
        return self.selected.summary(summary) if self.selection else summary


def compare(
    items: Sequence[tuple[str, Seeds]], *, labelled: bool = False, selection: Selection = EVERYTHING
) -> Comparison:
    """Compare runs, each with where it came from; with `labelled`, with what it is to be called.

    All rows are tested, and then those of the selection taken.
    """
    sources = [(source, group.name) for source, group in items]
    labels = [source for source, _ in sources] if labelled else labels_of(sources)
    groups = [group for _, group in items]
    labels = beside.measured_labels(labels, groups)
    tested = _tested([*_rows("", [_intervals(group) for group in groups]), *_transport_rows(groups)])
    selected = selection.among(
        [(row.group, row.figure) for row in tested], [run.scenario for group in groups for run in group.runs]
    )
    rows = [row for row in tested if selected.has(row.group, row.figure)]
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
            *beside.differences(labels, groups, lambda figure: selected.has("", figure)),
        ],
        settings=_differing([group.runs[0].scenario for group in groups]),
        needs=_needs(labels, groups),
        selection=selection,
        selected=selected,
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


def _needs(labels: Sequence[str], groups: Sequence[Seeds]) -> str:
    """Say what would tell whether columns of one seed differ; nothing if all are told, or are the same."""
    if any(beside.is_measured(group) for group in groups):
        return ""  # no seeds would tell: hosts have none
    single = [
        label
        for label, group in zip(labels, groups, strict=True)
        if len(group.runs) == 1 and not group.without_chance
    ]
    if not single or len({run.digest for group in groups for run in group.runs}) == 1:
        return ""
    whose = "each" if len(single) == len(groups) else f"of {' and '.join(single)}"
    return (
        f"With one seed {whose}, a difference may be chance, and none is called one: "
        f"{_SEEDS_TO_TELL} seeds on each side would tell, "
        f"--seeds {_SEEDS_TO_TELL} or seeds={_SEEDS_TO_TELL} in Python."
    )


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
        rows.append(Row(figure, group, values, unfinished))
    return rows


def _intervals(group: Seeds, transport: str | None = None) -> Mapping[str, Interval]:
    """Take the intervals of a column; those of one that leaves nothing to chance have no width."""
    found = group.intervals(transport)
    return {key: exact(of) for key, of in found.items()} if group.without_chance else found


def _tested(rows: Sequence[Row]) -> list[Row]:
    """Find out in which pairs of columns each row differs, all of them tested at once."""
    tests: list[tuple[int, tuple[int, int], float]] = []
    for place, row in enumerate(rows):
        for one, other in combinations(row.ranked, 2):
            a, b = row.values[one], row.values[other]
            assert a is not None
            assert b is not None
            p = p_value(a, b)
            assert p is not None, "what is ranked can be tested"
            if a.variance + b.variance > 0 or a.mean != b.mean:  # else there is nothing to test
                tests.append((place, (one, other), p))
    apart: dict[int, set[tuple[int, int]]] = {}
    for (place, pair, _), differs in zip(tests, told_apart([p for *_, p in tests]), strict=True):
        if differs:
            apart.setdefault(place, set()).add(pair)
    return [replace(row, apart=frozenset(apart.get(place, ()))) for place, row in enumerate(rows)]


def _transport_rows(groups: Sequence[Seeds]) -> list[Row]:
    """Compare transport by transport those that somewhere are not the only one of a run."""
    by_run = [run.summary.get("transports") or {} for group in groups for run in group.runs]
    names = dict.fromkeys(name for transports in by_run if len(transports) > 1 for name in transports)
    return [row for name in names for row in _rows(name, [_intervals(group, name) for group in groups])]


def _findings(row: Row, labels: Sequence[str]) -> list[str]:
    """Say how far the best column is ahead of each other one, and which differences are not significant."""
    if len(row.ranked) < 2:
        return []
    winner, *others = row.order
    if isinstance(row.mean(winner), AtLeast):
        smallest = f"{labels[winner]} ({row.in_words(winner)})"
        return [f"{row.label}: not ranked, as the smallest is a lower bound: {smallest}"]
    leaders = [labels[index] for index in sorted(row.ranked) if row.mean(index) == row.mean(winner)]
    ahead: list[str] = []
    alike: list[str] = []
    open_: list[str] = []
    for index in others:
        if not row.alike(winner, index):
            count = f" ({readable('count', number)} unfinished)" if (number := row.unfinished[index]) else ""
            ahead.append(f"{_distance(row, winner, index, named=not ahead)} than {labels[index]}{count}")
        elif isinstance(row.mean(index), AtLeast):
            open_.append(f"{labels[index]} ({row.in_words(index)})")
        elif row.mean(index) != row.mean(winner) and not row.differ(winner, index):
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


def _distance(row: Row, winner: int, other: int, *, named: bool) -> str:
    """Write how much better: a factor, a percentage, or both values if one is zero; at what, if named."""
    what = f" {row.figure.better} {row.label}" if named else ""
    best, worse = row.mean(winner), row.mean(other)
    small, large = sorted((best, worse))
    if small <= 0:
        return f"{what} ({row.readable(winner)}, not {row.readable(other)})".strip()
    factor = large / small
    at_least = "at least " if isinstance(worse, AtLeast) else ""
    if factor >= TWICE:
        return f"{at_least}{times(factor)}{what}"
    percent = abs(best - worse) / worse * 100
    return f"{at_least}{float(f'{percent:.2g}'):g} %{what}"


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
