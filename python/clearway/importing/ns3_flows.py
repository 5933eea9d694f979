"""Flow files of the ns-3 simulators of HPCC and ConWeave.

The first line has the number of flows. A flow of HPCC's has six fields: source, target, priority group,
destination port, bytes, start in seconds; ConWeave's leave out the port.
"""

from __future__ import annotations

from collections import Counter

from clearway.importing import units
from clearway.importing.parts import MOST_HOSTS, Choices, Flow, Flows, Format, counted
from clearway.importing.source import Line, Source

_MOST_BYTES = 2**32 - 1  # an unsigned integer of 32 bits there


def _recognises(source: Source) -> bool:
    lines = source.lines()
    first, second = next(lines, None), next(lines, None)
    if first is None or len(first.words) != 1 or not first.words[0].isdigit():
        return False
    return second is None or len(second.words) in (5, 6)


def _read(source: Source, _: Choices) -> Flows:
    lines = source.lines()
    first = next(lines, None)
    if first is None or len(first.words) != 1:
        raise source.error(1, "expected the number of flows alone", "write it in the first line: 1")
    count = source.whole(first.number, "flows", first.words[0], 1, 10**8)
    flows: list[Flow] = []
    groups: Counter[str] = Counter()
    rest = 0
    for line in lines:
        if len(flows) == count:
            rest += 1
            continue
        flows.append(_flow(source, line))
        groups[line.words[2]] += 1
    if len(flows) < count:
        raise source.error(
            first.number,
            f"flows: announces {count}, and the file has {len(flows)}: it may be cut short",
            "take the whole file, or correct the number",
        )
    part = Flows(source, counted(flows=count), flows=flows, from_second=True)
    part.assumed += ["start is in seconds, and size in bytes of payload, as HPCC and ConWeave have them"]
    if len(groups) > 1:
        part.lost.append(f"priority groups: {len(groups)} different ones; all flows are in one class")
    if rest:
        part.lost.append(
            f"{rest} lines after the {count} flows that line {first.number} announces: ns-3 does not read "
            "them"
        )
    return part


def _flow(source: Source, line: Line) -> Flow:
    words = line.words
    if len(words) not in (5, 6):
        raise source.error(
            line.number,
            f"flow: found {len(words)} fields, expected 6 (HPCC) or 5 (ConWeave)",
            "write it: source target group port bytes start, such as 0 1 3 100 200000 2.0",
        )
    ends = [source.whole(line.number, "host", word, 0, MOST_HOSTS) for word in words[:2]]
    if ends[0] == ends[1]:
        raise source.error(line.number, f"flow: leads from host {ends[0]} to itself", "remove the line")
    source.whole(line.number, "priority group", words[2], 0, 7)
    if len(words) == 6:
        source.whole(line.number, "port", words[3], 0, 65535)
    size = source.whole(line.number, "bytes", words[-2], 1, _MOST_BYTES)
    start = source.number(line.number, "start", words[-1], units.LONGEST_S)
    return Flow(line.number, round(start * units.PS_PER_S), ends[0], ends[1], size)


FORMAT = Format("ns3-flows", "flows of HPCC's and ConWeave's ns-3", _recognises, _read)
