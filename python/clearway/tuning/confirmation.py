"""The best trial held against the scenario's own values, on seeds that the search has not seen.

The best of many trials looks better than it is: some of what made it the best was chance. So it is simulated
again under other seeds, and so are the scenario's own values, and the best with each key set back by itself.
All have the same seeds, and differences are taken seed by seed (a paired t test). The best is tested first,
at 5 %. Only if it is better are the keys tested, together (Holm). So the chance that anything that is called
a difference is none stays at 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.figures import AtLeast
from clearway.statistics import CONFIDENCE, Interval, exact, interval, p_value, told_apart
from clearway.tuning.file import TuneFile
from clearway.tuning.goals import Limit
from clearway.tuning.measuring import Measured
from clearway.tuning.trials import Trial

_NOTHING = Interval(0.0, 0.0, 1, 0.0)


@dataclass(frozen=True)
class Difference:
    """The difference of two sets of values in the objective, seed by seed."""

    interval: Interval
    p: float | None
    """The chance of a difference as large where there is none; None if that cannot be told."""
    significant: bool = False


@dataclass(frozen=True)
class SetBack:
    """The best with one key as the scenario has it."""

    key: str
    measured: Measured
    difference: Difference | None
    """The difference to the best in the objective; None if it cannot be told."""
    broken: Sequence[Limit] = ()
    """The limits that it breaks and the best keeps."""


@dataclass(frozen=True)
class Confirmation:
    """The results on the seeds of the test."""

    seeds: Sequence[int]
    own: Measured
    """The scenario's own values."""
    best: Measured
    difference: Difference | None
    """The difference of the best to the scenario's own values in the objective; None if it cannot be told."""
    set_back: Sequence[SetBack] = ()

    def better(self, file: TuneFile) -> bool:
        """Tell whether the best is better than the scenario's own values by more than chance explains."""
        of = self.difference
        return of is not None and of.significant and file.objective.cost(of.interval.mean) < 0

    def mends(self, file: TuneFile) -> bool:
        """Tell whether the best keeps a limit that the scenario's own values break."""
        return any(_breaks(limit, self.own) and not _breaks(limit, self.best) for limit in file.limits)


Measures = Callable[[Sequence[Mapping[str, Any]], Sequence[int]], list[Measured]]
"""Measures values under seeds."""


def seeds_of(file: TuneFile, first: int) -> tuple[list[int], list[int]]:
    """Return the seeds of the search, and those of the test, of which none is among them."""
    start = first + file.seeds
    return list(range(first, start)), list(range(start, start + file.confirm))


def confirm(file: TuneFile, best: Trial, seeds: Sequence[int], measure: Measures) -> Confirmation:
    """Test the best trial, which is not the scenario's own."""
    overrides = best.measured.overrides
    own, found = measure([{}, overrides], seeds)
    difference = _difference(file, found, own, len(seeds))
    if difference is not None and difference.p is not None:
        significant = difference.p <= 1 - CONFIDENCE
        difference = Difference(difference.interval, difference.p, significant)
    told = Confirmation(seeds, own, found, difference)
    if len(file.parameters) < 2 or not (told.better(file) or told.mends(file)):
        return told
    keys = [each.key for each in file.parameters if not _is_own(file, each.key, overrides[each.key])]
    without = [{key: value for key, value in overrides.items() if key != left} for left in keys]
    set_back = [
        SetBack(
            key,
            each,
            _difference(file, each, found, len(seeds)),
            [limit for limit in file.limits if _breaks(limit, each) and not _breaks(limit, found)],
        )
        for key, each in zip(keys, measure(without, seeds), strict=True)
    ]
    return Confirmation(seeds, own, found, difference, _tested(set_back))


def _tested(set_back: Sequence[SetBack]) -> list[SetBack]:
    """Tell which of the keys make a difference, all of them tested at once."""
    p_values = [each.difference.p for each in set_back if each.difference and each.difference.p is not None]
    apart = iter(told_apart(p_values))
    tested = []
    for each in set_back:
        of = each.difference
        if of is not None and of.p is not None:
            of = Difference(of.interval, of.p, next(apart))
        tested.append(SetBack(each.key, each.measured, of, each.broken))
    return tested


def _difference(file: TuneFile, one: Measured, other: Measured, seeds: int) -> Difference | None:
    """Take the objective of one less that of the other, seed by seed; None if one of them has none."""
    a, b = (each.samples.get(file.objective.figure) for each in (one, other))
    if not a or not b or any(isinstance(value, AtLeast) for value in (*a, *b)):
        return None  # of lower bounds no difference is known
    pairs = zip(_for_each(a, one, seeds), _for_each(b, other, seeds), strict=True)
    of = interval([x - y for x, y in pairs])
    if one.without_chance and other.without_chance:
        of = exact(of)
    return Difference(of, p_value(of, _NOTHING))


def _for_each(samples: Sequence[float], of: Measured, seeds: int) -> Sequence[float]:
    """Return a value for each seed; what leaves nothing to chance was simulated once for all."""
    return list(samples) * seeds if len(samples) == 1 and of.without_chance else samples


def _breaks(limit: Limit, of: Measured) -> bool:
    return limit.standing(of.interval(limit.figure)) == "broken"


def _is_own(file: TuneFile, key: str, value: Any) -> bool:
    """Tell whether a value of the best is the one that the scenario has."""
    parameter = next(each for each in file.parameters if each.key == key)
    own = parameter.drawn(file.own[parameter.key])
    return own is not None and parameter.written(own) == value
