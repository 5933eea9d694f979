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


Value = float | Series | list[float]
"""What a measure gives."""


def numbers_of(values: Value) -> Floats:
    """Return the values of a series, of a list, or a single one, as an array."""
    return values.y if isinstance(values, Series) else np.atleast_1d(np.array(values, dtype=float))
