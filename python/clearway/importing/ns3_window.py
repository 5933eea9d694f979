"""The largest round-trip time of a network, from which HPCC's ns-3 takes the window of every flow."""

from __future__ import annotations

from collections import defaultdict, deque

from clearway.importing.parts import HOST, Link, Network
from clearway.importing.units import PS_PER_S


def base_rtt(network: Network, mtu: int) -> int:
    """Return it in picoseconds; `mtu` is the bytes of a packet.

    It is twice the delays of the longest path, and once the time of a packet on each of its links. Paths have
    the fewest links.
    """
    neighbours: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for link in network.links:
        cost = 2 * link.delay + _packet(link, mtu)
        neighbours[link.ends[0]].append((link.ends[1], cost))
        neighbours[link.ends[1]].append((link.ends[0], cost))
    hosts = [number for number, node in enumerate(network.nodes) if node.role == HOST]
    # Hosts of one switch differ in their own link alone: the longest stands for all.
    longest: dict[int, tuple[int, int]] = {}
    for host in hosts:
        switch, cost = neighbours[host][0]
        longest[switch] = max(longest.get(switch, (0, host)), (cost, host))
    return max(_farthest(host, neighbours, set(hosts)) for _, host in longest.values())


def _packet(link: Link, mtu: int) -> int:
    return mtu * 8 * PS_PER_S // link.rate


def _farthest(start: int, neighbours: dict[int, list[tuple[int, int]]], hosts: set[int]) -> int:
    """Return the cost of the way to the host that is the farthest from this one."""
    costs = {start: 0}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other, cost in neighbours[node]:
            if other not in costs:
                costs[other] = costs[node] + cost
                if other not in hosts:
                    waiting.append(other)
    return max(cost for node, cost in costs.items() if node in hosts)
