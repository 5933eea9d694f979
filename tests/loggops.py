"""The LogGOPS model (Hoefler, Schneider and Lumsdaine 2010), for tests: written from its definition.

A message of s bytes takes L + 2o + (s-1)G from the start of its send to the end of its receive. A processor
is busy for o at each end, and while a message comes in; a NIC for g + (s-1)G at each end. Here o, and O, its
part for each byte, are 0, and all messages are eager. Times are whole numbers or fractions of picoseconds.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Time = int | Fraction
Key = tuple[int, int]
"""A rank, and the number of its operation."""


@dataclass(frozen=True)
class Operation:
    """What one rank does once; `after` and `beside` are what has to have ended, or to have begun."""

    kind: str
    amount: int
    """Bytes of a message, picoseconds of computing."""
    peer: int = 0
    tag: int = 0
    after: tuple[int, ...] = ()
    beside: tuple[int, ...] = ()

    def text(self, number: int) -> str:
        """As GOAL has it, in which calc is in ns."""
        amount = {"calc": self.amount // 1000}.get(self.kind, f"{self.amount}b")
        word = {"send": f" to {self.peer}", "recv": f" from {self.peer}"}.get(self.kind, "")
        tag = "" if self.kind == "calc" else f" tag {self.tag}"
        lines = [f"l{number}: {self.kind} {amount}{word}{tag}"]
        lines += [f"l{number} requires l{other}" for other in self.after]
        lines += [f"l{number} irequires l{other}" for other in self.beside]
        return "\n".join(lines)


Graph = Sequence[Sequence[Operation]]


@dataclass
class Run:
    """When operations begin and end, and what a message found busy."""

    ready: dict[Key, Time] = field(default_factory=dict)
    begin: dict[Key, Time] = field(default_factory=dict)
    end: dict[Key, Time] = field(default_factory=dict)
    transfers: list[tuple[int, int, Time, Time]] = field(default_factory=list)
    """Of each message its ranks, when it leaves, and when it is there."""
    receptions: list[tuple[int, Time, Time]] = field(default_factory=list)
    """Of each message its rank, when its first byte comes, and when the processor is done with it."""


@dataclass(frozen=True)
class Model:
    """The model with its parameters, in picoseconds and picoseconds a byte."""

    latency: Time
    gap: Time
    gap_per_byte: Time

    def run(self, graph: Graph) -> Run:
        """Go through all operations of all ranks."""
        progress = _Progress(self, graph)
        while progress.events:
            progress.step()
        return progress.run


class _Progress:
    """What is busy until when, and what waits."""

    def __init__(self, model: Model, graph: Graph) -> None:
        self.model, self.graph, self.run = model, graph, Run()
        self.events: list[tuple[Time, int, str, Key]] = []
        self._order = itertools.count()
        self._processor: defaultdict[int, Time] = defaultdict(int)
        self._sender: defaultdict[int, Time] = defaultdict(int)
        self._receiver: defaultdict[int, Time] = defaultdict(int)
        self._posted: defaultdict[tuple[int, int, int], list[Key]] = defaultdict(list)
        self._come: defaultdict[tuple[int, int, int], list[Time]] = defaultdict(list)
        self._left: dict[Key, int] = {}
        self._followers: defaultdict[tuple[Key, str], list[Key]] = defaultdict(list)
        for rank, operations in enumerate(graph):
            for number, each in enumerate(operations):
                self._left[rank, number] = len(each.after) + len(each.beside)
                for other in each.after:
                    self._followers[(rank, other), "end"].append((rank, number))
                for other in each.beside:
                    self._followers[(rank, other), "begin"].append((rank, number))
        for key in [key for key, count in self._left.items() if not count]:
            self._set_ready(key, 0)

    def _push(self, time: Time, what: str, key: Key) -> None:
        heapq.heappush(self.events, (time, next(self._order), what, key))

    def _set_ready(self, key: Key, now: Time) -> None:
        self.run.ready[key] = now
        self._push(now, "try", key)

    def _tell(self, key: Key, what: str, now: Time) -> None:
        for other in self._followers[key, what]:
            self._left[other] -= 1
            if not self._left[other]:
                self._set_ready(other, now)

    def step(self) -> None:
        """Take the next event."""
        now, _, what, key = heapq.heappop(self.events)
        each = self.graph[key[0]][key[1]]
        if what == "end":
            self.run.end[key] = now
            self._tell(key, "end", now)
        elif what == "message":
            self._receive(key, each, now)
        elif each.kind == "recv":
            self._post(key, each, now)
        else:
            self._begin(key, each, now)

    def _length(self, each: Operation) -> Time:
        return (each.amount - 1) * self.model.gap_per_byte

    def _begin(self, key: Key, each: Operation, now: Time) -> None:
        """Compute or send, as soon as the processor, and the NIC of a send, are free."""
        rank = key[0]
        sending = each.kind == "send"
        free = max(self._processor[rank], self._sender[rank] if sending else 0)
        if free > now:
            self._push(free, "try", key)
            return
        self.run.begin[key] = now
        self._tell(key, "begin", now)
        if sending:
            self._sender[rank] = now + self.model.gap + self._length(each)
            self._push(now + self.model.latency, "message", key)
            self._push(now, "end", key)
        else:
            self._processor[rank] = now + each.amount
            self._push(now + each.amount, "end", key)

    def _post(self, key: Key, each: Operation, now: Time) -> None:
        self.run.begin[key] = now
        self._tell(key, "begin", now)
        channel = (each.peer, key[0], each.tag)
        if self._come[channel]:
            self._push(max(now, self._come[channel].pop(0)), "end", key)
        else:
            self._posted[channel].append(key)

    def _receive(self, key: Key, each: Operation, now: Time) -> None:
        """Take a message in, as soon as the processor and the NIC are free; its first byte is there."""
        source, target = key[0], each.peer
        free = max(self._processor[target], self._receiver[target])
        if free > now:
            self._push(free, "message", key)
            return
        there = now + self._length(each)
        self._processor[target] = there
        self._receiver[target] = there + self.model.gap
        self.run.transfers.append((source, target, self.run.begin[key], there))
        self.run.receptions.append((target, self.run.begin[key] + self.model.latency, there))
        channel = (source, target, each.tag)
        if self._posted[channel]:
            self._push(there, "end", self._posted[channel].pop(0))
        else:
            self._come[channel].append(there)


def goal(graph: Graph, more: Mapping[Key, str]) -> str:
    """Write a graph in GOAL's text format; `more` are lines behind operations of it."""
    blocks = []
    for rank, operations in enumerate(graph):
        lines = [each.text(number) for number, each in enumerate(operations)]
        lines += [line for (other, _), line in more.items() if other == rank]
        blocks.append(f"rank {rank} {{\n" + "\n".join(lines) + "\n}\n")
    return f"num_ranks {len(graph)}\n" + "".join(blocks)
