"""A file that Wireshark reads: pcapng (draft-ietf-opsawg-pcapng), with an interface for each link.

Times are in picoseconds, which Wireshark rounds down to nanoseconds: when a frame's last bit arrived. The
file has the headers of a frame and says how long it was.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import groupby, islice

import numpy as np
from numpy.typing import NDArray

from clearway.packets import frames
from clearway.packets.record import Integers, PacketRecord

_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_BYTE_ORDER = 0x1A2B3C4D
_UNKNOWN_LENGTH = -1
_ETHERNET = 1
_COMMENT, _NAME, _SPEED, _RESOLUTION, _APPLICATION = 1, 2, 8, 9, 4
_IPV4_NAME = 1
_PICOSECONDS = 12  # as the power of ten
_AT_A_TIME = 50_000  # packets, whose bytes are made together


def capture(record: PacketRecord, version: str) -> bytes:
    """Return the file."""
    return b"".join(_blocks(record, version))


def _blocks(record: PacketRecord, version: str) -> Iterator[bytes]:
    options = _option(_COMMENT, record.said().encode()) + _option(
        _APPLICATION, f"Clearway {version}".encode()
    )
    yield _block(
        _SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, _UNKNOWN_LENGTH) + options + _option(0, b"")
    )
    used = np.unique(record.link)
    for link in used.tolist():
        yield _interface(record.links[link], int(record.rates[link]))
    if len(used):
        yield _names(record.nodes)
    interface = np.searchsorted(used, record.link)
    makers = np.where(record.is_pause, 1, np.where(record.is_control, 2, 0))
    for start in range(0, len(record.link), _AT_A_TIME):
        chosen = np.arange(start, min(start + _AT_A_TIME, len(record.link)))
        yield from _packets(record, chosen, interface, makers[chosen])


def _packets(
    record: PacketRecord, chosen: Integers, interface: Integers, makers: NDArray[np.int64]
) -> Iterator[bytes]:
    """Yield the blocks of these packets in their order, each made by that of `_MAKERS` with its number."""
    made = []
    for number, maker in enumerate(_MAKERS):
        of = chosen[makers == number]
        made.append(maker(record, of, interface[of]))
    for number, run in groupby(makers.tolist()):
        yield b"".join(islice(made[number], len(list(run))))


def _simulated(record: PacketRecord, chosen: Integers, interface: Integers) -> Iterator[bytes]:
    """Yield the blocks of packets with the simulator's header."""
    data, length = frames.headers(record, chosen), frames.lengths(record, chosen)
    return _enhanced(data, length, record.rows["time_ps"][chosen], interface)


def _pauses(record: PacketRecord, chosen: Integers, interface: Integers) -> Iterator[bytes]:
    """Yield the blocks of PAUSEs and RESUMEs."""
    length = np.full(len(chosen), frames.PFC_BYTES, np.int64)
    return _enhanced(frames.pauses(record, chosen), length, record.rows["time_ps"][chosen], interface)


def _control(record: PacketRecord, chosen: Integers, interface: Integers) -> Iterator[bytes]:
    """Yield the blocks of control packets of Fastpass, with the reason as a comment where one was lost."""
    data = frames.control(record, chosen)
    length = frames.lengths(record, chosen, np.array([len(one) for one in data], np.int64))
    time, lost = record.rows["time_ps"][chosen], record.rows["lost"][chosen]
    of = (data, length.tolist(), time.tolist(), interface.tolist(), lost.tolist())
    for content, size, at, place, why in zip(*of, strict=True):
        fixed = struct.pack("<5I", place, at >> 32, at & 0xFFFFFFFF, len(content), size)
        options = _option(_COMMENT, f"LOST ({why})".encode()) + _option(0, b"") if why else b""
        yield _block(_PACKET, fixed + content + b"\0" * (-len(content) % 4) + options)


_MAKERS = (_simulated, _pauses, _control)


def _enhanced(
    data: NDArray[np.void], length: Integers, time: NDArray[np.uint64], interface: Integers
) -> Iterator[bytes]:
    """Yield an Enhanced Packet Block for each frame, of which there are the first bytes."""
    captured = data.dtype.itemsize
    padding = -captured % 4
    block = np.dtype(
        [
            ("type", "<u4"),
            ("total", "<u4"),
            ("interface", "<u4"),
            ("high", "<u4"),
            ("low", "<u4"),
            ("captured", "<u4"),
            ("length", "<u4"),
            ("data", data.dtype),
            ("padding", "u1", (padding,)),
            ("again", "<u4"),
        ]
    )
    made = np.zeros(len(data), block)
    made["type"] = _PACKET
    made["total"] = made["again"] = block.itemsize
    made["interface"] = interface
    made["high"], made["low"] = time >> np.uint64(32), time & np.uint64(0xFFFFFFFF)
    made["captured"], made["length"] = captured, length
    made["data"] = data
    raw = made.tobytes()
    for at in range(0, len(raw), block.itemsize):
        yield raw[at : at + block.itemsize]


def _interface(name: str, rate: int) -> bytes:
    """Return the Interface Description Block of a link."""
    options = _option(_NAME, name.encode()) + _option(_SPEED, struct.pack("<Q", rate))
    options += _option(_RESOLUTION, bytes([_PICOSECONDS]))
    return _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, 0) + options + _option(0, b""))


def _names(nodes: list[str]) -> bytes:
    """Return the Name Resolution Block, which names the IPv4 address of each node."""
    records = b""
    for number, name in enumerate(nodes):
        said = struct.pack(">I", (10 << 24) + 1 + number) + name.encode() + b"\0"
        records += _option(_IPV4_NAME, said)
    return _block(_NAMES, records + _option(0, b""))


def _option(code: int, value: bytes) -> bytes:
    """Return an option, or a record of names, padded to four bytes."""
    return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    total = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + total + body + total
