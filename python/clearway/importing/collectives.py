"""What a rank sends and receives in a collective, by the algorithms of docs/JOBS.md.

The simulator makes the operations of a job that is one collective. These are for collectives among other
operations. In addition to its algorithms there is `direct` for reductions and gathers, as ASTRA-sim has it,
and a linear scatter and gather. The tag of a message is that of its collective plus the number of its chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clearway.importing.operations import Operations

ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL = (
    "all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
)
BROADCAST, REDUCE, BARRIER, SCATTER, GATHER = "broadcast", "reduce", "barrier", "scatter", "gather"


@dataclass(frozen=True)
class Collective:
    """A collective of some ranks."""

    kind: str
    algorithm: str
    size: int
    """The size of the whole array in bytes, as nccl-tests has it."""
    members: Sequence[int]
    """The ranks; the first one is the root where there is one."""
    chunks: int = 1
    window: int = 0
    """Messages of a rank that may be under way with `direct`, 0 for all."""

    def count(self) -> int:
        """Return the most operations of a rank, the waits for its end included."""
        ranks = len(self.members)
        steps = ranks.bit_length() if self.algorithm in _LOGARITHMIC else ranks
        return 4 * max(steps, 2) * self.chunks + 2

    def tags(self) -> int:
        """Return how many tags it uses."""
        return 2 * max(self.chunks, len(self.members).bit_length())


_LOGARITHMIC = ("halving_doubling", "binomial", "double_tree", "dissemination")


class _Member:
    """A rank in a collective, by its number among the members."""

    def __init__(
        self, operations: Operations, call: Collective, me: int, tag: int, after: Sequence[int]
    ) -> None:
        self.call, self.me, self.after = call, me, after
        self.ranks = len(call.members)
        self.ends: list[int] = []
        self._operations, self._tag = operations, tag

    def send(self, to: int, size: int, tag: int = 0, behind: Sequence[int] = ()) -> int:
        to = self.call.members[to % self.ranks]
        return self._operations.send(size, to, self._tag + tag, behind or self.after)

    def receive(self, source: int, size: int, tag: int = 0, behind: Sequence[int] = ()) -> int:
        source = self.call.members[source % self.ranks]
        return self._operations.receive(size, source, self._tag + tag, behind or self.after)

    def chunk(self, part: int, parts: int, chunk: int) -> int:
        """Return the bytes of a chunk of one of nearly equal parts of the array."""
        return _share(_share(self.call.size, part % parts, parts), chunk, self.call.chunks)

    def part(self, part: int) -> int:
        return _share(self.call.size, part % self.ranks, self.ranks)


def _share(size: int, part: int, parts: int) -> int:
    return size * (part + 1) // parts - size * part // parts


def add(operations: Operations, call: Collective, me: int, tag: int, after: Sequence[int]) -> Sequence[int]:
    """Add what member `me` does, behind the operations `after`; return what has ended when it has done it."""
    if len(call.members) == 1:
        return after
    member = _Member(operations, call, me, tag, after)
    _WAYS[call.kind, call.algorithm](member)
    return operations.join(member.ends)


def _ring(member: _Member, steps: int) -> None:
    """Pass parts round the ring: in step s member m sends part m - s, received in the step before."""
    for chunk in range(member.call.chunks):
        received: list[int] = []
        for step in range(steps):
            part = member.me - step
            send = member.send(member.me + 1, member.chunk(part, member.ranks, chunk), chunk, received)
            size = member.chunk(part - 1, member.ranks, chunk)
            received = [member.receive(member.me - 1, size, chunk)]
        member.ends += [send, *received]


def _ring_all_reduce(member: _Member) -> None:
    _ring(member, 2 * (member.ranks - 1))


def _ring_once(member: _Member) -> None:
    _ring(member, member.ranks - 1)


def _exchange(member: _Member, steps: Sequence[int]) -> None:
    """Exchange with a partner at each of these distances as many parts as the distance says."""
    for chunk in range(member.call.chunks):
        received: list[int] = []
        for distance in steps:
            partner, size = member.me ^ distance, member.chunk(0, member.ranks // distance, chunk)
            send = member.send(partner, size, chunk, received)
            received = [member.receive(partner, size, chunk)]
        member.ends += [send, *received]


def _distances(ranks: int) -> list[int]:
    return [1 << bit for bit in range((ranks - 1).bit_length())]


def _halving(member: _Member) -> None:
    _exchange(member, _distances(member.ranks)[::-1])


def _doubling(member: _Member) -> None:
    _exchange(member, _distances(member.ranks))


def _halving_doubling(member: _Member) -> None:
    doubles = _distances(member.ranks)
    _exchange(member, doubles[::-1] + doubles)


def _direct(member: _Member, size: Callable[[int, int], int], tag: int = 0) -> list[int]:
    """Send to each other member what `size` says for it, `window` messages at a time; return the receives."""
    sends: list[int] = []
    receives = []
    window = member.call.window or member.ranks
    for distance in range(1, member.ranks):
        to, source = member.me + distance, member.me - distance
        behind = [sends[len(sends) - window]] if len(sends) >= window else []
        sends.append(member.send(to, size(member.me, to), tag, behind))
        receives.append(member.receive(source, size(source, member.me), tag))
    member.ends += sends[-window:] + receives
    return receives


def _direct_parts(member: _Member) -> None:
    """Send each other member its own part: an all-to-all, and a reduce-scatter."""
    _direct(member, lambda _, to: member.part(to))


def _direct_all_gather(member: _Member) -> None:
    _direct(member, lambda source, _: member.part(source))


def _direct_all_reduce(member: _Member) -> None:
    sums = _direct(member, lambda _, to: member.part(to))
    member.after = member._operations.join(sums)
    _direct(member, lambda source, _: member.part(source), 1)


def _dissemination(member: _Member) -> None:
    received: list[int] = []
    for tag, distance in enumerate(_distances(member.ranks)):
        send = member.send(member.me + distance, 0, tag, received)
        received = [member.receive(member.me - distance, 0, tag, received)]
        member.ends.append(send)
    member.ends += received


def _binomial_children(member: _Member) -> list[int]:
    lowest = (member.me & -member.me) or 1 << member.ranks.bit_length()
    return [
        member.me + bit for bit in _distances(member.ranks) if bit < lowest and member.me + bit < member.ranks
    ]


def _broadcast(member: _Member) -> None:
    for chunk in range(member.call.chunks):
        size = member.chunk(0, 1, chunk)
        parent = member.me & (member.me - 1)
        received = [member.receive(parent, size, chunk)] if member.me else []
        sends = [member.send(child, size, chunk, received) for child in _binomial_children(member)[::-1]]
        member.ends += received + sends


def _reduce(member: _Member) -> None:
    for chunk in range(member.call.chunks):
        size = member.chunk(0, 1, chunk)
        sums = [member.receive(child, size, chunk) for child in _binomial_children(member)]
        member.ends += sums
        if member.me:
            member.ends.append(member.send(member.me & (member.me - 1), size, chunk, sums))


def _scatter(member: _Member) -> None:
    if member.me:
        member.ends.append(member.receive(0, member.part(member.me)))
    else:
        member.ends += [member.send(to, member.part(to)) for to in range(1, member.ranks)]


def _gather(member: _Member) -> None:
    if member.me:
        member.ends.append(member.send(0, member.part(member.me)))
    else:
        member.ends += [member.receive(source, member.part(source)) for source in range(1, member.ranks)]


def _double_tree(member: _Member) -> None:
    """Sum and send out half of the array over each of two trees (Sanders, Speck and Träff 2009)."""
    for half in range(2):
        parents = _tree(member.ranks, mirrored=half == 1)
        parent = parents[member.me]
        children = [each for each, above in enumerate(parents) if above == member.me]
        for chunk in range(member.call.chunks):
            size = _share(_share(member.call.size, half, 2), chunk, member.call.chunks)
            tag = 2 * chunk + half
            result = [member.receive(child, size, tag) for child in children]
            if parent is not None:
                member.ends += [*result, member.send(parent, size, tag, result)]
                result = [member.receive(parent, size, tag)]
            member.ends += result
            member.ends += [member.send(child, size, tag, result) for child in children]


def _tree(ranks: int, *, mirrored: bool) -> list[int | None]:
    """Return the parent of each member: odd members are leaves, or inner ones in the mirrored tree."""

    def parent(member: int) -> int:
        bit = member & -member
        above = (member ^ bit) | bit << 1
        return above if above < ranks else member ^ bit

    parents: list[int | None] = [parent(member) if member else None for member in range(ranks)]
    if not mirrored:
        return parents
    moved = [ranks - 1 - each if ranks % 2 == 0 else (each + 1) % ranks for each in range(ranks)]
    other: list[int | None] = [None] * ranks
    for member, above in enumerate(parents):
        other[moved[member]] = None if above is None else moved[above]
    return other


_WAYS: Mapping[tuple[str, str], Callable[[_Member], None]] = {
    (ALL_REDUCE, "ring"): _ring_all_reduce,
    (ALL_REDUCE, "halving_doubling"): _halving_doubling,
    (ALL_REDUCE, "double_tree"): _double_tree,
    (ALL_REDUCE, "direct"): _direct_all_reduce,
    (REDUCE_SCATTER, "ring"): _ring_once,
    (REDUCE_SCATTER, "halving_doubling"): _halving,
    (REDUCE_SCATTER, "direct"): _direct_parts,
    (ALL_GATHER, "ring"): _ring_once,
    (ALL_GATHER, "halving_doubling"): _doubling,
    (ALL_GATHER, "direct"): _direct_all_gather,
    (ALL_TO_ALL, "direct"): _direct_parts,
    (BROADCAST, "binomial"): _broadcast,
    (REDUCE, "binomial"): _reduce,
    (BARRIER, "dissemination"): _dissemination,
    (SCATTER, "direct"): _scatter,
    (GATHER, "direct"): _gather,
}
