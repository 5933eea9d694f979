"""A scenario's arbiters and endpoints on hosts: the deployment's file that `clearwayd` starts them by.

What the scenario's file or `--set` gives is taken over. All other words have the defaults of hosts, whose
timers are coarser than those of a simulated network by two orders of magnitude.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.testbed.given import Given
from clearway.testbed.hosts import Host
from clearway.testbed.plan import FASTPASS, Deployment, Plan

PORT = 7600
"""The UDP port of an arbiter's and an endpoint's control channel."""
_INNER = "10.197"
_MOST_PAYLOAD = 1448  # with the headers of both modes it fits an MTU of 1500 bytes
_OF_ARBITER = (
    "slot",
    "batch",
    "ahead",
    "order",
    "control_share",
    "retransmit",
    "acknowledge",
    "watchdog",
    "takeover",
    "gap",
    "fault_isolation",
)
_OF_ENDPOINT = (
    "report_interval",
    "request_timeout",
    "limit",
    "late",
    "early",
    "age_check",
    "fallback_after",
)
_LEAST_US = {"slot": 20.0, "retransmit": 10.0, "acknowledge": 10.0, "watchdog": 10.0, "takeover": 10.0}
_SLOTS = {"rates": "100us", "slots": "500us"}  # the lengths of slots that hosts have by default
_SHAPES: Mapping[str, tuple[str, ...]] = {
    "leaf_spine": ("leaves", "spines", "hosts_per_leaf"),
    "fat_tree": ("k",),
}


def deployed(plan: Plan, machines: Sequence[Host], given: Given, *, has_one_switch: bool) -> Plan:
    """Return a plan with its arbiters and endpoints, if its carrier has any; `machines` are all the hosts.

    `has_one_switch` tells that the network is a star, whatever the scenario says. Raises `ClearwayError` for
    what such hosts cannot do.
    """
    mode = FASTPASS.get(plan.carrier)
    if mode is None:
        return plan
    ranks = _ranks(plan, machines)
    network, endpoints, remarks = _network(plan, len(machines), has_one_switch=has_one_switch)
    arbiter, more = _arbiter(plan, given, mode)
    places = sorted({*endpoints, *ranks})
    _check_addresses([machines[host] for host in places])
    data = {host: _inner(host) if mode == "slots" else machines[host].data_address() for host in endpoints}
    tables = [
        _table("network", network),
        _table("arbiter", {**arbiter, "at": [machines[host].name for host in ranks]}),
        _table("endpoint", {"mode": mode, **_endpoint(plan, given)}),
        *(_host(machines[host], data.get(host)) for host in [*endpoints, *sorted({*ranks} - {*endpoints})]),
    ]
    members = {**plan.hosts, **{host: machines[host].name for host in ranks}}
    hosts = dict(sorted(members.items()))
    inner = "".join(machines[host].entry(data.get(host)) for host in hosts) if mode == "slots" else None
    return replace(
        plan,
        hosts=hosts,
        fastpass=Deployment("\n".join(tables), tuple(ranks), inner),
        warnings=[*plan.warnings, *remarks, *more],
    )


def _ranks(plan: Plan, machines: Sequence[Host]) -> list[int]:
    """Return the hosts at which arbiters are, the first to be the primary first."""
    arbiter = plan.resolved.get("arbiter")
    if not arbiter:
        raise ClearwayError(
            f"--carrier {plan.carrier}: the scenario has no [arbiter]",
            'write [arbiter] with at = ["h4"], and a transport with protocol = "fastpass": docs/FASTPASS.md',
        )
    ranks = []
    for node in arbiter["at"]:
        match = re.fullmatch(r"h(\d+)", node)
        if match is None:
            raise ClearwayError(
                f"arbiter.at: {node} is no host", "on hosts arbiters are at hosts, such as h4"
            )
        host = int(match[1])
        if host in plan.hosts:
            raise ClearwayError(
                f"arbiter.at: flows begin or end at {node}", "give arbiters hosts that have no traffic"
            )
        if host >= len(machines):
            raise ClearwayError(
                f"arbiter.at: {node} is host {host}, counted from 0, and there are {len(machines)}",
                "add hosts, or put it elsewhere: --set arbiter.at=...",
            )
        ranks.append(host)
    return ranks


def _network(
    plan: Plan, machines: int, *, has_one_switch: bool
) -> tuple[dict[str, Any], Sequence[int], list[str]]:
    """Return the network's words, the hosts that are endpoints, and what there is to remark."""
    words = plan.resolved["network"]
    rate, payload = words.get("rate"), quantity(words["mtu"])
    if rate is None:
        raise ClearwayError(
            "network.rate: the scenario has none for all links", "give one: --set network.rate=1Gbps"
        )
    size = int(payload.value) if payload else _MOST_PAYLOAD
    common = {"rate": rate, "mtu": f"{size if has_one_switch else min(size, _MOST_PAYLOAD)}B"}
    shape = words.get("topology")
    if has_one_switch or shape not in _SHAPES:
        remarks = []
        if not has_one_switch and shape != "star":
            remarks.append("network.topology: arbiters take it for a star, with one path between two hosts")
        return {"topology": "star", "hosts": len(plan.hosts), **common}, sorted(plan.hosts), remarks
    keys = {key: int(words[key]) for key in _SHAPES[shape]}
    hosts = keys["k"] ** 3 // 4 if shape == "fat_tree" else keys["leaves"] * keys["hosts_per_leaf"]
    if machines < hosts:
        raise ClearwayError(
            f"network.topology: this {shape} has {hosts} hosts, and there are {machines}",
            "add hosts, or make the network as large as the real one",
        )
    return {"topology": shape, **keys, **common}, range(hosts), []


def _arbiter(plan: Plan, given: Given, mode: str) -> tuple[dict[str, Any], list[str]]:
    """Return the words of arbiters, and of what is left out why."""
    table = plan.resolved["arbiter"]
    words = {key: table[key] for key in _OF_ARBITER if key in given.arbiter and key in table}
    remarks = []
    for key, least in _LEAST_US.items():
        length = quantity(words.get(key))
        if length is not None and length.value < least:
            remarks.append(f"arbiter.{key}: {words.pop(key)} is too short for hosts, which have their own")
    if "slot" not in words:
        remarks.append(f"arbiter.slot: hosts have timeslots of {_SLOTS[mode]}, unless it says 20us or more")
    return words, remarks


def _endpoint(plan: Plan, given: Given) -> dict[str, Any]:
    transports = plan.resolved["transport"]
    for name, table in transports.items():
        if table["protocol"] == "fastpass":
            return {key: table[key] for key in _OF_ENDPOINT if (name, key) in given.transports}
    return {}


def _inner(host: int) -> str:
    """Return the address behind an endpoint that traffic goes to in the mode `slots`."""
    return f"{_INNER}.{host // 250}.{host % 250 + 1}"


def _check_addresses(hosts: Sequence[Host]) -> None:
    seen: dict[str, str] = {}
    for host in hosts:
        address = host.address()
        if address in seen:
            raise ClearwayError(
                f"the hosts {seen[address]} and {host.name} are both at {address}",
                f"arbiters and endpoints listen at port {PORT}: each needs an address of its own",
            )
        seen[address] = host.name


def _host(machine: Host, prefix: str | None) -> str:
    address = machine.address()
    at = f"[{address}]:{PORT}" if ":" in address else f"{address}:{PORT}"
    words: dict[str, Any] = {"name": machine.name, "control": at}
    if prefix is not None:
        words |= {"prefixes": [prefix], "data": machine.data_address()}
    return _table("[host]", words)


def _table(name: str, words: Mapping[str, Any]) -> str:
    # Texts, numbers, flags and lists of texts are written alike in TOML and in JSON.
    return f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in words.items())
