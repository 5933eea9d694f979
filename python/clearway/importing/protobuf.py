"""Protocol buffers on the wire: messages one behind the other, and the fields of each.

Chakra's traces need three small messages of it. They are read here, in place of a package that has to fit the
version of the code that was generated for it. Fields that nobody asks for are passed over.
Source: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED = {_FIXED64: 8, _FIXED32: 4}
_MOST_BYTES = 10  # of a number of 64 bits, seven in each


class WireError(Exception):
    """Bytes that are no message; the text says why."""


@dataclass(frozen=True, slots=True)
class Message:
    """The fields of a message: all values of each number, in their order."""

    fields: dict[int, list[int | bytes]]

    def integers(self, field: int) -> Sequence[int]:
        """Return the integers of a field, whether they are packed into one value or not."""
        found: list[int] = []
        for value in self.fields.get(field, ()):
            if isinstance(value, int):
                found.append(value)
                continue
            at = 0
            while at < len(value):
                each, at = varint(value, at, len(value))
                found.append(each)
        return found

    def integer(self, field: int) -> int:
        """Return the integer of a field, 0 if it is not there; the last one counts."""
        return next((each for each in reversed(self.fields.get(field, [])) if isinstance(each, int)), 0)

    def text(self, field: int) -> str:
        """Return the text of a field, which is empty where the field is not there."""
        found = (each for each in reversed(self.fields.get(field, [])) if isinstance(each, bytes))
        return next(found, b"").decode("utf-8", "replace")

    def messages(self, field: int) -> Iterator[Message]:
        """Iterate over the messages of a field."""
        for value in self.fields.get(field, ()):
            if isinstance(value, bytes):
                yield Message(_fields(value, 0, len(value)))


def read(data: bytes, at: int) -> tuple[Message, int]:
    """Read the message, with its length in front, that begins at a byte; return it, and where it ends.

    Raises `WireError` where a length leads beyond the end, or a field is none.
    """
    length, start = varint(data, at, len(data))
    if start + length > len(data):
        raise WireError(f"a message of {length} bytes ends after {len(data) - start}")
    return Message(_fields(data, start, start + length)), start + length


def _fields(data: bytes, at: int, end: int) -> dict[int, list[int | bytes]]:
    fields: dict[int, list[int | bytes]] = {}
    while at < end:
        key, at = varint(data, at, end)
        field, kind = key >> 3, key & 7
        value: int | bytes
        if kind == _VARINT:
            value, at = varint(data, at, end)
        elif field and (kind == _BYTES or kind in _FIXED):
            length, at = (_FIXED[kind], at) if kind in _FIXED else varint(data, at, end)
            if at + length > end:
                raise WireError(f"a field of {length} bytes ends after {end - at}")
            value, at = data[at : at + length], at + length
            value = int.from_bytes(value, "little") if kind in _FIXED else value
        else:
            raise WireError(f"no field begins with {key}")
        fields.setdefault(field, []).append(value)
    return fields


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Read a number of at most 64 bits; return it, and where it ends."""
    value = 0
    for place in range(_MOST_BYTES):
        if at + place >= end:
            raise WireError("a number ends in the middle")
        value |= (data[at + place] & 127) << 7 * place
        if data[at + place] < 128:
            return value & (1 << 64) - 1, at + place + 1
    raise WireError("a number has more than 64 bits")
