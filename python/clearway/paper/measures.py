"""What is measured: functions that experiment files name.

Each takes the value it stands for from one run, or from other values. To add one, write it here with a
decorator: its name and its arguments are then known to experiment files, which are checked against them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clearway import _clearway, documents
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.runs import Run

Floats = NDArray[np.float64]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Series:
    """Values over something: time, an axis of a sweep, a cumulative share."""

    x: Floats
    y: Floats


Value = float | Series | list[float]
"""What a measure gives. A number that could not be measured is NaN."""

OF_RUN: dict[str, Callable[..., Value]] = {}
"""Measures of one run, by name: the run comes first."""
OF_VALUES: dict[str, Callable[..., Value]] = {}
"""Measures of values, and closed forms, by name."""


def of_run(function: Function) -> Function:
    """Make a measure of one run known."""
    OF_RUN[function.__name__] = function
    return function


def of_values(function: Function) -> Function:
    """Make a measure of values known."""
    OF_VALUES[function.__name__] = function
    return function


# OF ONE RUN


@of_run
def summary(run: Run, key: str, transport: str | None = None) -> float:
    """Take a figure of the summary, of all or of one transport, in the unit that is in its name."""
    figures: Mapping[str, Any] = run.summary
    if transport is not None:
        figures = _entry(run.summary.get("transports") or {}, transport, f"{run.name}: transport")
    value = _entry(figures, key, f"{run.name}: figure")
    return math.nan if value is None else float(value)


@of_run
def link(run: Run, name: str, column: str) -> float:
    """Take a column of the table of links, of the link `name`, such as "tor0>h5"."""
    return _link(run, name, column)


@of_run
def wire_gbps(run: Run, name: str) -> float:
    """Take what a link carried, headers and framing included, in Gb/s."""
    return _link(run, name, "utilisation") * _link(run, name, "rate_gbps")


@of_run
def headers_leave_gbps(run: Run, transport: str) -> float:
    """Take what headers and framing leave of the hosts' rate, in Gb/s: rate * mtu / (mtu + both)."""
    network, protocol = run.scenario["network"], run.scenario["transport"][transport]
    rate = _amount(network["rate"])
    mtu, framing, header = (
        _amount(text) for text in (network["mtu"], network["framing"], protocol["header"])
    )
    return rate * mtu / (mtu + header + framing)


@of_run
def goodput_share(run: Run, transport: str) -> float:
    """Take the goodput of a transport over what headers and framing leave of the hosts' rate."""
    return summary(run, "goodput_gbps", transport) / headers_leave_gbps(run, transport)


@of_run
def setting(run: Run, key: str) -> float:
    """Take a number of the scenario by dotted key; times in us, rates in Gb/s, sizes in bytes."""
    value: Any = run.scenario
    for part in key.split("."):
        value = _entry(value, part, f"{run.name}: {key}")
    return _amount(value)


@of_run
def quantile(
    run: Run,
    table: str,
    column: str,
    q: float,
    weight: str | None = None,
    match: Mapping[str, Any] | None = None,
    from_us: float = 0.0,
    to_us: float = math.inf,
) -> float:
    """Take a quantile (0 to 1) of a column: the least value that this share of rows or weight has at most."""
    values, weights = _weighted(run, table, column, weight, match, from_us, to_us)
    if not len(values):
        return math.nan
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order])
    at = np.searchsorted(shares, q * shares[-1] * (1 - 1e-12))
    return float(values[order][min(int(at), len(values) - 1)])


@of_run
def mean(
    run: Run,
    table: str,
    column: str,
    weight: str | None = None,
    match: Mapping[str, Any] | None = None,
    from_us: float = 0.0,
    to_us: float = math.inf,
) -> float:
    """Take the mean of a column, by rows or weighted by another column."""
    values, weights = _weighted(run, table, column, weight, match, from_us, to_us)
    return float(np.average(values, weights=weights)) if len(values) else math.nan


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
    """Take the cumulative distribution of a column times `scale`, in per cent, thinned to so many points."""
    values, weights = _weighted(run, table, column, weight, match, 0.0, math.inf)
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


@of_run
def over_time(
    run: Run,
    table: str,
    column: str,
    match: Mapping[str, Any] | None = None,
    from_us: float = 0.0,
    to_us: float = math.inf,
) -> Series:
    """Take a recorded column over time in microseconds; rows of one time, as of several flows, add up."""
    rows = _rows(run, table, match, from_us, to_us)
    times, places = np.unique(rows["time_us"].astype(np.float64), return_inverse=True)
    sums = np.bincount(places, weights=_column(run, rows, column), minlength=len(times))
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
    rows = _rows(run, table, match, 0.0, math.inf)
    at, values = _column(run, rows, x), _column(run, rows, y)
    if per is not None:
        whole = _column(run, rows, per)
        values = np.divide(values, whole, out=np.full(len(values), np.nan), where=whole > 0)
    there = np.isfinite(at) & np.isfinite(values)
    return Series(at[there], values[there])


@of_run
def shares(run: Run, transports: Sequence[str], from_us: float, to_us: float) -> list[float]:
    """Goodput of each of these transports over the mean of them, within a window of recorded throughput."""
    rates = _rates(run, transports, from_us, to_us).mean(axis=1)
    return [float(rate) for rate in rates / rates.mean()]


@of_run
def worst_share(run: Run, stages: Sequence[Mapping[str, Any]], together: int = 1) -> float:
    """Take how far a flow's goodput in one interval, or in some `together`, is at most from an equal share.

    Each stage has `transports` (a flow each) that are on from `from_us` to `to_us`; 0.1 is 10 % of the share.
    """
    worst = 0.0
    for stage in stages:
        rates = _rates(run, stage["transports"], stage["from_us"], stage["to_us"])
        whole = rates.shape[1] // together * together
        if not whole:
            raise ClearwayError(f"{run.name}: a stage has {rates.shape[1]} intervals, fewer than {together}")
        rates = rates[:, :whole].reshape(len(rates), -1, together).mean(axis=2)
        worst = max(worst, float(np.abs(rates / rates.mean(axis=0) - 1).max()))
    return worst


@of_run
def jain(run: Run, transports: Sequence[str], from_us: float, to_us: float) -> float:
    """Jain's index of the goodput of these transports in a window of recorded throughput."""
    return jain_of(_rates(run, transports, from_us, to_us).mean(axis=1))


@of_run
def fabric_target(run: Run, transport: str, cwnd: Sequence[float], hops: int) -> Series:
    """Take the fabric target that the code computes over windows in packets, in microseconds."""
    scenario = _clearway.load_text(documents.text_of(run.scenario), run.name)
    targets = [scenario.swift_target_us(transport, float(window), hops) for window in cwnd]
    if None in targets:
        raise ClearwayError(f"{run.name}: {transport} is no transport that runs Swift")
    return Series(np.array(cwnd, dtype=float), np.array(targets, dtype=float))


@of_run
def unfinished_work_packets(run: Run, name: str, packet_bytes: float) -> float:
    """Mean unfinished work at a port, in packets: what waits, and what is left of the one in transmission.

    The latter is half a packet on average while the port sends; this is the queue of figure 4's law.
    """
    waiting = _link(run, name, "queue_mean_bytes") / packet_bytes
    return waiting + _link(run, name, "utilisation") / 2


# OF VALUES


@of_values
def ratio(of: float, to: float) -> float:
    """One value over another."""
    return of / to if to else math.nan


@of_values
def difference(of: float, less: float) -> float:
    """One value less another."""
    return of - less


@of_values
def product(factors: Sequence[float]) -> float:
    """All multiplied."""
    return math.prod(factors)


@of_values
def smallest(values: Value) -> float:
    """Take the smallest; NaN of nothing."""
    numbers = _numbers(values)
    return float(np.min(numbers)) if len(numbers) else math.nan


@of_values
def largest(values: Value) -> float:
    """Take the largest; NaN of nothing."""
    numbers = _numbers(values)
    return float(np.max(numbers)) if len(numbers) else math.nan


@of_values
def where_smallest(of: Value, by: Value) -> float:
    """Take the value of `of` in the place where `by` is smallest: a baseline's at its best setting."""
    values, keys = _numbers(of), _numbers(by)
    if len(values) != len(keys):
        raise ClearwayError(f"where_smallest: {len(values)} values, and {len(keys)} to choose by")
    if not np.isfinite(keys).any():
        return math.nan
    return float(values[int(np.nanargmin(keys))])


@of_values
def largest_deviation(of: Value, law: Value) -> float:
    """Take how far values are at most from those of a law, relative to the law."""
    measured, expected = _numbers(of), _numbers(law)
    deviations = np.abs(measured / expected - 1)
    return float(np.max(deviations)) if len(deviations) else math.nan


@of_values
def at(series: Series, x: float) -> float:
    """Take a series at x, linear between its points; NaN outside."""
    order = np.argsort(series.x)
    return float(np.interp(x, series.x[order], series.y[order], left=math.nan, right=math.nan))


@of_values
def ratios(of: Series, to: Series) -> Series:
    """One series over another with the same x."""
    if not np.array_equal(of.x, to.x):
        raise ClearwayError("ratios: the series have different x")
    return Series(of.x, of.y / to.y)


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
def slope(series: Series, log: bool = False) -> float:
    """Least-squares slope; with `log`, of the logarithms: the exponent of a power law."""
    if len(series.x) < 2:
        return math.nan
    x, y = (np.log(series.x), np.log(series.y)) if log else (series.x, series.y)
    return float(np.polyfit(x, y, 1)[0])


@of_values
def series(x: Sequence[float], y: Sequence[float]) -> Series:
    """Values as written: the paper's."""
    return Series(np.array(x, dtype=float), np.array(y, dtype=float))


# CLOSED FORMS


@of_values
def random_walk_queue(flows: Sequence[float]) -> Series:
    """Swift, figure 4: N paced flows of random phase make a mean queue of sqrt(pi N / 8) packets."""
    n = np.array(flows, dtype=float)
    return Series(n, np.sqrt(math.pi * n / 8))


@of_values
def swift_target(
    cwnd: Sequence[float],
    hops: int,
    base_target_us: float,
    hop_scaling_us: float,
    fs_range_us: float,
    fs_min_cwnd: float,
    fs_max_cwnd: float,
) -> Series:
    """Swift's fabric target (§3.5) over windows in packets, in microseconds, written from the paper."""
    windows = np.array(cwnd, dtype=float)
    alpha = fs_range_us / (1 / math.sqrt(fs_min_cwnd) - 1 / math.sqrt(fs_max_cwnd))
    beta = -alpha / math.sqrt(fs_max_cwnd)
    scaling = np.maximum(0, np.minimum(alpha / np.sqrt(windows) + beta, fs_range_us))
    return Series(windows, base_target_us + hops * hop_scaling_us + scaling)


# WHAT THEY SHARE


def jain_of(rates: Floats) -> float:
    """Jain's index: 1 if all are equal, 1/n if one has all."""
    squares = float((rates**2).sum())
    return float(rates.sum()) ** 2 / (len(rates) * squares) if squares > 0 else math.nan


def _entry(table: Mapping[str, Any], key: str, what: str) -> Any:
    if not isinstance(table, Mapping) or key not in table:
        known = ", ".join(table) if isinstance(table, Mapping) else "nothing"
        raise ClearwayError(f"{what}: there is no {key}", f"there is {known}")
    return table[key]


def _amount(value: Any) -> float:
    found = quantity(value)
    if found is None:
        raise ClearwayError(f"{value!r} is no number")
    return found.value


def _link(run: Run, name: str, column: str) -> float:
    links = run.links
    there = np.flatnonzero(links["link"] == name)
    if not len(there):
        raise ClearwayError(
            f"{run.name}: there is no link {name}", f"there is {', '.join(links['link'][:8])}"
        )
    return float(_column(run, links, column)[there[0]])


def _column(run: Run, rows: Mapping[str, NDArray[Any]], column: str) -> Floats:
    if column not in rows:
        raise ClearwayError(f"{run.name}: there is no column {column}", f"there is {', '.join(rows)}")
    return rows[column].astype(float)


def _rows(
    run: Run, table: str, match: Mapping[str, Any] | None, from_us: float, to_us: float
) -> Mapping[str, NDArray[Any]]:
    """Choose the rows in which columns have these values, after `from_us` and up to `to_us`."""
    rows = run.table(table)
    chosen = np.ones(len(next(iter(rows.values()))), dtype=bool)
    for column, value in (match or {}).items():
        if column not in rows:
            raise ClearwayError(f"{run.name}: there is no column {column}", f"there is {', '.join(rows)}")
        chosen &= _matches(rows[column], value)
    if "time_us" in rows:
        # A sample stands at the end of its interval.
        chosen &= (rows["time_us"] > from_us) & (rows["time_us"] <= to_us)
    return {name: values[chosen] for name, values in rows.items()}


def _matches(values: NDArray[Any], wanted: Any) -> NDArray[np.bool_]:
    """Tell where a column has a value; a text with a star matches as file names do."""
    if isinstance(wanted, str) and "*" in wanted:
        names, places = np.unique(values, return_inverse=True)
        return np.array([fnmatchcase(str(name), wanted) for name in names], dtype=bool)[places]
    return np.asarray(values == wanted, dtype=bool)


def _weighted(
    run: Run,
    table: str,
    column: str,
    weight: str | None,
    match: Mapping[str, Any] | None,
    from_us: float,
    to_us: float,
) -> tuple[Floats, Floats]:
    rows = _rows(run, table, match, from_us, to_us)
    values = _column(run, rows, column)
    weights = np.ones(len(values)) if weight is None else _column(run, rows, weight)
    there = np.isfinite(values) & (weights > 0)
    return values[there], weights[there]


def _rates(run: Run, transports: Sequence[str], from_us: float, to_us: float) -> Floats:
    """Goodput by transport (rows) and interval (columns)."""
    rates = []
    for name in transports:
        rows = _rows(run, "throughput", {"transport": name}, from_us, to_us)
        rates.append(_column(run, rows, "goodput_gbps"))
    if len({len(row) for row in rates}) != 1 or not len(rates[0]):
        raise ClearwayError(
            f"{run.name}: no throughput of {', '.join(transports)} between {from_us:g} and {to_us:g} us"
        )
    return np.array(rates)


def _numbers(values: Value) -> Floats:
    return values.y if isinstance(values, Series) else np.atleast_1d(np.array(values, dtype=float))


# OF TRAFFIC CLASSES AT PORTS


@of_run
def loss_against_utilisation(
    run: Run, traffic_class: str, links: str, own_share: bool = False, from_us: float | None = None
) -> Series:
    """Take a class's loss in every interval at every port over the port's utilisation there, in per cent.

    `links` are names such as "tor*>h*". Loss is dropped bytes over offered ones; intervals in which the
    class offers nothing are left out, and so is the warm-up unless `from_us` says otherwise. With `own_share`
    the utilisation is the class's own: what it sent over what its weight guarantees it. What is full or more
    is just below 100.
    """
    rows = _classed(run, traffic_class, links, from_us)
    used = 100 * _column(run, rows, "utilisation")
    if own_share:
        used = 100 * _sent_gbps(run, rows) / (_rates_of(run, rows) * _weight_share(run, traffic_class))
    lost, sent = _column(run, rows, "dropped_bytes"), _column(run, rows, "sent_bytes")
    offered = lost + sent > 0
    loss = lost[offered] / (lost + sent)[offered]
    return Series(np.minimum(used[offered], math.nextafter(100, 0)), loss)


@of_run
def class_loss(
    run: Run,
    traffic_class: str,
    links: str,
    q: float | None = None,
    above: float = 0.0,
    from_us: float | None = None,
) -> float:
    """Take the mean, or a quantile, of `loss_against_utilisation` above this utilisation in per cent."""
    samples = loss_against_utilisation(run, traffic_class, links, from_us=from_us)
    losses = samples.y[samples.x >= above]
    if not len(losses):
        return math.nan
    return float(losses.mean() if q is None else np.quantile(losses, q))


@of_run
def class_gbps(run: Run, traffic_class: str, links: str, from_us: float | None = None) -> float:
    """Take what a class sends over these links together, headers included, in Gb/s."""
    rows = _classed(run, traffic_class, links, from_us)
    times = len(np.unique(_column(run, rows, "time_us")))
    return float(_sent_gbps(run, rows).sum()) / times if times else math.nan


@of_values
def scaled(series: Series, by: float) -> Series:
    """Take a series times a number, such as shares in per cent."""
    return Series(series.x, series.y * by)


@of_values
def worst_ratio(of: Series, to: Series) -> float:
    """Take the largest ratio of two series where they have the same x and not both are zero."""
    _, ours, theirs = np.intersect1d(of.x, to.x, return_indices=True)
    upper, lower = of.y[ours], to.y[theirs]
    there = (upper > 0) | (lower > 0)
    with np.errstate(divide="ignore"):
        return float(np.max(upper[there] / lower[there])) if there.any() else math.nan


def _classed(run: Run, traffic_class: str, links: str, from_us: float | None) -> Mapping[str, NDArray[Any]]:
    start = _amount(run.scenario["warmup"]) if from_us is None else from_us
    return _rows(run, "links_series", {"class": traffic_class, "link": links}, start, math.inf)


def _sent_gbps(run: Run, rows: Mapping[str, NDArray[Any]]) -> Floats:
    """Rate at which the class of each row sent; a byte in a microsecond is 8 Mb/s."""
    return _column(run, rows, "sent_bytes") * 8e-3 / _amount(run.scenario["record"]["links"])


def _rates_of(run: Run, rows: Mapping[str, NDArray[Any]]) -> Floats:
    """Rate of the link of each row, in Gb/s."""
    rates = dict(zip(run.links["link"].tolist(), _column(run, run.links, "rate_gbps"), strict=True))
    return np.array([rates[name] for name in rows["link"].tolist()], dtype=float)


def _weight_share(run: Run, traffic_class: str) -> float:
    """Share of a link that a class has for certain: by its weight among the classes of its priority."""
    classes = run.scenario["class"]
    own = _entry(classes, traffic_class, f"{run.name}: class")
    peers = [other["weight"] for other in classes.values() if other["priority"] == own["priority"]]
    return float(own["weight"] / sum(peers))
