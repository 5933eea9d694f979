"""Measures of a run's summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from clearway.figures import AtLeast, value_of
from clearway.paper.measures.registry import of_run
from clearway.paper.measures.rows import column_of
from clearway.paper.measures.scenario import amount_of, entry_of, headers_leave_gbps
from clearway.runs import Run


@of_run
def summary(run: Run, key: str, transport: str | None = None) -> float:
    """Take a figure of the summary, of all or of one transport, in the unit that is in its name.

    It is `AtLeast` where the true one may be larger, as operations or flows were unfinished.
    """
    figures: Mapping[str, Any] = run.summary
    if transport is not None:
        figures = entry_of(run.summary.get("transports") or {}, transport, f"{run.name}: transport")
    entry_of(figures, key, f"{run.name}: figure")
    value = value_of(figures, key)
    return math.nan if value is None else value if isinstance(value, AtLeast) else float(value)


@of_run
def measured_packets(run: Run) -> float:
    """Count the packets whose RTT was measured after the warm-up."""
    return float(np.sum(column_of(run, run.rtt, "count")))


@of_run
def loss_bound(run: Run, key: str = "loss_rate") -> float:
    """Take a loss rate, or 3/n of n measured packets where it is less.

    That is the 95 % upper bound where nothing was lost: no smaller rate can be told from none.
    """
    packets = measured_packets(run)
    return max(summary(run, key), 3 / packets) if packets else math.nan


@of_run
def failure_bound(run: Run) -> float:
    """Take the share of operations that failed, or 3/n of n issued after the warm-up where it is less.

    They are counted in the table of operations; the bound is that of `loss_bound`.
    """
    issued = np.count_nonzero(run.operations["issued_us"] >= amount_of(run.scenario["warmup"]))
    return max(summary(run, "failed_operations"), 3 / issued) if issued else math.nan


@of_run
def goodput_share(run: Run, transport: str) -> float:
    """Take the goodput of a transport over what headers and framing leave of the hosts' rate."""
    return summary(run, "goodput_gbps", transport) / headers_leave_gbps(run, transport)
