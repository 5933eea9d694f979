"""The nodes of a rank, and their order."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clearway.errors import ClearwayError
from clearway.importing.source import brief

INVALID, METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(8)
"""Types of nodes, as et_def.proto numbers them."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a trace."""

    number: int
    """Its id."""
    name: str
    kind: int
    waits: Sequence[int]
    """The ids of the nodes that have to end before it."""
    micros: int
    """How long it took, in microseconds; 0 if the trace does not say it."""
    attributes: Mapping[str, int | str | list[bool]]
    inputs: str
    """The values of its inputs; of metadata, what it says."""

    def integer(self, name: str) -> int | None:
        """Return an attribute that is a number, `None` if it is not there; digits in a text will do."""
        value = self.attributes.get(name)
        if isinstance(value, str):
            return int(value) if value.isascii() and value.isdigit() and len(value) < 20 else None
        return value if isinstance(value, int) else None


@dataclass(frozen=True)
class Trace:
    """The nodes of one rank."""

    name: str
    """The file that they are from."""
    rank: int
    nodes: Mapping[int, Node]
    """By id, in the order of the file."""

    def error(self, node: Node, message: str, remedy: str) -> ClearwayError:
        """Make the error that says what is wrong with a node, and what to do about it."""
        title = f" ({brief(node.name)})" if node.name else ""
        return ClearwayError(f"{self.name}: node {node.number}{title}: {message}", remedy)

    def in_order(self) -> list[Node]:
        """Return the nodes, each behind those that it waits for, and otherwise in the order of the file.

        Raises `ClearwayError` for a node that waits for one that is not there, or for itself through others.
        """
        places = {number: place for place, number in enumerate(self.nodes)}
        followers: dict[int, list[int]] = {}
        left: dict[int, int] = {}
        for node in self.nodes.values():
            left[node.number] = len(node.waits)
            for other in node.waits:
                if other not in places:
                    message = f"waits for node {other}, which is not in the file"
                    raise self.error(node, message, "the file may be cut short: take the whole")
                followers.setdefault(other, []).append(node.number)
        ready = [(places[number], number) for number, count in left.items() if not count]
        heapq.heapify(ready)
        order = []
        while ready:
            _, number = heapq.heappop(ready)
            order.append(self.nodes[number])
            for other in followers.get(number, ()):
                left[other] -= 1
                if not left[other]:
                    heapq.heappush(ready, (places[other], other))
        if len(order) < len(self.nodes):
            self._tell_circle({number for number, count in left.items() if count})
        return order

    def _tell_circle(self, stuck: set[int]) -> None:
        number = min(stuck)
        seen: list[int] = []
        while number not in seen:
            seen.append(number)
            number = next(other for other in self.nodes[number].waits if other in stuck)
        circle = [*seen[seen.index(number) :], number]
        shown = [*circle[:6], "..."] if len(circle) > 7 else circle
        path = ", which waits for ".join(f"node {each}" if each != "..." else "..." for each in shown)
        raise self.error(
            self.nodes[number],
            f"waits for itself: {path}",
            "take one of these dependencies out, or make the trace anew with a newer converter",
        )
