"""What the agents of a testbed are to do: the flows of a scenario, as `clearwayd testbed` reads them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clearway import _clearway
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.testbed.given import Given

CARRIERS = (
    "tcp:NAME such as tcp:cubic or tcp:swift, quic:swift, udp:swift, udp:none, udp:go_back_n, fastpass:rates"
    " or fastpass:slots"
)
FASTPASS: Mapping[str, str] = {"fastpass:rates": "rates", "fastpass:slots": "slots"}
"""The carriers with an arbiter, each with the mode of its endpoints."""
MOST_FLOWS = 100_000
"""Flows of a plan, at most, operations among them."""
MOST_PAYLOAD = 1384
"""Payload of a datagram of `udp:swift`, in bytes: with all headers it fits an MTU of 1500 bytes."""
_LEAST_SAMPLE_NS = 1_000_000
_MOST_SAMPLE_NS = 10_000_000
_SAMPLES = 200  # of a short run
_LEAST_ROUND_NS = 20_000  # no host confirms an operation sooner

_WITH_PARAMETERS: Mapping[str, str] = {
    "quic:swift": "swift",
    "udp:swift": "swift",
    "udp:none": "none",
    "udp:go_back_n": "go_back_n",
}
"""The protocol whose parameters each carrier has."""
_UNDER_FASTPASS = "tcp:cubic"  # what the applications have that arbiters grant timeslots
_NO_PARAMETERS = frozenset({"protocol", "header", "ack", "spray", "class", "weight"})
_OF_HOSTS = frozenset(
    {"endpoint_target", "min_rto", "initial_rto", "max_rto", "initial_cwnd", "gap_limit", "gap_limit_max"}
)
_OF_QUIC = frozenset(
    {"endpoint_window", "topology_scaling", "reach", "max_cwnd", "fs_min_cwnd", "fs_max_cwnd", "fs_range"}
)
_NOT_ON_HOSTS: Mapping[str, str] = {
    "fault": "[[fault]]: nothing fails on purpose",
    "routing": "[routing]: routes are the network's own",
    "probe": "[[probe]]: no probes are sent",
    "job": "[[job]]: messages do not wait for each other",
    "arbiter": "[arbiter]: there is none, and no timeslots",
}


@dataclass(frozen=True)
class Flow:
    """A flow of the plan: one of the scenario, or an operation of one of its loops."""

    id: int
    flow: int
    """Its number among those of a simulated run; operations have that of the flow that carries them."""
    table: int
    is_operation: bool
    source: int
    """The number of the host in the scenario."""
    destination: int
    size: int | None
    """Bytes; None for one that sends until the run ends."""
    start_ns: int
    after: int | None = None
    """The operation of a closed loop before it."""
    until_ns: int | None = None
    """When the loop that it is of issues no more."""
    is_last: bool = False
    """Whether the loop has no further operation in the plan."""


@dataclass(frozen=True)
class Deployment:
    """The arbiters and endpoints of a plan."""

    text: str
    """The deployment's file, as they read it."""
    ranks: Sequence[int]
    """The numbers of the hosts at which arbiters are, the first to be the primary first."""
    hosts: str | None = None
    """The text of hosts.toml with the addresses behind endpoints; None where traffic goes to hosts' own."""


@dataclass(frozen=True)
class Plan:
    """A scenario's flows, and the carrier that takes them from host to host."""

    scenario: _clearway.Scenario
    resolved: dict[str, Any]
    carrier: str
    flows: Sequence[Flow]
    later: Sequence[Flow]
    """The flows that would start after the end: no agent is told of them."""
    hosts: Mapping[int, str]
    """The name of each host that sends or receives, or is an arbiter, by its number in the scenario."""
    parameters: Mapping[str, Any]
    """Those of the carrier's scheme that the scenario gives."""
    mtu: int
    sample_every_ns: int
    warnings: Sequence[str] = field(default_factory=list)
    fastpass: Deployment | None = None

    @property
    def until_ns(self) -> int:
        """When the run ends, in nanoseconds from its start."""
        return round(self.scenario.duration_us * 1000)

    def text(self) -> str:
        """Write it as `clearwayd testbed` reads it."""
        places = {host: place for place, host in enumerate(self.hosts)}
        flows = []
        for flow in self.flows:
            entry = {
                "id": flow.id,
                "traffic": flow.table,
                "source": places[flow.source],
                "destination": places[flow.destination],
                "bytes": flow.size,
                "start_ns": flow.start_ns if flow.after is None else 0,
            }
            flows.append(entry if flow.after is None else entry | {"after": flow.after})
        deployment = {} if self.fastpass is None else {"fastpass": {"file": self.fastpass.text}}
        document = {
            "version": 1,
            "carrier": _UNDER_FASTPASS if self.carrier in FASTPASS else self.carrier,
            "parameters": dict(self.parameters),
            "mtu": self.mtu,
            "until_ns": self.until_ns,
            "sample_every_ns": self.sample_every_ns,
            **deployment,
            "hosts": list(self.hosts.values()),
            "flows": flows,
        }
        return json.dumps(document)


def plan_of(
    scenario: _clearway.Scenario,
    carrier: str,
    names: Sequence[str],
    given: Given,
    most_payload: int = MOST_PAYLOAD,
) -> Plan:
    """Plan a scenario for hosts of these names, the scenario's host 0 the first.

    `given` are the keys that the file or `--set` gives. Raises
    `ClearwayError` for what hosts cannot do, and `ScenarioError` for traffic that agents cannot send.
    """
    check_carrier(carrier)
    resolved = json.loads(scenario.resolved)
    until_ns = round(scenario.duration_us * 1000)
    flows, later = _flows(scenario, resolved, until_ns)
    used = sorted({host for flow in flows for host in (flow.source, flow.destination)})
    if used[-1] >= len(names):
        raise ClearwayError(
            f"the scenario's traffic needs host {used[-1]}, counted from 0, and there are {len(names)}",
            "add hosts, or change from, to or network.hosts: --set network.hosts=...",
        )
    there = {"arbiter"} if carrier in FASTPASS else set()
    warnings = [
        f"{said} on hosts" for key, said in _NOT_ON_HOSTS.items() if resolved.get(key) and key not in there
    ]
    parameters, remarks = _parameters(resolved, carrier, given.transports, [flow.table for flow in flows])
    every, remark = _sample_every(resolved["record"], until_ns)
    payload = quantity(resolved["network"]["mtu"])
    mtu = most_payload if payload is None else min(int(payload.value), most_payload)
    return Plan(
        scenario=scenario,
        resolved=resolved,
        carrier=carrier,
        flows=flows,
        later=later,
        hosts={host: names[host] for host in used},
        parameters=parameters,
        mtu=mtu,
        sample_every_ns=every,
        warnings=[*scenario.warnings, *warnings, *remarks, *remark],
    )


def usual_carrier(scenario: _clearway.Scenario) -> str:
    """Return the carrier of a scenario for which none is named."""
    resolved = json.loads(scenario.resolved)
    names = {table["transport"] for key in ("traffic", "job") for table in resolved.get(key, [])}
    protocols = {resolved["transport"][name]["protocol"] for name in names}
    of_one = {"fastpass": "fastpass:rates", "none": "udp:none", "go_back_n": "udp:go_back_n"}
    return of_one.get(protocols.pop(), "udp:swift") if len(protocols) == 1 else "udp:swift"


def check_carrier(carrier: str) -> None:
    """Raise if this names no carrier. Whether a host's kernel has it, its agent tells."""
    kind, _, name = carrier.partition(":")
    if not (kind == "tcp" and name) and carrier not in (*_WITH_PARAMETERS, *FASTPASS):
        raise ClearwayError(f"--carrier {carrier}: there is no such carrier", f"it is {CARRIERS}")


def _flows(
    scenario: _clearway.Scenario, resolved: Mapping[str, Any], until_ns: int
) -> tuple[list[Flow], list[Flow]]:
    """Take the flows that start before the end, a loop as all its possible operations, and the others."""
    rows = scenario.host_flows(MOST_FLOWS)
    now = [row for row in rows if row[5] < until_ns]
    chains = sum(again for *_, again in now)
    room = (MOST_FLOWS - (len(now) - chains)) // max(chains, 1)
    flows: list[Flow] = []
    later: list[Flow] = []
    for number, table, is_operation, source, destination, start_ns, stop_ns, size, again in rows:
        if size is None and stop_ns is not None and stop_ns < until_ns:
            raise ClearwayError(
                f"traffic[{table}].stop: an agent does not stop a flow without a size before the run ends",
                f"remove it: --unset traffic[{table}].stop, or give the flows bytes",
            )
        if size == 0:
            raise ClearwayError(f"traffic[{table}]: flow {number} has no bytes", "give it 1 byte at least")
        first = Flow(len(flows), number, table, is_operation, source, destination, size, start_ns)
        if start_ns >= until_ns:
            later.append(first)
            continue
        if not again:
            flows.append(first)
            continue
        rounds = _rounds(resolved, (stop_ns or until_ns) - start_ns, size, room)
        for place in range(rounds):
            before = flows[-1].id if place else None
            is_last = place + 1 == rounds
            flows.append(replace(first, id=len(flows), after=before, until_ns=stop_ns, is_last=is_last))
    if not flows:
        raise ClearwayError("the scenario has no flow that starts before its end", "make duration longer")
    return flows, later


def _rounds(resolved: Mapping[str, Any], time_ns: int, size: int | None, room: int) -> int:
    """Return how many operations one place of a closed loop can complete at most, where there is room."""
    rate = quantity(resolved["network"].get("rate"))
    at_least_ns = max(_LEAST_ROUND_NS, (size or 0) * 8 / rate.value if rate and rate.unit == "gbps" else 0)
    return max(1, min(room, math.ceil(time_ns / at_least_ns) + 1))


def _parameters(
    resolved: Mapping[str, Any], carrier: str, given: frozenset[tuple[str, str]], tables: Sequence[int]
) -> tuple[dict[str, Any], list[str]]:
    """Take the parameters of the carrier's scheme: the network's, and those of hosts that are given."""
    names = list(dict.fromkeys(resolved["traffic"][table]["transport"] for table in dict.fromkeys(tables)))
    transports = {name: resolved["transport"][name] for name in names}
    remarks = []
    if len(names) > 1:
        remarks.append(f"all traffic is carried by {carrier}, whether it is of {' or '.join(names)}")
    scheme = _WITH_PARAMETERS.get(carrier)
    if scheme is None:
        return {}, remarks
    of_scheme = [name for name in names if transports[name]["protocol"] == scheme]
    if not of_scheme:
        return {}, [*remarks, f"no transport of the scenario is {scheme}: {carrier} has its own parameters"]
    of_hosts = _OF_HOSTS if scheme == "swift" else frozenset()
    left_out = of_hosts | _OF_QUIC if carrier == "quic:swift" else of_hosts

    def parameters(name: str) -> dict[str, Any]:
        return {
            key: value
            for key, value in transports[name].items()
            if key not in _NO_PARAMETERS and (key not in left_out or (name, key) in given)
        }

    first = parameters(of_scheme[0])
    if any(parameters(name) != first for name in of_scheme):
        remarks.append(f"transports differ: all flows have the parameters of {of_scheme[0]}")
    return first, remarks


def _sample_every(record: Mapping[str, Any], until_ns: int) -> tuple[int, list[str]]:
    """Choose the time between samples: what the scenario records most often, a millisecond at least."""
    wanted = [found for key in ("windows", "rtt", "throughput") if (found := quantity(record.get(key)))]
    if not wanted:
        return max(_LEAST_SAMPLE_NS, min(_MOST_SAMPLE_NS, until_ns // _SAMPLES)), []
    every = round(min(each.value for each in wanted) * 1000)
    if every < _LEAST_SAMPLE_NS:
        return _LEAST_SAMPLE_NS, ["record: agents sample once a millisecond at most, and so they do"]
    return every, []
