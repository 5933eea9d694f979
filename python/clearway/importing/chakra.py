"""Chakra's execution traces: a file of nodes for each rank, as ASTRA-sim takes them.

`prefix.0.et`, `prefix.1.et` and so on belong together, and one of them, or the prefix, stands for all. They
may be compressed (gzip). Read as schema/protobuf/et_def.proto of mlcommons/chakra has them, and as the feeder
of ASTRA-sim takes them: any type of integer is good, and both data and control dependencies are waited for.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path

from clearway.errors import ClearwayError, reason
from clearway.files import LARGEST_TEXT
from clearway.importing import protobuf
from clearway.importing.chakra_jobs import job_of, remarks_on
from clearway.importing.chakra_trace import Node, Trace
from clearway.importing.parts import Choices, Format, Workload, counted
from clearway.importing.source import Source

_NAME = re.compile(r"(?P<prefix>.*)\.(?P<rank>\d{1,7})\.et(?P<packed>\.gz)?")
_VERSION = re.compile(rb"[0-9A-Za-z.+_-]{1,30}")
_GZIP = b"\x1f\x8b"
_SIGNED = (7, 9, 15, 17, 23, 25)
_ZIGZAG = (15, 17)
_BITS = {23: 32}
_INTEGERS = (7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27)
_BOOLS, _TEXT = 28, 29


def first_of(path: Path) -> Path | None:
    """Return the first rank's file of a prefix, `None` if there is none."""
    names = (f"{path.name}.0.et", f"{path.name}.0.et.gz")
    return next((found for name in names if (found := path.with_name(name)).is_file()), None)


def _recognises(source: Source) -> bool:
    data = source.data[:4096]
    if data.startswith(_GZIP):
        return _NAME.fullmatch(source.path.name) is not None
    try:
        length, start = protobuf.varint(data, 0, len(data))
    except protobuf.WireError:
        return False
    head = data[start : start + 2]
    if len(head) < 2 or length < 2:
        return False
    # The metadata: a version, or attributes, each of which begins with its name.
    is_version = head[0] == 0x0A and head[1] <= length - 2 and _VERSION.match(data, start + 2) is not None
    return is_version or (head[0] == 0x12 and b"\x0a" in data[start + 2 : start + 6])


def _read(source: Source, _: Choices) -> Workload:
    paths = _files_of(source)
    traces = [
        _trace(source if path == source.path else Source(path), rank) for rank, path in enumerate(paths)
    ]
    nodes = sum(len(trace.nodes) for trace in traces)
    match = _NAME.fullmatch(source.path.name)
    name = match["prefix"] if match else source.path.stem
    part = Workload(source, counted(ranks=len(traces), nodes=nodes), ranks=len(traces))
    part.files = {path.absolute() for path in paths}
    remarks_on(part, traces)
    part.make = lambda context: job_of(name, part, traces, context)
    return part


def _files_of(source: Source) -> Sequence[Path]:
    """Return the files of all ranks, in order."""
    match = _NAME.fullmatch(source.path.name)
    if match is None:
        raise source.error(
            1,
            "its name does not say which rank it is of",
            "name the files of the ranks prefix.0.et, prefix.1.et and so on",
        )
    found: dict[int, Path] = {}
    for path in _listed(source.path.parent):
        other = _NAME.fullmatch(path.name)
        if not other or other["prefix"] != match["prefix"] or not path.is_file():
            continue
        if (twin := found.setdefault(int(other["rank"]), path)) != path:
            raise ClearwayError(f"{path}: is a second file of its rank, beside {twin}", "remove one")
    missing = next(rank for rank in range(len(found) + 1) if rank not in found)
    if missing != len(found):
        folder = source.path.parent / f"{match['prefix']}.{missing}.et"
        raise ClearwayError(
            f"{folder}: is missing, and there are {len(found)} files of other ranks",
            "take the files of all ranks, from 0 on",
        )
    return [source.path if path == source.path else path for _, path in sorted(found.items())]


def _listed(folder: Path) -> list[Path]:
    """Return what is in a folder, by name."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise ClearwayError(f"{folder}: cannot be read: {reason(error)}", "check the path") from error


def _trace(source: Source, rank: int) -> Trace:
    """Read the nodes of one rank."""
    data = _unpacked(source)
    at, number = 0, 0
    nodes: dict[int, Node] = {}
    while at < len(data):
        what = f"node {number - 1} of the file" if number else "the metadata"
        try:
            message, end = protobuf.read(data, at)
            node = _node(message) if number else None
        except protobuf.WireError as error:
            raise ClearwayError(
                f"{source.name}: {what}, at byte {at}: {error}",
                "the file is cut short or damaged: take the whole",
            ) from None
        if node is not None and nodes.setdefault(node.number, node) is not node:
            raise Trace(source.name, rank, nodes).error(
                node, "its id is that of another node", "make the trace anew: ids are to be different"
            )
        at, number = end, number + 1
    if not number:
        raise ClearwayError(f"{source.name}: is empty", "take the whole file")
    return Trace(source.name, rank, nodes)


def _unpacked(source: Source) -> bytes:
    if not source.data.startswith(_GZIP):
        return source.data
    try:
        with gzip.GzipFile(fileobj=BytesIO(source.data)) as file:
            data = file.read(LARGEST_TEXT + 1)
    except (OSError, EOFError, zlib.error):
        raise ClearwayError(
            f"{source.name}: its compression ends in the middle, or is damaged", "take the whole file"
        ) from None
    if len(data) > LARGEST_TEXT:
        raise ClearwayError(
            f"{source.name}: has more than {LARGEST_TEXT:,} bytes", "take a part of the trace"
        )
    return data


def _node(message: protobuf.Message) -> Node:
    waits = [*message.integers(4), *message.integers(5)]
    inputs = next(message.messages(8), None)
    return Node(
        message.integer(1),
        message.text(2),
        message.integer(3),
        list(dict.fromkeys(waits)),
        message.integer(7),
        dict(_attributes(message)),
        inputs.text(1) if inputs else "",
    )


def _attributes(message: protobuf.Message) -> Iterator[tuple[str, int | str | list[bool]]]:
    for attribute in message.messages(10):
        name = attribute.text(1)
        fields: Mapping[int, list[int | bytes]] = attribute.fields
        if any(field in fields for field in _INTEGERS):
            field = next(field for field in _INTEGERS if field in fields)
            yield name, _signed(field, attribute.integer(field))
        elif _TEXT in fields:
            yield name, attribute.text(_TEXT)
        elif _BOOLS in fields:
            yield name, [bool(each) for inner in attribute.messages(_BOOLS) for each in inner.integers(1)]


def _signed(field: int, value: int) -> int:
    """Return the value of an integer as its type means it."""
    if field in _ZIGZAG:
        return (value >> 1) ^ -(value & 1)
    bits = _BITS.get(field, 64)
    return value - (1 << bits) if field in _SIGNED and value >> (bits - 1) else value


FORMAT = Format("chakra", "execution traces of Chakra (.et)", _recognises, _read)
