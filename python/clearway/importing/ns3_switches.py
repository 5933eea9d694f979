"""What HPCC's and ConWeave's ns-3 do at switches: marks by the rate of a port, and PFC thresholds."""

from __future__ import annotations

from typing import Any

from clearway.importing import units
from clearway.importing.ns3_values import Config
from clearway.importing.parts import HOST, Network

_SHIFT = 3  # of PFC's threshold at a port of a host's rate: an eighth of what is free


def ecn_of(config: Config, network: Network) -> dict[str, dict[str, Any]]:
    """Return the keys about marks, by role of switch.

    Where ports of a role differ in rate, all of them mark as those of the lowest.
    """
    by_rate = {key: _map(config, key) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")}
    keys = {}
    for role, rate in _slowest(network).items():
        for key, values in by_rate.items():
            if rate not in values:
                raise config.source.error(
                    config.lines[key],
                    f"{key}: has no value for links of {units.rate(rate)}, which the topology has",
                    f"add it: {key} {len(values) + 1} ... {rate} VALUE",
                )
        keys[role] = {
            "ecn": "red",
            "ecn_min": units.size(round(by_rate["KMIN_MAP"][rate] * 1000)),
            "ecn_max": units.size(round(by_rate["KMAX_MAP"][rate] * 1000)),
            "ecn_pmax": by_rate["PMAX_MAP"][rate],
        }
    return keys


def pfc_of(network: Network) -> dict[str, dict[str, Any]]:
    """Return the keys about PFC, by role of switch: the threshold doubles with each doubling of the rate."""
    host = next(link.rate for link in network.links if HOST in _roles_at(network, link.ends))
    keys = {}
    for role, slowest in _slowest(network).items():
        shift, rate = _SHIFT, slowest
        while rate > host and shift:
            shift, rate = shift - 1, rate // 2
        keys[role] = {"pfc": "dynamic", "pfc_alpha": 2.0**-shift}
    return keys


def _map(config: Config, key: str) -> dict[int, float]:
    """Return a value for each rate: the number of pairs comes first."""
    if key not in config.values:
        line = config.lines["KMIN_MAP"]
        raise config.source.error(line, f"{key}: is missing beside KMIN_MAP", f"write it: {key} 1 RATE VALUE")
    source, line, words = config.source, config.lines[key], config.values[key]
    count = source.whole(line, key, words[0], 1, 1000)
    if len(words) != 1 + 2 * count:
        raise source.error(
            line,
            f"{key}: announces {count} pairs of rate and value, and has {len(words) - 1} numbers",
            "correct the first number, or write all pairs",
        )
    most = 1 if key == "PMAX_MAP" else 4_000_000
    return {
        source.whole(line, key, rate, 1, 10**15): float(source.number(line, key, value, most))
        for rate, value in zip(words[1::2], words[2::2], strict=True)
    }


def _slowest(network: Network) -> dict[str, int]:
    """Return the lowest rate of a port, by role of switch."""
    rates: dict[str, int] = {}
    for link in network.links:
        for role in _roles_at(network, link.ends):
            if role != HOST:
                rates[role] = min(rates.get(role, link.rate), link.rate)
    return rates


def mixed_roles(network: Network) -> list[str]:
    """Return the roles of switches whose ports differ in rate."""
    rates: dict[str, set[int]] = {}
    for link in network.links:
        for role in _roles_at(network, link.ends):
            if role != HOST:
                rates.setdefault(role, set()).add(link.rate)
    return [role for role, found in rates.items() if len(found) > 1]


def _roles_at(network: Network, ends: tuple[int, int]) -> tuple[str, str]:
    return network.nodes[ends[0]].role, network.nodes[ends[1]].role
