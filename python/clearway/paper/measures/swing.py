"""Swing's laws: a long link's closed forms in the code, equation (4) as printed, and the planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearway import _clearway
from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run, of_values
from clearway.paper.measures.scenario import amount_of, entry_of
from clearway.paper.measures.values import Series
from clearway.planning import dci_buffer
from clearway.runs import Run


@of_values
def long_link(
    figure: str,
    rate_gbps: float,
    buffer_bytes: float,
    delay_us: float | Sequence[float],
    drain: float | Sequence[float],
    threshold_bytes: float | None = None,
) -> float | Series:
    """Take a figure of a long link from the code's closed forms, such as `pfc_share` or `t2_us`.

    `drain` is the share of the rate that leaves the buffer behind the link; `delay_us` is one way. One of
    the two may be a list: the answer is then a series over it. The threshold is the paper's unless given.
    """

    def one(delay: float, share: float) -> float:
        found = _clearway.long_link(
            round(rate_gbps * 1e9),
            round(delay * 1e6),
            round(buffer_bytes),
            share,
            None if threshold_bytes is None else round(threshold_bytes),
        )
        return float(entry_of(found, figure, "long_link"))

    return _over(delay_us, drain, one)


@of_values
def cycle_us(
    rate_gbps: float, buffer_bytes: float, delay_us: float, drain: float, threshold_bytes: float
) -> float:
    """Take how long a cycle of PFC over a long link lasts: t1 + t2 + 4D, of section 4 of the paper."""
    found = _clearway.long_link(
        round(rate_gbps * 1e9), round(delay_us * 1e6), round(buffer_bytes), drain, round(threshold_bytes)
    )
    return float(found["t1_us"]) + float(found["t2_us"]) + 4 * delay_us


@of_values
def equation_4(
    rate_gbps: float, buffer_bytes: float, delay_us: float | Sequence[float], drain: float | Sequence[float]
) -> float | Series:
    """Take the share of the link's rate that PFC carries, by equation (4) as the paper prints it.

    Where the buffer is smaller than a bandwidth-delay product it is zero, as in figure 5.
    """

    def one(delay: float, share: float) -> float:
        # A Gb/s for a microsecond are 125 bytes.
        bdp = 2 * delay * rate_gbps * 125
        if bdp > buffer_bytes:
            return 0.0
        if buffer_bytes - bdp >= bdp * share:
            return share
        return share * (bdp * share - buffer_bytes) / (bdp * (-1 + share + share**2) - share * buffer_bytes)

    return _over(delay_us, drain, one)


@of_values
def planned(key: str, options: Mapping[str, Any]) -> float:
    """Take a number of what `clearway plan dci-buffer --json` prints with these options, by dotted key."""
    value: Any = dci_buffer(**options)
    for part in key.split("."):
        value = entry_of(value, part, f"plan: {key}")
    if not isinstance(value, (int, float)):
        raise ClearwayError(f"plan: {key} is no number")
    return float(value)


@of_run
def retransmission_us(run: Run, transport: str) -> float:
    """Take the time that hosts' links spend on what a transport sends again, for each host, in us.

    It is bytes over the link's rate; the paper sets it beside the time for which a host's link is paused.
    """
    network, protocol = run.scenario["network"], entry_of(run.scenario["transport"], transport, "transport")
    frame = sum(amount_of(text) for text in (network["mtu"], network["framing"], protocol["header"]))
    again = float(entry_of(run.summary["transports"], transport, "transport")["retransmissions"])
    hosts = sum(1 for link in run.links["link"].tolist() if str(link).startswith("h"))
    return again * frame / (125 * amount_of(network["rate"])) / hosts


def _over(delay_us: Any, drain: Any, one: Any) -> float | Series:
    """Return one value, or a series over the one of the two that is a list."""
    if isinstance(delay_us, Sequence) and isinstance(drain, Sequence):
        raise ClearwayError("a long link is taken over delays or over drains, not over both")
    if isinstance(delay_us, Sequence):
        return Series(np.array(delay_us, dtype=float), np.array([one(delay, drain) for delay in delay_us]))
    if isinstance(drain, Sequence):
        return Series(np.array(drain, dtype=float), np.array([one(delay_us, share) for share in drain]))
    return float(one(delay_us, drain))
