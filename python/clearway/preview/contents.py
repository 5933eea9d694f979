"""The tables about a network that terminal and page both show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.figures import readable
from clearway.preview.description import Description

MOST_LISTED = 24
"""Links that are listed one by one; of more, a row stands for all that are alike."""
_BUSIEST = 10
_PATHS = 8
_ROLES = ("host", "nic", "tor", "aggregation", "spine", "dci", "long", "relay")

Row = Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows below headings, of which the first names each row."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Row]
    note: str = ""
    words: frozenset[int] = frozenset({0})
    """The columns that hold words rather than numbers."""
    style: str = ""
    """The kind of table that a page's style sheet knows it as."""


def heading(found: Description) -> str:
    """Say what network it is, in a line."""
    network = found["network"]
    nodes = [_count(network["hosts"], "host")]
    switches = network["switches"].items()
    nodes += [_count(count, f"{role} switch", "es") for role, count in switches if role != "nic"]
    nodes += [_count(count, "network card") for role, count in switches if role == "nic"]
    nodes += [_count(network["relays"], "relay")] if network["relays"] else []
    nodes += [f"arbiter at {', '.join(network['arbiters'])}"] if network["arbiters"] else []
    runs = f"a run lasts up to {readable('time', found['duration_us'])}"
    return f"{network['topology']}: {', '.join(nodes)}; {_count(network['links'], 'link')}; {runs}"


def tables(found: Description) -> list[Table]:
    """Return all tables, in the order in which they are shown."""
    shown = [_links(found), _round_trips(found)]
    if found["between"]:
        shown += [_paths(found["between"]), _beginnings(found["between"])]
    shown += [_ports(found), *_classes(found), _load(found), _parameters(found)]
    return [table for table in shown if table.rows]


def rate(value: float) -> str:
    """Write a rate of bits per second."""
    return readable("rate", value / 1e9)


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{plural}"


def _links(found: Description) -> Table:
    """List links, or the kinds of link where there are many."""
    roles = {node["name"]: node["role"] for node in found["nodes"]}
    links = found["links"][::2]
    if len(links) <= MOST_LISTED:
        rows = [
            (f"{link['from']} - {link['to']}", rate(link["rate_bps"]), readable("time", link["delay_us"]))
            for link in links
        ]
        return Table("Links", ("between", "rate", "delay"), rows)
    kinds: dict[tuple[Any, ...], list[str]] = {}
    for link in links:
        ends = sorted((link["from"], link["to"]), key=lambda name: _ROLES.index(roles[name]))
        kind = (*(roles[name] for name in ends), link["rate_bps"], link["delay_us"])
        kinds.setdefault(kind, []).append(" - ".join(ends))
    counted = [
        (
            f"{low} - {high}",
            f"{len(names):,}",
            rate(bps),
            readable("time", delay),
            names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}",
        )
        for (low, high, bps, delay), names in kinds.items()
    ]
    return Table("Links", ("between", "links", "rate", "delay", "which"), counted, words=frozenset({0, 4}))


def _round_trips(found: Description) -> Table:
    """List the range of base round trips over the network."""
    rows = []
    for name, transport in found["transports"].items():
        for which in ("least", "greatest"):
            if way := transport[which]:
                pair = f"{way['from']} to {way['to']}"
                rows.append((f"{name}, {which}", pair, *_way(way), f"{transport['frame_bytes']} B"))
    note = (
        "From the start of a full packet's transmission to the arrival of its acknowledgement, with nothing "
        "else on the way. BDP: what the slowest link of the path carries in that time."
    )
    headings = ("transport", "such as", "base RTT", "slowest link", "BDP", "full frame")
    return Table("Base round trips over the network", headings, rows, note, frozenset({0, 1}))


def _way(way: Mapping[str, Any]) -> tuple[str, str, str]:
    return (
        readable("time", way["base_rtt_us"]),
        rate(way["rate_bps"]),
        f"{way['bdp_bytes']:,} B",
    )


def _paths(between: Mapping[str, Any]) -> Table:
    """List some of the paths between two hosts."""
    listed = between["listed_paths"][:_PATHS]
    rows = [
        (" > ".join(stops(path["links"])), rate(path["rate_bps"]), readable("time", path["delay_us"]))
        for path in listed
    ]
    count = between["paths"]
    said = "more than 4 billion" if count is None else f"{count:,}"
    noun = "path" if count == 1 else "paths"
    note = f"The first {len(listed)} of them." if count is None or count > len(listed) else ""
    title = f"{said} shortest {noun} from {between['from']} to {between['to']}"
    return Table(title, ("path", "slowest link", "delay one way"), rows, note)


def stops(links: Sequence[str]) -> list[str]:
    """Return the nodes of a path, given its links by name."""
    ends = [link.partition(">") for link in links]
    return [ends[0][0], *(to for _, _, to in ends)]


def _beginnings(between: Mapping[str, Any]) -> Table:
    rows = []
    for name, of in between["transports"].items():
        least, greatest = of["least"], of["greatest"]
        alike = least == greatest
        window, bps = of["initial_cwnd_packets"], of["initial_rate_bps"]
        first, last = _way(least), _way(greatest)
        cells = [
            one if alike or one == other else f"{one} to {other}"
            for one, other in zip(first, last, strict=True)
        ]
        rows.append(
            (
                name,
                *cells,
                "-" if window is None else _packets(window),
                "-" if bps is None else rate(bps),
                readable("time", of["initial_rto_us"]),
            )
        )
    headings = (
        "transport",
        "base RTT",
        "slowest link",
        "BDP",
        "first window (packets)",
        "first rate",
        "first RTO",
    )
    title = f"How a flow from {between['from']} to {between['to']} begins"
    return Table(title, headings, rows)


def _packets(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def _ports(found: Description) -> Table:
    """List the kinds of port, with what they are called."""
    roles = {node["name"]: node["role"] for node in found["nodes"]}
    kinds: dict[tuple[str, ...], list[str]] = {}
    for link in found["links"]:
        if port := link["port"]:
            faces = f"{roles[link['from']]}, to {roles[link['to']]}"
            kinds.setdefault((faces, *_port(port)), []).append(link["name"])
    rows = [(kind[0], f"{len(names):,}", *kind[1:], names[0]) for kind, names in kinds.items()]
    headings = ("switch port", "ports", "buffer", "ECN marks", "PFC pauses above", "headroom", "such as")
    note = "A class may have marking of its own. PFC pauses the other end of the port's cable."
    return Table("Ports of switches", headings, rows, note, frozenset({0, 2, 3, 4, 6}))


def _port(port: Mapping[str, Any]) -> Iterator[str]:
    size = readable("bytes", port["buffer_bytes"])
    trimming = port["trimming"]
    if port["sharing"] == "shared":
        yield f"{size} shared, alpha {port['alpha']:g}"
    elif trimming:
        room = readable("bytes", trimming["header_room_bytes"])
        yield f"{size}, then cuts to {trimming['size_bytes']} B (room for {room})"
    else:
        yield size
    yield _marks(port["ecn"])
    pfc, relay = port["pfc"], port.get("relay")
    if relay:
        room = relay["buffer_bytes"]
        of = "as the fibre needs" if room is None else readable("bytes", room)
        yield from (f"the relay's rule, with {of}", "-")
        return
    if pfc is None:
        yield from ("-", "-")
        return
    xoff = (
        f"{pfc['xoff_alpha']:g} of free buffer" if pfc["xoff_bytes"] is None else f"{pfc['xoff_bytes']:,} B"
    )
    yield f"{xoff}, until {pfc['hysteresis_bytes']:,} B less"
    yield f"{pfc['headroom_bytes']:,} B"


def _marks(ecn: Mapping[str, Any] | None) -> str:
    if ecn is None:
        return "-"
    if ecn["kind"] == "step":
        return f"above {readable('bytes', ecn['threshold_bytes'])} at {ecn['mark_at']}"
    low, high = (readable("bytes", ecn[key]) for key in ("min_bytes", "max_bytes"))
    return f"{low} to {high}, up to {readable('share', ecn['pmax'])}, at {ecn['mark_at']}"


def _classes(found: Description) -> list[Table]:
    if not found["classes"]:
        return []
    keys = list(dict.fromkeys(key for of in found["classes"].values() for key in of))
    cells = [(name, *(_value(of.get(key)) for key in keys)) for name, of in found["classes"].items()]
    return [Table("Traffic classes", ("class", *keys), cells)]


def _load(found: Description) -> Table:
    """List the links that are to carry the most, and those most flows without a size cross."""
    loaded = [link for link in found["links"] if link["expected_bytes"] or link["greedy_flows"]]
    loaded.sort(key=lambda link: (-link["load"], -link["greedy_flows"]))
    rows = [
        (
            link["name"],
            readable("share", link["load"]),
            readable("bytes", link["expected_bytes"]),
            readable("time", link["expected_us"]),
            f"{link['greedy_flows']:.4g}",
        )
        for link in loaded[:_BUSIEST]
    ]
    traffic = found["traffic"]
    counted = _count(traffic["counted_flows"], "flow")
    rest = len(loaded) - len(rows)
    more = (
        f" {_count(rest, 'further link')} {'is' if rest == 1 else 'are'} to carry less." if rest > 0 else ""
    )
    note = (
        f"Data with headers of {counted}, {readable('bytes', traffic['payload_bytes'])} of payload: as a "
        f"share of what each link carries in {readable('time', found['duration_us'])}, and the time that it "
        f"takes at full rate. Not counted: {'; '.join(found['not_counted'])}.{more}"
    )
    headings = ("link", "load", "bytes", "takes", "flows without a size")
    return Table("Expected load, busiest links first", headings, rows, note)


def _parameters(found: Description) -> Table:
    """List the parameters that a run uses, a column a transport."""
    transports = found["transports"]
    keys = list(dict.fromkeys(key for of in transports.values() for key in (*of["parameters"], *of["unset"])))
    rows = [
        (key, *(_value(of["parameters"].get(key), of["unset"].get(key)) for of in transports.values()))
        for key in keys
    ]
    note = "Every default filled in. In brackets: what a key follows that is not set."
    columns = frozenset(range(len(transports) + 1))
    return Table("Parameters of transports", ("key", *transports), rows, note, columns, "parameters")


def _value(value: object, unset: str | None = None) -> str:
    if value is None:
        return f"({unset})" if unset else ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
