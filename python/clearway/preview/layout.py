"""Places for the boxes of a network: hosts at the bottom, and each switch as high as it is far from hosts.

Within a layer boxes stand in the order of the mean place of what is below them, each as near to that place as
the others let it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from clearway.preview.grouping import Grouped

WIDTH = 1120.0
"""The least width of a drawing."""
HEIGHT = 44.0
"""The height of a box."""
_NARROWEST = 72.0  # the room of a box and the gap beside it
_ROOMIEST = 150.0
_GAP = 10.0
_LAYER = 118.0  # from a layer to the next
_TOP = 26.0


@dataclass(frozen=True)
class Layout:
    """The middle of each box, its width, and the size of the whole."""

    places: Sequence[tuple[float, float]]
    widths: Sequence[float]
    width: float
    height: float


def laid_out(net: Grouped) -> Layout:
    """Place the boxes."""
    layers: dict[int, list[int]] = defaultdict(list)
    for number, box in enumerate(net.boxes):
        layers[box.layer].append(number)
    width = max(WIDTH, net.widest * _NARROWEST)
    levels = sorted(layers)
    across: dict[int, float] = {}
    widths: dict[int, float] = {}
    for level in levels:
        boxes = layers[level]
        room = min(_ROOMIEST, width / len(boxes))
        wanted = _wanted(net, boxes, across, level)
        boxes.sort(key=lambda number: (wanted.get(number, 0.0), number) if wanted else (0.0, number))
        if wanted:
            places = _apart([wanted[number] for number in boxes], room, width)
        else:
            places = [width * (index + 0.5) / len(boxes) for index in range(len(boxes))]
        across.update(zip(boxes, places, strict=True))
        widths.update(dict.fromkeys(boxes, min(room - _GAP, 128.0)))
    if 0 in layers and len(levels) > 1:
        _below(net, layers[0], across, width)
    top = len(levels) - 1
    down = {
        number: _TOP + HEIGHT / 2 + (top - index) * _LAYER
        for index, level in enumerate(levels)
        for number in layers[level]
    }
    numbers = range(len(net.boxes))
    return Layout(
        [(across[number], down[number]) for number in numbers],
        [widths[number] for number in numbers],
        width,
        _TOP + HEIGHT + top * _LAYER + 12.0,
    )


def _wanted(net: Grouped, boxes: Sequence[int], across: dict[int, float], level: int) -> dict[int, float]:
    """Return for each box the mean place of what is below; of what has nothing below, the middle of all."""
    below: dict[int, list[float]] = {number: [] for number in boxes}
    for edge in net.edges:
        for one, other in (edge.ends, edge.ends[::-1]):
            if one in below and other in across and net.boxes[other].layer < level:
                below[one].append(across[other])
    if not any(below.values()):
        return {}
    known = [place for places in below.values() for place in places]
    middle = sum(known) / len(known)
    return {number: sum(places) / len(places) if places else middle for number, places in below.items()}


def _below(net: Grouped, hosts: Sequence[int], across: dict[int, float], width: float) -> None:
    """Put hosts in the order of their switches, each as near below its own as the others let it."""
    above: dict[int, float] = {}
    for edge in net.edges:
        for one, other in (edge.ends, edge.ends[::-1]):
            if net.boxes[one].layer == 0:
                above[one] = across[other]
    order = sorted(hosts, key=lambda number: (above.get(number, 0.0), number))
    room = min(_ROOMIEST, width / len(order))
    places = _apart([above.get(number, width / 2) for number in order], room, width)
    across.update(zip(order, places, strict=True))


def _apart(wanted: Sequence[float], room: float, width: float) -> list[float]:
    """Return places in this order, `room` apart, as near as can be to those that are wanted."""
    # Less `room` for each before it, places must only not fall: neighbours that would are put together.
    blocks: list[tuple[float, int]] = []
    for index, place in enumerate(wanted):
        block = (place - index * room, 1)
        while blocks and blocks[-1][0] > block[0]:
            mean, count = blocks.pop()
            block = ((mean * count + block[0] * block[1]) / (count + block[1]), count + block[1])
        blocks.append(block)
    low, high = room / 2, width - room / 2 - (len(wanted) - 1) * room
    flat = [min(max(mean, low), max(low, high)) for mean, count in blocks for _ in range(count)]
    return [place + index * room for index, place in enumerate(flat)]
