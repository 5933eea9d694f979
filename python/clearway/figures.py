"""The figures of a summary: what each is called, its unit, and which way is better.

A figure that the simulator adds and this list does not name is shown all the same: its label and unit come
from its key, whose last word is the unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

_MANY = 10.0  # from here on a factor has no decimals

LOWER_BOUNDS = "lower_bounds"
"""The key of a summary that lists the figures of which the true value may be larger."""

ABSENT = "absent"
"""The key of a summary that says why figures have no value, by their keys."""

WHOLE_MARK = "*"
"""Stands behind the label of a figure that covers the whole run."""

TIMESLOTS = (
    "Fastpass: RTT from a packet's timeslot on, with its acknowledgement's wait for one; completions and "
    "latencies with every wait for timeslots"
)
"""What times include where packets leave in timeslots."""

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
    beside: str = ""
    """The key of a figure that is never shown without this one, which says how many are missing from it."""
    whole: bool = False
    """Whether it covers the whole run, with warm-up and drain, and not the measured interval."""
    always: bool = False
    """Whether it covers no time: it says what was run, and not what came of it."""

    @property
    def heading(self) -> str:
        """Return the label, marked where the figure covers the whole run."""
        return f"{self.label} {WHOLE_MARK}" if self.whole else self.label


def _spread(key: str, label: str) -> tuple[Figure, ...]:
    """List the figures of a part of round-trip times, which are there where work takes hosts time."""
    return (
        Figure(f"{key}_mean_us", f"mean {label}", "time", "lower"),
        Figure(f"{key}_p50_us", f"median {label}", "time", "lower"),
        Figure(f"{key}_p99_us", f"p99 {label}", "time", "lower"),
        Figure(f"{key}_p999_us", f"p99.9 {label}", "time", "lower"),
    )


def _times(key: str, label: str) -> tuple[Figure, ...]:
    """List the figures of a sort of request of storage jobs."""
    return (
        Figure(f"{key}_mean_us", f"mean {label}", "time", "lower", whole=True),
        Figure(f"{key}_p50_us", f"median {label}", "time", "lower", whole=True),
        Figure(f"{key}_p99_us", f"p99 {label}", "time", "lower", headline=True, whole=True),
    )


# IN THE ORDER IN WHICH THEY ARE SHOWN. Each is defined in `meanings`.
FIGURES: tuple[Figure, ...] = (
    Figure("simulated_us", "simulated time", "time", always=True),
    Figure("measured_from_us", "measured from", "time", always=True),
    Figure("measured_until_us", "measured until", "time", always=True),
    Figure("flows", "flows", "count", always=True),
    Figure("completed", "flows completed", "count", whole=True),
    Figure("goodput_gbps", "goodput", "rate", "higher", headline=True),
    Figure("loss_rate", "loss", "share", "lower", headline=True),
    Figure("loss_rate_whole", "loss", "share", "lower", whole=True),
    Figure("retransmissions", "retransmissions", "count", "lower"),
    Figure("needless_retransmissions", "retransmissions needless", "count", "lower"),
    Figure("timeouts_whole", "timeouts", "count", "lower", whole=True),
    Figure("cnps", "congestion notifications (CNPs)", "count"),
    Figure("rtt_mean_us", "mean RTT", "time", "lower", headline=True),
    Figure("rtt_p50_us", "median RTT", "time", "lower"),
    Figure("rtt_p99_us", "p99 RTT", "time", "lower", headline=True),
    Figure("rtt_p999_us", "p99.9 RTT", "time", "lower", headline=True),
    *_spread("fabric_rtt", "RTT outside hosts"),
    *_spread("endpoint_delay", "RTT inside hosts"),
    *_spread("nic_delay", "delay in receiving hosts"),
    Figure("jain", "fairness (Jain)", "plain", "higher", headline=True),
    Figure(
        "unfinished_flows", "flows unfinished", "count", "lower", rare=True, beside="fct_mean_us", whole=True
    ),
    Figure("fct_mean_us", "mean completion", "time", "lower", whole=True),
    Figure("fct_p50_us", "median completion", "time", "lower", whole=True),
    Figure("fct_p99_us", "p99 completion", "time", "lower", headline=True, whole=True),
    Figure("fct_max_us", "last completion", "time", "lower", headline=True, whole=True),
    Figure("slowdown_mean", "mean slowdown", "plain", "lower", whole=True),
    Figure("slowdown_p50", "median slowdown", "plain", "lower", whole=True),
    Figure("slowdown_p99", "p99 slowdown", "plain", "lower", headline=True, whole=True),
    Figure("operations", "operations", "count", rare=True),
    Figure("unfinished_operations", "operations unfinished", "count", rare=True, beside="latency_mean_us"),
    Figure("operations_per_second", "operations in time a second", "plain", "higher", headline=True),
    Figure("failed_operations", "operations failed", "share", "lower", headline=True),
    Figure("latency_mean_us", "mean operation latency", "time", "lower"),
    Figure("latency_p50_us", "median operation latency", "time", "lower"),
    Figure("latency_p99_us", "p99 operation latency", "time", "lower", headline=True),
    Figure("latency_p999_us", "p99.9 operation latency", "time", "lower"),
    Figure("operation_wait_max_us", "longest wait of a flow", "time", "lower", headline=True),
    Figure("unfinished_jobs", "jobs unfinished", "count", "lower", rare=True, whole=True),
    Figure("iterations", "iterations of jobs", "count", whole=True),
    Figure("iteration_mean_us", "mean iteration", "time", "lower", headline=True, whole=True),
    Figure("iteration_max_us", "longest iteration", "time", "lower", headline=True, whole=True),
    Figure("compute_mean_us", "mean computing an iteration", "time", whole=True),
    Figure("exposed_mean_us", "mean communication exposed", "time", "lower", headline=True, whole=True),
    Figure("hidden_mean_us", "mean communication hidden", "time", whole=True),
    Figure("job_slowdown_mean", "mean slowdown of jobs", "plain", "lower", headline=True, whole=True),
    Figure("job_slowdown_max", "largest slowdown of a job", "plain", "lower", whole=True),
    Figure("busbw_gb_per_s", "bus bandwidth (GB/s)", "plain", "higher", headline=True, whole=True),
    Figure("requests", "requests of storage jobs", "count", whole=True),
    Figure("requests_per_second", "requests a second", "plain", "higher", headline=True, whole=True),
    Figure("read_gb_per_s", "read (GB/s)", "plain", "higher", headline=True, whole=True),
    Figure("written_gb_per_s", "written (GB/s)", "plain", "higher", headline=True, whole=True),
    *_times("read", "read"),
    *_times("degraded_read", "degraded read"),
    *_times("write", "write"),
    Figure("rebuild_us", "time of the rebuild", "time", "lower", headline=True, whole=True),
    Figure("queue_mean_bytes", "mean queue", "bytes", "lower"),
    Figure("queue_peak_bytes", "peak queue", "bytes", "lower", headline=True, whole=True),
    Figure("utilisation_max", "busiest link", "share"),
    Figure("drops", "drops", "count", "lower"),
    Figure("marks", "ECN marks", "count"),
    Figure("fault_losses", "frames lost on faulty links", "count", rare=True),
    Figure("fault_lost_bytes", "bytes lost to faults", "bytes", "lower", rare=True, whole=True),
    Figure("fault_recovery_max_us", "longest recovery from a fault", "time", "lower", rare=True, whole=True),
    Figure("trims", "packets trimmed", "count"),
    Figure("host_utilisation_max", "busiest host", "share"),
    Figure("host_drops", "drops in hosts", "count", "lower"),
    Figure("pause_share", "links paused", "share", "lower", headline=True, rare=True, whole=True),
    Figure("host_pause_us", "hosts paused, each", "time", "lower", rare=True, whole=True),
    Figure("deadlocked_links", "links in deadlock", "count", "lower", headline=True, rare=True, whole=True),
    Figure("request_share", "requests for timeslots, of payload", "share", whole=True),
    Figure("allocation_share", "allocations, of payload", "share", whole=True),
    Figure("slots_granted", "timeslots granted", "count", whole=True),
    Figure("slots_unused", "timeslots not used", "count", "lower", whole=True),
    Figure("slots_refused", "timeslots too late or early", "count", "lower", whole=True),
    Figure("packets", "packets recorded", "count", rare=True, whole=True),
    Figure("packets_until_us", "end of the record of packets", "time", rare=True, whole=True),
    Figure(
        "fallbacks", "endpoints without an arbiter", "count", "lower", headline=True, rare=True, whole=True
    ),
)
_OF_TIMESLOTS = "request_share"  # has a value where packets left in simulated timeslots
_UNFINISHED: Mapping[tuple[str, ...], str] = {
    ("fct_", "slowdown_"): "unfinished_flows",
    ("latency_",): "unfinished_operations",
}
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


def measured_in(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Describe what the figures of a summary cover: the measured interval, and which cover the whole run."""
    return {
        "from_us": summary.get("measured_from_us"),
        "until_us": summary.get("measured_until_us"),
        "whole_run": [figure.key for figure in FIGURES if figure.whole and figure.key in summary],
    }


def interval_in_words(summaries: Sequence[Mapping[str, Any]]) -> str:
    """Say what the figures of these summaries cover; nothing where they do not say it themselves."""
    spans = dict.fromkeys((each.get("measured_from_us"), each.get("measured_until_us")) for each in summaries)
    known = [(start, end) for start, end in spans if start is not None and end is not None]
    if not known:
        return ""
    words = [f"{readable('time', start)} to {readable('time', end)}" for start, end in known]
    alike = ": not the same interval" if len(words) > 1 else ""
    said = f"measured from {', '.join(words)}{alike}; {WHOLE_MARK} of the whole run"
    return f"{said}; {TIMESLOTS}" if any(each.get(_OF_TIMESLOTS) is not None for each in summaries) else said


def figure_of(key: str) -> Figure:
    """Describe the figure with this key of a summary."""
    if key in _BY_KEY:
        return _BY_KEY[key]
    for suffix, kind in _KIND_BY_SUFFIX:
        if key.endswith(suffix):
            return Figure(key, key.removesuffix(suffix).replace("_", " "), kind)
    return Figure(key, key.replace("_", " "), "plain")


def figures_in(summaries: Iterable[Mapping[str, Any]], *, rare: bool = False) -> list[Figure]:
    """List the figures that at least one of the summaries has a value for, in the order to show them.

    With `rare`, also those that are not worth a row where they are zero.
    """
    largest: dict[str, float] = {}
    for summary in summaries:
        for key, value in summary.items():
            if isinstance(value, (int, float)):
                largest[key] = max(largest.get(key, 0.0), abs(value))
    known = [figure for figure in FIGURES if figure.key in largest]
    if not rare:
        known = [
            figure for figure in known if largest[figure.key] or not figure.rare or figure.beside in largest
        ]
    return known + [figure_of(key) for key in largest if key not in _BY_KEY]


def is_of(figure: Figure, column: Mapping[str, object]) -> bool:
    """Tell whether a column has the figure beside which this one stands; most stand by themselves."""
    return not figure.beside or column.get(figure.beside) is not None


def unfinished_beside(key: str) -> str | None:
    """Return the key of the figure that says how many are missing from this one; None if none can be."""
    for prefixes, unfinished in _UNFINISHED.items():
        if key.startswith(prefixes):
            return unfinished
    return None


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
    """Write a value with its unit, and the half width of its interval where there is one.

    A value has at most four significant digits, unless it is a count, which is exact. A half width has two,
    and then the value ends at the same place.
    """
    if value is None:
        return "-"
    if isinstance(value, AtLeast):
        return f"\u2265 {readable(kind, float(value), half_width)}"
    if half_width is not None and half_width <= _ROUNDING * abs(value):
        half_width = None  # all seeds alike
    if kind == "count" and half_width is None and value == int(value):
        return f"{value:,.0f}"
    divisor, unit = _scale(kind, max(abs(value), half_width or 0.0))
    if half_width is None:
        return f"{_digits(value / divisor)} {unit}".rstrip()
    return f"{_with_half_width(value / divisor, half_width / divisor)} {unit}".rstrip()


TWICE = 2.0
"""The least factor between two values that reads better than a percentage."""


def times(factor: float) -> str:
    """Write by which factor one value is larger than another: "2.5x", "9x", "15x"."""
    return f"{factor:.2g}x" if factor < _MANY else f"{factor:,.0f}x"


def _scale(kind: Kind, value: float) -> tuple[float, str]:
    scales = _SCALES.get(kind, ((1.0, ""),))
    if value == 0:
        return next((scale for scale in scales if scale[0] == 1.0), scales[0])
    return next((scale for scale in scales if value >= scale[0]), scales[-1])


def _digits(value: float) -> str:
    """Write at most four significant digits, and never an exponent where a person expects none."""
    magnitude = abs(value)
    if magnitude == 0:
        return "0"
    if magnitude >= 1000:
        return f"{float(f'{value:.4g}'):,.0f}"
    if 1e-7 <= magnitude < 1e-4:
        return f"{value:.{2 - math.floor(math.log10(magnitude))}f}".rstrip("0")
    return f"{value:.4g}"


def _with_half_width(value: float, half_width: float) -> str:
    """Write two significant digits of the half width, and the value up to the same place."""
    rounded = float(f"{half_width:.1e}")
    place = 1 - math.floor(math.log10(rounded))
    digits = max(place, 0)
    # Zero is added so that none is left of minus zero.
    return f"{round(value, place) + 0.0:,.{digits}f} ± {rounded:,.{digits}f}"
