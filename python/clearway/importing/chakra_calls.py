"""Collectives in Chakra's traces: who takes part, what each does, and that all ranks say the same of it."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from clearway.errors import ClearwayError
from clearway.importing import collectives as kinds
from clearway.importing.chakra_trace import METADATA, Node, Trace
from clearway.importing.choosing import collective_of
from clearway.importing.collectives import Collective
from clearway.importing.parts import JobContext
from clearway.importing.source import brief

TYPES = (
    kinds.ALL_REDUCE,
    kinds.REDUCE,
    kinds.ALL_GATHER,
    kinds.GATHER,
    kinds.SCATTER,
    kinds.BROADCAST,
    kinds.ALL_TO_ALL,
    kinds.REDUCE_SCATTER,
    kinds.REDUCE_SCATTER,
    kinds.BARRIER,
)
"""Collectives by their comm_type, as et_def.proto numbers them; REDUCE_SCATTER_BLOCK is a reduce-scatter."""

_LISTED = re.compile(r"\[\s*\{.*\}\s*\]", re.DOTALL)
_MOST_BYTES = 1 << 50
FIRST_TAG = 1 << 31
"""The first tag of collectives; those of sends and receives in a trace are below it."""

Members = range | tuple[int, ...]
"""The ranks of a collective."""

GROUP_REMEDY = 'give a file of communicators, too: {"1": [0, 1, 2, 3]}'


@dataclass
class Calls:
    """The collectives of a job."""

    ranks: int
    context: JobContext
    unlike: Counter[str] = field(default_factory=Counter)
    """Collectives that are done in another way than the settings say, by the reason."""
    empty: int = 0
    rooted: int = 0
    _named: dict[str, dict[str, Sequence[int]]] = field(default_factory=dict)
    """Members of the communicators in a trace's own metadata, by its file."""
    _order: dict[tuple[str, Members], list[tuple[Collective, int]]] = field(default_factory=dict)
    """The collectives of each communicator, each with its first tag, as the first rank had them."""
    _seen: Counter[tuple[tuple[str, Members], str]] = field(default_factory=Counter)
    """How many of them the trace of each rank has had."""
    _tag: int = FIRST_TAG

    def call(self, trace: Trace, node: Node, rank: int) -> tuple[Collective, int, int]:
        """Return a collective, the rank's number among its members, and its first tag.

        Ranks are asked one after the other; it raises `ClearwayError` where one says other than those before.
        """
        name, members = self._members(trace, node)
        if rank not in members:
            raise trace.error(
                node,
                f"is of ranks {_listed(members)}, and this is rank {rank}",
                "correct the communicator, or take the trace of its rank",
            )
        call = self._collective(trace, node, members)
        key = (name, members)
        order = self._order.setdefault(key, [])
        place = self._seen[key, trace.name]
        self._seen[key, trace.name] += 1
        if place == len(order):
            order.append((call, self._tag))
            self._tag += call.tags()
        known, tag = order[place]
        if (known.kind, known.size) != (call.kind, call.size):
            raise trace.error(
                node,
                f"is {_shown(call)}, and collective {place} of ranks {_listed(members)} is "
                f"{_shown(known)} in the trace of another rank",
                "take the traces of one run: all ranks do the same collectives in the same order",
            )
        return call, members.index(rank), tag

    def check_all_came(self, traces: Sequence[Trace]) -> None:
        """Raise if a rank has fewer collectives of a communicator than others."""
        for (name, members), order in self._order.items():
            for rank in members:
                found = self._seen[(name, members), traces[rank].name]
                if found < len(order):
                    raise ClearwayError(
                        f"{traces[rank].name}: has {found} collectives of ranks {_listed(members)}, and the "
                        f"trace of another of them has {len(order)}",
                        "take the traces of one run; this one may be cut short",
                    )

    def _members(self, trace: Trace, node: Node) -> tuple[str, Members]:
        """Return the name of the communicator and its ranks: all of them where the node has none."""
        name = str(node.attributes.get("pg_name", ""))
        if name not in ("", "0"):
            given = self.context.groups.members if self.context.groups else {}
            if trace.name not in self._named:
                self._named[trace.name] = _own_groups(trace)
            members = tuple(given.get(name) or self._named[trace.name].get(name, ()))
            if not members:
                raise trace.error(node, f"is of communicator {brief(name)}, which is not there", GROUP_REMEDY)
            beyond = [rank for rank in members if rank >= self.ranks]
            if beyond:
                raise trace.error(
                    node,
                    f"is of communicator {brief(name)} with rank {beyond[0]}, and there are {self.ranks}",
                    "take the traces of all ranks, or correct the communicator",
                )
            return name, members
        involved = node.attributes.get("involved_dim")
        if not isinstance(involved, list) or all(involved):
            return "", range(self.ranks)
        return "", self._along(trace, node, involved)

    def _along(self, trace: Trace, node: Node, involved: list[bool]) -> Members:
        """Return the ranks that differ from the trace's along the dimensions that are involved alone."""
        sizes = self.context.dimensions
        if math.prod(sizes) != self.ranks:
            raise trace.error(
                node,
                f"involves {involved.count(True)} of {len(involved)} dimensions, and no file has them",
                "give ASTRA-sim's network file, whose npus_count says them",
            )
        rank = trace.rank
        steps = [math.prod(sizes[:dimension]) for dimension in range(len(sizes))]
        fixed = [place for place in range(len(sizes)) if place >= len(involved) or not involved[place]]
        return tuple(
            other
            for other in range(self.ranks)
            if all(
                other // steps[place] % sizes[place] == rank // steps[place] % sizes[place] for place in fixed
            )
        )

    def _collective(self, trace: Trace, node: Node, members: Sequence[int]) -> Collective:
        number = node.integer("comm_type")
        if number is None or not 0 <= number < len(TYPES):
            found = "nothing" if number is None else number
            raise trace.error(
                node, f"comm_type: found {found}, expected 0 to {len(TYPES) - 1}", "correct the trace"
            )
        kind = TYPES[number]
        size = self._size(trace, node, kind)
        if kind == kinds.ALL_GATHER:
            size *= len(members)
        self.rooted += kind in (kinds.BROADCAST, kinds.REDUCE, kinds.SCATTER, kinds.GATHER)
        return collective_of(kind, size, members, self.context.algorithms, self.unlike)

    def _size(self, trace: Trace, node: Node, kind: str) -> int:
        size = 0 if kind == kinds.BARRIER else node.integer("comm_size")
        if size is None or not 0 <= size <= _MOST_BYTES:
            found = "nothing" if size is None else size
            raise trace.error(
                node,
                f"comm_size: found {found}, expected bytes from 0 to 2^50",
                "the converter did not find the size: correct the trace",
            )
        self.empty += size == 0 and kind != kinds.BARRIER
        return size


def _own_groups(trace: Trace) -> dict[str, Sequence[int]]:
    """Return the process groups of PyTorch that a trace's metadata has."""
    groups: dict[str, Sequence[int]] = {}
    for node in trace.nodes.values():
        listed = _LISTED.search(node.inputs) if node.kind == METADATA and "pg_name" in node.inputs else None
        if listed is None:
            continue
        try:
            found = json.loads(listed[0])
        except (ValueError, RecursionError):
            continue
        for each in found:
            ranks = each.get("ranks") if isinstance(each, dict) else None
            if isinstance(ranks, list) and ranks and all(type(rank) is int and rank >= 0 for rank in ranks):
                groups[str(each.get("pg_name"))] = sorted(set(ranks))
    return groups


def _listed(members: Sequence[int]) -> str:
    shown = ", ".join(map(str, members[:6]))
    return f"{shown}, ..." if len(members) > 6 else shown


def _shown(call: Collective) -> str:
    return f"{call.kind} of {call.size} bytes"
