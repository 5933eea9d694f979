"""A client, a router and a server on one machine: three network namespaces, and maybe a bottleneck.

    client ── v0 ── router ── v1 ── server        the bottleneck is the router's port towards the server

The server acknowledges each packet at once (`quickack`), as Swift measures round trips.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tools.hosts.machine import UnavailableError, demand, run

CLIENT_ADDRESS, SERVER_ADDRESS = "10.99.1.1", "10.99.2.1"
_ROUTER_ADDRESSES = ("10.99.1.2", "10.99.2.2")
_BURST_BYTES = 15_000  # ten packets: what the bottleneck sends at once
_SERIAL = itertools.count()  # of this process's networks


@dataclass(frozen=True)
class Bottleneck:
    """A token bucket in front of the server."""

    mbps: float
    queue_ms: float
    """What fits its queue, as time at its rate."""

    @property
    def queue_bytes(self) -> int:
        """What fits its queue."""
        return round(self.mbps * self.queue_ms * 125)


@dataclass(frozen=True)
class Network:
    """The names of the three namespaces."""

    client: str
    router: str
    server: str

    def drops(self) -> int:
        """Return how many packets the bottleneck has dropped so far; 0 where there is none."""
        queues = json.loads(run(["tc", "-s", "-j", "-n", self.router, "qdisc", "show", "dev", "v1"]))
        return sum(int(queue.get("drops", 0)) for queue in queues)


@contextmanager
def network(bottleneck: Bottleneck | None = None) -> Iterator[Network]:
    """Make a network for as long as the body runs; raise `UnavailableError` where that is not possible."""
    demand("ip", "tc")
    name = f"cw{os.getpid()}{'abcdefgh'[next(_SERIAL) % 8]}"
    made = Network(f"{name}a", f"{name}b", f"{name}c")
    try:
        _make(made, bottleneck)
        yield made
    finally:
        with _uninterrupted():
            for each in (made.client, made.router, made.server):
                with suppress(UnavailableError):  # of one that was not made
                    run(["ip", "netns", "delete", each])


def _make(made: Network, bottleneck: Bottleneck | None) -> None:
    client, router, server = made.client, made.router, made.server
    to_client, to_server = _ROUTER_ADDRESSES
    for each in (client, router, server):
        run(["ip", "netns", "add", each])
        run(["ip", "-n", each, "link", "set", "lo", "up"])
    for device, end in (("v0", client), ("v1", server)):
        run(f"ip -n {end} link add {device} type veth peer name {device} netns {router}".split())
    places = (
        (client, "v0", CLIENT_ADDRESS),
        (router, "v0", to_client),
        (router, "v1", to_server),
        (server, "v1", SERVER_ADDRESS),
    )
    for each, device, address in places:
        run(f"ip -n {each} addr add {address}/24 dev {device}".split())
        run(f"ip -n {each} link set {device} up".split())
    run(f"ip -n {client} route add default via {to_client}".split())
    run(f"ip -n {server} route add default via {to_server} quickack 1".split())
    _set_controls(made)
    _spread(made)
    if bottleneck is not None:
        rate, limit = f"{bottleneck.mbps:g}mbit", str(bottleneck.queue_bytes)
        bucket = ["tbf", "rate", rate, "burst", str(_BURST_BYTES), "limit", limit]
        run(["tc", "-n", router, "qdisc", "add", "dev", "v1", "root", *bucket])


def _set_controls(made: Network) -> None:
    """Give each namespace buffers that no window reaches, and keep nothing of old connections."""
    controls = {
        made.client: ("net.ipv4.tcp_wmem=4096 262144 16777216", "net.ipv4.tcp_congestion_control=reno"),
        made.router: ("net.ipv4.ip_forward=1",),
        made.server: ("net.ipv4.tcp_rmem=4096 1048576 33554432",),
    }
    for each, values in controls.items():
        run(["ip", "netns", "exec", each, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1", *values])


def _spread(made: Network) -> None:
    """Let two processors work for the network where there are two: one towards the server, one back."""
    if (os.cpu_count() or 1) < 2:
        return
    places = ((made.server, "v1", 2), (made.client, "v0", 1), (made.router, "v0", 1), (made.router, "v1", 2))
    for each, device, processors in places:
        place = Path("/sys/class/net", device, "queues/rx-0/rps_cpus")
        with suppress(UnavailableError):  # of a kernel that cannot; it only costs speed
            run(["ip", "netns", "exec", each, "sh", "-c", f"echo {processors} > {place}"])


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Have Ctrl-C wait until the body has run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
