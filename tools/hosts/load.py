"""Bulk TCP flows through a network, by iperf3, and what becomes of them."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.network import SERVER_ADDRESS, Network
from tools.hosts.samples import Transfer, jain, sockets, transfer

_MOST_FLOWS = 128  # of one iperf3
_FIRST_PORT = 5201
_PATIENCE_S = 30.0  # for what is still on its way when the time is over
_INTERVAL_S = 0.1  # between two looks at the sockets

Process: TypeAlias = "subprocess.Popen[str]"


@dataclass(frozen=True)
class Sample:
    """All data sockets of the client at one time."""

    time_s: float
    srtt_ms: float
    """Their mean."""
    acked_bytes: int
    """What all of them together have had acknowledged so far."""


@dataclass(frozen=True)
class Outcome:
    """What a load came to."""

    control: str
    goodput_mbps: float
    """Of all flows together, from the first look at them to the last before iperf3 ends."""
    flow_mbps: tuple[float, ...]
    """What iperf3 says that its receiver got, a figure a flow."""
    retransmissions: int
    drops: int
    """At the bottleneck."""
    samples: tuple[Sample, ...]

    @property
    def jain(self) -> float:
        """The index of fairness of the flows' goodputs."""
        return jain(self.flow_mbps)

    @property
    def srtt_ms(self) -> float:
        """The smoothed round trip, its mean over sockets and time."""
        return fmean(sample.srtt_ms for sample in self.samples) if self.samples else float("nan")

    @property
    def least_share(self) -> float:
        """What the flow that got the least has of the mean."""
        mean = fmean(self.flow_mbps)
        return min(self.flow_mbps) / mean if mean else 0.0


def goodput_mbps(samples: Sequence[Sample], seconds: float) -> float:
    """Return the goodput of what was sampled in a time.

    iperf3 adds what the queue still held when its time was over: some percent, where there are many flows.
    """
    within = [sample for sample in samples if sample.time_s <= seconds]
    if len(within) < 2:
        return float("nan")
    first, last = within[0], within[-1]
    return (last.acked_bytes - first.acked_bytes) * 8e-6 / (last.time_s - first.time_s)


def load(through: Network, control: str, flows: int, seconds: int) -> Outcome:
    """Send bulk data from client to server; raise `UnavailableError` where that is not possible."""
    demand("iperf3", "ss")
    shares = _shares(flows)
    before = through.drops()
    with ExitStack() as open_now:
        ports = range(_FIRST_PORT, _FIRST_PORT + len(shares))
        for port in ports:
            open_now.enter_context(_server(through.server, port))
        _await_servers(through.server, len(shares))
        clients = [
            open_now.enter_context(_client(through.client, control, port, share, seconds))
            for port, share in zip(ports, shares, strict=True)
        ]
        samples = open_now.enter_context(_watched(through.client, control))
        transfers = [_finished(client, seconds + _PATIENCE_S) for client in clients]
    return Outcome(
        control,
        goodput_mbps(samples, seconds),
        tuple(share for each in transfers for share in each.flow_mbps),
        sum(each.retransmissions for each in transfers),
        through.drops() - before,
        tuple(samples),
    )


def _shares(flows: int) -> list[int]:
    """Return how many flows each iperf3 has, the same but for one."""
    processes = -(-flows // _MOST_FLOWS)
    return [flows // processes + (place < flows % processes) for place in range(processes)]


@contextmanager
def _started(command: Sequence[str], output: int = subprocess.PIPE) -> Iterator[Process]:
    """Run a program beside the body; it does not outlive it."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=output, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _inside(namespace: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


def _server(namespace: str, port: int) -> AbstractContextManager[Process]:
    # What it prints, nobody reads: a pipe would fill up.
    return _started(_inside(namespace, "iperf3", "-s", "-p", str(port)), subprocess.DEVNULL)


def _client(
    namespace: str, control: str, port: int, flows: int, seconds: int
) -> AbstractContextManager[Process]:
    to = ("-c", SERVER_ADDRESS, "-p", str(port))
    # One interval: what it would print about the others costs processor time.
    how = ("-C", control, "-P", str(flows), "-t", str(seconds), "-i", "0", "-J")
    return _started(_inside(namespace, "iperf3", *to, *how))


def _await_servers(namespace: str, count: int) -> None:
    """Return when these many listen."""
    for _ in range(200):
        if len(run(["ss", "-N", namespace, "-tlnH"]).splitlines()) >= count:
            return
        time.sleep(0.02)
    raise UnavailableError("iperf3 -s does not listen")


def _finished(client: Process, patience_s: float) -> Transfer:
    try:
        told, _ = client.communicate(timeout=patience_s)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"iperf3 was not done after {patience_s:g} s") from error
    return transfer(told)


@contextmanager
def _watched(namespace: str, control: str) -> Iterator[list[Sample]]:
    """Look at the sockets while the body runs, and leave what was seen in the list."""
    samples: list[Sample] = []
    over = threading.Event()
    start = time.monotonic()

    def watch() -> None:
        # A look that waits for a processor would be of another time than it says; `ss` inherits this.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        while not over.wait(_INTERVAL_S):
            before = time.monotonic()
            # iperf3's own connection is not among them: it has the namespace's congestion control.
            seen = sockets(run(["ss", "-N", namespace, "-tinOH", "state", "established"]), [control])
            if seen:
                now = (before + time.monotonic()) / 2 - start
                acked = sum(socket.acked_bytes for socket in seen)
                samples.append(Sample(now, fmean(socket.srtt_ms for socket in seen), acked))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield samples
    finally:
        over.set()
        watcher.join()
