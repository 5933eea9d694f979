"""Means over seeds, their 95 % intervals, and which of many means differ (Student's and Welch's t, Holm).

The t quantile comes from the regularised incomplete beta function (Lentz's continued fraction, DLMF 8.17.22)
by bisection, so it is right for any number of seeds and for Welch's fractional degrees of freedom.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearway.figures import mean_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean, and how far from it the true one lies at most, with 95 % confidence."""

    mean: float
    half_width: float | None
    """Half the width of the interval; None for a single sample, which says nothing about its spread.

    0 where nothing is left to chance, whatever the count.
    """
    count: int
    variance: float
    """The unbiased variance of the samples; 0 for a single one."""


def interval(samples: Sequence[float]) -> Interval:
    """Take the mean of at least one sample, and its interval."""
    count = len(samples)
    mean = mean_of(samples)
    if count == 1:
        return Interval(mean, None, 1, 0.0)
    variance = math.fsum((sample - mean) ** 2 for sample in samples) / (count - 1)
    half_width = t_quantile(0.5 + CONFIDENCE / 2, count - 1) * math.sqrt(variance / count)
    return Interval(mean, half_width, count, variance)


def exact(of: Interval) -> Interval:
    """Return the same mean as one that chance has no part in."""
    return Interval(of.mean, 0.0, of.count, 0.0)


def jain_of(rates: NDArray[np.float64]) -> float:
    """Jain's index: 1 if all are equal, 1/n if one has all."""
    squares = float((rates**2).sum())
    return float(rates.sum()) ** 2 / (len(rates) * squares) if squares > 0 else math.nan


def p_value(a: Interval, b: Interval) -> float | None:
    """Return how likely means of equal quantities are to lie as far apart (Welch's t).

    None if a single sample leaves it open. Where no sample varies, 0 if the means differ and 1 if they are
    equal.
    """
    if a.half_width is None or b.half_width is None:
        return None
    shares = [(each.variance / each.count, each.count) for each in (a, b) if each.variance > 0]
    spread = math.fsum(share for share, _ in shares)
    if spread == 0:
        return 0.0 if a.mean != b.mean else 1.0
    freedom = spread**2 / math.fsum(share**2 / (count - 1) for share, count in shares)
    squared_t = (a.mean - b.mean) ** 2 / spread
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + squared_t))


def told_apart(p_values: Sequence[float]) -> list[bool]:
    """Tell which of many tests show a difference (Holm).

    The probability that any of them does where there is none is at most 5 %, however many there are.
    """
    # What is certain is no test, and takes nothing from the others.
    tests = sorted((p, place) for place, p in enumerate(p_values) if p > 0)
    apart = [p == 0 for p in p_values]
    for done, (p, place) in enumerate(tests):
        if p > (1 - CONFIDENCE) / (len(tests) - done):
            break
        apart[place] = True
    return apart


@functools.lru_cache(maxsize=1000)
def t_quantile(probability: float, freedom: float) -> float:
    """Invert Student's distribution for a probability in [0.5, 1) and any degrees of freedom above 0."""
    low, high = 0.0, 1.0
    while _t_cumulative(high, freedom) < probability:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _t_cumulative(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return high


def _t_cumulative(t: float, freedom: float) -> float:
    """Probability that Student's t is at most `t`, which is not negative."""
    return 1 - 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised: I_x(a, b)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly, the symmetry helps
        return 1 - _incomplete_beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / a / _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluate 1 + d1/(1 + d2/(1 + ...)) of DLMF 8.17.22 by Lentz's method."""
    tiny = 1e-300
    value, numerator, denominator = 1.0, 1.0, 0.0
    for n in range(1, 10_000):
        m, odd = divmod(n, 2)
        if odd:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / (1 + term * denominator or tiny)
        numerator = 1 + term / numerator or tiny
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < 1e-15:
            break
    return value
