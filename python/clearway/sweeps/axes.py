"""The axes of a `[sweep]` table: keys of a scenario, and the values they take together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway import documents
from clearway.errors import ClearwayError
from clearway.sweeps import ranges

_RESERVED = ("zip", "frontier")  # keys of the table that are no axes
Where = Callable[[str], str]
"""Says where a key of the table stands, or the table itself (no key), for messages."""


@dataclass(frozen=True)
class Axis:
    """Keys that change together, and their values, point by point."""

    keys: tuple[str, ...]
    values: Sequence[tuple[Any, ...]]


def axes_of(table: Mapping[str, Any], where: Where) -> list[Axis]:
    """Read the axes of a table; there is at least one, and they have no more points than are allowed."""
    axes = [
        Axis((key,), [(entry,) for entry in ranges.values(value, where(key))])
        for key, value in dotted({key: value for key, value in table.items() if key not in _RESERVED})
    ]
    axes += _zipped(table.get("zip", []), where)
    axes = [Axis(axis.keys, _distinct(axis.values)) for axis in axes]
    if not axes:
        raise ClearwayError(
            f"{where('')}: has no axis", 'for example "transport.bulk.base_target" = ["15us", "25us"]'
        )
    count = math.prod(len(axis.values) for axis in axes)
    if count > ranges.MOST_POINTS:
        factors = " x ".join(str(len(axis.values)) for axis in axes)
        raise ClearwayError(
            f"{where('')}: {factors} = {count:,} points, at most {ranges.MOST_POINTS:,} are allowed",
            "give fewer values, or split it into several files: finished points are shared",
        )
    return axes


def variants(axes: Sequence[Axis]) -> Iterator[dict[str, Any]]:
    """Yield the overrides of every combination; the last axis changes fastest."""
    for combination in itertools.product(*(axis.values for axis in axes)):
        yield {
            key: value
            for axis, values in zip(axes, combination, strict=True)
            for key, value in zip(axis.keys, values, strict=True)
        }


def _distinct(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Leave out what is there already: a seed given twice would count as two samples."""
    found: dict[str, tuple[Any, ...]] = {}
    for row in rows:
        found.setdefault(repr([_meaning(value) for value in row]), row)
    return list(found.values())


def _meaning(value: Any) -> Any:
    """Return something that is alike for values that are: "1ms" is "1000us", and 1 is "1"."""
    if isinstance(value, str):
        return documents.quantity(value) or value
    return documents.value_of(int(value) if isinstance(value, float) and value.is_integer() else value)


def _zipped(groups: Any, where: Where) -> Iterator[Axis]:
    """Read the tables `[[sweep.zip]]`: the keys of each change together."""
    if not isinstance(groups, list) or not all(isinstance(group, Mapping) for group in groups):
        raise ClearwayError(f"{where('zip')}: expected tables, each with its header [[sweep.zip]]")
    for group in groups:
        columns = {key: ranges.values(value, where(key)) for key, value in dotted(group)}
        lengths = {key: len(values) for key, values in columns.items()}
        if len(set(lengths.values())) != 1:
            counts = ", ".join(f"{key} {length}" for key, length in lengths.items())
            raise ClearwayError(
                f"{where(next(iter(columns), 'zip'))}: "
                f"expected lists of one length in a zip, found {counts or 'none'}"
            )
        yield Axis(tuple(columns), list(zip(*columns.values(), strict=True)))


def dotted(
    table: Mapping[str, Any], ends: Collection[str] = ranges.KEYS, prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values: TOML reads a dotted key without quotes as nested tables.

    A table with one of the keys in `ends` is a value.
    """
    for key, value in table.items():
        path = f"{prefix}.{key}" if prefix else key
        if isinstance(value, Mapping) and not set(value) & set(ends):
            yield from dotted(value, ends, path)
        else:
            yield path, value
