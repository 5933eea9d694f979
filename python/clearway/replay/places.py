"""Where the page of a replay draws each node: every node by itself, whatever the size of the network.

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
_BLOCK = 180.0  # height of a block of cells
_SMALLEST, _LARGEST = 7.0, 22.0  # from a cell to the next
_TO_CELLS = 90.0  # from a switch to the block of its hosts, and half of a large cell
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
    """By number of a cable whose straight line would cross other nodes: how far its middle is above it."""


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
    cells = len(layers[0]) > MOST_IN_ROWS
    gap = min(max(_HEIGHT / max(len(levels) - 1, 1), _NEAREST), _FARTHEST)
    highest = levels[-1]
    top = 40.0 + (gap * 0.25 if len(layers[highest]) > 1 else 0.0)
    for level in levels:
        if level > 0:
            _spread(layers[level], top + gap * (len(levels) - 1 - levels.index(level)), places)
    lowest = top + gap * (len(levels) - 2)
    _place_hosts(groups, lowest + (_TO_CELLS if cells else gap), places)
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


def _place_hosts(groups: list[tuple[int | None, list[int]]], down: float, places: Places) -> None:
    """Place hosts below their switches, and each of these in the middle above them."""
    count = sum(len(hosts) for _, hosts in groups)
    rooms = [max(len(hosts), 1) for _, hosts in groups]
    unit = places.width / sum(rooms)
    left = 0.0
    blocks = []
    for (switch, hosts), share in zip(groups, rooms, strict=True):
        room = unit * share
        if switch is not None:
            places.x[switch] = left + room / 2
        if hosts:
            blocks.append((hosts, left, room))
        left += room
    if count <= MOST_IN_ROWS:
        for hosts, left, room in blocks:
            for index, host in enumerate(hosts):
                places.x[host] = left + room * (0.5 + (index + 0.5 - len(hosts) / 2) / len(hosts) * _FILLED)
                places.y[host] = down
        places.height = down + 44.0
        return
    pitches = [sqrt(room * _FILLED * _BLOCK / len(hosts)) for hosts, _, room in blocks]
    pitch = min(max(min(pitches), _SMALLEST), _LARGEST)
    narrow = min(pitch, min(room for _, _, room in blocks) * _FILLED)
    places.cell = (narrow * 0.84, pitch * 0.84)
    lowest = 0
    for hosts, left, room in blocks:
        columns = min(max(1, int(room * _FILLED / narrow)), len(hosts))
        begin = left + (room - columns * narrow) / 2
        for index, host in enumerate(hosts):
            row, column = divmod(index, columns)
            places.x[host] = begin + (column + 0.5) * narrow
            places.y[host] = down - 40.0 + (row + 0.5) * pitch
        lowest = max(lowest, ceil(len(hosts) / columns))
    places.height = down - 40.0 + lowest * pitch + 12.0


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
