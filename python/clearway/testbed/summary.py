"""The figures of a run on real hosts, by the names and in the units of a simulated one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from clearway.columns import Columns
from clearway.documents import quantity
from clearway.figures import ABSENT, LOWER_BOUNDS
from clearway.testbed import members, queues
from clearway.testbed.censored import bounded
from clearway.testbed.curves import Curve, Floats, curves_of
from clearway.testbed.plan import Plan
from clearway.testbed.queues import Ports
from clearway.testbed.reading import Measured

_EXACT = {"p50": 0.5, "p99": 0.99}
_BINNED = {**_EXACT, "p999": 0.999}
_LOSSES = "hosts do not see which packets were lost"
_NETWORK = "hosts do not see the network's ports and links"
_SLOWDOWN = "what a flow could take alone in this network is not known"
_NO_RTT = "no round trip was seen in the measured time"
_NO_TIME = "the measurement has no length"
_NO_SIZES = "no flow has a size"
_NO_OPERATIONS = "no operation was issued in the measured time"
_NO_CONTEST = "in no interval of record.fairness did two flows have data to send throughout"

NOT_KNOWN: Mapping[str, str] = {
    "loss_rate": _LOSSES,
    "loss_rate_whole": _LOSSES,
    "needless_retransmissions": _LOSSES,
    "timeouts_whole": "agents do not report timeouts",
    **dict.fromkeys(("slowdown_mean", "slowdown_p50", "slowdown_p99"), _SLOWDOWN),
    "operation_wait_max_us": "agents do not report it",
}
"""Figures of a transport that no host knows, each with the reason."""
_OF_NETWORK = (
    "utilisation_max",
    "queue_mean_bytes",
    "queue_peak_bytes",
    "drops",
    "marks",
    "fault_losses",
)


@dataclass(frozen=True)
class View:
    """A run as measured, and the interval that its figures are of."""

    plan: Plan
    measured: Measured
    ports: Ports | None = None
    """What ports of the network did, where somebody saw them."""
    more: Mapping[str, Columns] = field(default_factory=dict)
    """Further tables, of what the network knows beside."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What else the network said of itself."""

    @cached_property
    def end_us(self) -> float:
        """When the run ended: at `duration`, or before that if cut short or complete."""
        planned = self.plan.until_ns / 1000
        if not self.measured.is_complete:
            return min(planned, max(self.measured.latest_ns, 1) / 1000)
        if not self.plan.resolved.get("stop_when_complete"):
            return planned
        sized = [flow.id for flow in self.plan.flows if flow.size is not None]
        ends = [self.measured.flows[flow].end_ns if flow in self.measured.flows else None for flow in sized]
        done = [end for end in ends if end is not None]
        return min(planned, max(done) / 1000) if done and len(done) == len(ends) else planned

    @cached_property
    def interval_us(self) -> tuple[float, float]:
        """The measured interval, within the run."""
        start, until = (self._setting(key) for key in ("warmup", "measure_until"))
        return min(start or 0.0, self.end_us), min(until or self.end_us, self.end_us)

    @cached_property
    def curves(self) -> list[Curve]:
        """The flows that have started before the end."""
        started = curves_of(self.plan.flows, self.measured, self.end_us)
        return [
            curve
            for curve in started
            if curve.start_us < self.end_us
            and (curve.flow.until_ns is None or curve.start_us < curve.flow.until_ns / 1000)
        ]

    def transport(self, table: int) -> str:
        """Return the name of a traffic table's transport in the scenario."""
        return str(self.plan.resolved["traffic"][table]["transport"])

    def payload_bytes(self) -> float:
        """Return what a packet carries, in bytes."""
        return float(self.plan.mtu)

    def finished(self, curve: Curve) -> float | None:
        """Return how long a flow took, in microseconds; None if it was not complete at the end."""
        end = curve.end_us
        return None if end is None or end > self.end_us else end - curve.start_us

    def age(self, curve: Curve) -> float | None:
        """Return how old a flow with a size is that was not complete at the end, in microseconds."""
        is_open = curve.flow.size is not None and self.finished(curve) is None
        return self.end_us - curve.start_us if is_open else None

    def deadline_us(self, table: int) -> float | None:
        """Return how long an operation of a traffic table may take."""
        found = quantity(self.plan.resolved["traffic"][table].get("deadline"))
        return found.value if found else None

    def _setting(self, key: str) -> float | None:
        found = quantity(self.plan.resolved.get(key))
        return found.value if found else None


def summary_of(view: View) -> dict[str, Any]:
    """Return the summary: of all transports together, and of each."""
    start, until = view.interval_us
    names = list(view.plan.resolved["transport"])
    planned: dict[str, set[int]] = {name: set() for name in names}
    for flow in (*view.plan.flows, *view.plan.later):
        planned[view.transport(flow.table)].add(flow.flow)
    curves: dict[str, list[Curve]] = {name: [] for name in names}
    for curve in view.curves:
        curves[view.transport(curve.flow.table)].append(curve)
    count = sum(len(flows) for flows in planned.values())
    figures = _traffic(view, count, view.curves, [_jain(view, curves[name]) for name in names])
    if view.ports is None:
        figures |= dict.fromkeys(_OF_NETWORK)
        figures[ABSENT] |= dict.fromkeys(_OF_NETWORK, _NETWORK)
    else:
        figures |= queues.figures(links_of(view))
    if view.plan.fastpass is not None:
        of_slots = members.figures(view.measured)
        figures |= of_slots
        figures[ABSENT] |= {key: members.NOT_KNOWN for key, value in of_slots.items() if value is None}
    figures["transports"] = {
        name: _traffic(view, len(planned[name]), curves[name], [_jain(view, curves[name])]) for name in names
    }
    return {"simulated_us": view.end_us, "measured_from_us": start, "measured_until_us": until} | figures


def links_of(view: View) -> Columns:
    """Return the table of links: of those whose ports somebody saw."""
    assert view.ports is not None
    return queues.links(view.ports, view.interval_us, view.end_us)


def _traffic(view: View, flows: int, curves: Sequence[Curve], jain: Sequence[float | None]) -> dict[str, Any]:
    """Return the figures of these flows."""
    start, until = view.interval_us
    seconds = (until - start) / 1e6
    plain = [curve for curve in curves if not curve.flow.is_operation]
    of_loops = [curve for curve in curves if curve.flow.is_operation]
    took = [
        time for curve in plain if curve.flow.size is not None and (time := view.finished(curve)) is not None
    ]
    ages = [age for curve in plain if (age := view.age(curve)) is not None]
    absent = dict(NOT_KNOWN)
    figures: dict[str, Any] = {"flows": flows, "completed": len(took)}
    delivered = sum(float(curve.delivered(until) - curve.delivered(start)) for curve in curves)
    figures["goodput_gbps"] = delivered * 8 / seconds / 1e9 if seconds > 0 else None
    figures |= {"loss_rate": None, "loss_rate_whole": None}
    figures["retransmissions"] = round(
        sum(_share(curve, start, until) * curve.retransmissions for curve in curves)
    )
    figures |= {"needless_retransmissions": None, "timeouts_whole": None}
    figures |= _round_trips(curves, start, until)
    indices = [index for index in jain if index is not None]
    figures["jain"] = sum(indices) / len(indices) if indices else None
    figures["unfinished_flows"] = len(ages)
    completions, bounds = bounded("fct_{}_us", took, ages, {**_EXACT, "max": 1.0})
    figures |= completions | {"slowdown_mean": None, "slowdown_p50": None, "slowdown_p99": None}
    operations, more_bounds = _operations(view, of_loops)
    figures |= operations
    for key, value in figures.items():
        if value is None and key not in absent:
            absent[key] = _reason(key)
    return figures | {LOWER_BOUNDS: bounds + more_bounds, ABSENT: absent}


def _reason(key: str) -> str:
    for prefix, why in (
        ("goodput", _NO_TIME),
        ("rtt_", _NO_RTT),
        ("jain", _NO_CONTEST),
        ("fct_", _NO_SIZES),
    ):
        if key.startswith(prefix):
            return why
    return _NO_OPERATIONS


def _share(curve: Curve, start: float, until: float) -> float:
    """Return which share of a flow's bytes were acknowledged in an interval; 1 if there are none."""
    total = curve.bytes[-1]
    return float(curve.delivered(until) - curve.delivered(start)) / total if total else 1.0


def round_trips(curves: Sequence[Curve], start: float, until: float) -> tuple[Floats, Floats]:
    """Return the round trips of these flows in an interval, the shortest first, and the bytes of each."""
    parts = [curve.round_trips(start, until) for curve in curves]
    times = np.concatenate([part[0] for part in parts] or [np.empty(0)])
    weights = np.concatenate([part[1] for part in parts] or [np.empty(0)])
    order = np.argsort(times, kind="stable")
    return times[order], weights[order]


def _round_trips(curves: Sequence[Curve], start: float, until: float) -> dict[str, float | None]:
    times, weights = round_trips(curves, start, until)
    if not len(times):
        return {f"rtt_{name}_us": None for name in ("mean", *_BINNED)}
    sums = np.cumsum(weights)
    places = {name: np.searchsorted(sums, share * sums[-1]) for name, share in _BINNED.items()}
    mean: dict[str, float | None] = {"rtt_mean_us": float(np.average(times, weights=weights))}
    last = len(times) - 1
    return mean | {f"rtt_{name}_us": float(times[min(place, last)]) for name, place in places.items()}


def _jain(view: View, curves: Sequence[Curve]) -> float | None:
    """Return the mean of Jain's index over each whole `record.fairness`."""
    start, until = view.interval_us
    step = quantity(view.plan.resolved["record"].get("fairness"))
    length = min(step.value, until - start) if step else until - start
    if length <= 0:
        return None
    edges: Floats = start + length * np.arange(int((until - start) / length + 1e-9) + 1, dtype=np.float64)
    grown = np.array([np.diff(curve.delivered(edges)) for curve in curves if not curve.flow.is_operation])
    last = [
        view.end_us if curve.end_us is None else curve.end_us
        for curve in curves
        if not curve.flow.is_operation
    ]
    first = [curve.start_us for curve in curves if not curve.flow.is_operation]
    indices = []
    for place in range(len(edges) - 1):
        active = [
            number
            for number in range(len(first))
            if first[number] <= edges[place] and last[number] >= edges[place + 1]
        ]
        shares = grown[active, place] if len(active) > 1 else np.zeros(0)
        if shares.sum() > 0:
            indices.append(float(shares.sum() ** 2 / (len(shares) * (shares**2).sum())))
    return sum(indices) / len(indices) if indices else None


def _operations(view: View, curves: Sequence[Curve]) -> tuple[dict[str, Any], list[str]]:
    """Return the figures of operations: those issued in the interval, and how many were completed in it."""
    start, until = view.interval_us
    issued = [curve for curve in curves if start <= curve.start_us < until]
    took = [time for curve in issued if (time := view.finished(curve)) is not None]
    ages = [age for curve in issued if (age := view.age(curve)) is not None]
    figures: dict[str, Any] = {"operations": len(took), "unfinished_operations": len(ages)}
    in_time = [
        curve
        for curve in curves
        if curve.end_us is not None and start < curve.end_us <= until and not is_late(view, curve)
    ]
    per_second = len(in_time) / (until - start) * 1e6 if until > start and curves else None
    figures["operations_per_second"] = per_second
    decided = [curve for curve in issued if view.finished(curve) is not None or is_late(view, curve)]
    late = sum(is_late(view, curve) for curve in decided)
    figures["failed_operations"] = late / len(decided) if decided else None
    latencies, bounds = bounded("latency_{}_us", took, ages, _BINNED)
    return figures | latencies | {"operation_wait_max_us": None}, bounds


def is_late(view: View, curve: Curve) -> bool:
    """Tell whether an operation took, or has taken by the end, longer than its deadline."""
    deadline = view.deadline_us(curve.flow.table)
    time = view.finished(curve)
    spent = view.age(curve) if time is None else time
    return deadline is not None and spent is not None and spent > deadline
