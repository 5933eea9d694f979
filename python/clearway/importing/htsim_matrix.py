"""htsim's connection matrices (.cm): flows with start and size, triggers, and failed links.

Read as `connection_matrix.cpp` of csg-htsim and uet-htsim reads them. A trace has start times only, so flows
that wait for a trigger are left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

from clearway.importing import units
from clearway.importing.htsim_topology import network_of, usual_tree
from clearway.importing.parts import MOST_HOSTS, Choices, Failure, Flow, Flows, Format, Network, counted, star
from clearway.importing.source import Line, Source, brief

_HEADER = ("Nodes", "Connections", "Triggers", "Failures")
_NUMBERS = ("id", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
_SWITCHES = ("TOR", "AGG", "CORE")
_PS = {"ps": 1, "us": 10**6}
_MOST_BYTES = 10**15
_SHORT_PS = 1000  # nobody writes flows so close to each other, but in another unit


@dataclass
class _Read:
    """What has been read of a file."""

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    """The number that each key of the header announces, and its line."""
    connections: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """The line of each connection."""
    triggers: int = 0
    failures: list[Failure] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    """How many connections have each word."""


def _recognises(source: Source) -> bool:
    first = [line.words[0] for line in source.lines("#")][:8]
    return (
        bool(first) and first[0] in _HEADER and any("->" in word or word == "Connections" for word in first)
    )


def _read(source: Source, choices: Choices) -> Flows:
    read = _Read()
    for line in source.lines("#"):
        _take(source, line, read)
    for key in ("Nodes", "Connections"):
        if key not in read.counts:
            raise source.error(source.last, f"{key}: is missing", f"write it at the top: {key} 16")
    found = {"Connections": len(read.connections), "Triggers": read.triggers, "Failures": len(read.failures)}
    for key, count in found.items():
        said, line_number = read.counts.get(key, (0, 1))
        if said != count:
            raise source.error(
                line_number,
                f"{key}: announces {said}, and the file has {count}: it may be cut short",
                "take the whole file, or correct the number",
            )
    return _flows(source, read, choices)


def _take(source: Source, line: Line, read: _Read) -> None:
    """Take a line into what has been read."""
    first = line.words[0]
    if first in _HEADER:
        if len(line.words) != 2:
            raise source.error(line.number, f"{first}: expected one number", f"write it: {first} 16")
        most = MOST_HOSTS if first == "Nodes" else 10**9
        read.counts[first] = (source.whole(line.number, first, line.words[1], 0, most), line.number)
    elif "->" in first:
        read.connections.append(_connection(source, line))
        read.lines.append(line.number)
        read.words.update(read.connections[-1].keys())
    elif first == "trigger":
        read.triggers += 1
    elif first == "failure":
        read.failures.append(_failure(source, line))
    else:
        raise source.error(
            line.number,
            f"{brief(first)}: is unknown",
            f"a line begins with a flow such as 0->1, with trigger, failure, or {', '.join(_HEADER)}",
        )


def _connection(source: Source, line: Line) -> dict[str, str]:
    """Return the words of a connection with their values; `ends` has the first."""
    values = {"ends": line.words[0]}
    words = list(line.words[1:])
    while words:
        word = words.pop(0)
        if word == "addon" or (word == "msg" and not (words and words[0].isdigit())):
            values[word] = ""
        elif word in ("start", "msg", *_NUMBERS):
            if not words:
                raise source.error(line.number, f"{word}: has no value", "the line may be cut short")
            values[word] = words.pop(0)
            if word != "start":
                source.whole(line.number, word, values[word], 0)
        else:
            known = ", ".join(("start", *_NUMBERS, "msg", "addon"))
            raise source.error(line.number, f"{brief(word)}: is unknown", f"a flow has {known}")
    if "size" not in values:
        raise source.error(line.number, "size: is missing", "write it in bytes: size 2000000")
    if ("start" in values) == ("trigger" in values):
        found = "both start and trigger" if "start" in values else "neither start nor trigger"
        raise source.error(line.number, f"{values['ends']}: has {found}", "give one of the two")
    return values


def _failure(source: Source, line: Line) -> Failure:
    pairs = dict(zip(line.words[1::2], line.words[2::2], strict=False))
    known = ("switch_type", "switch_id", "link_id")
    if len(line.words) != 7 or set(pairs) != set(known):
        raise source.error(
            line.number,
            "failure: expected switch_type, switch_id and link_id",
            "write it: failure switch_type AGG switch_id 0 link_id 1",
        )
    if pairs["switch_type"] != "AGG":
        found = brief(pairs["switch_type"])
        remedy = f"htsim knows {', '.join(_SWITCHES)}, and takes links of AGG to core switches away alone"
        raise source.error(line.number, f"switch_type: found {found}, expected AGG", remedy)
    numbers = [source.whole(line.number, key, pairs[key], 0, MOST_HOSTS) for key in known[1:]]
    return Failure(line.number, *numbers)


def _flows(source: Source, read: _Read, choices: Choices) -> Flows:
    hosts, line = read.counts["Nodes"]
    if hosts < 2:
        raise source.error(line, f"Nodes: found {hosts}, expected at least 2", "correct the number")
    by_message = "msg" in read.words
    unit = choices.start_unit or ("us" if by_message else "ps")
    flows = [
        _flow(source, number, values, hosts, unit)
        for number, values in zip(read.lines, read.connections, strict=True)
        if "trigger" not in values
    ]
    if not flows:
        raise source.error(
            source.last, "no flow has a start: all wait for triggers", "give one flow a start: start 0"
        )
    part = Flows(
        source,
        counted(hosts=hosts, flows=len(flows)),
        flows=flows,
        count=hosts,
        failures=read.failures,
        usual=partial(_usual_network, source, hosts),
    )
    _remark(part, read, unit, said=choices.start_unit is not None)
    return part


def _flow(source: Source, line: int, values: dict[str, str], hosts: int, unit: str) -> Flow:
    parts = values["ends"].split("->")
    if len(parts) != 2:
        raise source.error(line, f"{brief(values['ends'])}: expected two hosts", "write it: 0->1")
    ends = [source.whole(line, "host", part, 0, hosts - 1) for part in parts]
    if ends[0] == ends[1]:
        raise source.error(line, f"{values['ends']}: is a flow from a host to itself", "remove the line")
    most = units.LONGEST_S * units.PS_PER_S // _PS[unit]
    start = round(source.number(line, "start", values["start"], most) * _PS[unit])
    size = source.whole(line, "size", values["size"], 0, _MOST_BYTES)
    return Flow(line, start, ends[0], ends[1], size)


def _remark(part: Flows, read: _Read, unit: str, *, said: bool) -> None:
    """Add what was assumed, and what a trace has no room for."""
    why = {"ps": "htsim's own unit without -conn_reuse", "us": "as with -conn_reuse, which msg needs"}[unit]
    programs = "main_swift and -conn_reuse take us"
    if said:
        part.assumed.append(f"start is in {unit}, as --start-unit says")
    elif any(flow.start for flow in part.flows):
        part.assumed.append(f"start is in {unit}, {why}; {programs}: --start-unit ps or us")
        if unit == "ps" and all(flow.start < _SHORT_PS for flow in part.flows):
            part.assumed.append("all flows start within 1 ns so: --start-unit us if the file was made for us")
    part.assumed.append("size is in bytes of payload")
    waiting = read.words["trigger"]
    if waiting:
        part.lost.append(
            f"trigger: {waiting} of {len(read.connections)} flows, which wait for others, are left out"
        )
    if read.words["prio"]:
        part.lost.append(f"prio: {read.words['prio']} flows have one; all are alike here")
    if read.words["msg"]:
        part.lost.append("msg: messages of one connection are flows of their own, side by side")
    if read.words["addon"]:
        part.lost.append("addon: is left out")
    endless = sum(not flow.size for flow in part.flows)
    if endless:
        part.assumed.append(f"{endless} flows of size 0 last until the run ends")


def _usual_network(source: Source, hosts: int) -> Network:
    """Return the network that htsim makes without a topology file, or a star where it makes none."""
    tree = usual_tree(hosts)
    if tree:
        network = network_of(source, tree)
        shape = "fat tree of three tiers" if tree.tiers == 3 else "leaf-spine of equal radices (-tiers 2)"
    else:
        network = star(source, hosts, 10**11, 10**6)
        shape = f"star, as no tree of htsim's has {hosts} hosts"
    network.assumed.append(f"no file has the network: a {shape}, with links of 100 Gb/s and 1 us")
    return network


FORMAT = Format("htsim-matrix", "htsim connection matrix (.cm)", _recognises, _read)
