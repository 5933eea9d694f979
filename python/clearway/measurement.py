"""Measurements of Fastpass's arbiter on this machine, which run like scenarios: arguments in, a table out.

What they measure is time: another machine, or this one with other work to do, gives other figures.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from clearway import _clearway
from clearway.errors import ClearwayError
from clearway.outcome import Outcome

_FIRST_RATE = 2000.0
"""Requests a second of each host, at the first rate."""
_MOST_DOUBLINGS = 12  # 256 hosts reach 257 Tb/s with it
_CLOSER = 7
"""Rates tried between the last one that was sustained and the first one that was not."""
_ATTEMPTS = 3
"""Times that a rate is tried before it counts as not sustained."""

Progress = Callable[[float, float, int], bool | None]


@dataclass(frozen=True)
class _Number:
    """A number that an argument may be: its default, and its range."""

    default: float
    least: float
    most: float

    def read(self, where: str, found: Any) -> float:
        """Return a value that is in range, as a whole number where the default is one."""
        whole = isinstance(self.default, int)
        fits = isinstance(found, int if whole else (int, float)) and not isinstance(found, bool)
        if not fits or not self.least <= found <= self.most:
            kind = "whole number" if whole else "number"
            wanted = f"a {kind} from {self.least:.10g} to {self.most:.10g}"
            raise ClearwayError(f"{where}: found {json.dumps(found)}, expected {wanted}")
        return int(found) if whole else float(found)


@dataclass(frozen=True)
class _Choice:
    """The names that an argument may be, the default first."""

    names: tuple[str, ...]

    @property
    def default(self) -> str:
        """Return the first name."""
        return self.names[0]

    def read(self, where: str, found: Any) -> str:
        """Return a name that there is."""
        if found not in self.names:
            wanted = f"{', '.join(self.names[:-1])} or {self.names[-1]}"
            raise ClearwayError(f"{where}: found {json.dumps(found)}, expected {wanted}")
        return str(found)


_ARGUMENTS: Mapping[str, Mapping[str, _Number | _Choice]] = {
    "allocation": {
        "racks": _Number(16, 1, 128),
        "hosts": _Number(16, 1, 64),
        "paths": _Number(4, 1, 32),
        "gbps": _Number(10.0, 0.1, 10_000),
        "batch": _Number(64, 1, 64),
        "work": _Choice(("allocation", "both", "both_on_two")),
        "step_ms": _Number(200.0, 1, 1e6),
        "backlog": _Number(100_000, 1, 1 << 40),
    },
    "paths": {
        "racks": _Number(16, 1, 128),
        "hosts": _Number(32, 1, 64),
        "paths": _Number(4, 1, 32),
        "utilisation": _Number(0.9, 0.01, 1),
        "repeats": _Number(41, 1, 1_000_000),
    },
}


@dataclass(frozen=True)
class Measurement:
    """What is measured on this machine: arguments read, checked, resolved."""

    kind: str
    name: str
    seed: int
    arguments: Mapping[str, Any]
    duration_us: float = 1.0
    """What progress counts up to."""
    warnings: tuple[str, ...] = ()
    """None: what is odd is refused."""

    @classmethod
    def read(cls, kind: str, given: Mapping[str, Any], name: str, seed: int) -> Measurement:
        """Read and check a measurement: its kind, `allocation` or `paths`, and its arguments.

        `name` stands for it in messages.
        """
        known = _ARGUMENTS.get(kind)
        if known is None:
            raise ClearwayError(f"{name}: measure: found {kind}, expected allocation or paths")
        read = {
            key: argument.read(f"{name}: arguments.{key}", given.get(key, argument.default))
            for key, argument in known.items()
        }
        for key in given:
            if key not in known:
                raise ClearwayError(f"{name}: arguments.{key}: unknown key\n  one of {', '.join(known)}")
        return cls(kind, name, seed, read)

    @property
    def resolved(self) -> str:
        """The arguments with every default filled in, as JSON."""
        measure = {"name": self.name, "measure": self.kind, "seed": self.seed}
        return json.dumps({**measure, "arguments": self.arguments})

    @property
    def estimated_bytes(self) -> int:
        """An upper bound of the memory that it takes: an allocator knows each pair of 8192 endpoints."""
        nodes = self.arguments["racks"] * self.arguments["hosts"] if self.kind == "allocation" else 0
        return int(64 * nodes**2 + (64 << 20))

    def run(
        self, progress: Progress | None = None, threads: int | None = None, keep_partial: bool = False
    ) -> Outcome:
        """Measure, or stop when `progress(done, 1.0, 0)` returns False.

        `threads` and `keep_partial` are there for the sake of others: a part of a measurement is none.
        """
        del threads, keep_partial
        started = time.perf_counter()
        summary, table = (self._rates if self.kind == "allocation" else self._times)(progress)
        two = self.arguments.get("work") == "both_on_two"
        return Outcome(
            digest="",
            packet_hops=0,
            wall_s=time.perf_counter() - started,
            threads=2 if two else 1,
            summary=json.dumps(summary),
            tables=table,
        )

    def _times(self, progress: Progress | None) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
        times = _clearway.time_paths(self.seed, **self.arguments, progress=progress)
        summary = {"slot_least_us": min(times), "slot_median_us": statistics.median_high(times)}
        return summary, {"repeats": {"slot_us": np.array(times)}}

    def _rates(self, progress: Progress | None) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
        """Double the rate until it is not sustained; then close in, by half of the distance each time."""
        steps: list[tuple[float, float, int, int, float, float]] = []
        rate, held, failed, closer = _FIRST_RATE, 0.0, 0.0, 0
        whole = _MOST_DOUBLINGS + _CLOSER
        while len(steps) < whole and closer < _CLOSER:
            step = self._tried(rate, len(steps) / whole, progress)
            closer += failed > 0
            if step[3]:
                held = rate
            else:
                failed = rate
            steps.append(step)
            rate = (held + failed) / 2 if failed else 2 * rate
        names = ("offered_gbps", "granted_gbps", "backlog_slots", "sustained", "seconds", "waited_seconds")
        columns = {
            name: np.array(column, dtype=np.uint64 if isinstance(column[0], int) else float)
            for name, column in zip(names, zip(*steps, strict=True), strict=True)
        }
        summary = {"sustained_gbps": max((step[0] for step in steps if step[3]), default=0.0)}
        if self.arguments["work"] == "both_on_two":
            summary["waited_share"] = sum(step[5] for step in steps) / sum(step[4] for step in steps)
        return summary, {"steps": columns}

    def _tried(
        self, rate: float, done: float, progress: Progress | None
    ) -> tuple[float, float, int, int, float, float]:
        """Try a rate, in requests a second of each host, until it is sustained or was tried often enough."""
        try_rate = partial(
            _clearway.try_rate, rate, self.seed, **self.arguments, done=done, progress=progress
        )
        for _ in range(_ATTEMPTS):
            offered, granted, backlog, seconds, waited = try_rate()
            if backlog <= self.arguments["backlog"]:
                break
        return offered, granted, backlog, int(backlog <= self.arguments["backlog"]), seconds, waited
