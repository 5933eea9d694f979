"""What an arbiter for a network needs: cores, what its link carries, how far ahead it must allocate, waits.

How often endpoints ask and are told, and how long messages wait for their slots, is rehearsed with the
allocator itself; what that costs is arithmetic with figures that were measured. Times are in picoseconds,
rates in bits a second, sizes in bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearway import _clearway
from clearway.plan_options import US

GRANTS = 1e6
"""Grants of a rehearsal, about, for waits that chance changes little: some tenths of a second."""

_ACK_BYTES = 102
"""An acknowledgement of 64 bytes on the wire, with its framing."""
_MOST_REHEARSED = 256
"""More hosts are not rehearsed: how long a message waits hardly depends on how many others there are."""
_LEAST_SLOTS, _MOST_SLOTS = 5_000.0, 400_000.0
"""Slots of a rehearsal at least, and at most."""
_ACKNOWLEDGE = 100 * US
"""The arbiter acknowledges a request after this time at the latest."""
_EARLY, _EARLY_SLOTS = 80_080_000, 64
"""Endpoints refuse grants that are further ahead than this time and than these slots."""
_PS = 10**12

PACKET_NS = 660.0
"""What a control packet that comes or leaves costs a core. Fitted to the paper's experiment E, whose core
that talks to the network is full at 170 Gb/s of traffic: it counts a network card and its driver, of which
encoding and decoding are 30 to 100 ns."""


def grant_ns(hosts: int, batch: int) -> float:
    """Return what a grant costs, as measured at a load of 0.86 (docs/PERFORMANCE.md).

    3.1, 3.4 and 4.5 ns for 256, 1024 and 4096 hosts in batches of 64, and 1.6 times as much in batches of 16.
    """
    doublings = math.log2(max(hosts, 256)) - 8.0
    whole = 3.1 + 0.15 * doublings if doublings <= 2.0 else 3.4 + 0.55 * (doublings - 2.0)
    return whole * (1.0 + 0.3 * max(math.log2(64.0 / batch), 0.0))


def path_ns(racks: int) -> float:
    """Return what selecting a path costs, as measured: 6.8 ns for up to 32 racks and 23 ns for 100."""
    return 6.8 + max(racks - 32, 0) * (23.0 - 6.8) / 68.0


def transmission(size: int, rate: int) -> int:
    """Return how long this many bytes take on the wire, rounded up."""
    return -(-size * 8 * _PS // rate)


@dataclass(frozen=True)
class Network:
    """A network and its arbiter."""

    hosts: int
    rate: int
    arbiter_rate: int
    frame: int
    """A full frame on the wire."""
    payload: int
    slot: int
    racks: int
    """Paths are selected if there are several."""
    paths: int
    batch: int
    """Slots that are allocated together."""
    ahead: int
    """Slots from a batch's allocation to its first one."""
    interval: int
    """The least time between two requests of a host."""
    load: float
    """The share of the slots in which a host sends data."""
    message: int
    """Slots of a message."""
    delay: int
    """The delay of a link."""
    latency: int
    """The arbiter's time beside what its work takes, such as that of a pipeline."""
    arbiters: int
    """Arbiters that hear every request."""
    grant_ns: float
    path_ns: float
    packet_ns: float

    @property
    def way(self) -> int:
        """The time of a control packet from a host to the arbiter, or back."""
        return (self.delay + transmission(84, self.rate)) * (4 if self.racks > 1 else 2)

    def needs(self, seed: int = 1, grants: float = GRANTS) -> dict[str, Any]:
        """Return what the plan comes to, rehearsed with what `seed` draws for `grants` grants."""
        hosts = min(self.hosts, _MOST_REHEARSED)
        done = self._rehearsed(hosts, seed, grants)
        seconds: float = done["slots"] * (self.slot / _PS)

        def a_second(count: float) -> float:
            """Count what the hosts that were rehearsed did, as if they were all."""
            return count / seconds * self.hosts / hosts

        slots_a_packet = done["granted"] / max(done["data"], 1)
        # What is offered is known without what chance has made of it.
        offered = self.hosts * self.load / (self.slot / _PS)
        data = a_second(done["data"]) if done["falls_behind"] else offered
        requests, granted = a_second(done["requests"]), data * slots_a_packet
        allocations = a_second(done["allocations"]) + self._empty_allocations
        request_bytes, allocation_bytes = self._bytes(done)
        several = 1.0 if self.racks > 1 else 0.0
        costs = (
            granted * self.grant_ns,
            granted * self.path_ns * several,
            (requests + allocations) * self.packet_ns,
        )
        cores = [ns / 1e9 for ns in costs]
        told = self._told(cores, allocations, allocation_bytes)

        def share(packets: float, size: float, rate: int) -> float:
            return packets * size * 8.0 / rate

        link = {
            "requests": share(requests, request_bytes, self.arbiter_rate),
            "allocations": share(allocations, allocation_bytes, self.arbiter_rate),
        }
        return {
            "requests_per_s": requests,
            "allocations_per_s": allocations,
            "grants_per_s": granted,
            "slots_per_packet": slots_a_packet,
            "request_bytes": request_bytes,
            "allocation_bytes": allocation_bytes,
            "cores": {
                **dict(zip(("allocation", "paths", "packets"), cores, strict=True)),
                "whole": int(max(math.ceil(sum(cores)), 1.0)),
            },
            "arbiter_link": link,
            "host_link": {
                "requests": share(requests / self.hosts * self.arbiters, request_bytes, self.rate),
                "allocations": share(allocations / self.hosts, allocation_bytes, self.rate),
                "left": 1.0 - transmission(self.frame, self.rate) / self.slot,
            },
            "first_slot": self._wait(done["first_slot"]),
            "last_slot": self._wait(done["last_slot"]),
            "told_us": told / US,
            "ahead_least": -(-told // self.slot),
            "ahead_most": max(max(_EARLY // self.slot, _EARLY_SLOTS) - self.batch, 0),
            "hosts_told": int(self.hosts / max(link.values())),
            "goodput_gbps": data * self.payload * 8.0 / 1e9,
            "falls_behind": done["falls_behind"],
        }

    def _rehearsed(self, hosts: int, seed: int, grants: float) -> dict[str, Any]:
        interval = self.interval / self.slot
        # A message's end is to be seen, and the beginning left out.
        long = 40.0 * (self.message / self.load + self.ahead + interval)
        wanted = min(max(grants / (hosts * self.load), _LEAST_SLOTS), _MOST_SLOTS)
        return _clearway.rehearse(
            seed,
            hosts=hosts,
            batch=self.batch,
            ahead=self.ahead,
            load=self.load,
            message=self.message,
            interval=interval,
            acks_a_slot=max(self.frame // _ACK_BYTES, 1),
            way=self.way / self.slot,
            slots=int(max(wanted, min(long, _MOST_SLOTS))),
        )

    @property
    def _empty_allocations(self) -> float:
        """Allocations without grants that acknowledge requests where batches are far apart."""
        batch = self.slot * self.batch
        return self.hosts * float(batch // _ACKNOWLEDGE) / (batch / _PS)

    def _bytes(self, done: Mapping[str, Any]) -> tuple[float, float]:
        """Return the bytes on the wire of a request and of an allocation.

        A shortest frame of 84 or 38 of framing, the IP header, some 15 and 25 of the packets' own, 5 for each
        destination, and in an allocation a slot of a byte and its path.
        """
        demands = done["demands"] / max(done["requests"], 1)
        allocations = float(max(done["allocations"], 1))
        destinations, slots = done["destinations"] / allocations, done["granted"] / allocations
        path = 0.0 if self.racks == 1 else math.ceil(math.log2(max(self.paths, 2))) / 8.0
        return max(73.0 + 5.0 * demands, 84.0), max(83.0 + 5.0 * destinations + slots * (1.0 + path), 84.0)

    def _told(self, cores: list[float], allocations: float, size: float) -> int:
        """Return the time from the decision on a batch until the last host has heard.

        Allocation and path selection of a batch, its allocations one after the other through the core or the
        link, whichever takes longer, and the way.
        """
        batch = self.slot * self.batch
        packets = allocations * (batch / _PS)
        through = max(
            packets * self.packet_ns * 1e-9 / max(math.ceil(cores[2]), 1.0),
            packets * size * 8.0 / self.arbiter_rate,
        )
        return int(batch * (cores[0] + cores[1])) + int(through * 1e12) + self.latency + self.way

    def _wait(self, slots: tuple[float, float] | None) -> dict[str, float] | None:
        if slots is None:
            return None
        mean, p99 = (int(self.slot * each) / US for each in slots)
        return {"mean_us": mean, "p99_us": p99}
