"""Descriptions of scenarios before a run: the network, transports' parameters, the load to expect."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from clearway import _clearway, arguments
from clearway.api import Sets, load_scenario, sets_of
from clearway.arguments import Source
from clearway.errors import ClearwayError, check_text
from clearway.scenario_schema import schema

Description = dict[str, Any]
"""The dict that `show` returns."""

_PAIR = 2


def show(
    scenario: Source,
    sets: Sets | None = None,
    *,
    seed: int | None = None,
    between: Sequence[str | int] | None = None,
) -> Description:
    """Describe the network of a scenario without running it: `show("incast.toml", between=("h0", "h9"))`.

    `scenario`, `sets` and `seed` are those of `run`. `between` is two hosts, by name or number, of which the
    paths are listed. Returns what `clearway show --json` prints. Raises `ClearwayError` for an argument that
    will not do, and `ScenarioError` for a scenario that cannot be run.
    """
    ends = None if between is None else pair_of(between)
    loaded = load_scenario(arguments.source(scenario), sets_of(sets), arguments.seed(seed))
    return describe(loaded, ends)


def pair_of(between: object) -> tuple[str, str]:
    """Take two hosts, by name or number."""
    hosts = list(between) if isinstance(between, Sequence) and not isinstance(between, str) else []
    if len(hosts) != _PAIR or any(
        isinstance(host, bool) or not isinstance(host, str | int) for host in hosts
    ):
        raise ClearwayError(
            f"between: found {between!r}, expected two hosts by name or number", 'for example ("h0", "h1")'
        )
    return str(hosts[0]), str(hosts[1])


def describe(
    loaded: _clearway.Scenario, between: tuple[str, str] | None, spell: str = "between"
) -> Description:
    """Describe a scenario that was read; messages call the argument for two hosts as `spell` says."""
    resolved = json.loads(loaded.resolved)
    ends = None
    if between is not None:
        hosts = [node["name"] for node in json.loads(loaded.network(0))["nodes"] if node["role"] == "host"]
        ends = (_host(between[0], hosts, spell), _host(between[1], hosts, spell))
        if ends[0] == ends[1]:
            raise ClearwayError(f"{spell}: {hosts[ends[0]]} is one host, expected two", "name another one")
    found = json.loads(loaded.preview(ends))
    arbiters = set((resolved.get("arbiter") or {}).get("at", ()))
    for node in found["nodes"]:
        node["arbiter"] = node["name"] in arbiters
    return {
        "name": loaded.name,
        "seed": loaded.seed,
        "duration_us": loaded.duration_us,
        "network": _network(resolved["network"], found),
        "nodes": found["nodes"],
        "links": found["links"],
        "transports": _transports(resolved["transport"], found["transports"]),
        "classes": resolved.get("class", {}),
        "between": found["between"],
        "traffic": found["traffic"],
        "not_counted": _not_counted(resolved, found["traffic"]),
    }


def _host(text: str, hosts: Sequence[str], spell: str) -> int:
    check_text(text, f"{spell} {text}")
    if text in hosts:
        return hosts.index(text)
    if text.isascii() and text.isdigit() and len(text) < 10:
        if int(text) < len(hosts):
            return int(text)
        raise ClearwayError(
            f"{spell}: there is no host {text}", f"hosts are numbered from 0 to {len(hosts) - 1}"
        )
    near = difflib.get_close_matches(text, hosts, n=1)
    known = f"hosts are {hosts[0]} to {hosts[-1]}, or 0 to {len(hosts) - 1}"
    raise ClearwayError(
        f"{spell}: there is no host {text}", f"did you mean {near[0]}? {known}" if near else known
    )


def _network(table: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Count what there is."""
    roles = Counter(node["role"] for node in found["nodes"])
    return {
        "topology": table["topology"],
        "hosts": roles["host"],
        "switches": {role: count for role, count in roles.items() if role not in ("host", "relay")},
        "relays": roles["relay"],
        "arbiters": [node["name"] for node in found["nodes"] if node["arbiter"]],
        "links": len(found["links"]) // 2,
        "parameters": dict(table),
    }


def _transports(tables: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Put together what each transport is set to, what its unset keys follow, and its round trips."""
    of_one = schema()["properties"]["transport"]["additionalProperties"]
    return {
        name: {
            "parameters": table,
            "unset": {
                key: of["x-default"]
                for key, of in _keys(of_one, table).items()
                if key not in table and isinstance(of.get("x-default"), str) and _counts(key, table)
            },
            **found[name],
        }
        for name, table in tables.items()
    }


def _keys(of: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that a table has with the choices that it makes."""
    keys = dict(of.get("properties", {}))
    if condition := of.get("if"):
        holds = all(table.get(key) == value.get("const") for key, value in condition["properties"].items())
        keys.update(_keys(of.get("then" if holds else "else", {}), table))
    return keys


def _counts(key: str, table: Mapping[str, Any]) -> bool:
    """Tell whether an unset key means anything: no class does where there are none, nor paths unsprayed."""
    return key not in ("class", "ack_class") and (key != "paths" or table.get("spray") != "flow")


def _not_counted(resolved: Mapping[str, Any], traffic: Mapping[str, Any]) -> list[str]:
    """Say what the expected load leaves out, and what it takes for granted."""
    said = ["acknowledgements, retransmissions, PAUSE frames, probes and an arbiter's control packets"]
    if traffic["greedy_flows"]:
        said.append(
            f"{_flows(traffic['greedy_flows'])} without a size or of closed loops, which take what the "
            "network gives: a link's column says how many cross it"
        )
    if traffic["late_flows"]:
        said.append(f"{_flows(traffic['late_flows'])} that would start when the run is over")
    if any("spray" in table and table["spray"] != "flow" for table in resolved["transport"].values()):
        said.append("what chooses among paths: packets that are sprayed count evenly on all of them")
    if resolved.get("fault"):
        said.append("faults: the load is that of the whole network")
    return said


def _flows(count: int) -> str:
    return "1 flow" if count == 1 else f"{count:,} flows"
