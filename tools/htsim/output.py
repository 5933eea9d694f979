"""What htsim_uec prints: the parameters that it has settled, when each flow ended, and its sums."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FINISHED = re.compile(r"^Flow Uec_(\d+)_(\d+) .* finished at ([0-9.e+]+) ", re.MULTILINE)
_STARTED = re.compile(r"^Flow Uec_\d+_\d+ .* starting at ([0-9.e+]+)$", re.MULTILINE)
_SUMS = re.compile(r"^New: (\d+) Rtx: (\d+) .*? ACKs: (\d+) NACKs: (\d+) ", re.MULTILINE)


class NotUnderstoodError(Exception):
    """The output is not that of a run of htsim_uec which has ended."""


@dataclass(frozen=True)
class Settled:
    """What htsim made of its options, in bytes and microseconds."""

    packet: int
    queue: int
    ecn: tuple[int, int]
    base_rtt_us: float


@dataclass(frozen=True)
class Flow:
    """A flow: its two hosts, and when its sender had the last acknowledgement."""

    source: int
    target: int
    finished_us: float


@dataclass(frozen=True)
class Ended:
    """A run of htsim_uec that has ended."""

    settled: Settled
    flows: tuple[Flow, ...]
    started: int
    new: int
    again: int
    acks: int
    nacks: int


def read(text: str) -> Ended:
    """Read all that htsim_uec has printed."""
    queues = {int(found) for found in re.findall(r"^Tier \d QueueSize \w+ (\d+) bytes$", text, re.MULTILINE)}
    if len(queues) != 1:
        raise NotUnderstoodError("queues of more than one size, or of none")
    low, high = _one(text, r"^Setting ECN to parameters low (\d+) high (\d+) ")
    settled = Settled(
        packet=int(_one(text, r"^Packet size \(MTU\) is (\d+)$")[0]),
        queue=queues.pop(),
        ecn=(int(low), int(high)),
        base_rtt_us=float(_one(text, r"^network_max_unloaded_rtt ([0-9.]+)$")[0]),
    )
    flows = [Flow(int(found[0]), int(found[1]), float(found[2])) for found in _FINISHED.findall(text)]
    new, again, acks, nacks = (int(found) for found in _one(text, _SUMS.pattern))
    return Ended(settled, tuple(flows), len(_STARTED.findall(text)), new, again, acks, nacks)


def _one(text: str, pattern: str) -> tuple[str, ...]:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise NotUnderstoodError(f"nothing in the output is as {pattern}")
    return found.groups()
