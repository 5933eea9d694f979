"""Measures of numbers: ratios, extremes, and how far values are from a law."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_values
from clearway.paper.measures.values import Value, numbers_of


@of_values
def ratio(of: float, to: float) -> float:
    """One value over another."""
    return of / to if to else math.nan


@of_values
def difference(of: float, less: float) -> float:
    """One value less another."""
    return of - less


@of_values
def reduction(of: float, below: float) -> float:
    """Take by what share one value is below another: 0.6 is 60 % less, and a negative one is more."""
    return 1 - of / below if below else math.nan


@of_values
def product(factors: Sequence[float]) -> float:
    """All multiplied."""
    return math.prod(factors)


@of_values
def smallest(values: Value) -> float:
    """Take the smallest; NaN of nothing."""
    numbers = numbers_of(values)
    return float(np.min(numbers)) if len(numbers) else math.nan


@of_values
def largest(values: Value) -> float:
    """Take the largest; NaN of nothing."""
    numbers = numbers_of(values)
    return float(np.max(numbers)) if len(numbers) else math.nan


@of_values
def average(values: Value) -> float:
    """Take the mean of values, all with the same weight; NaN of nothing."""
    numbers = numbers_of(values)
    return float(np.mean(numbers)) if len(numbers) else math.nan


@of_values
def where_smallest(of: Value, by: Value) -> float:
    """Take the value of `of` in the place where `by` is smallest: a baseline's at its best setting."""
    values, keys = numbers_of(of), numbers_of(by)
    if len(values) != len(keys):
        raise ClearwayError(f"where_smallest: {len(values)} values, and {len(keys)} to choose by")
    if not np.isfinite(keys).any():
        return math.nan
    return float(values[int(np.nanargmin(keys))])


@of_values
def largest_deviation(of: Value, law: Value) -> float:
    """Take how far values are at most from those of a law, relative to the law."""
    measured, expected = numbers_of(of), numbers_of(law)
    deviations = np.abs(measured / expected - 1)
    return float(np.max(deviations)) if len(deviations) else math.nan
