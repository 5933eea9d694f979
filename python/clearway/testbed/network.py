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
    remove_left()
    made = Network(owned("switch"), [owned(f"h{host}") for host in range(hosts)])
    try:
        _make(made, links)
        yield made
    finally:
        with stops.put_off():
            _remove([*made.hosts, made.switch])


def remove_left() -> None:
    """Remove the namespaces whose makers have ended."""
    for name in _namespaces():
        if is_left(name):
            _remove([name])


def _namespaces() -> list[str]:
    return [line.split()[0] for line in _run(["ip", "netns", "list"]).splitlines() if line.strip()]


def _remove(names: Sequence[str]) -> None:
    for name in names:
        with suppress(ClearwayError):  # of one that was not made
            _run(["ip", "netns", "delete", name])


def _make(made: Network, links: Links) -> None:
    for name in (made.switch, *made.hosts):
        _run(["ip", "netns", "add", name])
        _run(["ip", "-n", name, "link", "set", "lo", "up"])
    mtu = min(links.payload_bytes + _HEADERS_BYTES, _LARGEST_MTU)
    for bridge in ("data", "control"):
        _ip(made.switch, f"link add {bridge} type bridge")
        _ip(made.switch, f"link set {bridge} up")
    _ip(made.switch, f"addr add {_SWITCH_ADDRESS}/16 dev control")
    for number, host in enumerate(made.hosts):
        for device, port, bridge, address in (
            ("eth0", f"p{number}", "data", Network.data(number)),
            ("eth1", f"c{number}", "control", Network.control(number)),
        ):
            size = mtu if bridge == "data" else 1500
            _ip(
                host,
                f"link add {device} mtu {size} type veth peer name {port} mtu {size} netns {made.switch}",
            )
            _ip(made.switch, f"link set {port} master {bridge}")
            _ip(made.switch, f"link set {port} up")
            _ip(host, f"addr add {address}/16 dev {device} noprefixroute")
            _ip(host, f"link set {device} up")
            network_ = f"{_DATA if bridge == 'data' else _CONTROL}.0.0/16"
            # Swift measures round trips, in which a receiver's wait before it acknowledges has no part.
            _ip(host, f"route add {network_} dev {device} src {address} quickack 1")
        _shape(host, "eth0", links, _HOST_QUEUE_PACKETS * mtu, mtu)
        _shape(made.switch, f"p{number}", links, links.buffer_bytes, mtu)
        settings = ["net.ipv4.tcp_no_metrics_save=1", "net.ipv4.tcp_rmem=4096 1048576 33554432"]
        _run(Network.inside(host, ["sysctl", "-qw", *settings]))


def _shape(namespace: str, device: str, links: Links, limit: int, mtu: int) -> None:
    """Have a port send no faster than its rate; of what waits beyond `limit` bytes, the last is dropped."""
    bits = round(links.rate_gbps * 1e9)
    burst = max(2 * (mtu + OVERHEAD_BYTES), round(bits / 8 * _SLACK_S))
    rule = f"tbf rate {bits}bit burst {burst} limit {limit} overhead {OVERHEAD_BYTES}"
    _run(["tc", "-n", namespace, "qdisc", "add", "dev", device, "root", *rule.split()])


def _ip(namespace: str, words: str) -> None:
    _run(["ip", "-n", namespace, *words.split()])


def _run(command: Sequence[str]) -> str:
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
