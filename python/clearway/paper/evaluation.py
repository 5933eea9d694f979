"""What an experiment's expressions are worth, given its runs.

A measure of a run names the run, and may choose among its points: `where` fixes axes, `over` makes a series
over one, `pool = true` joins the series of all points and seeds, or adds up their losses. Seeds are averaged
over; losses are added up. Without any of these, several points are a list in their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.figures import AtLeast, mean_of
from clearway.paper import measures
from clearway.paper.checker import Table
from clearway.paper.expressions import SELECTORS
from clearway.paper.measures import Losses, Series, Value
from clearway.runs import Run

SEED = "seed"
"""The axis whose values are samples of one thing."""

_MAY_BE_BOUNDS = ("summary", "quantile", "mean", "operation_latency")
"""Measures of a run that are `AtLeast` where something was unfinished."""


class SeedsDifferError(ClearwayError):
    """A series of several seeds, such as a distribution, which has no mean."""


@dataclass(frozen=True)
class MadeRun:
    """A named run of an experiment, made: its points with the values of their axes."""

    name: str
    label: str
    points: Sequence[tuple[Table, Run]]


Runs = Mapping[str, MadeRun]


def evaluate(
    expression: Any, runs: Runs, swaps: Mapping[str, str] | str | None = None, *, unbounded: bool = False
) -> Any:
    """Return what an expression is worth; with `swaps`, of other runs in place of those it names.

    With `unbounded`, what is `AtLeast` is taken as infinite: so an expression of it has another value.
    """
    if isinstance(expression, list):
        return [evaluate(entry, runs, swaps, unbounded=unbounded) for entry in expression]
    if not isinstance(expression, Mapping) or "measure" not in expression:
        return expression
    name = expression["measure"]
    arguments = {
        key: evaluate(value, runs, swaps, unbounded=unbounded)
        for key, value in expression.items()
        if key not in SELECTORS or (name in measures.OF_VALUES and key != "measure")
    }
    if name in measures.OF_VALUES:
        return measures.OF_VALUES[name](**arguments)
    run = runs[swapped(expression["run"], swaps)]
    chosen = _chosen(run, expression.get("where", {}))
    if expression.get("pool"):
        return _pooled(run, name, [measures.OF_RUN[name](point, **arguments) for _, point in chosen])
    return _of_run(run, name, chosen, arguments, expression.get("over"), unbounded=unbounded)


def lower_bounds_in(expression: Any, runs: Runs, swaps: Mapping[str, str] | str | None = None) -> list[str]:
    """List the figures in an expression that are lower bounds: something was unfinished."""
    if isinstance(expression, list):
        return [found for entry in expression for found in lower_bounds_in(entry, runs, swaps)]
    if not isinstance(expression, Mapping):
        return []
    name = expression.get("measure")
    if name in _MAY_BE_BOUNDS:
        run = runs[swapped(expression["run"], swaps)]
        arguments = {key: value for key, value in expression.items() if key not in SELECTORS}
        points = (point for _, point in _chosen(run, expression.get("where", {})))
        bound = any(isinstance(measures.OF_RUN[name](point, **arguments), AtLeast) for point in points)
        return [f"{expression.get('key', name)} of {run.label}"] if bound else []
    return [found for entry in expression.values() for found in lower_bounds_in(entry, runs, swaps)]


def with_axis(expression: Any, axis: str, value: Any) -> Any:
    """Return an expression with an axis fixed in every measure of a run that is in it."""
    if isinstance(expression, list):
        return [with_axis(entry, axis, value) for entry in expression]
    if not isinstance(expression, Mapping) or "measure" not in expression:
        return expression
    changed = {key: with_axis(entry, axis, value) for key, entry in expression.items()}
    if "run" in expression:
        changed["where"] = {**expression.get("where", {}), axis: value}
    return changed


def _chosen(made: MadeRun, fixed: Table) -> list[tuple[Table, Run]]:
    """Return the points at which axes have these values."""
    chosen = [
        (axes, run)
        for axes, run in made.points
        if all(axis in axes and _same(axes[axis], value) for axis, value in fixed.items())
    ]
    if not chosen:
        raise ClearwayError(f"{made.name}: has no point with {dict(fixed)}")
    return chosen


def _pooled(made: MadeRun, name: str, values: Sequence[Value]) -> Value:
    """Join series, sorted by x, or add up losses."""
    if isinstance(values[0], Losses):
        return _added(values)
    found = [value for value in values if isinstance(value, Series)]
    if len(found) != len(values):
        raise ClearwayError(f"{made.name}: {name} gives no series, so there is nothing to pool")
    x, y = (np.concatenate(parts) for parts in zip(*((one.x, one.y) for one in found), strict=True))
    order = np.argsort(x, kind="stable")
    return Series(x[order], y[order])


def _of_run(
    made: MadeRun,
    name: str,
    chosen: Sequence[tuple[Table, Run]],
    arguments: Table,
    over: str | None,
    *,
    unbounded: bool,
) -> Value:
    groups: dict[str, tuple[Table, list[Run]]] = {}
    for axes, run in chosen:
        combination = without_seed(axes)
        groups.setdefault(repr(combination), (combination, []))[1].append(run)
    values = [
        (axes, _averaged([measures.OF_RUN[name](run, **arguments) for run in of_seeds]))
        for axes, of_seeds in groups.values()
    ]
    if unbounded:
        values = [(axes, math.inf if isinstance(value, AtLeast) else value) for axes, value in values]
    if over is not None:
        return _series(made, name, over, values)
    if len(values) == 1:
        return values[0][1]
    if all(isinstance(value, Losses) for _, value in values):
        return _side_by_side([value for _, value in values if isinstance(value, Losses)])
    if all(isinstance(value, float) for _, value in values):
        return [value for _, value in values if isinstance(value, float)]
    raise ClearwayError(f"{made.name}: {name} gives a series at each of {len(values)} points: fix the axes")


def _series(made: MadeRun, name: str, over: str, values: Sequence[tuple[Table, Value]]) -> Series:
    xs, ys = [], []
    for axes, value in values:
        if over not in axes:
            raise ClearwayError(f"{made.name}: has no axis {over}", f"there is {', '.join(axes)}")
        at = quantity(axes[over])
        if at is None or not isinstance(value, float):
            raise ClearwayError(f"{made.name}: {name} over {over}: neither may be anything but a number")
        xs.append(at.value)
        ys.append(value)
    if len(set(xs)) != len(xs):
        raise ClearwayError(
            f"{made.name}: {name} over {over} has several values at a point", "fix the other axes with where"
        )
    order = np.argsort(xs)
    return Series(np.array(xs)[order], np.array(ys)[order])


def _averaged(values: Sequence[Value]) -> Value:
    """Take the mean over seeds; series must have the same x. Losses are added up."""
    first = values[0]
    if len(values) == 1:
        return first
    if isinstance(first, Losses):
        return _added(values)
    if isinstance(first, Series):
        ys = [value.y for value in values if isinstance(value, Series) and np.array_equal(value.x, first.x)]
        if len(ys) != len(values):
            raise SeedsDifferError("series of several seeds have different x: take one seed")
        return Series(first.x, np.mean(ys, axis=0))
    if isinstance(first, list):
        return [float(entry) for entry in np.mean(np.array(values, dtype=float), axis=0)]
    return mean_of([value for value in values if isinstance(value, float)])


def _added(values: Sequence[Value]) -> Losses:
    first, *others = (value for value in values if isinstance(value, Losses))
    return sum(others, first)


def _side_by_side(points: Sequence[Losses]) -> Losses:
    """Return the bins of all points, one after another."""
    columns = [(point.lost, point.offered, point.squares, point.largest) for point in points]
    lost, offered, squares, largest = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return Losses(lost, offered, squares, largest, points[0].packet)


def without_seed(axes: Table) -> Table:
    """Return the values of the axes other than the seed."""
    return {key: value for key, value in axes.items() if key != SEED}


def _same(a: Any, b: Any) -> bool:
    """Whether two values of an axis are one: "1ms" and "1000us" are."""
    of_a, of_b = quantity(a), quantity(b)
    return a == b or (of_a is not None and of_a == of_b)


def swapped(name: str, swaps: Mapping[str, str] | str | None) -> str:
    """Return the run to take in place of this one: in a control, another."""
    if swaps is None:
        return name
    return swaps if isinstance(swaps, str) else swaps.get(name, name)
