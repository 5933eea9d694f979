"""What a run left, where it is not the simulator in this process that says it."""

from __future__ import annotations

from dataclasses import dataclass

from clearway.columns import Columns


@dataclass(frozen=True)
class Outcome:
    """What the simulator left on another machine, or a measurement: the same as `_clearway.Result` here."""

    digest: str
    packet_hops: int
    wall_s: float
    threads: int
    summary: str
    tables: dict[str, Columns]
    interrupted: bool = False
