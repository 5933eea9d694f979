"""Seeds as samples: what an expression is worth on each seed, and the mean of these with its interval.

A sample is the expression on one seed, the same for all runs in it, or on several at once where the claim
says how many `draws` a sample takes: measures are then averaged over these before anything else is made of
them. A pooled measure is one sample of all seeds, and brings its own interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearway.paper.evaluation import SEED, MadeRun, Runs, evaluate, swapped
from clearway.paper.measures import POOLED, Between, Series
from clearway.paper.measures.values import Floats
from clearway.statistics import Interval, interval


@dataclass(frozen=True)
class Estimate:
    """What a measure is worth, from its samples: a number, a list of them, or a series."""

    mean: Any
    """The mean over the samples; where they are no numbers, or differ in length, the first of them."""
    half_widths: Sequence[float | None]
    """Half the width of the 95 % interval of each value, in their order; None where there is none."""
    count: int
    """How many samples there are."""
    ends: Sequence[tuple[float, float]] = ()
    """The ends of the interval of each value, where a pooled measure brings its own."""

    @property
    def deterministic(self) -> bool:
        """Whether all samples are alike."""
        return self.count > 1 and bool(self.half_widths) and all(half == 0 for half in self.half_widths)


def samples(
    expression: Any,
    runs: Runs,
    draws: int = 1,
    swaps: Mapping[str, str] | str | None = None,
    *,
    unbounded: bool = False,
) -> list[Any]:
    """Return what an expression is worth on the seeds that all its runs have; once if it has no run.

    With `unbounded`, a figure that is only a lower bound is taken as infinite.
    """
    if is_pooled(expression):
        return [evaluate(expression, runs, swaps, unbounded=unbounded)]
    names = {swapped(name, swaps) for name in runs_in(expression)}
    seeded = [seeds for name in names if (seeds := _seeds(runs[name]))]
    if not seeded:
        return [evaluate(expression, runs, swaps, unbounded=unbounded)]
    shared = sorted(set.intersection(*seeded))
    groups = [shared[first : first + draws] for first in range(0, len(shared) - draws + 1, draws)]
    return [
        evaluate(
            expression, {name: _with_seeds(runs[name], group) for name in names}, swaps, unbounded=unbounded
        )
        for group in groups
    ]


def of_first_seed(runs: Runs) -> Runs:
    """Return the runs with the points of their first seed alone."""
    return {name: _with_seeds(made, sorted(_seeds(made))[:1]) for name, made in runs.items()}


def estimate(values: Sequence[Any]) -> Estimate:
    """Take mean and interval of samples, value by value; of a pooled measure, its own."""
    if ends := ends_of(values):
        return Estimate(values[0], [], 1, ends)
    rows = [numbers(value) for value in values]
    if not rows or not len(rows[0]) or len({len(row) for row in rows}) != 1:
        return Estimate(values[0] if values else None, [], len(values))
    intervals = [interval_of(column) for column in np.array(rows).T]
    means = [found.mean for found in intervals]
    first = values[0]
    mean: Any = means if isinstance(first, (list, tuple)) else means[0]
    if isinstance(first, Series):
        mean = Series(first.x, np.array(means))
    return Estimate(mean, [found.half_width for found in intervals], len(values))


def interval_of(column: Floats) -> Interval:
    """Take the interval of a value's samples; of equal ones it has no width, in spite of rounding."""
    count = len(column)
    if np.all(column == column[0]):
        return Interval(float(column[0]), 0.0 if count > 1 else None, count, 0.0)
    if not np.isfinite(column).all():
        return Interval(math.nan if np.isnan(column).any() else float(column.mean()), None, count, 0.0)
    return interval(column.tolist())


def is_pooled(expression: Any) -> bool:
    """Tell whether an expression is a pooled measure, or a list of these."""
    if isinstance(expression, list):
        return bool(expression) and all(is_pooled(entry) for entry in expression)
    return isinstance(expression, Mapping) and expression.get("measure") in POOLED


def ends_of(values: Sequence[Any]) -> list[tuple[float, float]]:
    """Return the ends of the intervals that a pooled measure brings; none of any other."""
    first = values[0] if len(values) == 1 else None
    entries = first if isinstance(first, list) else [first]
    found = [(entry.low, entry.high) for entry in entries if isinstance(entry, Between)]
    return found if len(found) == len(entries) else []


def seeds_in(expression: Any, runs: Runs) -> int:
    """Count the seeds of the run in an expression that has the most."""
    return max((len(_seeds(runs[name])) for name in runs_in(expression)), default=0)


def numbers(value: Any) -> Floats:
    """Return the numbers of a value, or none if it is something else."""
    if isinstance(value, Series):
        return value.y
    try:
        return np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError):
        return np.array([])


def runs_in(expression: Any) -> set[str]:
    """Return the names of the runs that an expression measures."""
    if isinstance(expression, list):
        return set().union(*(runs_in(entry) for entry in expression))
    if not isinstance(expression, Mapping) or "measure" not in expression:
        return set()
    found = set().union(*(runs_in(entry) for entry in expression.values()))
    return found | {expression["run"]} if "run" in expression else found


def _seeds(made: MadeRun) -> set[int]:
    return {axes[SEED] for axes, _ in made.points if SEED in axes}


def _with_seeds(made: MadeRun, seeds: Sequence[int]) -> MadeRun:
    points = [(axes, run) for axes, run in made.points if SEED not in axes or axes[SEED] in seeds]
    return MadeRun(made.name, made.label, points)
