"""Operations of ranks, and their text in GOAL's format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clearway.errors import ClearwayError

MOST_OPERATIONS = 1 << 23
"""The most operations that are written: 1 GiB of text, the most that a scenario may name, has few more."""

CPU_OF_JOINS = 2
"""The processor of what takes no time and only waits, so that it does so behind nothing else."""


class Operations:
    """The operations of one rank, in their order."""

    def __init__(self) -> None:
        """Begin without any."""
        self.lines: list[str] = []
        self.count = 0
        self.messages = 0
        self.size = 0
        self.computing = 0

    def _add(self, text: str, after: Iterable[int]) -> int:
        number = self.count
        self.count += 1
        self.lines.append(f"l{number}: {text}\n")
        self.lines += [f"l{number} requires l{each}\n" for each in after]
        return number

    def send(self, size: int, to: int, tag: int, after: Iterable[int] = ()) -> int:
        """Add a message to another rank behind the operations `after`; return its number."""
        self.messages += 1
        self.size += size
        return self._add(f"send {size}b to {to} tag {tag}", after)

    def receive(self, size: int, source: int, tag: int, after: Iterable[int] = ()) -> int:
        """Add a message from another rank behind the operations `after`; return its number."""
        return self._add(f"recv {size}b from {source} tag {tag}", after)

    def compute(self, ns: int, after: Iterable[int] = (), cpu: int = 0) -> int:
        """Add nanoseconds of computing on a processor behind the operations `after`; return its number."""
        self.computing += ns * 1000
        return self._add(f"calc {ns} cpu {cpu}", after)

    def join(self, after: Sequence[int]) -> Sequence[int]:
        """Return one operation at most that has ended when all of these have."""
        return after if len(after) < 2 else [self.compute(0, after, CPU_OF_JOINS)]


def check_count(expected: int, where: str) -> None:
    """Raise if a job would have more operations than are written."""
    if expected > MOST_OPERATIONS:
        raise ClearwayError(
            f"{where}: makes {expected:,} operations, and the most is {MOST_OPERATIONS:,}",
            "take fewer ranks or chunks, or a part of the trace",
        )


def text_of(ranks: Sequence[Operations]) -> Iterator[str]:
    """Write the operations of all ranks in GOAL's text format."""
    yield f"num_ranks {len(ranks)}\n"
    for number, operations in enumerate(ranks):
        yield f"\nrank {number} {{\n"
        yield from operations.lines
        yield "}\n"
