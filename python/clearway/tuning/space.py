"""The keys that tuning may change, and what each may be: a range, a range in steps, or one of a list.

The sampler draws a number for each: within a range, or the place in a list. What it draws is rounded to four
digits, so that what is reported, set, and known to the store is one text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.sweeps import ranges

_SCALES = ("linear", "log")
KEYS = frozenset({"from", "to", "scale", "step", "factor"})
"""A table with one of these keys is a range."""
_DIGITS = 4

Drawn = int | float
"""A number that the sampler draws for a parameter."""


@dataclass(frozen=True)
class Parameter:
    """A key, and what it may be."""

    key: str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    """The unit of both ends, as scenarios write it."""
    log: bool = False
    whole: bool = False
    """Whether only whole numbers are drawn."""
    values: Sequence[Any] = ()
    """The values of a list or of a range in steps; none for a range."""
    ordered: bool = False
    """Whether the values follow each other, as those of a range in steps do."""

    @property
    def ends(self) -> list[Any]:
        """The values that must be allowed if the range is: its two ends, or all values of a list."""
        if self.values:
            return [self.values[0], self.values[-1]] if self.ordered else list(self.values)
        return [self.written(self.low), self.written(self.high)]

    @property
    def middle(self) -> Any:
        """A value between whole numbers, which only some keys take."""
        return f"{math.floor(self.low) + 0.5:g}"

    def written(self, drawn: Drawn) -> Any:
        """Return the value that a scenario is given for what was drawn."""
        if self.values:
            return self.values[int(drawn)]
        if self.whole:
            return int(drawn)
        rounded = min(max(float(f"{drawn:.{_DIGITS}g}"), self.low), self.high)
        return f"{rounded:.12g}{self.unit}" if self.unit else float(f"{rounded:.12g}")

    def drawn(self, value: Any) -> Drawn | None:
        """Return what would have been drawn for a value of the scenario; None if it cannot be drawn."""
        if self.values:
            places = [place for place, each in enumerate(self.values) if _alike(each, value)]
            return places[0] if places else None
        found, unit = quantity(value), quantity(f"1{self.unit}") if self.unit else quantity(1)
        if found is None or unit is None or found.unit != unit.unit:
            return None
        number = found.value / unit.value
        if not self.low <= number <= self.high or (self.whole and number != int(number)):
            return None
        return int(number) if self.whole else number

    def number(self, value: Any) -> float | None:
        """Return a value as a number for a chart's axis, in the unit of tables; None if it is none."""
        found = quantity(value)
        return None if found is None else found.value


def parameter(key: str, written: Any, where: str) -> Parameter:
    """Read what a key may be; `where` names it in messages."""
    if isinstance(written, list):
        if len(written) < 2:
            raise ClearwayError(
                f"{where}: found {len(written)} values, expected at least two to choose among"
            )
        return Parameter(key, values=written)
    if not isinstance(written, Mapping) or not {"from", "to"} <= set(written) <= KEYS:
        raise ClearwayError(
            f"{where}: expected a range or a list of values",
            'such as { from = "5us", to = "50us", scale = "log" }, or ["drop", "trim"]',
        )
    first, unit = ranges.number_of(written["from"], where)
    last = ranges.in_unit(written["to"], unit, where)
    if first >= last:
        what = f"from, {written['from']}, " + ("is to" if first == last else f"is above to, {written['to']}")
        raise ClearwayError(f"{where}: {what}", "give the smaller one as from")
    if set(written) & {"step", "factor"}:
        return _in_steps(key, written, where)
    scale = written.get("scale", "linear")
    if scale not in _SCALES:
        raise ClearwayError(f'{where}: scale: found {scale!r}, expected "linear" or "log"')
    if scale == "log" and first <= 0:
        raise ClearwayError(
            f"{where}: from, {written['from']}, has no place on a logarithmic scale", "begin above 0"
        )
    return Parameter(key, first, last, unit, log=scale == "log")


def _in_steps(key: str, written: Mapping[str, Any], where: str) -> Parameter:
    if "scale" in written:
        raise ClearwayError(
            f"{where}: scale goes with a range without steps", "leave it out: a factor is as good"
        )
    values = ranges.values(written, where)
    if len(values) < 2:
        raise ClearwayError(
            f"{where}: has one value, expected at least two to choose among", "take smaller steps"
        )
    return Parameter(key, values=values, ordered=True)


def is_of_whole_numbers(written: Any) -> bool:
    """Tell whether both ends of a range are whole numbers: its key may be one that takes no others."""
    return isinstance(written, Mapping) and all(type(written.get(end)) is int for end in ("from", "to"))


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two values mean the same: "1ms" is "1000us", and 1 is 1.0."""
    a, b = quantity(one), quantity(other)
    return bool(one == other) if a is None or b is None else a == b
