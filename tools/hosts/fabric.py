"""Namespaces that an arbiter schedules: endpoints, an arbiter and a standby, while somebody measures them."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from clearway.errors import ClearwayError
from clearway.testbed.controller import dies_with_us
from clearway.testbed.network import Links, Network, network

from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.swift import DAEMON

ENDPOINTS = 5
PAYLOAD_BYTES = 1448
CONTROL_SHARE = 0.03
"""More than by default: links that are token buckets carry less than their rate, by 1 to 3 % here."""
_PORT = 7600
_FIRST_SERVER = 5300
_PATIENCE_S = 20.0
_LOOK_S = 0.02  # between two looks at a queue
_ARBITERS = 2


@dataclass(frozen=True)
class Fabric:
    """Namespaces with endpoints and arbiters that hear each other."""

    made: Network
    folder: Path
    mode: str
    gbps: float

    def address(self, host: int) -> str:
        """Return the address of a host, traffic to which waits for grants."""
        return inner(host) if self.mode == "slots" else self.made.data(host)

    def status(self, host: int) -> dict[str, Any]:
        """Return what the endpoint of a host, or an arbiter, says of itself."""
        name = self.name(host)
        where = ["--agent", f"{self.made.control(host)}:{_PORT}", "--keys", str(self.folder / "keys")]
        words = [str(DAEMON), "status", "--json", "--name", name, *where]
        return dict(json.loads(run(Network.inside(self.made.hosts[host], words))))

    @staticmethod
    def name(host: int) -> str:
        """Return the name of a host: endpoints come first."""
        return f"h{host}" if host < ENDPOINTS else f"a{host - ENDPOINTS}"


@dataclass(frozen=True)
class Incast:
    """Flows of several hosts to the first, measured at both ends and in the queue before it."""

    goodputs_mbps: Sequence[float]
    """Of each sender."""
    queue_bytes: float
    """The mean over all looks."""
    queue_p99_bytes: float

    @property
    def goodput_mbps(self) -> float:
        """What all have moved."""
        return sum(self.goodputs_mbps)

    @property
    def jain(self) -> float:
        """Jain's index of the senders."""
        squares = sum(each * each for each in self.goodputs_mbps)
        return self.goodput_mbps**2 / (len(self.goodputs_mbps) * squares) if squares else 0.0


def inner(host: int) -> str:
    """Return the address of a host behind its endpoint's TUN device."""
    return f"10.197.0.{host + 1}"


@contextmanager
def namespaces(gbps: float) -> Iterator[Network]:
    """Make the namespaces, with links of this rate and 10 ms of queue at each port of the switch.

    Raises `UnavailableError` where that is not possible.
    """
    demand("ip", "tc", "iperf3")
    links = Links(gbps, buffer_bytes=round(gbps * 1_250_000), payload_bytes=PAYLOAD_BYTES)
    try:
        with network(ENDPOINTS + _ARBITERS, links) as made:
            yield made
    except ClearwayError as error:
        raise UnavailableError(error.message) from error


@contextmanager
def fabric(made: Network, mode: str, gbps: float) -> Iterator[Fabric]:
    """Have arbiters and endpoints in namespaces while the body runs."""
    folder = Path(tempfile.mkdtemp(prefix="clearway-fabric-"))
    found = Fabric(made, folder, mode, gbps)
    everyone = range(ENDPOINTS + _ARBITERS)
    started: list[subprocess.Popen[bytes]] = []
    with ExitStack() as files:
        try:
            (folder / "fastpass.toml").write_text(_deployment(made, mode, gbps))
            run([str(DAEMON), "keys", str(folder / "keys"), *map(Fabric.name, everyone)])
            for host in reversed(everyone):
                said = files.enter_context((folder / f"{Fabric.name(host)}.log").open("w+b"))
                command = "endpoint" if host < ENDPOINTS else "arbiter"
                words = [str(DAEMON), command, str(folder / "fastpass.toml"), "--name", Fabric.name(host)]
                words += ["--keys", str(folder / "keys"), "--state", str(folder / "state")]
                inside = Network.inside(made.hosts[host], dies_with_us(words))
                started.append(subprocess.Popen(inside, stdin=subprocess.DEVNULL, stdout=said, stderr=said))  # noqa: S603
            _wait(found)
            yield found
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(_PATIENCE_S)
            shutil.rmtree(folder)


def _deployment(made: Network, mode: str, gbps: float) -> str:
    lines = [
        '[network]\ntopology = "star"',
        f'hosts = {ENDPOINTS}\nrate = "{gbps}Gbps"\nmtu = "{PAYLOAD_BYTES}B"',
        f'[arbiter]\nat = ["a0", "a1"]\ncontrol_share = {CONTROL_SHARE}\n[endpoint]\nmode = "{mode}"',
    ]
    for host in range(ENDPOINTS + _ARBITERS):
        lines.append(f'[[host]]\nname = "{Fabric.name(host)}"\ncontrol = "{made.control(host)}:{_PORT}"')
        if host < ENDPOINTS:
            behind = inner(host) if mode == "slots" else made.data(host)
            lines.append(f'data = "{made.data(host)}"\nprefixes = ["{behind}/32"]')
    return "\n".join(lines) + "\n"


def _wait(found: Fabric) -> None:
    """Wait until every endpoint has sessions with both arbiters, and one of these is the primary."""
    until = time.monotonic() + _PATIENCE_S
    arbiters = range(ENDPOINTS, ENDPOINTS + _ARBITERS)
    while not (
        all(len(_told(found, host, "sessions", [])) == _ARBITERS for host in range(ENDPOINTS))
        and any(_told(found, host, "state", "") == "primary" for host in arbiters)
    ):
        if time.monotonic() > until:
            said = (found.folder / f"{Fabric.name(0)}.log").read_text()[-300:]
            raise UnavailableError(f"endpoints hear no arbiter: {said}")
        time.sleep(0.1)


def _told(found: Fabric, host: int, key: str, otherwise: Any) -> Any:
    """Return a part of a host's status, or this while nobody answers there."""
    try:
        return found.status(host)[key]
    except UnavailableError:
        return otherwise


def incast(
    made: Network, to: str, seconds: float, *, control: str = "cubic", flows: int = 1, senders: int = 4
) -> Incast:
    """Have hosts send to the first by iperf3."""
    servers: list[subprocess.Popen[bytes]] = []
    clients: list[subprocess.Popen[str]] = []
    look = _Queue(made.switch)
    try:
        for host in range(1, senders + 1):
            words = ["iperf3", "-s", "-1", "-p", str(_FIRST_SERVER + host)]
            servers.append(subprocess.Popen(Network.inside(made.hosts[0], words), stdout=subprocess.DEVNULL))  # noqa: S603
        time.sleep(0.5)
        for host in range(1, senders + 1):
            words = ["iperf3", "-J", "-c", to, "-p", str(_FIRST_SERVER + host), "-C", control, "-O", "1"]
            words += ["-t", str(round(seconds)), "-P", str(flows)]
            inside = Network.inside(made.hosts[host], words)
            clients.append(subprocess.Popen(inside, stdout=subprocess.PIPE, text=True))  # noqa: S603
        time.sleep(1.5)
        look.start()
        told = [client.communicate(timeout=seconds + _PATIENCE_S)[0] for client in clients]
    finally:
        look.stop()
        everyone: list[subprocess.Popen[bytes] | subprocess.Popen[str]] = [*clients, *servers]
        for process in everyone:
            process.kill()
            process.wait()
    ends = [json.loads(text).get("end", {}).get("sum_received") for text in told]
    if not all(ends):
        raise UnavailableError(f"iperf3 with {control}: {told[0][-200:].strip()}")
    mean, p99 = look.figures()
    return Incast([end["bits_per_second"] / 1e6 for end in ends], mean, p99)


class _Queue:
    """Looks at the queue of the switch's port to the first host, until it is stopped."""

    def __init__(self, switch: str) -> None:
        self._command = ["tc", "-s", "-j", "-n", switch, "qdisc", "show", "dev", "p0"]
        self._found: list[int] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def figures(self) -> tuple[float, float]:
        found = sorted(self._found) or [0]
        return fmean(found), found[int((len(found) - 1) * 0.99)]

    def _look(self) -> None:
        # Without the last half second, in which flows end one by one.
        while not self._stopped.wait(_LOOK_S):
            queues = json.loads(run(self._command))
            self._found.append(
                sum(int(queue.get("backlog", 0)) for queue in queues if queue["kind"] == "tbf")
            )
        del self._found[-int(0.5 / _LOOK_S) :]
