"""GOAL's text format, which LogGOPSim's Schedgen and ATLAHS write: the simulator reads it as it is.

Here only its head is read, for the number of ranks, and its operations are counted. What is wrong further
down is found when the simulator reads the scenario, with file and line.
"""

from __future__ import annotations

import re
from pathlib import Path

from clearway.importing.parts import Choices, Format, Job, Workload, counted
from clearway.importing.source import Source, brief

MOST_RANKS = 1 << 20
"""The most ranks of a job."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FIRST = re.compile(r"\s*num_ranks\b")
_HEAD = re.compile(r"\s*num_ranks\s+(\S+)")
_SEND = re.compile(r"\bsend\s+(\d+)b\b")
_CALC = re.compile(r"\bcalc\s+(\d+)\b")
_NIC = re.compile(r"\bnic\s+[1-9]")
_PS_OF_A_UNIT = 1000
LOST = (
    "L, o, g, G, O and S are options of LogGOPSim's command, in no file: rates and delays of the network, "
    "and the transport, take their place"
)


def _recognises(source: Source) -> bool:
    return _FIRST.match(_COMMENT.sub(" ", source.text[:100_000])) is not None


def _read(source: Source, _: Choices) -> Workload:
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") + " ", source.text)
    head = _HEAD.match(text)
    if head is None:
        found = text.split(maxsplit=1)
        what = f"found {brief(found[0])}, expected num_ranks" if found else "is empty"
        raise source.error(1, what, "write the number of ranks first: num_ranks 2")
    line = text.count("\n", 0, head.start(1)) + 1
    ranks = source.whole(line, "num_ranks", head[1], 1, MOST_RANKS)
    sizes = [int(size) for size in _SEND.findall(text)]
    computing = sum(int(units) for units in _CALC.findall(text)) * _PS_OF_A_UNIT
    part = Workload(source, counted(ranks=ranks, messages=len(sizes)), ranks=ranks)
    job = Job(
        {"name": job_name(source.path)},
        file=source.path,
        messages=len(sizes),
        size=sum(sizes),
        computing=computing,
    )
    part.make = lambda _: job
    if computing:
        part.assumed.append(
            "calc is in ns, as Schedgen and ATLAHS write it: calc_unit of the job says otherwise"
        )
    part.lost.append(LOST)
    if _NIC.search(text):
        part.lost.append("nic: a host has one NIC")
    return part


def job_name(path: Path) -> str:
    """Return what a job is called that comes from a file: its name, without what a title may not have."""
    name = re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", path.stem.encode("utf-8", "replace").decode())
    return name.strip()[:100] or "job"


FORMAT = Format("goal", "GOAL's text format (LogGOPSim, ATLAHS)", _recognises, _read)
