"""Measures of outages: how long nothing arrives, and what share of the throughput is left."""

from __future__ import annotations

import math

import numpy as np

from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run
from clearway.paper.measures.rows import column_of, rows_of
from clearway.paper.measures.scenario import amount_of
from clearway.runs import Run


@of_run
def longest_silence(run: Run, from_us: float = 0.0, to_us: float = math.inf) -> float:
    """Take the longest time in which no payload arrives anywhere, in us, from the recorded throughput.

    Of n intervals without payload between two with some, it is n + 1: the true time lies between n and n + 2.
    A silence that lasts until the end of the window is as long as it lasted by then.
    """
    rows = rows_of(run, "throughput", None, from_us, to_us)
    step = amount_of(run.scenario["record"]["throughput"])
    times, places = np.unique(rows["time_us"].astype(np.float64), return_inverse=True)
    arrived = np.bincount(places, weights=column_of(run, rows, "goodput_gbps"), minlength=len(times)) > 0
    if not arrived.any():
        raise ClearwayError(f"{run.name}: nothing arrives between {from_us:g} and {to_us:g} us")
    gaps = np.diff(times[arrived])
    after = times[-1] - times[arrived][-1]
    return float(max(gaps.max(initial=step), after))


@of_run
def goodput_in(run: Run, from_us: float, to_us: float) -> float:
    """Take the mean goodput of all transports together in a window of recorded throughput, in Gb/s."""
    rows = rows_of(run, "throughput", None, from_us, to_us)
    rates = column_of(run, rows, "goodput_gbps")
    if not len(rates):
        raise ClearwayError(f"{run.name}: no throughput is recorded between {from_us:g} and {to_us:g} us")
    return float(rates.sum()) / len(np.unique(rows["time_us"]))


@of_run
def completed_share(run: Run) -> float:
    """Take the share of all flows that are complete at the end."""
    return float(run.summary["completed"]) / float(run.summary["flows"])
