"""Places of nodes on the page of a replay: every node by itself, whatever the size of the network.

Layers and their order are those of `clearway show`. The hosts of a switch stand below it: in one row where
there are few in the whole network, and as a block of cells where there are many.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import ceil, sqrt

from clearway.preview.description import Description
from clearway.preview.grouping import Grouped, apart
from clearway.preview.layout import laid_out

MOST_IN_ROWS = 48
"""Hosts that are drawn in one row, each with its link; more are cells."""
_WIDTH = 1200.0
_NARROWEST = 9.0  # room of a switch of the lowest layer
_HEIGHT = 440.0  # from the lowest switches to the highest, where that leaves layers this far apart:
_NEAREST, _FARTHEST = 84.0, 340.0
_BLOCK, _BLOCK_OF_ALL = 180.0, 320.0  # height of a block of cells, and where one switch has all hosts
_SMALLEST, _LARGEST = 7.0, 26.0  # from a cell to the next
_TO_CELLS = 50.0  # from a switch to the block of its hosts
_FILLED = 0.92  # of a switch's room that its hosts take


@dataclass
class Places:
    """The middle of each node by number, and the size of the whole."""

    x: list[float]
    y: list[float]
    width: float
    height: float
    cell: tuple[float, float] | None
    """Width and height of a host's cell; None where hosts stand in a row."""
    lifts: dict[int, float] = field(default_factory=dict)
    """The cables whose lines would cross other nodes, by number, each with its height above that line."""


def placed(found: Description) -> Places:
    """Place every node of a network."""
    net = apart(found)
    across = laid_out(net).places
    layers: dict[int, list[int]] = defaultdict(list)
    for node, box in enumerate(net.boxes):
        layers[box.layer].append(node)
    for nodes in layers.values():
        nodes.sort(key=lambda node: (across[node][0], node))
    levels = sorted(layers)
    groups = _hosts_by_switch(net, layers)
    width = max(_WIDTH, _NARROWEST * len(groups))
    places = Places([0.0] * len(net.boxes), [0.0] * len(net.boxes), width, 0.0, None)
    # A network that is wide is high as well.
    zoom = width / _WIDTH
    gap = zoom * min(max(_HEIGHT / max(len(levels) - 1, 1), _NEAREST), _FARTHEST)
    highest = set(layers[levels[-1]])
    bent = len(highest) > 2 and any(highest >= set(edge.ends) for edge in net.edges)
    top = zoom * 40.0 + (gap * 0.25 if bent else 0.0)
    for level in levels:
        if level > 0:
            _spread(layers[level], top + gap * (len(levels) - 1 - levels.index(level)), places)
    lowest = top + gap * (len(levels) - 2)
    if len(layers[0]) <= MOST_IN_ROWS:
        _place_in_row(_rooms(groups, places), lowest + gap, places)
    else:
        _place_in_cells(_rooms(groups, places), lowest + zoom * _TO_CELLS, places)
    _lift(net, places)
    return places


def _hosts_by_switch(net: Grouped, layers: dict[int, list[int]]) -> list[tuple[int | None, list[int]]]:
    """Return the switches of the lowest layer in order, each with its hosts; those of none come last."""
    above: dict[int, int] = {}
    for edge in net.edges:
        for host, switch in (edge.ends, edge.ends[::-1]):
            if net.boxes[host].layer == 0 and net.boxes[switch].layer > 0:
                above.setdefault(host, switch)
    of: dict[int | None, list[int]] = {switch: [] for switch in layers.get(1, [])}
    for host in layers[0]:
        of.setdefault(above.get(host), []).append(host)
    return list(of.items())


def _spread(nodes: list[int], down: float, places: Places) -> None:
    """Place a layer of switches evenly."""
    for index, node in enumerate(nodes):
        places.x[node] = places.width * (index + 0.5) / len(nodes)
        places.y[node] = down


@dataclass(frozen=True)
class _Room:
    """The room below a switch for its hosts."""

    hosts: list[int]
    left: float
    width: float


def _rooms(groups: list[tuple[int | None, list[int]]], places: Places) -> list[_Room]:
    """Share the width out by hosts, and place each switch in the middle above its own."""
    shares = [max(len(hosts), 1) for _, hosts in groups]
    unit, left, rooms = places.width / sum(shares), 0.0, []
    for (switch, hosts), share in zip(groups, shares, strict=True):
        if switch is not None:
            places.x[switch] = left + unit * share / 2
        if hosts:
            rooms.append(_Room(hosts, left, unit * share))
        left += unit * share
    return rooms


def _place_in_row(rooms: list[_Room], down: float, places: Places) -> None:
    for room in rooms:
        count = len(room.hosts)
        for index, host in enumerate(room.hosts):
            places.x[host] = room.left + room.width * (0.5 + (index + 0.5 - count / 2) / count * _FILLED)
            places.y[host] = down
    places.height = down + 44.0


def _place_in_cells(rooms: list[_Room], top: float, places: Places) -> None:
    zoom = places.width / _WIDTH
    block = zoom * (_BLOCK if len(rooms) > 1 else _BLOCK_OF_ALL)
    pitch = min(sqrt(room.width * _FILLED * block / len(room.hosts)) for room in rooms)
    pitch = min(max(pitch, _SMALLEST), _LARGEST * zoom)
    narrow = min(pitch, min(room.width for room in rooms) * _FILLED)
    places.cell = (narrow * 0.84, pitch * 0.84)
    rows = 0
    for room in rooms:
        columns = min(max(1, int(room.width * _FILLED / narrow)), len(room.hosts))
        begin = room.left + (room.width - columns * narrow) / 2
        for index, host in enumerate(room.hosts):
            row, column = divmod(index, columns)
            places.x[host] = begin + (column + 0.5) * narrow
            places.y[host] = top + (row + 0.5) * pitch
        rows = max(rows, ceil(len(room.hosts) / columns))
    places.height = top + rows * pitch + 12.0


def _lift(net: Grouped, places: Places) -> None:
    """Bend the cables of a layer that would cross its other nodes."""
    rows: dict[float, list[float]] = defaultdict(list)
    for x, y in zip(places.x, places.y, strict=True):
        rows[y].append(x)
    for edge in net.edges:
        one, other = edge.ends
        if places.y[one] != places.y[other]:
            continue
        low, high = sorted((places.x[one], places.x[other]))
        crossed = sum(low < x < high for x in rows[places.y[one]])
        if crossed:
            places.lifts.update(dict.fromkeys(edge.links, min(20.0 + 6.0 * crossed, 60.0)))
