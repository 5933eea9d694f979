"""What files of other simulators hold, whatever their format: networks, flows, jobs, and settings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from clearway.importing import units
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
    files: Collection[Path] = ()
    """The absolute paths of all files that were read with this one, where a name stands for several."""


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
    dimensions: Sequence[int] = ()
    """Hosts along each dimension, the first of which changes fastest, where the file has dimensions."""

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


@dataclass
class Groups(Part):
    """Communicators: ranks that do collectives together, by the communicator's name."""

    members: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass
class Algorithms(Part):
    """How ranks do collectives, and what they compute with."""

    names: Mapping[str, str] = field(default_factory=dict)
    """The algorithm of each collective, both as a scenario calls them."""
    windows: Mapping[str, int] = field(default_factory=dict)
    """Messages of a rank that may be under way where the algorithm is `direct`, if not all."""
    chunks: int = 1
    """Chunks into which the array of a collective is cut."""
    operations_per_s: float | None = None
    """The peak rate of a processor, where times of computing follow from numbers of operations."""
    memory_bytes_per_s: float = 0.0
    """The rate of the memory beside that processor."""


@dataclass(frozen=True)
class JobContext:
    """What other files say of a job."""

    groups: Groups | None = None
    algorithms: Algorithms | None = None
    dimensions: Sequence[int] = ()


@dataclass(frozen=True)
class Job:
    """A job whose ranks have no hosts yet."""

    keys: Mapping[str, Any]
    """Keys of [[job]], but for `file` and for those that say where its ranks are."""
    file: Path | None = None
    """A file in GOAL's text format that is the job."""
    text: Iterable[str] | None = None
    """The text of such a file, which is still to be written."""
    messages: int = 0
    """All messages that its ranks send in an iteration."""
    size: int = 0
    """All bytes of these messages."""
    computing: int = 0
    """Picoseconds of computing, those of all ranks together."""


@dataclass
class Workload(Part):
    """What ranks do: one job."""

    ranks: int = 0
    make: Callable[[JobContext], Job] = field(default=lambda _: Job({}))
    """Makes the job; it may add to what is assumed and lost, and raises `ClearwayError` for what is wrong."""


PACKED, ROUND_ROBIN, RANDOM = "packed", "round_robin", "random"


@dataclass
class Placement(Part):
    """Where the ranks of several jobs are."""

    pattern: str | Sequence[Sequence[int]] | None = None
    """A word, or the host of each rank of each job."""
    shared: bool = False
    """Whether jobs share hosts (multi-tenant there) or have hosts of their own (multi-job)."""
    named: Sequence[str] = ()
    """The files of the jobs, in order."""


AnyPart = Network | Flows | Workload | Groups | Algorithms | Placement | Settings


@dataclass(frozen=True)
class Choices:
    """What a person says of files that do not say it themselves."""

    start_unit: str | None = None
    """The unit of `start` in a connection matrix, ps or us."""
    placement: str | None = None
    """Where the ranks of jobs are, in a word."""
    mode: str | None = None
    """Whether several jobs have hosts of their own (multi-job) or share them (multi-tenant)."""


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
    """Return what a part is to its scenario: but for jobs, two of a kind do not go together."""
    return {
        Network: "network",
        Flows: "flows",
        Workload: "jobs",
        Groups: "communicators",
        Algorithms: "algorithms",
        Placement: "placement",
        Settings: "settings",
    }[type(part)]


def counted(**counts: int) -> str:
    """Write numbers of things, such as 32 hosts, 1 switch; the names are plural."""
    singular = {"switches": "switch"}
    return ", ".join(
        f"{count} {singular.get(name, name.removesuffix('s')) if count == 1 else name}"
        for name, count in counts.items()
    )


def star(source: Source, hosts: int, rate: int, delay: int) -> Network:
    """Make a network of one switch; its links have a rate in bits per second and a delay in picoseconds."""
    return Network(
        source,
        counted(hosts=hosts, switches=1, links=hosts),
        nodes=[*(Node(f"h{host}", HOST) for host in range(hosts)), Node("tor0", "tor")],
        links=[Link((host, hosts), rate, delay) for host in range(hosts)],
        shape={"topology": "star", "hosts": hosts, "rate": units.rate(rate), "delay": units.time(delay)},
        hosts={host: host for host in range(hosts)},
    )


def found_file(path: Path, named: str) -> Path | None:
    """Find a file that another one names: from its folder, from those above, or beside it."""
    folders = [path.parent, *path.absolute().parent.parents][:5]
    places = [folder / named for folder in folders] + [path.parent / Path(named).name]
    return next((place for place in places if place.is_file()), None)
