"""Measures of how transports share the goodput, from its record over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run
from clearway.paper.measures.rows import column_of, rows_of
from clearway.paper.measures.scenario import amount_of
from clearway.paper.measures.values import Floats
from clearway.runs import Run
from clearway.statistics import jain_of


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
def deviation_among(run: Run, flows: int) -> float:
    """Take the standard deviation across transports of their goodput, in Mb/s: the median of intervals.

    The intervals are those of the recorded throughput in which exactly `flows` transports had traffic, and
    had it from beginning to end. It is the deviation of a sample: with n - 1 below.
    """
    rates = [rate for rate in _rates_with(run, flows) if len(rate) > 1]
    return 1e3 * float(np.median([rate.std(ddof=1) for rate in rates])) if rates else math.nan


@of_run
def goodput_among(run: Run, flows: int) -> float:
    """Take the mean goodput of all transports together, in Gb/s, in the intervals of `deviation_among`."""
    rates = _rates_with(run, flows)
    return float(np.mean([rate.sum() for rate in rates])) if rates else math.nan


@of_run
def largest_lead(run: Run, transports: Sequence[str], joins: str) -> float:
    """Take by how many bytes one of these transports is ever ahead of another once `joins` has delivered.

    It counts from the interval of recorded throughput in which that one delivers first, to the end of each.
    """
    rates = _rates(run, transports, 0.0, math.inf)
    begun = np.flatnonzero(rates[list(transports).index(joins)])
    if not len(begun):
        return math.nan
    # A Gb/s for a microsecond are 125 bytes.
    step = 125 * amount_of(run.scenario["record"]["throughput"])
    delivered = rates[:, begun[0] :].cumsum(axis=1) * step
    return float((delivered.max(axis=0) - delivered.min(axis=0)).max())


def _rates_with(run: Run, flows: int) -> list[Floats]:
    """Return the goodput of each transport for intervals in which just `flows` have traffic throughout."""
    step = amount_of(run.scenario["record"]["throughput"])
    times = {table["transport"]: _times_us(run, table) for table in run.scenario["traffic"]}
    if len(times) < len(run.scenario["traffic"]):
        raise ClearwayError(f"{run.name}: two tables of traffic have one transport")
    found = []
    for end in np.unique(rows_of(run, "throughput", None, 0.0, math.inf)["time_us"]):
        # Half a microsecond is nothing: instants are written as floats.
        first, last = end - step + 0.5, end - 0.5
        some = [name for name, (begins, _, stops) in times.items() if begins < last and stops > first]
        whole = [name for name in some if times[name][1] < first and times[name][2] > last]
        if len(whole) == len(some) == flows:
            found.append(_rates(run, whole, last, end)[:, 0])
    return found


def _times_us(run: Run, table: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return when the first and the last flow of a table start, and when they stop, or the run does."""
    starts = [amount_of(start) for start in str(table["start"]).split("..")]
    return starts[0], starts[-1], amount_of(table.get("stop", run.scenario["duration"]))


def _rates(run: Run, transports: Sequence[str], from_us: float, to_us: float) -> Floats:
    """Goodput by transport (rows) and interval (columns)."""
    rates = []
    for name in transports:
        rows = rows_of(run, "throughput", {"transport": name}, from_us, to_us)
        rates.append(column_of(run, rows, "goodput_gbps"))
    if len({len(row) for row in rates}) != 1 or not len(rates[0]):
        raise ClearwayError(
            f"{run.name}: no throughput of {', '.join(transports)} between {from_us:g} and {to_us:g} us"
        )
    return np.array(rates)
