"""Figures of a run that both simulators have, counted alike.

A flow of htsim ends when its sender has the last acknowledgement, one of Clearway when its receiver has all.
What an acknowledgement takes on its way back, where it goes before all data, is added to the latter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tools.htsim.cases import Case
from tools.htsim.output import Ended
from tools.htsim.running import Simulated

# What an acknowledgement weighs, and the delay of each link in all networks that are run.
_ACKNOWLEDGEMENT_BITS = 64 * 8
_DELAY_US = 1.0

# The links by which hosts send.
_NIC = re.compile(r"h\d+>")

# The figures in the order in which they are shown, and their units.
UNITS = {
    "last": "us",
    "p99": "us",
    "median": "us",
    "mean": "us",
    "first": "us",
    "packets": "",
    "sent again": "",
    "acknowledgements": "",
}


def of_htsim(ended: Ended) -> dict[str, float]:
    """Return the figures of a run of htsim."""
    counts = {"packets": ended.new, "sent again": ended.again, "acknowledgements": ended.acks}
    return _of_times([flow.finished_us for flow in ended.flows]) | counts


def of_clearway(case: Case, simulated: Simulated) -> dict[str, float]:
    """Return the figures of a run of Clearway."""
    run = simulated.run
    flows, network = run.table("flows"), run.scenario["network"]
    link_us = _DELAY_US + _ACKNOWLEDGEMENT_BITS / (case.rate_gbps * 1000)
    ends = zip(flows["from"], flows["to"], flows["fct_us"], strict=True)
    times = [float(took) + links(network, int(a), int(b)) * link_us for a, b, took in ends]
    payload = _bytes(network["mtu"])
    again = int(flows["retransmissions"].sum())
    packets = sum(math.ceil(int(size) / payload) for size in flows["bytes"])
    nics = run.table("links")
    left = zip(nics["link"], nics["frames"], strict=True)
    frames = sum(int(count) for name, count in left if _NIC.match(str(name)))
    counts = {"packets": packets, "sent again": again, "acknowledgements": frames - packets - again}
    return _of_times(times) | counts


def links(network: Mapping[str, Any], one: int, other: int) -> int:
    """Return how many links are between two hosts of a fat tree or a network of leaves and spines."""
    if network["topology"] == "leaf_spine":
        rack, pod = int(network["hosts_per_leaf"]), math.inf
    else:
        rack, pod = int(network["k"]) // 2, int(network["k"]) ** 2 // 4
    if one // rack == other // rack:
        return 2
    return 4 if one // pod == other // pod else 6


def _of_times(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    ranks = {"last": 1.0, "p99": 0.99, "median": 0.5}
    of_ranks = {name: ordered[math.ceil(share * len(ordered)) - 1] for name, share in ranks.items()}
    return of_ranks | {"mean": math.fsum(ordered) / len(ordered), "first": ordered[0]}


def _bytes(written: str) -> int:
    return int(written.removesuffix("B"))
