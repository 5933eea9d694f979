"""Communicators beside Chakra's traces, as ASTRA-sim takes them: {"1": [0, 1, 2], "2": [3, 4, 5]}."""

from __future__ import annotations

from typing import Any

from clearway.importing.json_source import is_object, json_of, wrong
from clearway.importing.parts import MOST_HOSTS, Choices, Format, Groups, counted
from clearway.importing.source import Source


def _recognises(source: Source) -> bool:
    if not is_object(source):
        return False
    first = source.text.lstrip()[1:].lstrip()[:20]
    name = first[1:].partition('"')[0]
    return first.startswith('"') and name.isdigit()


def _read(source: Source, _: Choices) -> Groups:
    found: dict[str, Any] = json_of(source)
    if not found:
        raise source.error(1, "has no communicators", 'write them: {"1": [0, 1, 2]}')
    for name, ranks in found.items():
        if not (isinstance(ranks, list) and ranks and all(_is_rank(rank) for rank in ranks)):
            raise wrong(source, found, name, "a list of ranks, such as [0, 1, 2]")
        if len(set(ranks)) < len(ranks):
            raise wrong(source, found, name, "each rank once")
    part = Groups(source, counted(communicators=len(found)))
    part.members = found
    if "0" in found:
        part.lost.append("communicator 0 is that of all ranks, as in ASTRA-sim")
    return part


def _is_rank(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST_HOSTS


FORMAT = Format("chakra-groups", "communicators of ASTRA-sim", _recognises, _read)
