"""Measures of the columns of any table: quantiles, means, distributions, and one column over another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from clearway.figures import AtLeast
from clearway.paper.measures.registry import of_rows, of_run
from clearway.paper.measures.rows import Rows, Weighted, column_of, rows_of
from clearway.paper.measures.scenario import amount_of
from clearway.paper.measures.values import Series
from clearway.runs import Run

_RECORDS = {"queues": "queues", "links_series": "links"}
"""The key of `record` that makes a table without ports at which there never was anything."""


@of_rows(Weighted)
def quantile(rows: Weighted, q: float) -> float:
    """Take a quantile (0 to 1) of a column: the least value that this share of rows or weight has at most.

    Of completion times and latencies, rows that were unfinished at the end count with their age; the quantile
    is `AtLeast` if they could make it larger.
    """
    (values, weights), (ages, of_ages) = rows.finished(), rows.unfinished()
    every, of_every = np.append(values, ages), np.append(weights, of_ages)
    if not len(every):
        return math.nan
    order = np.argsort(every, kind="stable")
    shares = np.cumsum(of_every[order])
    wanted = q * shares[-1] * (1 - 1e-12)
    value = float(every[order][min(int(np.searchsorted(shares, wanted)), len(every) - 1)])
    return value if weights[values <= value].sum() >= wanted else AtLeast(value)


@of_rows(Weighted)
def mean(rows: Weighted) -> float:
    """Take the mean of a column, by rows or weighted by another column; unfinished rows as for a quantile."""
    (values, weights), (ages, of_ages) = rows.finished(), rows.unfinished()
    every, of_every = np.append(values, ages), np.append(weights, of_ages)
    if not len(every):
        return math.nan
    value = float(np.average(every, weights=of_every))
    return AtLeast(value) if len(ages) else value


@of_run
def operation_latency(run: Run, q: float, tail_us: float, match: Mapping[str, Any] | None = None) -> float:
    """Take a quantile of the latency of operations issued after the warm-up and before the last `tail_us`.

    Each of them had `tail_us` to finish: where that is longer than the quantile, it is exact whatever is
    unfinished.
    """
    rows = rows_of(run, "operations", match, 0.0, math.inf)
    issued = column_of(run, rows, "issued_us")
    start, end = (amount_of(run.scenario[key]) for key in ("warmup", "duration"))
    chosen = (issued >= start) & (issued <= end - tail_us)
    latencies, ages = (column_of(run, rows, column)[chosen] for column in ("latency_us", "age_us"))
    if not len(latencies):
        return math.nan
    rank = max(math.ceil(len(latencies) * q * (1 - 1e-12)), 1)
    value = float(np.sort(np.where(np.isfinite(latencies), latencies, ages))[rank - 1])
    return value if (latencies <= value).sum() >= rank else AtLeast(value)


@of_run
def answered_latency(run: Run, q: float, within_us: float, match: Mapping[str, Any] | None = None) -> float:
    """Take a quantile of the latency of operations issued after the warm-up that took no longer than this.

    That is what ping says: what is not answered in time is lost and left out. Operations issued in the last
    `within_us` are left out too, as their time is not over.
    """
    rows = rows_of(run, "operations", match, 0.0, math.inf)
    issued, latencies = (column_of(run, rows, column) for column in ("issued_us", "latency_us"))
    start, end = (amount_of(run.scenario[key]) for key in ("warmup", "duration"))
    in_time = (issued >= start) & (issued <= end - within_us) & (latencies <= within_us)
    answered = np.sort(latencies[in_time])
    rank = max(math.ceil(len(answered) * q * (1 - 1e-12)), 1)
    return float(answered[rank - 1]) if len(answered) else math.nan


@of_run
def cdf(
    run: Run,
    table: str,
    column: str,
    weight: str | None = None,
    match: Mapping[str, Any] | None = None,
    scale: float = 1.0,
    points: int = 300,
) -> Series:
    """Take the cumulative distribution of a column times `scale`, in per cent, thinned to `points` points."""
    values, weights = Weighted(run, table, column, match, weight=weight).finished()
    order = np.argsort(values, kind="stable")
    values, shares = values[order], np.cumsum(weights[order])
    if not len(values) or shares[-1] <= 0:
        return Series(np.array([]), np.array([]))
    # Of equal values, the last has the share of all.
    last = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    values, shares = values[last], 100 * shares[last] / shares[-1]
    if len(values) > points:
        kept = np.searchsorted(shares, np.linspace(0, 100, points))
        kept = np.unique(np.clip(kept, 0, len(values) - 1))
        values, shares = values[kept], shares[kept]
    return Series(values * scale, shares)


@of_rows(Rows)
def over_time(rows: Rows) -> Series:
    """Take a recorded column over time in microseconds; rows of one time, as of several flows, add up."""
    return _over_time(rows)


@of_rows(Rows)
def every_sample(rows: Rows) -> Series:
    """Take a recorded column at every sample, summed over rows of one time; 0 where there is no row.

    `table` is "queues" or "links_series", in which a port has no rows where there never was anything. With
    classes, `match` one.
    """
    step = amount_of(rows.run.scenario["record"][_RECORDS[rows.table]])
    last = min(rows.to_us, float(rows.run.summary["simulated_us"]))
    instants = np.arange(
        math.floor(rows.from_us / step + 1e-9) + 1, math.floor(last / step + 1e-9) + 1, dtype=np.float64
    )
    there = _over_time(rows)
    values = np.zeros(len(instants))
    places = np.round(there.x / step).astype(int) - (int(instants[0]) if len(instants) else 0)
    inside = (places >= 0) & (places < len(values))
    values[places[inside]] = there.y[inside]
    return Series(instants * step, values)


def _over_time(rows: Rows) -> Series:
    chosen = rows.chosen()
    times, places = np.unique(chosen["time_us"].astype(np.float64), return_inverse=True)
    sums = np.bincount(places, weights=column_of(rows.run, chosen, rows.column), minlength=len(times))
    return Series(times, sums.astype(np.float64))


@of_run
def columns(
    run: Run,
    table: str,
    x: str,
    y: str,
    per: str | None = None,
    match: Mapping[str, Any] | None = None,
) -> Series:
    """Take one column over another, row by row, or a column per another: loss is drops per frames."""
    rows = rows_of(run, table, match, 0.0, math.inf)
    at, values = column_of(run, rows, x), column_of(run, rows, y)
    if per is not None:
        whole = column_of(run, rows, per)
        values = np.divide(values, whole, out=np.full(len(values), np.nan), where=whole > 0)
    there = np.isfinite(at) & np.isfinite(values)
    return Series(at[there], values[there])
