"""The drawing of a network, as SVG."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from clearway.figures import readable
from clearway.preview.contents import rate, stops
from clearway.preview.description import Description
from clearway.preview.grouping import MOST_DRAWN, Box, Edge, Grouped, grouped
from clearway.preview.layout import HEIGHT, Layout, laid_out

ROLES = {
    "host": "host",
    "nic": "network card (nic)",
    "tor": "switch of hosts (tor)",
    "aggregation": "aggregation switch",
    "spine": "spine switch",
    "dci": "switch between datacenters (dci)",
    "relay": "relay",
}
"""The roles by colour, as the key of a drawing names them."""
_LETTER = 7.4  # width of a letter of a box's title, and a little more
_SMALL = 5.9
_CROWD = 64  # edges above which lines are thinner
_HALF, _FULL = 0.5, 1.0  # loads from which on a link has another colour
_NUMBERED = re.compile(r"(.*?)(\d+)$")


def drawing(found: Description) -> tuple[str, str]:
    """Return the drawing, and what to say of it; the drawing is empty where there is too much to draw."""
    net = grouped(found)
    if net.widest > MOST_DRAWN:
        nodes = len(found["nodes"])
        return "", (
            f"Too large to draw: of {nodes:,} nodes {net.widest} boxes would stand side by side, more than "
            f"{MOST_DRAWN}, with all that is alike put together. The tables below hold everything."
        )
    return _Drawing(found, net, laid_out(net)).svg(), _caption(found, net)


def _caption(found: Description, net: Grouped) -> str:
    said = ["A switch stands as high as it is far from hosts."]
    if any(len(box.nodes) > 1 for box in net.boxes):
        said.append("A box is what it says: many that are alike are one. A thick line is several links.")
    inside = len(found["links"]) // 2 - sum(len(edge.links) for edge in net.edges)
    if inside:
        said.append(f"Links within boxes are not drawn: {inside:,}.")
    if found["between"]:
        listed, count = len(found["between"]["listed_paths"]), found["between"]["paths"]
        some = "" if listed == count else f" ({listed} of them)"
        said.append(
            f"Wide lines: the paths from {found['between']['from']} to {found['between']['to']}{some}."
        )
    return " ".join(said)


class _Drawing:
    def __init__(self, found: Description, net: Grouped, layout: Layout) -> None:
        self.found, self.net, self.layout = found, net, layout
        self.names = [node["name"] for node in found["nodes"]]
        between = found["between"]
        paths = between["listed_paths"] if between else []
        self.on_path = {link for path in paths for link in path["links"]}
        self.stops = {stop for path in paths for stop in stops(path["links"])}

    def svg(self) -> str:
        """Draw edges, and boxes above them."""
        width, height = self.layout.width, self.layout.height
        edges = "".join(self._edge(edge) for edge in self.net.edges)
        boxes = "".join(self._box(number, box) for number, box in enumerate(self.net.boxes))
        label = escape(f"The network of {self.found['name']}")
        return (
            f'<svg class="network" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{label}" '
            f'style="min-width: {width * 0.72:.0f}px">{edges}{boxes}</svg>'
        )

    def _edge(self, edge: Edge) -> str:
        directed = [self.found["links"][2 * link + way] for link in edge.links for way in (0, 1)]
        load = max(link["load"] for link in directed)
        path = any(link["name"] in self.on_path for link in directed)
        shape, label_at = self._line(edge)
        kind = "full" if load >= _FULL else "half" if load >= _HALF else "calm"
        stroke = 1.2 + 0.7 * min(len(edge.links).bit_length() - 1, 4)
        stroke *= 1.0 if len(self.net.edges) <= _CROWD else 0.5
        title = escape(_described(directed))
        wide = f'<path class="between" d="{shape}"/>' if path else ""
        label = ""
        if label_at is not None:
            text = escape(f"{rate(directed[0]['rate_bps'])}, {readable('time', directed[0]['delay_us'])}")
            label = f'<text class="rate" x="{label_at[0]:.1f}" y="{label_at[1]:.1f}">{text}</text>'
        return (
            f'{wide}<path class="{kind}" style="stroke-width: {stroke:.1f}" d="{shape}">'
            f"<title>{title}</title></path>{label}"
        )

    def _line(self, edge: Edge) -> tuple[str, tuple[float, float] | None]:
        """Return the shape of an edge, and where it has room for words."""
        one, other = edge.ends
        (x1, y1), (x2, y2) = self.layout.places[one], self.layout.places[other]
        if y1 != y2:
            (x1, y1), (x2, y2) = ((x1, y1), (x2, y2)) if y1 < y2 else ((x2, y2), (x1, y1))
            return f"M{x1:.1f} {y1 + HEIGHT / 2:.1f}L{x2:.1f} {y2 - HEIGHT / 2:.1f}", None
        left, right = sorted((one, other), key=lambda number: self.layout.places[number][0])
        x1, x2 = self.layout.places[left][0], self.layout.places[right][0]
        crossed = [x for x, y in self.layout.places if y == y1 and x1 < x < x2]
        if crossed:
            lift = min(18.0 + 7.0 * len(crossed), 56.0)
            top = y1 - HEIGHT / 2
            return f"M{x1:.1f} {top:.1f}Q{(x1 + x2) / 2:.1f} {top - lift:.1f} {x2:.1f} {top:.1f}", None
        x1, x2 = x1 + self.layout.widths[left] / 2, x2 - self.layout.widths[right] / 2
        middle = ((x1 + x2) / 2, y1 - 7.0) if x2 - x1 > 120 else None
        return f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y1:.1f}", middle

    def _box(self, number: int, box: Box) -> str:
        (x, y), width = self.layout.places[number], self.layout.widths[number]
        names = [self.names[node] for node in box.nodes]
        title, below = self._words(box, names, width)
        kind = f"box {box.role}" + (" on" if self.stops & set(names) else "")
        told = (
            names[0] if len(names) == 1 else f"{len(names):,} of role {box.role}: {names[0]} ... {names[-1]}"
        )
        rect = _rect(x, y, width, kind)
        if len(names) > 1:
            rect = _rect(x + 3, y - 3, width, f"box {box.role}") + rect
        lines = f'<text x="{x:.1f}" y="{y + (4 if not below else -2):.1f}">{escape(title)}</text>'
        if below:
            lines += f'<text class="small" x="{x:.1f}" y="{y + 13:.1f}">{escape(below)}</text>'
        return f"<g>{rect}{lines}<title>{escape(told)}</title></g>"

    def _words(self, box: Box, names: Sequence[str], width: float) -> tuple[str, str]:
        """Return a title that fits into a box, and a line below it, if there is one that fits."""
        if len(names) > 1:
            noun = {"host": "hosts", "aggregation": "agg"}.get(box.role, box.role)
            title, below = f"{len(names):,} {noun}", span(names)
        else:
            title = names[0]
            below = "arbiter" if self.found["nodes"][box.nodes[0]]["arbiter"] else ""
        return _fitting(title, width / _LETTER), below if len(below) <= width / _SMALL else ""


def _rect(x: float, y: float, width: float, kind: str) -> str:
    place = f'x="{x - width / 2:.1f}" y="{y - HEIGHT / 2:.1f}"'
    return f'<rect class="{kind}" {place} width="{width:.1f}" height="{HEIGHT:.0f}" rx="6"/>'


def span(names: Sequence[str]) -> str:
    """Write names that count on as a range, such as h0-h15."""
    first, last = _NUMBERED.match(names[0]), _NUMBERED.match(names[-1])
    if first and last and first[1] == last[1] and int(last[2]) - int(first[2]) == len(names) - 1:
        return f"{names[0]}-{last[2]}"
    return f"{names[0]}, ..."


def _fitting(text: str, most: float) -> str:
    return text if len(text) <= most else text[: max(int(most) - 1, 1)] + "…"


def _described(directed: Sequence[dict[str, object]]) -> str:
    """Say in lines what the links of an edge are."""
    count = len(directed) // 2
    first, last = directed[0], directed[-2]
    lines = [f"{first['from']} - {first['to']}"]
    if count > 1:
        lines[0] = f"{count:,} links: {lines[0]} ... {last['from']} - {last['to']}"
    rates = sorted({float(str(link["rate_bps"])) for link in directed})
    delays = sorted({float(str(link["delay_us"])) for link in directed})
    lines.append(" to ".join(dict.fromkeys(rate(each) for each in (rates[0], rates[-1]))))
    lines[-1] += ", " + " to ".join(dict.fromkeys(readable("time", each) for each in (delays[0], delays[-1])))
    busiest = max(directed, key=lambda link: float(str(link["load"])))
    lines.append(f"load up to {readable('share', float(str(busiest['load'])))} ({busiest['name']})")
    return "\n".join(lines)
