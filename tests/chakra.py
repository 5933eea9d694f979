"""Traces of Chakra for tests: the wire format written by hand, apart from its reader."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER, BLOCK, BARRIER = (
    range(10)
)

MIB = 1 << 20
METADATA = b"\x07\n\x050.0.4"

INTEGER_FIELDS = {
    "int32": 7,
    "int64": 9,
    "uint32": 11,
    "uint64": 13,
    "sint32": 15,
    "sint64": 17,
    "fixed32": 19,
    "fixed64": 21,
    "sfixed32": 23,
    "sfixed64": 25,
    "bool": 27,
}


def varint(value: int) -> bytes:
    value %= 1 << 64
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def integer(kind: str, value: int) -> bytes:
    """The field of an attribute that holds a number of some type."""
    number = INTEGER_FIELDS[kind]
    if kind.startswith("sint"):
        return field(number, value << 1 if value >= 0 else (-value << 1) - 1)
    if "fixed" in kind:
        size = int(kind[-2:]) // 8
        return varint(number << 3 | (5 if size == 4 else 1)) + value.to_bytes(
            size, "little", signed="s" in kind
        )
    return field(number, value)


def attribute(name: str, value: int | str | bool | Sequence[bool], kind: str = "int64") -> bytes:
    if isinstance(value, str):
        content = field(29, value)
    elif isinstance(value, bool):
        content = field(27, int(value))
    elif isinstance(value, int):
        content = integer(kind, value)
    else:
        content = field(28, field(1, bytes(map(int, value))))
    return field(10, field(1, name) + content)


def node(
    number: int,
    kind: int,
    *,
    data: Sequence[int] = (),
    control: Sequence[int] = (),
    micros: int = 0,
    inputs: str = "",
    name: str = "",
    type_of: str = "int64",
    **attributes: int | str | bool | Sequence[bool],
) -> bytes:
    """A node with its length in front; data dependencies are packed, control dependencies are not."""
    content = field(1, number) + field(2, name or f"n{number}") + field(3, kind)
    content += b"".join(field(4, each) for each in control)
    content += field(5, b"".join(map(varint, data))) if data else b""
    content += field(7, micros) if micros else b""
    content += field(8, field(1, inputs)) if inputs else b""
    content += b"".join(attribute(key, value, type_of) for key, value in attributes.items())
    return varint(len(content)) + content


def write(
    folder: Path, ranks: Sequence[Sequence[bytes]], prefix: str = "trace", *, packed: bool = False
) -> None:
    """Write a file for each rank."""
    for rank, nodes in enumerate(ranks):
        data = METADATA + b"".join(nodes)
        (folder / f"{prefix}.{rank}.et").write_bytes(gzip.compress(data) if packed else data)


def one_collective(kind: int, size: int | None = MIB, ranks: int = 4, **more: Any) -> list[list[bytes]]:
    """A collective of all ranks, a node in each trace."""
    sizes: dict[str, Any] = {} if size is None else {"comm_size": size}
    return [[node(rank, COLLECTIVE, comm_type=kind, **sizes, **more)] for rank in range(ranks)]
