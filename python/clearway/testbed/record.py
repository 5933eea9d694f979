"""A run on real hosts and its tables, with the names, columns and units of a simulated run's.

There is one of links only where somebody sees the switch's ports, as hosts do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from clearway import _clearway
from clearway.columns import Columns
from clearway.documents import quantity
from clearway.runs import INTERRUPTED, Run
from clearway.testbed import members, queues
from clearway.testbed.curves import Curve
from clearway.testbed.plan import Flow
from clearway.testbed.summary import View, is_late, links_of, round_trips, summary_of

_NAN = float("nan")


def run_of(view: View, wall_s: float, *, interrupted: bool) -> Run:
    """Return what was measured as a run."""
    plan, measured = view.plan, view.measured
    summary = summary_of(view)
    warnings = list(plan.warnings)
    if not measured.is_complete:
        summary[INTERRUPTED] = view.end_us
        if not interrupted:
            warnings.append(f"the run ended early: {measured.reason}")
    warnings += _remarks(view)
    tables = tables_of(view)
    return Run(
        name=plan.scenario.name,
        seed=plan.scenario.seed,
        version=_clearway.VERSION,
        digest=f"measured:{sha256(repr((summary, tables['flows'])).encode()).hexdigest()[:32]}",
        packet_hops=0,
        wall_s=wall_s,
        summary=summary,
        scenario=plan.resolved,
        tables=tables,
        warnings=tuple(dict.fromkeys(warnings)),
        testbed={
            "carrier": plan.carrier,
            "parameters": dict(plan.parameters),
            "start_spread_us": (measured.spread_ns or 0) / 1000,
            "reason": measured.reason,
            "agents": measured.agents,
            "hosts": measured.hosts,
            **({"fastpass": measured.members} if plan.fastpass is not None else {}),
            **view.said,
        },
    )


def _remarks(view: View) -> list[str]:
    """Say what of the plan was not done as the scenario has it."""
    said = []
    errors = [(number, end.error) for number, end in view.measured.flows.items() if end.error]
    if errors:
        said.append(f"{len(errors)} flows failed; the first, {errors[0][0]}: {errors[0][1]}")
    used_up = {curve.flow.table for curve in view.curves if curve.flow.is_last and curve.end_us is not None}
    said += [
        f"traffic[{table}]: its closed loop had no operation left in the plan" for table in sorted(used_up)
    ]
    said += members.remarks(view.measured)
    names = set(view.plan.hosts.values())
    rtts = [host["rtt_ns"] for host in view.measured.agents if host.get("host") in names and "rtt_ns" in host]
    if rtts and max(rtts) > view.plan.until_ns:
        said.append("the clocks of agents are told apart less well than the run is long")
    return said


def tables_of(view: View) -> dict[str, Columns]:
    """Return the tables that the scenario records, where hosts know what is in them."""
    record = view.plan.resolved["record"]
    tables = {"flows": _flows(view)}
    if view.ports is not None:
        tables["links"] = links_of(view)
    tables["rtt"] = _rtt(view)
    if record.get("operations"):
        tables["operations"] = _operations(view)
    if view.plan.fastpass is not None:
        tables["endpoints"] = members.endpoints(view.plan, view.measured)
        tables["arbiters"] = members.arbiters(view.plan, view.measured)
    tables |= view.more
    step = quantity(record.get("queues"))
    if step and view.ports is not None:
        tables["queues"] = queues.series(view.ports, step.value, view.end_us)
    if record.get("windows"):
        tables["windows"] = _windows(view)
    for key, name, make in (("rtt", "rtt_series", _rtt_series), ("throughput", "throughput", _throughput)):
        step = quantity(record.get(key))
        if step:
            tables[name] = make(view, max(step.value, view.plan.sample_every_ns / 1000))
    return tables


def _whole(values: Sequence[int]) -> Any:
    return np.array(values, np.uint64)


def _texts(values: Sequence[str]) -> Any:
    return np.array(values, np.str_) if values else np.array([], "<U1")


def _flows(view: View) -> Columns:
    """Make a row for each flow of the scenario; a loop's operations are its flow's."""
    start, until = view.interval_us
    planned: dict[int, Flow] = {}
    for flow in (*view.plan.flows, *view.plan.later):
        planned.setdefault(flow.flow, flow)
    parts: dict[int, list[Curve]] = {number: [] for number in planned}
    for curve in view.curves:
        parts[curve.flow.flow].append(curve)
    rows: list[tuple[Any, ...]] = []
    seconds = (until - start) / 1e6
    for number, flow in sorted(planned.items()):
        curves = parts[number]
        size = 0 if flow.is_operation else flow.size or 0
        took = view.finished(curves[0]) if curves and size else None
        age = view.age(curves[0]) if curves and size else None
        measured = sum(float(curve.delivered(until) - curve.delivered(start)) for curve in curves)
        rows.append(
            (
                number,
                view.transport(flow.table),
                flow.source,
                flow.destination,
                flow.start_ns / 1000,
                size,
                sum(curve.retransmissions for curve in curves),
                int(sum(curve.bytes[-1] for curve in curves)),
                measured * 8 / seconds / 1e9 if seconds > 0 else _NAN,
                _NAN if took is None else took,
                _NAN,
                _NAN,
                _NAN if age is None else age,
            )
        )
    names = (
        "flow transport from to start_us bytes retransmissions delivered_bytes goodput_gbps fct_us"
        " ideal_us slowdown age_us"
    )
    columns = dict(zip(names.split(), zip(*rows, strict=True), strict=True))
    whole = {"flow", "from", "to", "bytes", "retransmissions", "delivered_bytes"}
    return {
        name: _whole(values)
        if name in whole
        else (_texts(values) if name == "transport" else np.array(values, np.float64))
        for name, values in columns.items()
    }


def _by_transport(view: View) -> Mapping[str, list[Curve]]:
    found: dict[str, list[Curve]] = {name: [] for name in view.plan.resolved["transport"]}
    for curve in view.curves:
        found[view.transport(curve.flow.table)].append(curve)
    return found


def _rtt(view: View) -> Columns:
    names: list[str] = []
    times: list[float] = []
    counts: list[int] = []
    for name, curves in _by_transport(view).items():
        found, weights = round_trips(curves, *view.interval_us)
        packets = np.maximum(np.rint(weights / view.payload_bytes()), 1)
        distinct, place = np.unique(np.array([float(f"{time:.3g}") for time in found]), return_inverse=True)
        sums = np.bincount(place, packets, len(distinct)) if len(distinct) else np.empty(0)
        names += [name] * len(distinct)
        times += distinct.tolist()
        counts += [int(count) for count in sums]
    return {"transport": _texts(names), "rtt_us": np.array(times, np.float64), "count": _whole(counts)}


def _windows(view: View) -> Columns:
    time: list[float] = []
    flow: list[int] = []
    cwnd: list[float] = []
    rtt: list[float] = []
    for curve in view.curves:
        if len(curve.cwnd):
            time += curve.time_us[1:-1].tolist()
            flow += [curve.flow.flow] * len(curve.cwnd)
            cwnd += curve.cwnd.tolist()
            rtt += np.nan_to_num(curve.rtt_us[:-1]).tolist()
    order = np.lexsort((flow, time))
    nothing = np.full(len(time), _NAN)
    return {
        "time_us": np.array(time)[order],
        "flow": _whole(flow)[order],
        "cwnd_packets": np.array(cwnd)[order],
        "fcwnd_packets": nothing,
        "ecwnd_packets": nothing,
        "srtt_us": np.array(rtt)[order],
        "rate_gbps": nothing,
    }


def _grid(view: View, step: float) -> Any:
    return step * np.arange(1, int(view.end_us / step + 1e-9) + 1)


def _throughput(view: View, step: float) -> Columns:
    edges = _grid(view, step)
    by_transport = _by_transport(view)
    shares = []
    for curves in by_transport.values():
        total = sum((curve.delivered(edges) for curve in curves), start=np.zeros(len(edges)))
        shares.append(np.diff(total, prepend=0.0) * 8 / (step * 1000))
    return _series(edges, list(by_transport), {"goodput_gbps": shares})


def _rtt_series(view: View, step: float) -> Columns:
    edges = _grid(view, step)
    by_transport = _by_transport(view)
    means, largest, counts = [], [], []
    for curves in by_transport.values():
        mean, most, count = np.full(len(edges), _NAN), np.full(len(edges), _NAN), np.zeros(len(edges))
        for place, edge in enumerate(edges):
            times, weights = round_trips(curves, edge - step, edge)
            if len(times):
                mean[place], most[place] = np.average(times, weights=weights), times[-1]
                count[place] = max(1, round(weights.sum() / view.payload_bytes()))
        means.append(mean)
        largest.append(most)
        counts.append(count)
    return _series(edges, list(by_transport), {"rtt_mean_us": means, "rtt_max_us": largest, "count": counts})


def _series(edges: Any, names: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Columns:
    """Put transports side by side: a row for each at each instant."""
    made: Columns = {
        "time_us": np.repeat(edges, len(names)),
        "transport": _texts(list(names) * len(edges)),
    }
    for key, values in columns.items():
        joined = np.stack(values, axis=1).ravel() if len(edges) else np.empty(0)
        made[key] = joined.astype(np.uint64) if key == "count" else joined
    return made


def _operations(view: View) -> Columns:
    """Make a row for each operation that was issued: those that are complete, then those that are open."""
    of_loops = [curve for curve in view.curves if curve.flow.is_operation]
    done = [curve for curve in of_loops if view.finished(curve) is not None]
    done.sort(key=lambda curve: curve.end_us or 0.0)
    rows = done + [curve for curve in of_loops if view.finished(curve) is None]
    numbers: dict[int, int] = {}
    number_of = {}
    for curve in sorted(of_loops, key=lambda curve: curve.start_us):
        number_of[curve.flow.id] = numbers.get(curve.flow.flow, 0)
        numbers[curve.flow.flow] = number_of[curve.flow.id] + 1
    took = [view.finished(curve) for curve in rows]
    ages = [None if time is not None else view.age(curve) for curve, time in zip(rows, took, strict=True)]

    def floats(values: Sequence[float | None]) -> Any:
        return np.array([_NAN if value is None else value for value in values], np.float64)

    return {
        "flow": _whole([curve.flow.flow for curve in rows]),
        "operation": _whole([number_of[curve.flow.id] for curve in rows]),
        "initiator": _whole([curve.flow.source for curve in rows]),
        "target": _whole([curve.flow.destination for curve in rows]),
        "bytes": _whole([curve.flow.size or 0 for curve in rows]),
        "issued_us": floats([curve.start_us for curve in rows]),
        "completed_us": floats(
            [curve.end_us if took[place] is not None else None for place, curve in enumerate(rows)]
        ),
        "latency_us": floats(took),
        "age_us": floats(ages),
        "failed": _whole([int(is_late(view, curve)) for curve in rows]),
    }
