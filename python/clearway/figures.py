"""The figures of a summary: what each is called, its unit, and which way is better.

A figure that the simulator adds and this list does not name is shown all the same: its label and unit come
from its key, whose last word is the unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

LOWER_BOUNDS = "lower_bounds"
"""The key of a summary that lists the figures of which the true value may be larger."""

Kind = Literal["time", "bytes", "rate", "share", "count", "plain"]
Better = Literal["lower", "higher"]


class AtLeast(float):
    """A value that the true one may exceed: what it is made of was not all finished when a run ended."""

    __slots__ = ()


@dataclass(frozen=True)
class Figure:
    """One figure of a summary."""

    key: str
    label: str
    kind: Kind
    better: Better | None = None
    """Which way is better; None where neither is."""
    headline: bool = False
    """Whether a difference is worth a sentence."""
    rare: bool = False
    """Whether zero everywhere is not worth a row."""


# IN THE ORDER IN WHICH THEY ARE SHOWN.
FIGURES: tuple[Figure, ...] = (
    Figure("simulated_us", "simulated time", "time"),
    Figure("measured_from_us", "measured from", "time"),
    Figure("flows", "flows", "count"),
    Figure("completed", "flows completed", "count"),
    Figure("goodput_gbps", "goodput", "rate", "higher", headline=True),
    Figure("loss_rate", "loss", "share", "lower", headline=True),
    Figure("loss_rate_whole", "loss, warm-up included", "share", "lower"),
    Figure("retransmissions", "retransmissions", "count", "lower"),
    Figure("timeouts_whole", "timeouts, warm-up included", "count", "lower"),
    Figure("cnps", "congestion notifications (CNPs)", "count"),
    Figure("rtt_mean_us", "mean RTT", "time", "lower", headline=True),
    Figure("rtt_p50_us", "median RTT", "time", "lower"),
    Figure("rtt_p99_us", "p99 RTT", "time", "lower", headline=True),
    Figure("rtt_p999_us", "p99.9 RTT", "time", "lower", headline=True),
    Figure("jain", "fairness (Jain)", "plain", "higher", headline=True),
    Figure("unfinished_flows", "flows unfinished", "count", "lower", rare=True),
    Figure("fct_mean_us", "mean completion", "time", "lower"),
    Figure("fct_p50_us", "median completion", "time", "lower"),
    Figure("fct_p99_us", "p99 completion", "time", "lower", headline=True),
    Figure("fct_max_us", "last completion", "time", "lower", headline=True),
    Figure("slowdown_mean", "mean slowdown", "plain", "lower"),
    Figure("slowdown_p50", "median slowdown", "plain", "lower"),
    Figure("slowdown_p99", "p99 slowdown", "plain", "lower", headline=True),
    Figure("operations", "operations", "count", rare=True),
    Figure("unfinished_operations", "operations unfinished", "count", rare=True),
    Figure("operations_per_second", "operations in time a second", "plain", "higher", headline=True),
    Figure("failed_operations", "operations failed", "share", "lower", headline=True),
    Figure("latency_mean_us", "mean operation latency", "time", "lower"),
    Figure("latency_p50_us", "median operation latency", "time", "lower"),
    Figure("latency_p99_us", "p99 operation latency", "time", "lower", headline=True),
    Figure("latency_p999_us", "p99.9 operation latency", "time", "lower"),
    Figure("queue_mean_bytes", "mean queue", "bytes", "lower"),
    Figure("queue_peak_bytes", "peak queue", "bytes", "lower", headline=True),
    Figure("utilisation_max", "busiest link", "share"),
    Figure("drops", "drops", "count", "lower"),
    Figure("marks", "ECN marks", "count"),
    Figure("fault_losses", "frames lost to faults", "count", rare=True),
    Figure("pause_share", "links paused", "share", "lower", headline=True, rare=True),
    Figure("host_pause_us", "hosts paused, each", "time", "lower", rare=True),
    Figure("deadlocked_links", "links in deadlock", "count", "lower", headline=True, rare=True),
    Figure("request_share", "requests for timeslots, of payload", "share"),
    Figure("allocation_share", "allocations, of payload", "share"),
    Figure("slots_granted", "timeslots granted", "count"),
    Figure("slots_unused", "timeslots not used", "count", "lower"),
    Figure("slots_refused", "timeslots too late or early", "count", "lower"),
    Figure("fallbacks", "endpoints without an arbiter", "count", "lower", headline=True, rare=True),
)
_ROUNDING = 1e-12  # relative, of a mean of equal values
_BY_KEY = {figure.key: figure for figure in FIGURES}
_KIND_BY_SUFFIX: tuple[tuple[str, Kind], ...] = (
    ("_us", "time"),
    ("_bytes", "bytes"),
    ("_gbps", "rate"),
    ("_rate", "share"),
    ("_share", "share"),
)
_SCALES: Mapping[Kind, tuple[tuple[float, str], ...]] = {
    "time": ((1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "rate": ((1e3, "Tb/s"), (1.0, "Gb/s"), (1e-3, "Mb/s")),
    "share": ((1e-2, "%"),),
}


def figure_of(key: str) -> Figure:
    """Describe the figure with this key of a summary."""
    if key in _BY_KEY:
        return _BY_KEY[key]
    for suffix, kind in _KIND_BY_SUFFIX:
        if key.endswith(suffix):
            return Figure(key, key.removesuffix(suffix).replace("_", " "), kind)
    return Figure(key, key.replace("_", " "), "plain")


def figures_in(summaries: Iterable[Mapping[str, Any]]) -> list[Figure]:
    """List the figures that at least one of the summaries has a value for, in the order to show them."""
    largest: dict[str, float] = {}
    for summary in summaries:
        for key, value in summary.items():
            if isinstance(value, (int, float)):
                largest[key] = max(largest.get(key, 0.0), abs(value))
    known = [
        figure for figure in FIGURES if figure.key in largest and (largest[figure.key] or not figure.rare)
    ]
    return known + [figure_of(key) for key in largest if key not in _BY_KEY]


def value_of(summary: Mapping[str, Any], key: str) -> float | None:
    """Return a figure of a summary, as `AtLeast` if the true one may be larger; None where it has none."""
    value = summary.get(key)
    if value is None or key not in (summary.get(LOWER_BOUNDS) or ()):
        return value
    return AtLeast(value)


def mean_of(values: Sequence[float]) -> float:
    """Take the mean of at least one value; of some that are `AtLeast`, it is so too."""
    mean = math.fsum(values) / len(values)
    return AtLeast(mean) if any(isinstance(value, AtLeast) for value in values) else mean


def readable(kind: Kind, value: float | None, half_width: float | None = None) -> str:
    """Write a value with its unit, and the half width of its interval where there is one."""
    if value is None:
        return "-"
    if isinstance(value, AtLeast):
        return f"\u2265 {readable(kind, float(value), half_width)}"
    if half_width is not None and half_width <= _ROUNDING * abs(value):
        half_width = None  # all seeds alike
    if kind == "count" and half_width is None:
        return f"{value:,.0f}"
    divisor, unit = _scale(kind, value)
    text = _digits(value / divisor)
    if half_width is not None:
        text += f" ± {_digits(half_width / divisor)}"
    return f"{text} {unit}".rstrip()


def _scale(kind: Kind, value: float) -> tuple[float, str]:
    scales = _SCALES.get(kind, ((1.0, ""),))
    if value == 0:
        return next((scale for scale in scales if scale[0] == 1.0), scales[0])
    return next((scale for scale in scales if abs(value) >= scale[0]), scales[-1])


def _digits(value: float) -> str:
    """Four significant digits, and never an exponent where a person expects none."""
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    if magnitude >= 1000 or magnitude < 1e-4:
        return f"{value:,.0f}" if magnitude >= 1 else f"{value:.2g}"
    return f"{value:.4g}"
