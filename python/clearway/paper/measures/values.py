"""What a measure gives: a number, numbers, or a series. A number that could not be measured is NaN."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """Values over something: time, an axis of a sweep, a cumulative share."""

    x: Floats
    y: Floats


class Between(float):
    """A number with its 95 % interval, which need not be symmetric."""

    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Between:
        """Take a value and the ends of its interval."""
        made = super().__new__(cls, value)
        made.low, made.high = low, high
        return made


@dataclass(frozen=True)
class Losses:
    """What was lost and offered, in bytes, in each of some bins; sums over ports, runs and seeds."""

    lost: Floats
    offered: Floats
    squares: Floats
    """The squares of what a port lost in a run, added up: losses come in bursts."""
    largest: Floats
    """The most that a port lost in a run."""
    packet: float
    """Bytes of a packet."""

    def __add__(self, other: Losses) -> Losses:
        """Add what other runs lost, bin by bin."""
        return Losses(
            self.lost + other.lost,
            self.offered + other.offered,
            self.squares + other.squares,
            np.maximum(self.largest, other.largest),
            self.packet,
        )


Value = float | Series | list[float] | Losses
"""What a measure gives."""


def numbers_of(values: Value) -> Floats:
    """Return the values of a series, of a list, or a single one, as an array."""
    return values.y if isinstance(values, Series) else np.atleast_1d(np.array(values, dtype=float))
