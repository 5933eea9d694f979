"""Swift's laws: closed forms of the paper, and the fabric target as the code computes it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearway import _clearway, documents
from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run, of_values
from clearway.paper.measures.values import Series
from clearway.runs import Run


@of_values
def random_walk_queue(flows: Sequence[float]) -> Series:
    """Take figure 4's law: N paced flows of random phase make a mean queue of sqrt(pi N / 8) packets."""
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


@of_run
def fabric_target(run: Run, transport: str, cwnd: Sequence[float], hops: int) -> Series:
    """Take the fabric target that the code computes over windows in packets, in microseconds."""
    scenario = _clearway.load_text(documents.text_of(run.scenario), run.name)
    targets = [scenario.swift_target_us(transport, float(window), hops) for window in cwnd]
    if None in targets:
        raise ClearwayError(f"{run.name}: {transport} is no transport that runs Swift")
    return Series(np.array(cwnd, dtype=float), np.array(targets, dtype=float))
