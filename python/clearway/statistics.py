"""Means over seeds, their 95 % intervals, and whether two means differ (Student's and Welch's t).

The t quantile comes from the regularised incomplete beta function (Lentz's continued fraction, DLMF 8.17.22)
by bisection, so it is right for any number of seeds and for Welch's fractional degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from clearway.figures import mean_of

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean, and how far from it the true one lies at most, with 95 % confidence."""

    mean: float
    half_width: float | None
    """Half the width of the interval; None for a single sample, which says nothing about its spread."""
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


def differ(a: Interval, b: Interval) -> bool | None:
    """Tell whether the means differ at the 5 % level (Welch); None if a single sample leaves it open."""
    if a.half_width is None or b.half_width is None:
        return None
    of_a, of_b = a.variance / a.count, b.variance / b.count
    spread = of_a + of_b
    if spread == 0:
        return a.mean != b.mean
    freedom = spread**2 / (of_a**2 / (a.count - 1) + of_b**2 / (b.count - 1))
    return abs(a.mean - b.mean) > t_quantile(0.5 + CONFIDENCE / 2, freedom) * math.sqrt(spread)


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
