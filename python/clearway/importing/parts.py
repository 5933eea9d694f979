"""What files of other simulators hold, whatever their format: a network, flows, and settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from clearway.importing.source import Source

MOST_HOSTS = 1_000_000
"""The most hosts of a scenario."""
MOST_LINKS = 2_000_000
"""The most links that are written into a topology file."""

HOST = "host"


@dataclass(frozen=True, slots=True)
class Node:
    """A host or a switch."""

    name: str
    role: str
    """What the node is for, as a topology file says it: host, tor, aggregation or spine."""


@dataclass(frozen=True, slots=True)
class Link:
    """A two-way link."""

    ends: tuple[int, int]
    """The positions of its two nodes among all nodes."""
    rate: int
    """In bits per second."""
    delay: int
    """One way, in picoseconds."""
    loss: float = 0.0
    """The probability that a frame is lost."""
    parallel: int = 1
    """How many links of the file this one stands for, of alike rates that together are its own."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A link that is gone from the start, as a file of flows names it."""

    line: int
    switch: int
    """The number of the aggregation switch."""
    link: int
    """The number of the uplink, as the file counts."""


@dataclass
class Part:
    """What one file holds, and what there is to say about reading it."""

    source: Source
    summary: str
    """What was found, for people: 32 hosts, 12 switches, 40 links."""
    assumed: list[str] = field(default_factory=list)
    """Units and values that the file does not say."""
    lost: list[str] = field(default_factory=list)
    """What the file says and a scenario cannot."""


@dataclass
class Network(Part):
    """Nodes and links."""

    nodes: Sequence[Node] = ()
    links: Sequence[Link] = ()
    shape: Mapping[str, Any] | None = None
    """Keys of [network] that make the same network without a topology file, if there are any."""
    buffers: Mapping[str, int] = field(default_factory=dict)
    """Bytes of a port's buffer by role of the switch, where the file says it."""
    hosts: Mapping[int, int] = field(default_factory=dict)
    """The number of each host in the scenario, by its number in the file."""
    failed: Callable[[Failure], int | None] | None = None
    """Finds the position of the link that a failure names, `None` if there is none such."""

    def link_name(self, link: Link) -> str:
        """Name a link as a fault does."""
        return "-".join(self.nodes[end].name for end in link.ends)


@dataclass(frozen=True, slots=True)
class Flow:
    """Bytes from a host to another, by the numbers of the file."""

    line: int
    start: int
    """In picoseconds."""
    source: int
    target: int
    size: int
    """In bytes; 0: without end."""


@dataclass
class Flows(Part):
    """Flows with start and size."""

    flows: Sequence[Flow] = ()
    count: int | None = None
    """The number of hosts that the file speaks of, if it says one."""
    failures: Sequence[Failure] = ()
    usual: Callable[[], Network] | None = None
    """Makes the network that the simulator takes where no file says one."""
    from_second: bool = False
    """Whether the clock's whole seconds before the first flow are idle, and are left out."""


class Rules(Protocol):
    """What settings make of a scenario, once the network and the time of its start are known."""

    def tables(self, network: Network, zero: int) -> dict[str, Any]:
        """Return tables and keys of the scenario.

        `zero` is where the scenario's time begins, in picoseconds of the file's.
        """

    def lost_in(self, network: Network) -> list[str]:
        """Say what the settings make of this network that a scenario cannot."""


@dataclass
class Settings(Part):
    """Protocols, switches and what else a file of settings says."""

    named: Mapping[str, str] = field(default_factory=dict)
    """The files of the other parts, network or flows, as the settings name them."""
    rules: Rules | None = None


AnyPart = Network | Flows | Settings


@dataclass(frozen=True)
class Choices:
    """What a person says of files that do not say it themselves."""

    start_unit: str | None = None
    """The unit of `start` in a connection matrix, ps or us."""


@dataclass(frozen=True)
class Format:
    """A format that can be read."""

    name: str
    """As --format has it."""
    about: str
    """What it is, for people."""
    recognises: Callable[[Source], bool]
    """Tells by its content whether a file is of this format: its first lines are enough."""
    read: Callable[[Source, Choices], AnyPart]
    """Reads a file; raises `ClearwayError` with file, line and remedy for what is wrong in it."""


def kind_of(part: AnyPart) -> str:
    """Return what a part is to its scenario: two of a kind do not go together."""
    match part:
        case Network():
            return "network"
        case Flows():
            return "flows"
        case _:
            return "settings"


def counted(**counts: int) -> str:
    """Write numbers of things, such as 32 hosts, 1 switch; the names are plural."""
    singular = {"switches": "switch"}
    return ", ".join(
        f"{count} {singular.get(name, name.removesuffix('s')) if count == 1 else name}"
        for name, count in counts.items()
    )


def found_file(path: Path, named: str) -> Path | None:
    """Find a file that another one names: from its folder, from those above, or beside it."""
    folders = [path.parent, *path.absolute().parent.parents][:5]
    places = [folder / named for folder in folders] + [path.parent / Path(named).name]
    return next((place for place in places if place.is_file()), None)
