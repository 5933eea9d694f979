"""Measures of series: a value of one, one over another, its bins, its knee, its slope."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_values
from clearway.paper.measures.values import Series


@of_values
def series(x: Sequence[float], y: Sequence[float]) -> Series:
    """Values as written: the paper's."""
    return Series(np.array(x, dtype=float), np.array(y, dtype=float))


@of_values
def at(series: Series, x: float) -> float:
    """Take a series at x, linear between its points; NaN outside."""
    order = np.argsort(series.x)
    return float(np.interp(x, series.x[order], series.y[order], left=math.nan, right=math.nan))


@of_values
def scaled(series: Series, by: float) -> Series:
    """Take a series times a number, such as shares in per cent."""
    return Series(series.x, series.y * by)


@of_values
def ratios(of: Series, to: Series) -> Series:
    """One series over another with the same x."""
    if not np.array_equal(of.x, to.x):
        raise ClearwayError("ratios: the series have different x")
    with np.errstate(divide="ignore", invalid="ignore"):
        return Series(of.x, of.y / to.y)


@of_values
def worst_ratio(of: Series, to: Series) -> float:
    """Take the largest ratio of two series where they have the same x and not both are zero."""
    _, ours, theirs = np.intersect1d(of.x, to.x, return_indices=True)
    upper, lower = of.y[ours], to.y[theirs]
    there = (upper > 0) | (lower > 0)
    with np.errstate(divide="ignore"):
        return float(np.max(upper[there] / lower[there])) if there.any() else math.nan


@of_values
def against(x: Series, y: Series) -> Series:
    """One series over another: y where the x of both are the same, such as loss against utilisation."""
    if not np.array_equal(x.x, y.x):
        raise ClearwayError("against: the series have different x")
    order = np.argsort(x.y, kind="stable")
    return Series(x.y[order], y.y[order])


@of_values
def binned(series: Series, edges: Sequence[float], q: float | None = None) -> Series:
    """Take mean or quantile of a series in each bin of x, at its middle; empty bins are left out."""
    places = np.digitize(series.x, edges) - 1
    middles, values = [], []
    for index in range(len(edges) - 1):
        inside = series.y[places == index]
        if len(inside):
            middles.append((edges[index] + edges[index + 1]) / 2)
            values.append(float(inside.mean() if q is None else np.quantile(inside, q)))
    return Series(np.array(middles), np.array(values))


@of_values
def knee(series: Series, share: float = 0.95) -> float:
    """Where a rising series first reaches this share of its largest value, linear between points."""
    order = np.argsort(series.x)
    x, y = series.x[order], series.y[order]
    if not len(x):
        return math.nan
    wanted = share * float(y.max())
    first = int(np.argmax(y >= wanted))
    if first == 0:
        return float(x[0])
    step = (wanted - y[first - 1]) / (y[first] - y[first - 1])
    return float(x[first - 1] + step * (x[first] - x[first - 1]))


@of_values
def highest_below(series: Series, limit: float) -> float:
    """Take the highest x up to which a series stays below a limit; 0 if it never is.

    That is the load that a service carries which sheds whatever would take its latency above the limit. What
    stays below at every point has its last x: more was not tried.
    """
    order = np.argsort(series.x)
    x, y = series.x[order], series.y[order]
    if not len(x) or math.isnan(y[0]):
        return math.nan
    below = int(np.argmin(np.append(y <= limit, False)))
    return float(x[below - 1]) if below else 0.0


@of_values
def slope(series: Series, log: bool = False) -> float:
    """Least-squares slope; with `log`, of the logarithms: the exponent of a power law."""
    if len(series.x) < 2:
        return math.nan
    x, y = (np.log(series.x), np.log(series.y)) if log else (series.x, series.y)
    return float(np.polyfit(x, y, 1)[0])


@of_values
def share_up_to(series: Series, limit: float) -> float:
    """Take the share of a series' values that are no higher than a limit; NaN of nothing."""
    return float(np.mean(series.y <= limit)) if len(series.y) else math.nan


@of_values
def mean_stretch(series: Series, above: float) -> float:
    """Take how long a series over time stays above a level, on average over the whole stretches in it.

    A stretch that has begun before the series, or has not ended with it, is left out. Of samples that are d
    apart a stretch is as long as d times the samples in it.
    """
    higher = series.y > above
    turns = np.flatnonzero(np.diff(higher.astype(int)))
    up, down = turns[~higher[turns]], turns[higher[turns]]
    down = down[down > up[0]] if len(up) else down[:0]
    ends = list(zip(up, down, strict=False))
    return float(np.mean([series.x[last] - series.x[first] for first, last in ends])) if ends else math.nan


@of_values
def autocorrelation(series: Series, lag: float) -> float:
    """Take how much evenly spaced samples are like those a lag later: 1, alike; 0, no more than by chance.

    NaN of samples that are all the same, and of a lag that is not within them.
    """
    return _alike_after(series, lag)


@of_values
def strongest_period(series: Series, least: float, most: float) -> float:
    """Take the lag between two bounds after which evenly spaced samples are most like themselves."""
    step = float(series.x[1] - series.x[0]) if len(series.x) > 1 else math.nan
    if math.isnan(step):
        return math.nan
    lags = np.arange(math.ceil(least / step), math.floor(most / step) + 1) * step
    found = np.array([_alike_after(series, float(lag)) for lag in lags])
    return math.nan if np.isnan(found).any() else float(lags[np.argmax(found)])


def _alike_after(series: Series, lag: float) -> float:
    """Return how samples correlate with those a lag later, which is rounded to a whole number of them."""
    if len(series.x) < 2 or math.isnan(lag):
        return math.nan
    by = round(lag / float(series.x[1] - series.x[0]))
    centred = series.y - np.mean(series.y)
    whole = float(np.sum(centred**2))
    if not 0 < by < len(centred) or not whole:
        return math.nan
    # Of fewer products the later ones have; each part is held against what it would be if alike.
    return float(np.sum(centred[:-by] * centred[by:])) / whole * len(centred) / (len(centred) - by)
