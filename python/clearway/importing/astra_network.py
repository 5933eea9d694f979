"""Network files of ASTRA-sim's analytical backends (YAML): dimensions of rings, switches, or full meshes.

Read as `NetworkParser.cpp` of astra-network-analytical reads them: one GB/s is 2^30 bytes a second there, and
a latency that of one link, of which a path through a switch has two. Of YAML there is what such files have:
keys with lists, in brackets or a line for each entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

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
    star,
)
from clearway.importing.source import Source, brief

_KEYS = ("topology", "npus_count", "bandwidth", "latency")
_SHAPES = ("Ring", "Switch", "FullyConnected")
_BITS_PER_GB = 8 * (1 << 30)
_FASTEST = 10**13  # bits per second, the highest rate of a link
_MOST_GBPS = 1000
_MOST_NS = 10**10
_HOST_PS = 1000


@dataclass(frozen=True)
class _Dimension:
    """A dimension: what joins the NPUs that differ in it alone."""

    shape: str
    count: int
    rate: int
    """In bits per second."""
    latency: int
    """In picoseconds."""


def _recognises(source: Source) -> bool:
    keys = {line.words[0].partition(":")[0] for line in source.lines("#")}
    return {"topology", "npus_count"} <= keys


def _read(source: Source, _: Choices) -> Network:
    values = _values(source)
    counts = {key: len(found) for key, (_, found) in values.items()}
    if len(set(counts.values())) > 1:
        line = values["topology"][0]
        shown = ", ".join(f"{key} {count}" for key, count in counts.items())
        raise source.error(line, f"lists of unlike lengths: {shown}", "give each key an entry a dimension")
    dimensions = [
        _dimension(source, [(key, values[key][0], values[key][1][place]) for key in _KEYS])
        for place in range(counts["topology"])
    ]
    hosts = math.prod(each.count for each in dimensions)
    if hosts > MOST_HOSTS:
        line = values["npus_count"][0]
        raise source.error(line, f"npus_count: makes {hosts} NPUs, expected at most {MOST_HOSTS}", "lower it")
    network = _network(source, dimensions, hosts)
    network.dimensions = [each.count for each in dimensions]
    network.assumed.append("GB/s are 2^30 bytes a second, as ASTRA-sim has them")
    return network


def _values(source: Source) -> dict[str, tuple[int, list[str]]]:
    """Return the line and the entries of each key."""
    found: dict[str, tuple[int, list[str]]] = {}
    key, is_open = "", False
    for line in source.lines("#"):
        text = " ".join(line.words).partition("#")[0].strip()
        if not is_open and not text.startswith("- "):
            key, colon, text = text.partition(":")
            if not colon or key not in _KEYS:
                known = ", ".join(_KEYS)
                raise source.error(line.number, f"{brief(key)}: is unknown", f"the keys are {known}")
            if key in found:
                raise source.error(line.number, f"{key}: is there twice", "remove one")
            found[key] = (line.number, [])
        text = text.strip().removeprefix("- ")
        is_open = (is_open or text.startswith("[")) and not text.endswith("]")
        entries = text.strip("[]").split(",")
        found[key][1].extend(word for entry in entries if (word := entry.strip(" \"'")))
    for each in _KEYS:
        if each not in found or not found[each][1]:
            what = "has no entries" if each in found else "is missing"
            line_number = found[each][0] if each in found else source.last
            raise source.error(line_number, f"{each}: {what}", f"write it: {each}: [ ... ]")
    if is_open:
        raise source.error(
            source.last, f"{key}: its list has no end", "the file may be cut short: close it by ]"
        )
    return found


def _dimension(source: Source, entries: Sequence[tuple[str, int, str]]) -> _Dimension:
    (_, line, shape), (_, count_line, count), (_, rate_line, rate), (_, latency_line, latency) = entries
    if shape not in _SHAPES:
        raise source.error(
            line, f"topology: found {brief(shape)}, expected {', '.join(_SHAPES)}", "correct the line"
        )
    gbps = source.number(rate_line, "bandwidth", rate, _MOST_GBPS)
    if not gbps:
        raise source.error(rate_line, "bandwidth: found 0, expected more", "write it in GB/s: [ 50.0 ]")
    return _Dimension(
        shape,
        source.whole(count_line, "npus_count", count, 1, MOST_HOSTS),
        round(gbps * _BITS_PER_GB),
        max(1, round(source.number(latency_line, "latency", latency, _MOST_NS) * 1000)),
    )


def _network(source: Source, dimensions: Sequence[_Dimension], hosts: int) -> Network:
    if len(dimensions) == 1 and dimensions[0].shape == "Switch":
        return star(source, hosts, dimensions[0].rate, dimensions[0].latency)
    nodes = [Node(f"h{host}", HOST) for host in range(hosts)]
    nodes += [Node(f"npu{host}", "tor") for host in range(hosts)]
    links: list[Link] = []
    near = max(1, min(_HOST_PS, *(each.latency // 4 for each in dimensions)))
    for number, dimension in enumerate(dimensions):
        step = math.prod(each.count for each in dimensions[:number])
        for group in _groups(hosts, step, dimension.count):
            links += _links(dimension, [hosts + host for host in group], len(nodes), near)
            if dimension.shape == "Switch":
                nodes.append(Node(f"switch{number}_{group[0]}", "spine"))
            if len(links) > MOST_LINKS:
                message = f"makes more than {MOST_LINKS} links"
                raise source.error(1, message, "take fewer NPUs, or a switch")
    rate = _host_rate(hosts, links)
    if hosts > 1 and not links:
        raise source.error(1, "no dimension joins the NPUs", "give a dimension more than one NPU")
    network = Network(
        source,
        counted(hosts=hosts, switches=len(nodes) - hosts, links=len(links) + hosts),
        nodes=nodes,
        links=[*(Link((host, hosts + host), min(rate, _FASTEST), near) for host in range(hosts)), *links],
        hosts={host: host for host in range(hosts)},
    )
    network.assumed.append(
        f"an NPU with several neighbours is a host at a switch of its own: {units.time(near)} of the "
        "latency is on its link, whose rate is that of all links of its switch"
    )
    network.lost.append("an NPU passes a message on when all of it has come there, and frame by frame here")
    if rate > _FASTEST:
        network.lost.append(f"an NPU's links have {units.rate(rate)} together: its host has 10 Tb/s")
    return network


def _groups(hosts: int, step: int, count: int) -> Iterator[list[int]]:
    """Iterate over the NPUs that differ in one dimension alone."""
    for first in range(hosts):
        if first // step % count == 0:
            yield [first + step * place for place in range(count)]


def _links(dimension: _Dimension, ends: Sequence[int], switch: int, near: int) -> Iterator[Link]:
    """Iterate over the links of a group; the delay of the two hosts' links is taken off the latency."""
    rate, latency = dimension.rate, dimension.latency
    if len(ends) < 2:
        return
    if dimension.shape == "Switch":
        yield from (Link((end, switch), rate, max(1, latency - near)) for end in ends)
        return
    if dimension.shape == "Ring":
        pairs = {(min(pair), max(pair)) for pair in zip(ends, [*ends[1:], ends[0]], strict=True)}
    else:
        pairs = set(combinations(ends, 2))
    yield from (Link(pair, rate, max(1, latency - 2 * near)) for pair in sorted(pairs))


def _host_rate(hosts: int, links: Sequence[Link]) -> int:
    """Return the largest rate that the links of one NPU have together."""
    rates = [0] * hosts
    for link in links:
        for end in link.ends:
            if hosts <= end < 2 * hosts:
                rates[end - hosts] += link.rate
    return max(rates)


FORMAT = Format("astra-sim-network", "network of ASTRA-sim (YAML)", _recognises, _read)
