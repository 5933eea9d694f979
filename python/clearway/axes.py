"""`clearway sweep`: a scenario file with a `[sweep]` table is many points: all combinations of its axes.

[sweep]
"transport.bulk.base_target" = ["15us", "25us"]            # a list of values
"transport.bulk.ai" = { from = 0.25, to = 4, factor = 2 }  # a range: with step or factor, ends included
"transport.*.beta" = [0.4, 0.8]                            # a star: of every transport
seed = [1, 2, 3]                                           # seeds are an axis like any other

[[sweep.zip]]                                              # keys that change together are one axis
"network.rate" = ["25Gbps", "50Gbps"]
"network.hosts" = [26, 51]

[sweep.frontier]                                           # optional: see frontier.py
"""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearway import _clearway, api, directory, documents
from clearway.errors import ClearwayError
from clearway.figures import FIGURES, figure_of
from clearway.frontier import Frontier
from clearway.points import Point
from clearway.runs import Run

MOST_POINTS = 10_000
_RANGE = frozenset({"from", "to", "step", "factor"})
_RESERVED = ("zip", "frontier")
Where = Callable[[str], str]
"""Says where a key of the table stands, or the table itself (no key), for messages."""
_NUMBER_AND_UNIT = re.compile(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)\s*")


@dataclass(frozen=True)
class Axis:
    """Keys that change together, and their values, point by point."""

    keys: tuple[str, ...]
    values: Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Sweep:
    """A file as read."""

    path: Path
    scenario: str
    """The document without its `[sweep]`, every line where it was."""
    document: Mapping[str, Any]
    """The same as read."""
    axes: Sequence[Axis]
    lines: Mapping[str, int]
    """Where each key of an axis stands."""
    frontier: Frontier | None

    @property
    def keys(self) -> list[str]:
        """All keys that change."""
        return [key for axis in self.axes for key in axis.keys]

    def points(self) -> list[Point]:
        """Read and check every point; an error names the file and the line of the axis that is wrong."""
        return [Point(self._load(variant), variant, self.path.parent) for variant in variants(self.axes)]

    def _load(self, variant: Mapping[str, Any]) -> _clearway.Scenario:
        sets = api.sets_of(expanded(variant, self.document))
        try:
            return _clearway.load_text(self.scenario, str(self.path), self.path.parent, sets)
        except _clearway.ScenarioError as error:
            message = str(error)
            lines = expanded(self.lines, self.document)
            for key, value in sets:
                place = f"{self.path}:{lines[key]}: [sweep] {key} = {value}: "
                message = message.replace(f"--set {key}={value}: {key}: ", place).replace(
                    f"--set {key}={value}: ", place
                )
            raise ClearwayError(message, "no point was run") from error


def read(path: Path) -> Sweep:
    """Read a scenario file with a `[sweep]` table."""
    api.check_readable(path)
    text = documents.read_text(path)
    try:
        document = documents.parse(text, str(path))
    except ClearwayError:
        _clearway.load(path)  # says it as it does elsewhere
        raise
    table = document.get("sweep")
    if not isinstance(table, Mapping):
        raise ClearwayError(f"{path}: has no [sweep] table", f"clearway run {path} runs it as it is")
    scenario, header = documents.without_table(text, "sweep")
    left = documents.parse(scenario, str(path))
    if "sweep" in left or not header:
        line = documents.line_of(text, "sweep")
        raise ClearwayError(f"{path}:{line}: sweep: expected a table with a header of its own, [sweep]")

    def where(key: str) -> str:
        return f"{path}:{_line(text, key, header) if key else header}: [sweep] {key}".rstrip()

    frontier = Frontier.of(table["frontier"], where("frontier")) if "frontier" in table else None
    axes = axes_of(table, where)
    keys = [key for axis in axes for key in axis.keys]
    lines = {key: _line(text, key, header) for key in keys}
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:
        raise ClearwayError(f"{path}:{lines[repeated]}: [sweep] {repeated}: is in two axes")
    return Sweep(path, scenario, left, axes, lines, frontier)


def axes_of(table: Mapping[str, Any], where: Where) -> list[Axis]:
    """Read the axes of a table."""
    axes = []
    for key, value in _flat({key: value for key, value in table.items() if key not in _RESERVED}):
        axes.append(Axis((key,), [(entry,) for entry in _values(value, where(key))]))
    groups = table.get("zip", [])
    if not isinstance(groups, list) or not all(isinstance(group, Mapping) for group in groups):
        raise ClearwayError(f"{where('zip')}: expected tables, each with its header [[sweep.zip]]")
    for group in groups:
        columns = {key: _values(value, where(key)) for key, value in _flat(group)}
        lengths = {key: len(values) for key, values in columns.items()}
        if len(set(lengths.values())) != 1:
            counts = ", ".join(f"{key} {length}" for key, length in lengths.items())
            raise ClearwayError(
                f"{where(next(iter(columns), 'zip'))}: "
                f"expected lists of one length in a zip, found {counts or 'none'}"
            )
        axes.append(Axis(tuple(columns), list(zip(*columns.values(), strict=True))))
    if not axes:
        raise ClearwayError(
            f"{where('')}: has no axis", 'for example "transport.bulk.base_target" = ["15us", "25us"]'
        )
    count = math.prod(len(axis.values) for axis in axes)
    if count > MOST_POINTS:
        factors = " x ".join(str(len(axis.values)) for axis in axes)
        raise ClearwayError(
            f"{where('')}: {factors} = {count:,} points, at most {MOST_POINTS:,} are allowed",
            "give fewer values, or split it into several files: finished points are shared",
        )
    return axes


def variants(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Yield the overrides of every combination; the last axis changes fastest."""
    for combination in itertools.product(*(axis.values for axis in axes)):
        yield {
            key: value
            for axis, values in zip(axes, combination, strict=True)
            for key, value in zip(axis.keys, values, strict=True)
        }


def expanded(overrides: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Write a key with a star for every entry of its table: `transport.*.ai` sets it for all transports."""
    sets: dict[str, Any] = {}
    for key, value in overrides.items():
        table, star, rest = key.partition(".*.")
        names = document.get(table) if star else None
        if isinstance(names, Mapping):
            sets.update({f"{table}.{name}.{rest}": value for name in names})
        else:
            sets[key] = value
    return sets


def columns(keys: Sequence[str], points: Sequence[Point], runs: Sequence[Run]) -> directory.Columns:
    """Make the table: a row a point, with its axes, every figure of its summary, and where it is kept."""
    table: directory.Columns = {}
    for key in keys:
        values = [point.overrides[key] for point in points]
        name, numbers = column_of(key, values)
        table[name] = np.array([str(value) for value in values]) if numbers is None else np.array(numbers)
    rows = [dict(figures_of(run)) for run in runs]
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        if all(isinstance(cell, int) and cell >= 0 for cell in cells):
            table[name] = np.array(cells, dtype=np.uint64)
        else:
            table[name] = np.array([math.nan if cell is None else float(cell) for cell in cells])
    table["digest"] = np.array([run.digest for run in runs])
    table["run"] = np.array([str(run.path or "") for run in runs])
    return table


def column_of(key: str, values: Sequence[Any]) -> tuple[str, list[float] | None]:
    """Name the column of an axis with its unit, and give numbers if all its values are of one kind."""
    quantities = [documents.quantity(value) for value in values]
    units = {quantity.unit for quantity in quantities if quantity is not None}
    if None in quantities or len(units) != 1:
        return key, None
    unit = units.pop()
    return f"{key}_{unit}" if unit else key, [entry.value for entry in quantities if entry is not None]


def figures_of(run: Run) -> Iterator[tuple[str, float | None]]:
    """Yield the figures of a summary; those of a transport, if it has several, with its name in front."""
    for key, value in run.summary.items():
        if value is None or isinstance(value, (int, float)):
            yield key, value
    transports = run.summary.get("transports") or {}
    if len(transports) > 1:
        for name, figures in transports.items():
            for key, value in figures.items():
                if value is None or isinstance(value, (int, float)):
                    yield f"{name}.{key}", value


def means(runs: Sequence[Run]) -> dict[str, float]:
    """Take the mean of every figure over the runs that have it."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for key, value in figures_of(run):
            if value is not None:
                found.setdefault(key, []).append(float(value))
    return {key: math.fsum(values) / len(values) for key, values in found.items()}


def check_objectives(frontier: Frontier, rows: Sequence[Mapping[str, float]], path: Path) -> None:
    """Raise if the frontier names a figure that no point has."""
    known = dict.fromkeys(name for row in rows for name in row)
    for name in frontier.objectives:
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *(figure.key for figure in FIGURES)], n=1)
            hint = f"did you mean {near[0]}?" if near and near[0] != name else "sweep.json lists the figures"
            raise ClearwayError(f"{path}: [sweep.frontier] objectives: no point has a figure {name}", hint)


def label_of(overrides: Mapping[str, Any]) -> str:
    """Write a combination in short: the last parts of the keys."""
    return ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in overrides.items())


def name_of(key: str) -> str:
    """Write a figure's name; that of a transport has the transport in front."""
    transport, dot, figure = key.rpartition(".")
    return f"{transport}: {figure_of(figure).label}" if dot else figure_of(key).label


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values: an unquoted dotted key is read as nested tables."""
    for key, value in table.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, Mapping) and not set(value) & _RANGE:
            yield from _flat(value, path)
        else:
            yield path, value


def _values(value: Any, where: str) -> list[Any]:
    if isinstance(value, Mapping):
        return _range(value, where)
    if not isinstance(value, list):
        raise ClearwayError(
            f"{where}: expected a list of values or a range", 'such as ["15us", "25us"] or { from, to, step }'
        )
    if not value:
        raise ClearwayError(f"{where}: is empty", "give at least one value, or leave the axis out")
    return value


def _range(value: Mapping[str, Any], where: str) -> list[Any]:
    """From, to, and step or factor; all but a factor in one unit. Both ends belong to it."""
    how = [name for name in ("step", "factor") if name in value]
    if set(value) - _RANGE or "from" not in value or "to" not in value or len(how) != 1:
        raise ClearwayError(f"{where}: expected from, to, and either step or factor")
    first, unit = _number(value["from"], where)
    last = _in_unit(value["to"], unit, where)
    by = _in_unit(value[how[0]], "" if how == ["factor"] else unit, where)
    geometric = how == ["factor"]
    if (geometric and (by <= 1 or first <= 0)) or (not geometric and by <= 0) or last < first:
        raise ClearwayError(f"{where}: expected from below to, a step above 0 or a factor above 1")
    steps = math.log(last / first) / math.log(by) if geometric else (last - first) / by
    if steps >= MOST_POINTS:
        raise ClearwayError(f"{where}: more than {MOST_POINTS:,} values", "take larger steps")
    places = range(math.floor(steps + 1e-9) + 1)
    if not unit and all(isinstance(value[name], int) for name in ("from", "to", how[0])):
        # As written: a seed may have more digits than a decimal fraction is given.
        whole, step = value["from"], value[how[0]]
        return [whole * step**index if geometric else whole + step * index for index in places]
    values = [float(f"{first * by**index if geometric else first + by * index:.12g}") for index in places]
    return [f"{entry:.12g}{unit}" if unit else entry for entry in values]


def _number(value: Any, where: str) -> tuple[float, str]:
    match = _NUMBER_AND_UNIT.fullmatch(str(value))
    if isinstance(value, bool) or match is None:
        raise ClearwayError(f"{where}: found {value!r}, expected a number, with its unit if the key has one")
    return float(match[1]), match[2]


def _in_unit(value: Any, unit: str, where: str) -> float:
    """Read a number in the unit of the range's first."""
    number, own = _number(value, where)
    if own == unit:
        return number
    here, there = documents.quantity(f"1{unit}"), documents.quantity(f"1{own}")
    if not unit or not own or here is None or there is None or here.unit != there.unit:
        raise ClearwayError(f"{where}: found {value!r}, expected the unit of from (a factor has none)")
    return number * there.value / here.value


def _line(text: str, key: str, header: int) -> int:
    """Find the line of an axis; of a key that is spread over header and line, that of its last part."""
    line = documents.line_of(text, key, header)
    return line if line != header else documents.line_of(text, key.rsplit(".", 1)[-1], header)
