"""Circles in a graph of imports."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Import:
    """One line of a file that names something of another file."""

    importer: str
    """The path of the file that has the line."""
    imported: str
    """The path of the file in which the named thing lives."""
    line: int
    name: str
    """What is named, as the line has it."""


Circle = Sequence[str]
"""Files of which each imports the next, and the last the first."""
_Graph = Mapping[str, set[str]]


def circles(imports: Iterable[Import]) -> list[Circle]:
    """Return circles, the shortest first, so that every circle there is shares an import with one of them.

    All circles of a graph may be far too many to read. So the edges of a circle that was found are taken out
    before the next is sought, until none is left.
    """
    graph: dict[str, set[str]] = {}
    for each in imports:
        if each.importer != each.imported:
            graph.setdefault(each.importer, set()).add(each.imported)
            graph.setdefault(each.imported, set())
    found = []
    while (circle := _shortest(graph)) is not None:
        found.append(circle)
        for importer, imported in zip(circle, [*circle[1:], circle[0]], strict=True):
            graph[importer].discard(imported)
    return found


def described(circle: Circle, imports: Iterable[Import]) -> str:
    """Write a circle as a chain of files, with the lines by which each imports the next."""
    lines = sorted(set(imports))
    parts = [f"circle of {len(circle)} files:"]
    for importer, imported in zip(circle, [*circle[1:], circle[0]], strict=True):
        parts.append(f"  {importer} imports {imported}")
        parts.extend(
            f"    {importer}:{each.line}: {each.name}"
            for each in lines
            if (each.importer, each.imported) == (importer, imported)
        )
    return "\n".join(parts)


def _shortest(graph: _Graph) -> Circle | None:
    """Return a circle with the fewest files, the first by name of several; None if there is no circle."""
    best: Circle | None = None
    for start in sorted(graph):
        circle = _shortest_from(graph, start)
        if circle is not None and (best is None or len(circle) < len(best)):
            best = circle
    return best


def _shortest_from(graph: _Graph, start: str) -> Circle | None:
    """Return the shortest way from a file back to itself, by breadth-first search."""
    before: dict[str, str] = {}
    waiting = deque([start])
    while waiting:
        file = waiting.popleft()
        for following in sorted(graph[file]):
            if following == start:
                chain = [file]
                while chain[-1] != start:
                    chain.append(before[chain[-1]])
                return chain[::-1]
            if following not in before:
                before[following] = file
                waiting.append(following)
    return None
