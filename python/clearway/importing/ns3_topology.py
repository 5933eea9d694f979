"""Topology files of the ns-3 simulators of HPCC and ConWeave.

The first line has the numbers of nodes, switches and links, then come the switches, then a line a link: two
nodes, rate, delay, error rate. What follows the last link is not read, as there.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from clearway.importing import units
from clearway.importing.parts import (
    HOST,
    MOST_HOSTS,
    MOST_LINKS,
    Choices,
    Format,
    Link,
    Network,
    Node,
    counted,
)
from clearway.importing.source import Line, Source, brief

_SIMAI_FIELDS = 6  # of the first line in SimAI's files, which have kinds of switches and GPUs


@dataclass
class _Row:
    """A link of the file."""

    line: int
    ends: tuple[int, int]
    """The numbers of its nodes in the file."""
    rate: int
    delay: int
    loss: float


def _recognises(source: Source) -> bool:
    lines = source.lines()
    first = next(lines, None)
    if first is None or not all(word.isdigit() for word in first.words[:3]):
        return False
    return len(first.words) == 3 or (len(first.words) == _SIMAI_FIELDS and not first.words[5].isdigit())


def _read(source: Source, _: Choices) -> Network:
    lines = source.lines()
    first = next(lines, None)
    if first is None:
        raise source.error(1, "is empty, expected the numbers of nodes, switches and links", "check the path")
    if len(first.words) != 3:
        what = f"found {len(first.words)} numbers, expected those of nodes, switches and links"
        remedy = "files of SimAI, with NVSwitches and kinds of GPUs, are not read: write 3 numbers"
        raise source.error(first.number, what, remedy)
    limits = (("nodes", MOST_HOSTS), ("switches", MOST_HOSTS), ("links", MOST_LINKS))
    nodes, switch_count, link_count = (
        source.whole(first.number, what, word, 1, most)
        for (what, most), word in zip(limits, first.words, strict=True)
    )
    switches = _switches(source, lines, switch_count, nodes)
    rows = [_row(source, line, nodes) for line in _first(lines, link_count)]
    if len(rows) < link_count:
        raise source.error(
            first.number,
            f"links: announces {link_count}, and the file has {len(rows)}: it may be cut short",
            "take the whole file, or correct the number",
        )
    network = _network(source, nodes, switches, rows)
    rest = sum(1 for _ in lines)
    if rest:
        network.lost.append(
            f"{rest} lines after the {link_count} links that line {first.number} announces: ns-3 does not "
            "read them"
        )
    return network


def _first(lines: Iterator[Line], count: int) -> Iterator[Line]:
    for _ in range(count):
        line = next(lines, None)
        if line is None:
            return
        yield line


def _switches(source: Source, lines: Iterator[Line], count: int, nodes: int) -> set[int]:
    found: set[int] = set()
    taken = 0
    while taken < count:
        line = next(lines, None)
        if line is None:
            raise source.error(
                source.last,
                f"switches: found {taken} of {count}: the file may be cut short",
                "take all of it",
            )
        for word in line.words:
            if taken == count:
                raise source.error(line.number, f"switches: more than {count} in the line", "correct line 1")
            found.add(source.whole(line.number, "switch", word, 0, nodes - 1))
            taken += 1
        if len(found) < taken:
            raise source.error(line.number, "switches: one is there twice", "remove one, and correct line 1")
    return found


def _row(source: Source, line: Line, nodes: int) -> _Row:
    if len(line.words) != 5:
        raise source.error(
            line.number,
            f"link: found {len(line.words)} fields, expected two nodes, rate, delay and error rate",
            "write it: 0 32 100Gbps 1000ns 0",
        )
    ends = tuple(source.whole(line.number, "node", word, 0, nodes - 1) for word in line.words[:2])
    rate, delay = units.ns3_rate(line.words[2]), units.ns3_time(line.words[3])
    if not rate:
        raise source.error(
            line.number,
            f"rate: found {brief(line.words[2])}, expected a rate with its unit, up to 1000Tbps",
            "write it: 100Gbps",
        )
    if delay is None or delay > 10 * units.PS_PER_S:
        raise source.error(
            line.number,
            f"delay: found {brief(line.words[3])}, expected a time with its unit, up to 10s",
            "write it: 1000ns",
        )
    loss = float(source.number(line.number, "error rate", line.words[4], 1))
    return _Row(line.number, (ends[0], ends[1]), rate, delay, loss)


def _network(source: Source, count: int, switches: set[int], rows: Sequence[_Row]) -> Network:
    """Check that the links make a network of hosts and switches, and return it."""
    _check(source, count, switches, rows)
    roles = _roles(count, switches, rows)
    nodes = [Node(f"{'switch' if i in switches else 'host'}{i}", roles[i]) for i in range(count)]
    links, remarks = _links(rows)
    hosts = {number: place for place, number in enumerate(i for i in range(count) if i not in switches)}
    network = Network(
        source,
        counted(hosts=len(hosts), switches=len(switches), links=len(links)),
        nodes=nodes,
        links=links,
        shape=_star(hosts, switches, links),
        hosts=hosts,
    )
    network.lost += [*remarks, *_with_several(hosts, links)]
    if any(link.delay == 1 for link in links):
        network.assumed.append("links without a delay have 1 ps, the shortest there is")
    if any(number != place for number, place in hosts.items()):
        first = next(iter(hosts))
        network.assumed.append(
            f"hosts are numbered without the switches: node {first} of the file is host 0, and so on in order"
        )
    return network


def _check(source: Source, count: int, switches: set[int], rows: Sequence[_Row]) -> None:
    degree = Counter(end for row in rows for end in row.ends)
    for row in rows:
        first, second = row.ends
        if first == second:
            raise source.error(row.line, f"link: leads from node {first} to itself", "remove it")
        if first not in switches and second not in switches:
            raise source.error(
                row.line, f"link: joins the hosts {first} and {second}", "put a switch between them"
            )
    for host in (i for i in range(count) if i not in switches and not degree[i]):
        raise source.error(
            1, f"host {host}: has no link", "give it one, or name it among the switches in line 2"
        )


def _with_several(hosts: Collection[int], links: Sequence[Link]) -> list[str]:
    """Say of hosts with links to several switches what differs: each is a card of its own in ns-3."""
    degree = Counter(end for link in links for end in link.ends if end in hosts)
    several = [host for host, count in degree.items() if count > 1]
    if not several:
        return []
    return [
        f"{counted(hosts=len(several))} with links to several switches, each sending at the rate of all of "
        "them: here a host sends as fast as its fastest link, and spreads flows over them by their hash"
    ]


def _links(rows: Sequence[_Row]) -> tuple[list[Link], list[str]]:
    """Make links of the rows, one of parallel ones, and say what is not as in the file."""
    joined: dict[tuple[int, int], list[_Row]] = defaultdict(list)
    for row in rows:
        joined[min(row.ends), max(row.ends)].append(row)
    links = [
        Link(
            same[0].ends,
            sum(row.rate for row in same),
            max(1, *(row.delay for row in same)),
            max(row.loss for row in same),
        )
        for same in joined.values()
    ]
    if len(links) == len(rows):
        return links, []
    return links, [
        f"{counted(links=len(rows) - len(links))} beside another: one link of their rates together"
    ]


def _roles(count: int, switches: set[int], rows: Sequence[_Row]) -> list[str]:
    """Say of each node what it is for, by how far it is from hosts."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        neighbours[row.ends[0]].append(row.ends[1])
        neighbours[row.ends[1]].append(row.ends[0])
    distance = {i: 0 for i in range(count) if i not in switches}
    waiting = deque(distance)
    while waiting:
        node = waiting.popleft()
        for other in neighbours[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                waiting.append(other)
    deepest = max(distance.values())
    roles = {0: HOST, 1: "tor", 2: "spine" if deepest == 2 else "aggregation"}
    return [roles.get(distance.get(i, deepest), "spine") for i in range(count)]


def _star(hosts: dict[int, int], switches: set[int], links: Sequence[Link]) -> dict[str, object] | None:
    """Return the keys of [network] for a star of alike links, if it is one."""
    kinds = {(link.rate, link.delay) for link in links}
    if len(switches) > 1 or len(kinds) > 1 or len(hosts) < 2:
        return None
    ((rate, delay),) = kinds
    keys = {"topology": "star", "hosts": len(hosts)}
    return {**keys, "rate": units.rate(rate), "delay": units.time(delay)}


FORMAT = Format("ns3-topology", "topology of HPCC's and ConWeave's ns-3", _recognises, _read)
