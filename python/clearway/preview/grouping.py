"""Boxes of a drawing: nodes by themselves, and many alike as one.

A switch's layer is its distance from the nearest host. Hosts of one switch become one box where there are
many. Switches become one box, layer by layer, where a layer has too many: first those with the same
neighbours, then those with the same neighbours in their own layer and below, then those that hang together
without the highest layer.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from clearway.preview.description import Description

MOST_HOSTS = 16
"""Hosts that are drawn one by one."""
_MOST_BOXES = 16
"""Boxes of a layer that nothing is put together in."""
_MANY_BOXES = 24
"""Boxes of a layer that are put together if they hang together."""
MOST_DRAWN = 40
"""Boxes of a layer that can be drawn."""

_Key = Callable[[int], Hashable]


@dataclass
class Box:
    """Nodes that are drawn as one."""

    nodes: list[int]
    layer: int
    role: str


@dataclass
class Edge:
    """The links between two boxes: link i has the directions 2i and 2i + 1."""

    ends: tuple[int, int]
    links: list[int] = field(default_factory=list)


@dataclass
class Grouped:
    """Boxes, and the edges between them."""

    boxes: list[Box]
    edges: list[Edge]

    @property
    def widest(self) -> int:
        """Return how many boxes the widest layer has."""
        count: dict[int, int] = defaultdict(int)
        for box in self.boxes:
            count[box.layer] += 1
        return max(count.values())


class _Net:
    """The network by numbers."""

    def __init__(self, found: Description) -> None:
        self.names = [node["name"] for node in found["nodes"]]
        self.roles = [node["role"] for node in found["nodes"]]
        number = {name: index for index, name in enumerate(self.names)}
        self.links = [(number[link["from"]], number[link["to"]]) for link in found["links"][::2]]
        self.peers: list[list[int]] = [[] for _ in self.names]
        for one, other in self.links:
            self.peers[one].append(other)
            self.peers[other].append(one)
        self.hosts = [node for node, role in enumerate(self.roles) if role == "host"]
        self.layers = self._layers()
        self.alone = {node for node, of in enumerate(found["nodes"]) if of["arbiter"]}
        if between := found["between"]:
            self.alone |= {number[between["from"]], number[between["to"]]}

    def _layers(self) -> list[int]:
        layers = [-1] * len(self.names)
        for host in self.hosts:
            layers[host] = 0
        waiting = deque(self.hosts)
        while waiting:
            node = waiting.popleft()
            for peer in self.peers[node]:
                if layers[peer] < 0:
                    layers[peer] = layers[node] + 1
                    waiting.append(peer)
        highest = max(layers)
        # A switch that no host reaches stands above all others.
        return [highest + 1 if layer < 0 else layer for layer in layers]

    def peers_in(self, node: int, layers: Collection[int]) -> list[int]:
        return [peer for peer in self.peers[node] if self.layers[peer] in layers]


class _Groups:
    """Switches by group: at first each is one of its own."""

    def __init__(self, net: _Net) -> None:
        self.net = net
        self.switches = [node for node in range(len(net.names)) if net.roles[node] != "host"]
        self.of = {node: node for node in self.switches}
        self.top = max(net.layers)

    def width(self, layer: int) -> int:
        return len({self.of[node] for node in self.switches if self.net.layers[node] == layer})

    def merge(self, key: Callable[[int], _Key], most: int) -> None:
        """Put together what is alike by `key`, which is made for a layer, in layers of more than `most`."""
        changed = True
        while changed:
            changed = False
            for layer in range(1, self.top + 1):
                before = self.width(layer)
                if before > most:
                    self._merge_layer(layer, key(layer))
                    changed |= self.width(layer) < before

    def _merge_layer(self, layer: int, key: _Key) -> None:
        members = [node for node in self.switches if self.net.layers[node] == layer]
        of_group: dict[int, list[Hashable]] = defaultdict(list)
        for node in members:
            of_group[self.of[node]].append(key(node))
        first: dict[Hashable, int] = {}
        into: dict[int, int] = {}
        for group, keys in of_group.items():
            alike = (self.net.roles[group], frozenset(keys))
            into[group] = first.setdefault(alike, group)
        for node in members:
            self.of[node] = into[self.of[node]]

    def neighbours(self, node: int, layers: Collection[int]) -> Hashable:
        """Return the groups of a switch's neighbours in these layers, and how many hosts it has."""
        groups = frozenset(self.of[peer] for peer in self.net.peers_in(node, layers) if peer in self.of)
        return groups, len(self.net.peers_in(node, (0,)))

    def by_all(self, _layer: int) -> _Key:
        everywhere = range(1, self.top + 1)
        return lambda node: self.neighbours(node, everywhere)

    def by_what_is_below(self, layer: int) -> _Key:
        below = range(1, layer + 1)
        return lambda node: self.neighbours(node, below) if self.net.peers_in(node, below) else node

    def by_part(self, layer: int) -> _Key:
        """Tell switches apart by the part of the network that is left without its highest layer."""
        part: dict[int, int] = {}
        if layer == self.top:
            return lambda node: node
        for start in self.switches:
            waiting = [] if start in part or self.net.layers[start] == self.top else [start]
            while waiting:
                node = waiting.pop()
                if node not in part:
                    part[node] = start
                    waiting += self.net.peers_in(node, range(1, self.top))
        # A network in one piece would become one box a layer, of switches that are not alike.
        return (lambda node: part[node]) if len(set(part.values())) > 1 else (lambda node: node)


def apart(found: Description) -> Grouped:
    """Return a box for each node, by number, and the edges between them: nothing is put together."""
    net = _Net(found)
    kinds = zip(net.layers, net.roles, strict=True)
    boxes = [Box([node], layer, role) for node, (layer, role) in enumerate(kinds)]
    return Grouped(boxes, _edges(net.links, range(len(boxes))))


def grouped(found: Description) -> Grouped:
    """Return the boxes of a network and the edges between them."""
    net = _Net(found)
    groups = _Groups(net)
    groups.merge(groups.by_all, _MOST_BOXES)
    groups.merge(groups.by_what_is_below, _MOST_BOXES)
    groups.merge(groups.by_part, _MANY_BOXES)
    box_of: dict[int, int] = {}
    boxes: list[Box] = []
    single = len(net.hosts) <= MOST_HOSTS
    numbers: dict[Hashable, int] = {}
    for node in range(len(net.names)):
        box_of[node] = numbers.setdefault(_box_key(net, groups, node, single=single), len(boxes))
        if box_of[node] == len(boxes):
            boxes.append(Box([], net.layers[node], net.roles[node]))
        boxes[box_of[node]].nodes.append(node)
    return Grouped(boxes, _edges(net.links, box_of))


def _box_key(net: _Net, groups: _Groups, node: int, *, single: bool) -> Hashable:
    if net.roles[node] != "host":
        return ("switches", groups.of[node])
    if single or node in net.alone or not net.peers[node]:
        return ("host", node)
    return ("hosts", groups.of[net.peers[node][0]])


def _edges(links: Sequence[tuple[int, int]], box_of: Mapping[int, int] | Sequence[int]) -> list[Edge]:
    edges: dict[tuple[int, int], Edge] = {}
    for number, (one, other) in enumerate(links):
        ends = box_of[one], box_of[other]
        if ends[0] != ends[1]:
            key = min(ends), max(ends)
            edges.setdefault(key, Edge(key)).links.append(number)
    return list(edges.values())
