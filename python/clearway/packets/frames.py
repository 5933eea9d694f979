"""Packets as bytes: Ethernet, IPv4, UDP and the simulator's header; control packets of Fastpass; PFC frames.

The header has 36 bytes and the layout of Swift's (`crates/proto/src/swift/header.rs`); of every transport
the same. Numbers are in network byte order.

| offset | bytes | what |
|-------:|------:|------|
| 0 | 1 | version 1 (high four bits), kind (low four): see `KINDS` |
| 1 | 1 | flags: bit 0 ends a message, bit 1 the packet that this acknowledges was marked |
| 2 | 1 | acknowledgement: switches that the packet passed |
| 3 | 1 | why the frame was lost: see `REASONS`; 0 if it was not |
| 4 | 4 | flow; all ones of what is of no flow |
| 8 | 4 | packet, or the one that this answers |
| 12 | 4 | data: bytes of payload; acknowledgement: first packet that has not arrived; credit: 256 B granted |
| 16 | 8 | when the packet was given out, or that which this answers, in ps |
| 24 | 8 | acknowledgement: arrivals above, bit 0 for the second packet not below |
| 32 | 4 | acknowledgement: what the packet waited in the remote host, in us |

A frame comes from the link's beginning and goes to its end by its Ethernet addresses, 02:00 and the node's
number, and between the packet's two ends by its IPv4 addresses, 10.0.0.1 for node 0 and so on. The class is
in DSCP as a class selector, ECN is as simulated, and each link takes one from a TTL of 64.

Behind the IPv4 header of a control packet is FCP (`crates/proto/src/fastpass/fcp/header/mod.rs`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from clearway.packets.record import Integers, PacketRecord

_KINDS = (
    "data",
    "ack",
    "header",
    "nack",
    "cnp",
    "credit",
    "probe",
    "echo",
)
KINDS: Mapping[str, int] = {name: number for number, name in enumerate(_KINDS, 1)}
"""The numbers of what a frame with the simulator's header may be."""
REASONS: Mapping[str, int] = {
    name: number for number, name in enumerate(("no room", "on the link", "dead", "no way", "at the host"), 1)
}
"""The numbers of the reasons for which frames are lost."""
PORT = 61000
"""The UDP port of receivers, from which Wireshark knows the simulator's header."""
FIRST_SENDER = 49152
"""The UDP port of the sender of flow 0."""
_SENDERS = 10_000  # ports of these, which flows share from there on

ETHERNET = 14
IP = 20
CAPTURED = ETHERNET + IP + 8 + 36
"""Bytes of a frame's headers, of which the file has all."""
PFC_BYTES = 60
"""Bytes of a PFC frame without its check sequence."""
_PAUSE_QUANTUM_BITS = 512
_MOST = 0xFFFF
_NO_FLOW = 0xFFFFFFFF
_VERSION = 0x10
_TTL = 64
_DO_NOT_FRAGMENT = 0x4000
_UDP = 17
_FCP = 222  # that of the authors' release of Fastpass

_MAC = [("mac", ">u2"), ("node", ">u4")]
_INTERNET = [
    ("to", _MAC),
    ("from", _MAC),
    ("type", ">u2"),
    ("ip", "u1"),
    ("tos", "u1"),
    ("length", ">u2"),
    ("id", ">u2"),
    ("fragment", ">u2"),
    ("ttl", "u1"),
    ("protocol", "u1"),
    ("checksum", ">u2"),
    ("source", ">u4"),
    ("destination", ">u4"),
]
INTERNET = np.dtype(_INTERNET)
HEADERS = np.dtype(
    [
        *_INTERNET,
        ("source_port", ">u2"),
        ("destination_port", ">u2"),
        ("udp_length", ">u2"),
        ("udp_checksum", ">u2"),
        ("kind", "u1"),
        ("flags", "u1"),
        ("hops", "u1"),
        ("lost", "u1"),
        ("flow", ">u4"),
        ("seq", ">u4"),
        ("payload", ">u4"),
        ("sent", ">u8"),
        ("sack", ">u8"),
        ("remote", ">u4"),
    ]
)
PFC = np.dtype(
    [
        ("to", _MAC),
        ("from", _MAC),
        ("type", ">u2"),
        ("opcode", ">u2"),
        ("classes", ">u2"),
        ("quanta", ">u2", (8,)),
        ("rest", "u1", (26,)),
    ]
)
assert (INTERNET.itemsize, HEADERS.itemsize, PFC.itemsize) == (ETHERNET + IP, CAPTURED, PFC_BYTES)


def lengths(record: PacketRecord, chosen: Integers, least: Integers | int = CAPTURED) -> Integers:
    """Return the bytes of these frames without check sequence, preamble and gap.

    A frame that is simulated as smaller than its headers has the size of these.
    """
    whole = ETHERNET + record.rows["wire_bytes"][chosen].astype(np.int64) - record.framing
    longest: Integers = np.maximum(whole, least)
    return longest


def headers(record: PacketRecord, chosen: Integers) -> NDArray[np.void]:
    """Return the headers of these packets, none of which is a PAUSE or a control packet of Fastpass."""
    of = {name: record.rows[name][chosen] for name in record.rows}
    made = np.zeros(len(chosen), HEADERS)
    kind = np.array([KINDS[name] for name in of["kind"].tolist()], np.uint8)
    answers = np.isin(of["kind"], ("ack", "nack", "cnp", "credit", "echo"))
    flow = np.where(np.isnan(of["flow"]), 0, of["flow"]).astype(np.int64)
    length = lengths(record, chosen) - ETHERNET
    # A frame that is longer than IPv4 can say has 0 there, as of cards that cut packets up themselves.
    said = np.where(length > _MOST, 0, length)
    _internet(record, chosen, made, said, _UDP)
    sender = FIRST_SENDER + flow % _SENDERS
    made["source_port"] = np.where(answers, PORT, sender)
    made["destination_port"] = np.where(answers, sender, PORT)
    made["udp_length"] = np.where(said == 0, 0, said - 20)
    made["kind"] = _VERSION | kind
    made["flags"] = of["last"] | of["echo"] << np.uint64(1)
    made["hops"] = of["echoed_hops"]
    made["lost"] = [REASONS.get(why, 0) for why in of["lost"].tolist()]
    made["flow"] = np.where(np.isnan(of["flow"]), _NO_FLOW, flow)
    made["seq"] = of["seq"]
    made["payload"] = np.where(of["kind"] == "data", of["payload_bytes"], of["cumulative"])
    made["sent"] = of["sent_ps"]
    made["sack"] = of["sack"]
    made["remote"] = of["remote_queuing_us"]
    return made


def control(record: PacketRecord, chosen: Integers) -> list[bytes]:
    """Return these control packets of Fastpass without padding; the headers, where a run has no more."""
    contents = [record.control.get(at, b"") for at in chosen.tolist()]
    made = np.zeros(len(chosen), INTERNET)
    size = IP + np.array([len(content) for content in contents], np.int64)
    unknown = lengths(record, chosen, ETHERNET + IP) - ETHERNET
    _internet(record, chosen, made, np.where(size > IP, size, unknown), _FCP)
    return [head.tobytes() + content for head, content in zip(made, contents, strict=True)]


def pauses(record: PacketRecord, chosen: Integers) -> NDArray[np.void]:
    """Return these packets, which are PAUSEs and RESUMEs, as PFC frames (IEEE 802.1Qbb)."""
    made = np.zeros(len(chosen), PFC)
    _address(record, chosen, made)
    made["to"] = (0x0180, 0xC2000001)
    made["type"] = 0x8808
    made["opcode"] = 0x0101
    classes = record.classes()[chosen] & 7
    made["classes"] = 1 << classes
    time = record.rows["sent_ps"][chosen].tolist()
    rates = record.rates[record.link[chosen]].tolist()
    made["quanta"][np.arange(len(chosen)), classes] = [
        min(_covering(held, rate), _MOST) for held, rate in zip(time, rates, strict=True)
    ]
    return made


def _covering(held: int, rate: int) -> int:
    """Return the fewest quanta of 512 bits that last that many picoseconds at this rate."""
    bits = -(-held * rate // 10**12)
    return -(-bits // _PAUSE_QUANTUM_BITS)


def _internet(
    record: PacketRecord, chosen: Integers, made: NDArray[np.void], length: Integers, protocol: int
) -> None:
    """Write the Ethernet and IPv4 headers of packets that have this many bytes with the latter."""
    _address(record, chosen, made)
    of = {name: record.rows[name][chosen] for name in ("hops", "lost", "ecn")}
    made["type"] = 0x0800
    made["ip"] = 0x45
    made["tos"] = (record.classes()[chosen] & 7) << 5 | of["ecn"].astype(np.int64)
    made["length"] = length
    made["fragment"] = _DO_NOT_FRAGMENT
    crossed = of["hops"].astype(np.int64) - np.where(of["lost"] == "", 1, 0)
    made["ttl"] = np.maximum(_TTL - crossed, 1)
    made["protocol"] = protocol
    made["source"] = _ip(record.nodes_of("from")[chosen])
    made["destination"] = _ip(record.nodes_of("to")[chosen])
    made["checksum"] = _checksum(made)


def _address(record: PacketRecord, chosen: Integers, made: NDArray[np.void]) -> None:
    """Write the addresses of the two ends of each link."""
    link = record.link[chosen]
    for field, ends in zip(("from", "to"), record.ends, strict=True):
        made[field]["mac"] = 0x0200
        made[field]["node"] = ends[link]


def _ip(nodes: Integers) -> Integers:
    return (10 << 24) + 1 + nodes


def _checksum(made: NDArray[np.void]) -> Integers:
    """Return the checksums of IPv4 headers in which theirs are still 0 (RFC 1071)."""
    raw = made.view(np.uint8).reshape(len(made), made.itemsize)[:, ETHERNET : ETHERNET + IP]
    words = np.ascontiguousarray(raw).view(">u2").astype(np.int64)
    sums: Integers = words.sum(axis=1)
    for _ in range(2):
        sums = (sums & _MOST) + (sums >> 16)
    return ~sums & _MOST
