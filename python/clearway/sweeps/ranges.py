"""The values of one axis: a list as written, or a range `{ from, to, step }` or `{ from, to, factor }`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from clearway.documents import quantity
from clearway.errors import ClearwayError

MOST_POINTS = 10_000
"""The most points that a sweep may have, and so the most values of an axis."""
KEYS = frozenset({"from", "to", "step", "factor"})
"""A table with one of these keys is a range."""
_NUMBER_AND_UNIT = re.compile(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([A-Za-z]*)\s*")


def values(written: Any, where: str) -> list[Any]:
    """Return the values that a list or a range stands for; `where` names it in messages."""
    if isinstance(written, Mapping):
        return _range(written, where)
    if not isinstance(written, list):
        raise ClearwayError(
            f"{where}: expected a list of values or a range", 'such as ["15us", "25us"] or { from, to, step }'
        )
    if not written:
        raise ClearwayError(f"{where}: is empty", "give at least one value, or leave the axis out")
    return written


def _range(table: Mapping[str, Any], where: str) -> list[Any]:
    """Count from `from` to `to`, both included, by `step` or `factor`; all but a factor have one unit."""
    how = [name for name in ("step", "factor") if name in table]
    if set(table) - KEYS or "from" not in table or "to" not in table or len(how) != 1:
        raise ClearwayError(f"{where}: expected from, to, and either step or factor")
    first, unit = number_of(table["from"], where)
    last = in_unit(table["to"], unit, where)
    by = in_unit(table[how[0]], "" if how == ["factor"] else unit, where)
    geometric = how == ["factor"]
    if (geometric and (by <= 1 or first <= 0)) or (not geometric and by <= 0) or last < first:
        raise ClearwayError(f"{where}: expected from below to, a step above 0 or a factor above 1")
    steps = math.log(last / first) / math.log(by) if geometric else (last - first) / by
    if steps >= MOST_POINTS:
        raise ClearwayError(f"{where}: more than {MOST_POINTS:,} values", "take larger steps")
    places = range(math.floor(steps + 1e-9) + 1)
    if not unit and all(isinstance(table[name], int) for name in ("from", "to", how[0])):
        # Whole numbers stay whole: a seed may have more digits than a decimal fraction is given.
        whole, step = table["from"], table[how[0]]
        return [whole * step**index if geometric else whole + step * index for index in places]
    entries = [float(f"{first * by**index if geometric else first + by * index:.12g}") for index in places]
    return [f"{entry:.12g}{unit}" if unit else entry for entry in entries]


def number_of(value: Any, where: str) -> tuple[float, str]:
    """Read a number and its unit, which may be empty."""
    match = _NUMBER_AND_UNIT.fullmatch(str(value))
    if isinstance(value, bool) or match is None:
        raise ClearwayError(f"{where}: found {value!r}, expected a number, with its unit if the key has one")
    return float(match[1]), match[2]


def in_unit(value: Any, unit: str, where: str) -> float:
    """Read a number in the unit of the range's first value."""
    number, own = number_of(value, where)
    if own == unit:
        return number
    here, there = quantity(f"1{unit}"), quantity(f"1{own}")
    if not unit or not own or here is None or there is None or here.unit != there.unit:
        raise ClearwayError(f"{where}: found {value!r}, expected the unit of from (a factor has none)")
    return number * there.value / here.value
