"""Verdicts: whether a claim of a paper holds of our runs, and how much that is worth.

- reproduced: within tolerance, with parameters that this figure did not help to choose.
- calibrated: within tolerance, but a parameter was fitted on this very figure.
- shape: the order, knee or ratio holds, the value does not.
- not reproduced.
- stand-in: the paper's data came from production; a synthetic workload shows the effect, and its negative
  control, with the mechanism off, does not.

A control that shows the effect as well refutes a claim, whether it is a stand-in or not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clearway.figures import Kind, readable
from clearway.paper.measures import Series, Value

REPRODUCED = "reproduced"
CALIBRATED = "calibrated"
SHAPE = "shape"
NOT_REPRODUCED = "not reproduced"
STAND_IN = "stand-in"

VERDICTS = (REPRODUCED, CALIBRATED, SHAPE, STAND_IN, NOT_REPRODUCED)


def holds(predicates: Mapping[str, Any], ours: Value, paper: Any) -> bool:
    """Whether all predicates hold of our value; what could not be measured holds of nothing."""
    values = _numbers(ours)
    if not len(values) or not np.isfinite(values).all():
        return False
    return all(PREDICATES[name](values, wanted, paper) for name, wanted in predicates.items())


def verdict(
    *,
    held: bool,
    shape_held: bool,
    fitted: bool = False,
    stand_in: bool = False,
    control_held: bool | None = None,
    control_shape_held: bool | None = None,
) -> str:
    """Judge; `control_held` is None where there is no control."""
    if held and not control_held:
        if stand_in:
            return STAND_IN if control_held is not None else NOT_REPRODUCED
        return CALIBRATED if fitted else REPRODUCED
    if shape_held and not control_shape_held and not (stand_in and control_shape_held is None):
        return SHAPE
    return NOT_REPRODUCED


def _within(values: Any, tolerance: Any, paper: Any) -> bool:
    """Relative, of each value from the paper's in its place, or from the paper's only one."""
    expected = _numbers(paper)
    if len(expected) not in {1, len(values)}:
        return False
    return bool((np.abs(values - expected) <= tolerance * np.abs(expected)).all())


def _order(values: Any, direction: Any, _paper: Any) -> bool:
    steps = np.diff(values)
    if not len(steps):
        return False
    return bool((steps > 0).all() if direction == "rising" else (steps < 0).all())


def _ratio(values: Any) -> float:
    """Take the first of two over the second."""
    return float(values[0] / values[1]) if len(values) == 2 and values[1] else math.nan


PREDICATES: Mapping[str, Callable[[Any, Any, Any], bool]] = {
    "within": _within,
    "at_least": lambda values, limit, _: bool((values >= limit).all()),
    "at_most": lambda values, limit, _: bool((values <= limit).all()),
    "between": lambda values, limits, _: bool(((values >= limits[0]) & (values <= limits[1])).all()),
    "order": _order,
    "ratio_at_least": lambda values, limit, _: _ratio(values) >= limit,
    "ratio_at_most": lambda values, limit, _: _ratio(values) <= limit,
}
"""By name: of our values, what is asked, and the paper's value."""


def in_words(predicates: Mapping[str, Any], kind: Kind) -> str:
    """Write what is asked as a person reads it."""
    words: Mapping[str, Callable[[Any], str]] = {
        "within": lambda wanted: f"within {wanted * 100:g} %",
        "at_least": lambda wanted: f"at least {readable(kind, wanted)}",
        "at_most": lambda wanted: f"at most {readable(kind, wanted)}",
        "between": lambda wanted: f"between {readable(kind, wanted[0])} and {readable(kind, wanted[1])}",
        "order": lambda wanted: f"{wanted} in this order",
        "ratio_at_least": lambda wanted: f"the first at least {wanted:g} times the second",
        "ratio_at_most": lambda wanted: f"the first at most {wanted:g} times the second",
    }
    return ", ".join(words[name](wanted) for name, wanted in predicates.items())


def _numbers(value: Any) -> Any:
    if isinstance(value, Series):
        return value.y
    try:
        return np.atleast_1d(np.array(value, dtype=float))
    except (TypeError, ValueError):
        return np.array([])
