"""Verdicts: whether a claim of a paper holds of our runs, and how much that is worth.

A claim is decided by the 95 % interval of its measure over seeds, against the bar of its predicate:

- reproduced: all of the interval is within the bar, with parameters that this figure did not help to choose.
- arithmetic: within the bar, but no run was measured: numbers of the paper fit each other or closed forms.
- calibrated: within the bar, but a parameter was fitted on this very figure, or the claim was written after
  its results were seen.
- shape: outside, but the order, knee or ratio holds: all of the interval is within a weaker bar.
- straddles: the interval reaches over the bar, so that these seeds leave it open.
- not reproduced: all of the interval is outside.
- stand-in: the paper's data came from production; a synthetic workload shows the effect, and its negative
  control, with the mechanism off, does not.

A claim that the paper does not make is an extension. It is judged by its bar and its control alike, but has
verdicts of its own, which are never counted among the paper's:

- extension: all of the interval is within the bar.
- extension failed: it is not, be it open or outside.

A control that shows the effect as well refutes a claim, whether it is a stand-in or not; one that straddles
the bar leaves it open.

What was unfinished when a run ended makes a value a lower bound: the true one may be anything from there
on, and the interval reaches as far. Within `at_most` it is then never, within `at_least` if its lower end is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from clearway.figures import Kind, readable
from clearway.paper.measures.values import Floats
from clearway.paper.sampling import ends_of, interval_of, numbers

REPRODUCED = "reproduced"
ARITHMETIC = "arithmetic"
CALIBRATED = "calibrated"
SHAPE = "shape"
STRADDLES = "straddles"
NOT_REPRODUCED = "not reproduced"
STAND_IN = "stand-in"
EXTENSION = "extension"
EXTENSION_FAILED = "extension failed"

VERDICTS = (REPRODUCED, ARITHMETIC, CALIBRATED, SHAPE, STAND_IN, STRADDLES, NOT_REPRODUCED)
"""Of what a paper claims."""
EXTENSIONS = (EXTENSION, EXTENSION_FAILED)
"""Of what we claim beyond it."""
FAILED = frozenset({NOT_REPRODUCED, STRADDLES, EXTENSION_FAILED})
"""With which a claim did not hold, or was left open."""


class Position(IntEnum):
    """Where an interval lies, of all values of a claim the worst. FROM THE WORST TO THE BEST."""

    OUTSIDE = 0
    OVER = 1
    """Partly within the bar, partly outside."""
    WITHIN = 2


@dataclass(frozen=True)
class Predicate:
    """What is asked of a measure: the values to look at, and the bounds of each."""

    of: Callable[[Floats], Floats]
    """From the values of a sample."""
    bounds: Callable[[Any, Any], tuple[Any, Any]]
    """From what is asked and the paper's value: the least and the largest that is within the bar."""
    words: Callable[[Any, Kind], str]


def position(
    predicates: Mapping[str, Any], samples: Sequence[Any], paper: Any, unbounded: Sequence[Any] | None = None
) -> Position:
    """Tell where the interval of a measure lies; what could not be measured is outside of everything.

    `unbounded` are the samples with every lower bound taken as infinite, where any is one.
    """
    rows = [numbers(sample) for sample in samples]
    if not rows or not len(rows[0]) or len({len(row) for row in rows}) != 1 or np.isnan(rows).any():
        return Position.OUTSIDE
    if ends := ends_of(samples):
        return min(_of_ends(ends, PREDICATES[name], wanted, paper) for name, wanted in predicates.items())
    farthest = rows if unbounded is None else [numbers(sample) for sample in unbounded]
    return min(
        _position(PREDICATES[name], wanted, (rows, farthest), paper) for name, wanted in predicates.items()
    )


def _of_ends(ends: Sequence[tuple[float, float]], predicate: Predicate, wanted: Any, paper: Any) -> Position:
    """Tell where the intervals lie that a pooled measure brings."""
    lows, highs = (np.broadcast_to(bound, len(ends)) for bound in predicate.bounds(wanted, paper))
    return min(_of_interval(*end, low, high) for end, low, high in zip(ends, lows, highs, strict=True))


def measured(samples: Sequence[Any]) -> bool:
    """Whether there is a value in every sample."""
    return all(len(found := numbers(sample)) and not np.isnan(found).any() for sample in samples)


def _position(
    predicate: Predicate, wanted: Any, ends: tuple[Sequence[Floats], Sequence[Floats]], paper: Any
) -> Position:
    """Tell where the interval lies between samples and what they are with their lower bounds infinite."""
    with np.errstate(invalid="ignore"):
        derived, farthest = (np.array([predicate.of(row) for row in rows]) for rows in ends)
    low, high = predicate.bounds(wanted, paper)
    shape = derived.shape[1:]
    if not derived.size or any(np.size(bound) not in {1, *shape} for bound in (low, high)):
        return Position.OUTSIDE
    lows, highs = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    return min(_of_column(*column) for column in zip(derived.T, farthest.T, lows, highs, strict=True))


def _of_column(column: Floats, farthest: Floats, low: float, high: float) -> Position:
    """Tell where the interval of one value's samples lies."""
    if np.isfinite(column).all():
        return _of_interval(*_ends(column, farthest), low, high)
    # Something over nothing has no interval: it is nowhere within, but open where other samples are.
    finite = column[np.isfinite(column)]
    return Position.OVER if ((finite >= low) & (finite <= high)).any() else Position.OUTSIDE


def _of_interval(least: float, most: float, low: float, high: float) -> Position:
    """Tell where an interval lies, given the bounds of the bar."""
    if least >= low and most <= high:
        return Position.WITHIN
    return Position.OUTSIDE if most < low or least > high else Position.OVER


def _ends(column: Floats, farthest: Floats) -> tuple[float, float]:
    """Return the ends of an interval that reaches to where the samples may lie farthest."""
    found = interval_of(column)
    half = found.half_width or 0.0
    least, most = found.mean - half, found.mean + half
    if np.array_equal(column, farthest):
        return least, most
    # Where a bound stands over another, or less one, nothing is known.
    down = np.isnan(farthest) | (farthest < column)
    up = np.isnan(farthest) | (farthest > column)
    return (-math.inf if down.any() else least), (math.inf if up.any() else most)


def verdict(
    *,
    value: Position,
    shape: Position = Position.OUTSIDE,
    fitted: bool = False,
    stand_in: bool = False,
    control: Position | None = None,
    control_shape: Position | None = None,
    extension: bool = False,
    arithmetic: bool = False,
) -> str:
    """Judge; the positions of a control are None where there is none.

    An `extension` is a claim that the paper does not make; `arithmetic` is one that no run decides.
    """
    if extension:
        return EXTENSION if _unless(value, control) is Position.WITHIN else EXTENSION_FAILED
    if stand_in and control is None:
        return NOT_REPRODUCED
    held, shape_held = _unless(value, control), _unless(shape, control_shape)
    if held is Position.WITHIN:
        if fitted:
            return CALIBRATED
        return ARITHMETIC if arithmetic else STAND_IN if stand_in else REPRODUCED
    if held is Position.OVER:
        return STRADDLES
    return {Position.WITHIN: SHAPE, Position.OVER: STRADDLES, Position.OUTSIDE: NOT_REPRODUCED}[shape_held]


def _unless(found: Position, control: Position | None) -> Position:
    """Return what is left of a position, given that of the control, which should be outside."""
    return found if control is None else min(found, Position(Position.WITHIN - control))


def _near(tolerance: Any, paper: Any) -> tuple[Any, Any]:
    """Relative, of each value from the paper's in its place, or from the paper's only one."""
    expected = numbers(paper)
    if not len(expected):
        return math.inf, -math.inf
    return expected - tolerance * np.abs(expected), expected + tolerance * np.abs(expected)


def _same(values: Floats) -> Floats:
    return values


def _ratio(values: Floats) -> Floats:
    """Take the first of two over the second."""
    return np.array([values[0] / values[1] if len(values) == 2 and values[1] else math.nan])


def _written(kind: Kind, wanted: Any) -> str:
    entries = wanted if isinstance(wanted, list) else [wanted]
    return ", ".join(readable(kind, entry) for entry in entries)


_LEAST = math.nextafter(0.0, 1.0)  # the least step that rises

PREDICATES: Mapping[str, Predicate] = {
    "within": Predicate(_same, _near, lambda wanted, _: f"within {wanted * 100:g} %"),
    "at_least": Predicate(
        _same,
        lambda wanted, _: (wanted, math.inf),
        lambda wanted, kind: f"at least {_written(kind, wanted)}",
    ),
    "at_most": Predicate(
        _same,
        lambda wanted, _: (-math.inf, wanted),
        lambda wanted, kind: f"at most {_written(kind, wanted)}",
    ),
    "between": Predicate(
        _same,
        lambda wanted, _: (wanted[0], wanted[1]),
        lambda wanted, kind: f"between {readable(kind, wanted[0])} and {readable(kind, wanted[1])}",
    ),
    "order": Predicate(
        np.diff,
        lambda wanted, _: (_LEAST, math.inf) if wanted == "rising" else (-math.inf, -_LEAST),
        lambda wanted, _: f"{wanted} in this order",
    ),
    "ratio_at_least": Predicate(
        _ratio,
        lambda wanted, _: (wanted, math.inf),
        lambda wanted, _: f"the first at least {wanted:g} times the second",
    ),
    "ratio_at_most": Predicate(
        _ratio,
        lambda wanted, _: (-math.inf, wanted),
        lambda wanted, _: f"the first at most {wanted:g} times the second",
    ),
}
"""By name, as experiment files write them."""
OF_VALUES = frozenset({"within", "at_least", "at_most", "between"})
"""Those that ask each value on its own, and not how values stand to each other."""


def in_words(predicates: Mapping[str, Any], kind: Kind) -> str:
    """Write what is asked as a person reads it."""
    return ", ".join(PREDICATES[name].words(wanted, kind) for name, wanted in predicates.items())
