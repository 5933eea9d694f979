"""Two hosts and a relay between them on one machine: three namespaces.

switch (a) ── l0  relay  r0 ── far (b)        both hosts are in one network, as if the relay were a cable
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tools.hosts import frames
from tools.hosts.frames import ADDRESSES, DEVICE
from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.swift import DAEMON

LOCAL, REMOTE = "l0", "r0"
_SERIAL = itertools.count()
# By its path, so that it runs from any directory.
_PROGRAM = (sys.executable, frames.__file__)


@dataclass(frozen=True)
class Wire:
    """The names of the three namespaces."""

    switch: str
    relay: str
    far: str


@contextmanager
def wire() -> Iterator[Wire]:
    """Make the namespaces for as long as the body runs; nothing passes between the hosts yet."""
    demand("ip", "tc")
    name = f"cr{os.getpid()}{'abcdefgh'[next(_SERIAL) % 8]}"
    made = Wire(f"{name}a", f"{name}r", f"{name}b")
    try:
        for each in (made.switch, made.relay, made.far):
            run(["ip", "netns", "add", each])
            run(f"ip -n {each} link set lo up".split())
        for host, port, address in ((made.switch, LOCAL, ADDRESSES[0]), (made.far, REMOTE, ADDRESSES[1])):
            run(f"ip -n {host} link add {DEVICE} type veth peer name {port} netns {made.relay}".split())
            for namespace, device in ((host, DEVICE), (made.relay, port)):
                run(f"ip -n {namespace} link set dev {device} addrgenmode none".split())
                run(f"ip -n {namespace} link set {device} up".split())
            run(f"ip -n {host} addr add {address}/24 dev {DEVICE}".split())
        yield made
    finally:
        for each in (made.switch, made.relay, made.far):
            with suppress(UnavailableError):  # of one that was not made
                run(["ip", "netns", "delete", each])


def redirected(through: Wire) -> None:
    """Have the kernel pass everything from one port to the other: what a relay is held against."""
    for here, there in ((LOCAL, REMOTE), (REMOTE, LOCAL)):
        run(f"tc -n {through.relay} qdisc replace dev {here} clsact".split())
        # Of classifiers a kernel may have no other than this; its program matches whatever comes.
        every = f"tc -n {through.relay} filter add dev {here} ingress protocol all prio 1 bpf bytecode"
        action = f"action mirred egress redirect dev {there}"
        run([*every.split(), "1,6 0 0 4294967295,", *action.split()])


def inside(namespace: str, *command: str) -> list[str]:
    """Return the command that runs another one in a namespace."""
    return ["ip", "netns", "exec", namespace, *command]


def started(namespace: str, *words: str) -> subprocess.Popen[str]:
    """Start this module's program in a namespace."""
    command = inside(namespace, *_PROGRAM, *words)
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our own


def round_trips_us(through: Wire, count: int) -> list[float]:
    """Return the round trips from the switch to the far end and back, in the lossless priority."""
    with started(through.far, "answer", "2") as answering:
        assert answering.stdout is not None
        answering.stdout.readline()
        try:
            return [float(line) for line in run(inside(through.switch, *_PROGRAM, "ask", str(count))).split()]
        finally:
            answering.kill()


@contextmanager
def relay(through: Wire, config: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Run a relay between the two ports beside the body, and end it in order."""
    ends = ("--local", LOCAL, "--remote", REMOTE)
    command = inside(through.relay, str(DAEMON), "relay", *ends, "--config", str(config), *options)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert process.stdout is not None
        if not process.stdout.readline().startswith("relaying"):
            raise UnavailableError(process.communicate()[1])
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
