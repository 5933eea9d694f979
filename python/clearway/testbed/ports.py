"""What the ports of a local testbed's switch do, sampled in its namespace.

As a program it writes samples to a file until it is told to end: `python ports.py FILE`. It runs in another
namespace than who starts it, and asks the kernel itself (rtnetlink), as that takes a tenth of a millisecond
where a run of `tc` takes several.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path

EVERY_S = 0.01
"""The time between two samples, in seconds; longer where they would take more than a part of a core."""
PART = 1 / 20
"""The part of a core that samples take at most."""
SAMPLE = struct.Struct("<qIIQII")
"""A sample: the monotonic clock in nanoseconds, the number of the host that the port leads to, frames sent,
their bytes as the kernel counts them, bytes that wait, frames dropped."""

_GET_QDISC, _NEW_QDISC, _DONE, _ERROR = 38, 36, 3, 2
_REQUEST_DUMP = 0x301
_HEADER = struct.Struct("=IHHII")
_MESSAGE = struct.Struct("=BxxxiIII")  # struct tcmsg
_ATTRIBUTE = struct.Struct("=HH")
_STATS2, _BASIC, _QUEUE = 7, 1, 3
_ROOT = 0xFFFFFFFF
_RECEIVED_BYTES = 1 << 20


def samples(netlink: socket.socket, hosts: dict[int, int]) -> Iterator[bytes]:
    """Ask the kernel once, and return a sample of each port; `hosts` are known by the ports' numbers."""
    netlink.send(
        _HEADER.pack(_HEADER.size + _MESSAGE.size, _GET_QDISC, _REQUEST_DUMP, 1, 0) + bytes(_MESSAGE.size)
    )
    now = time.monotonic_ns()
    while True:
        data = netlink.recv(_RECEIVED_BYTES)
        at = 0
        while at + _HEADER.size <= len(data):
            length, kind, *_ = _HEADER.unpack_from(data, at)
            if kind in (_DONE, _ERROR) or length < _HEADER.size:
                return
            if kind == _NEW_QDISC:
                _, port, _, parent, _ = _MESSAGE.unpack_from(data, at + _HEADER.size)
                if parent == _ROOT and port in hosts:
                    counts = _counts(data, at + _HEADER.size + _MESSAGE.size, at + length)
                    yield SAMPLE.pack(now, hosts[port], *counts)
            at += _aligned(length)


def _counts(data: bytes, start: int, end: int) -> tuple[int, int, int, int]:
    """Return frames and bytes sent, bytes that wait, and drops."""
    count = octets = waiting = drops = 0
    for kind, first, last in _attributes(data, start, end):
        if kind != _STATS2:
            continue
        for inner, begin, _ in _attributes(data, first, last):
            if inner == _BASIC:
                octets, count = struct.unpack_from("=QI", data, begin)
            elif inner == _QUEUE:
                _, waiting, drops = struct.unpack_from("=III", data, begin)
    return count, octets, waiting, drops


def _attributes(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Return the kind of each attribute, and from where to where its value is."""
    while start + _ATTRIBUTE.size <= end:
        length, kind = _ATTRIBUTE.unpack_from(data, start)
        if length < _ATTRIBUTE.size:
            return
        yield kind & 0x3FFF, start + _ATTRIBUTE.size, start + length
        start += _aligned(length)


def _aligned(length: int) -> int:
    return (length + 3) & ~3


def sample_until_told(file: Path) -> None:
    """Write samples every `EVERY_S` until SIGTERM comes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    hosts = {
        number: int(name[1:])
        for number, name in socket.if_nameindex()
        if name[:1] == "p" and name[1:].isdigit()
    }
    out = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        following = time.monotonic()
        while True:
            before = time.process_time()
            os.write(out, b"".join(samples(netlink, hosts)))
            following += max(EVERY_S, (time.process_time() - before) / PART)
            now = time.monotonic()
            following = max(following, now)  # one that came late is not made up for
            time.sleep(following - now)


if __name__ == "__main__":
    sample_until_told(Path(sys.argv[1]))
