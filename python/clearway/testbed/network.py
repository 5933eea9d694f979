"""Hosts of a testbed as network namespaces of this machine, around a switch that is one, too.

    host 0 ── eth0 ┐                          ┌ eth1: control, with no limit
    host 1 ── eth0 ┤ switch: bridge of p0, p1 ... each port shaped (TBF), and so is each host's eth0

Names of namespaces hold the process that made them, and when that started: what one left that was killed is
removed by the next.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from clearway import stops
from clearway.errors import ClearwayError
from clearway.testbed.owner import is_left, owned

_DATA, _CONTROL = "10.198", "10.199"
_SWITCH_ADDRESS = f"{_CONTROL}.255.254"
_SLACK_S = 250e-6  # for which a port that is woken late makes up, in one burst
_HOST_QUEUE_PACKETS = 1000  # as Linux has it by default
OVERHEAD_BYTES = 24
"""Bytes of an Ethernet frame that the kernel does not count: check sequence, preamble and gap."""
_HEADERS_BYTES = 100  # room for the headers of every carrier, beside the payload
_LARGEST_MTU = 65_000
_PATIENCE_S = 20.0


@dataclass(frozen=True)
class Links:
    """What each link is like."""

    rate_gbps: float
    buffer_bytes: int
    """What waits at a port of the switch, at most."""
    payload_bytes: int
    """What a packet carries."""


@dataclass(frozen=True)
class Network:
    """Namespaces that are there."""

    switch: str
    hosts: Sequence[str]

    @staticmethod
    def data(host: int) -> str:
        """Return the address that a host's traffic goes to."""
        return f"{_DATA}.{host // 250}.{host % 250 + 1}"

    @staticmethod
    def control(host: int) -> str:
        """Return the address of a host's agent."""
        return f"{_CONTROL}.{host // 250}.{host % 250 + 1}"

    @staticmethod
    def inside(namespace: str, command: Sequence[str]) -> list[str]:
        """Return a command that runs in a namespace."""
        return ["ip", "netns", "exec", namespace, *command]


def check_machine() -> None:
    """Raise what a person can act on where namespaces cannot be made."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise ClearwayError(
            "a local testbed makes network namespaces, which needs root", "run it as root: sudo"
        )
    missing = [program for program in ("ip", "tc") if shutil.which(program) is None]
    if missing:
        raise ClearwayError(
            f"a local testbed needs {' and '.join(missing)}, which is not here",
            "install iproute2 (Debian and Ubuntu: apt-get install iproute2)",
        )


@contextmanager
def network(hosts: int, links: Links) -> Iterator[Network]:
    """Make a network for as long as the body runs; raises `ClearwayError` with what the system said."""
    made = Network(owned("switch"), [owned(f"h{host}") for host in range(hosts)])
    with namespaces([made.switch, *made.hosts]):
        join_for_control(made)
        _join_for_data(made, links)
        yield made


@contextmanager
def namespaces(names: Sequence[str]) -> Iterator[None]:
    """Make namespaces for as long as the body runs; first those that others left are removed."""
    remove_left()
    try:
        for name in names:
            run(["ip", "netns", "add", name])
            ip(name, "link set lo up")
        yield
    finally:
        with stops.put_off():
            _remove(names)


def remove_left() -> None:
    """Remove the namespaces whose makers have ended."""
    for name in _namespaces():
        if is_left(name):
            _remove([name])


def _namespaces() -> list[str]:
    return [line.split()[0] for line in run(["ip", "netns", "list"]).splitlines() if line.strip()]


def _remove(names: Sequence[str]) -> None:
    for name in names:
        with suppress(ClearwayError):  # of one that was not made
            run(["ip", "netns", "delete", name])


def join_for_control(made: Network) -> None:
    """Join the hosts and the switch by a network without a limit, for what agents and controller say."""
    _bridge(made.switch, "control")
    ip(made.switch, f"addr add {_SWITCH_ADDRESS}/16 dev control")
    for number, host in enumerate(made.hosts):
        _plug(host, "eth1", made.switch, f"c{number}", "control", 1500)
        give_address(host, "eth1", Network.control(number))


def _join_for_data(made: Network, links: Links) -> None:
    mtu = mtu_for(links.payload_bytes)
    _bridge(made.switch, "data")
    for number, host in enumerate(made.hosts):
        _plug(host, "eth0", made.switch, f"p{number}", "data", mtu)
        give_address(host, "eth0", Network.data(number))
        shape(host, "eth0", links.rate_gbps, _HOST_QUEUE_PACKETS * mtu, mtu)
        shape(made.switch, f"p{number}", links.rate_gbps, links.buffer_bytes, mtu)
        tune(host)


def mtu_for(payload_bytes: int) -> int:
    """Return an MTU that has room for this payload with the headers of every carrier."""
    return min(payload_bytes + _HEADERS_BYTES, _LARGEST_MTU)


def _bridge(namespace: str, name: str) -> None:
    ip(namespace, f"link add {name} type bridge")
    ip(namespace, f"link set {name} up")


def _plug(host: str, device: str, switch: str, port: str, bridge: str, mtu: int) -> None:
    ip(host, f"link add {device} mtu {mtu} type veth peer name {port} mtu {mtu} netns {switch}")
    ip(switch, f"link set {port} master {bridge}")
    ip(switch, f"link set {port} up")


def give_address(host: str, device: str, address: str) -> None:
    """Give a host's device its address, and the route to the others of its network."""
    ip(host, f"addr add {address}/16 dev {device} noprefixroute")
    ip(host, f"link set {device} up")
    first, second, *_ = address.split(".")
    # Swift measures round trips, in which a receiver's wait before it acknowledges has no part.
    ip(host, f"route add {first}.{second}.0.0/16 dev {device} src {address} quickack 1")


def tune(host: str) -> None:
    """Have the kernel's TCP remember nothing of earlier runs, and take large windows."""
    settings = ["net.ipv4.tcp_no_metrics_save=1", "net.ipv4.tcp_rmem=4096 1048576 33554432"]
    run(Network.inside(host, ["sysctl", "-qw", *settings]))


def shape(namespace: str, device: str, rate_gbps: float, limit: int, mtu: int) -> None:
    """Have a port send no faster than its rate; of what waits beyond `limit` bytes, the last is dropped."""
    bits = round(rate_gbps * 1e9)
    burst = max(2 * (mtu + OVERHEAD_BYTES), round(bits / 8 * _SLACK_S))
    rule = f"tbf rate {bits}bit burst {burst} limit {limit} overhead {OVERHEAD_BYTES}"
    run(["tc", "-n", namespace, "qdisc", "add", "dev", device, "root", *rule.split()])


def ip(namespace: str, words: str) -> None:
    """Run `ip` in a namespace."""
    run(["ip", "-n", namespace, *words.split()])


def run(command: Sequence[str]) -> str:
    """Run a command and return what it prints; raise with what it says if it fails."""
    # In a session of its own: Ctrl-C is for who waits for it.
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, text=True, timeout=_PATIENCE_S, start_new_session=True, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClearwayError(
            f"{' '.join(command)}: {error}", "can this machine make network namespaces?"
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().replace("\n", "; ") or f"exit status {done.returncode}"
        raise ClearwayError(f"{' '.join(command)}: {said}", "can this machine make network namespaces?")
    return done.stdout
