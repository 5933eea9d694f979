"""The jobs of what was read: their operations, and the hosts of their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clearway.importing import parts
from clearway.importing.parts import (
    Algorithms,
    AnyPart,
    Choices,
    Groups,
    Job,
    JobContext,
    Network,
    Placement,
    Workload,
)
from clearway.importing.placing import place
from clearway.importing.source import Source

_RATE = 10**11  # bits per second
_DELAY = 10**6  # picoseconds


@dataclass(frozen=True)
class Jobs:
    """All jobs, with the keys that say where their ranks are."""

    jobs: Sequence[Job] = ()
    hosts: int = 0
    """The least number of hosts that they need."""
    assumed: list[str] = field(default_factory=list)
    source: Source | None = None
    """The file of the first one."""


def jobs_of(found: Sequence[AnyPart], choices: Choices) -> Jobs:
    """Make the jobs of all workloads, and say where their ranks are."""
    workloads = [part for part in found if isinstance(part, Workload)]
    if not workloads:
        return Jobs()
    network = next((part for part in found if isinstance(part, Network)), None)
    context = JobContext(
        groups=next((part for part in found if isinstance(part, Groups)), None),
        algorithms=next((part for part in found if isinstance(part, Algorithms)), None),
        dimensions=network.dimensions if network else (),
    )
    said = next((part for part in found if isinstance(part, Placement)), None)
    placed = place([each.ranks for each in workloads], len(network.hosts) if network else None, choices, said)
    jobs = [each.make(context) for each in workloads]
    names = _names([job.keys["name"] for job in jobs])
    placed_jobs = [
        replace(job, keys={**job.keys, "name": name, **keys})
        for job, name, keys in zip(jobs, names, placed.keys, strict=True)
    ]
    return Jobs(placed_jobs, placed.hosts, list(placed.assumed), workloads[0].source)


def _names(names: Sequence[str]) -> list[str]:
    """Return the names, with a number behind those that several jobs have."""
    return [
        name if names.count(name) == 1 else f"{name[:90]} {names[: place + 1].count(name)}"
        for place, name in enumerate(names)
    ]


def star(source: Source, hosts: int) -> Network:
    """Return the network of jobs where no file has one: a switch that has a link to each host."""
    network = parts.star(source, max(2, hosts), _RATE, _DELAY)
    network.assumed.append(
        f"no file has the network: one switch for {len(network.hosts)} hosts, with links of 100 Gb/s and 1 us"
    )
    return network
