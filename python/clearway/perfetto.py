"""Timelines of jobs, and packets, as Perfetto and Chrome read them: the Trace Event Format's JSON.

A process is a job, a thread one of a rank's lanes: what it computes, and as many for messages as are under
way at a time. Spans of one lane do not overlap, as the format wants it.
"""

from __future__ import annotations

import heapq
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.errors import ClearwayError
from clearway.packets.record import packet_record
from clearway.packets.trace import events as packet_events
from clearway.packets.trace import metadata
from clearway.runs import HOW_TO_RECORD, Run

_LANES = 10_000  # between the threads of two ranks

Rows = Mapping[str, NDArray[Any]]


def trace(run: Run) -> str:
    """Return the trace of a run that has recorded a timeline, or packets."""
    found: list[Iterator[dict[str, Any]]] = []
    if (rows := run.tables.get("timeline")) is not None:
        found.append(_events(run, rows))
    if "packets" in run.tables:
        found.append(packet_events(packet_record(run)))
    if not found:
        remedy = " or ".join(HOW_TO_RECORD[name] for name in ("timeline", "packets"))
        raise ClearwayError(f"{run.path or run.name}: has no timeline and no packets", remedy)
    each = itertools.chain.from_iterable(found)
    events = ",\n".join(json.dumps(event, separators=(",", ":")) for event in each)
    return f'{{"displayTimeUnit":"ns","traceEvents":[\n{events}\n]}}\n'


def _events(run: Run, rows: Rows) -> Iterator[dict[str, Any]]:
    names = run.tables["jobs"]["name"]
    for job in np.unique(rows["job"]):
        yield metadata("process_name", int(job), 0, name=f"job {int(job)}: {names[int(job)]}")
        of_job = rows["job"] == job
        for rank in np.unique(rows["rank"][of_job]):
            yield from _of_rank(rows, np.flatnonzero(of_job & (rows["rank"] == rank)), int(job), int(rank))


def _of_rank(rows: Rows, chosen: NDArray[Any], job: int, rank: int) -> Iterator[dict[str, Any]]:
    computed = rows["kind"][chosen] == "calc"
    first = 0
    for what, indices in (("computes", chosen[computed]), ("messages", chosen[~computed])):
        lanes = _lanes(rows["start_us"][indices], rows["end_us"][indices])
        count = int(lanes.max()) + 1 if len(lanes) else 0
        for lane in range(count):
            thread = rank * _LANES + first + lane
            number = f" {lane + 1}" if count > 1 else ""
            yield metadata("thread_name", job, thread, name=f"rank {rank} {what}{number}")
            yield metadata("thread_sort_index", job, thread, sort_index=thread)
        for index, lane in zip(indices, lanes, strict=True):
            yield _span(rows, int(index), job, rank * _LANES + first + int(lane))
        first += count


def _lanes(starts: NDArray[Any], ends: NDArray[Any]) -> NDArray[np.int64]:
    """Give each span the first lane that is free when it starts; they are in the order of their starts."""
    lanes = np.zeros(len(starts), dtype=np.int64)
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    used = 0
    for index, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            lane = heapq.heappop(free)
        else:
            lane, used = used, used + 1
        lanes[index] = lane
        heapq.heappush(busy, (end, lane))
    return lanes


def _span(rows: Rows, index: int, job: int, thread: int) -> dict[str, Any]:
    start, end = float(rows["start_us"][index]), float(rows["end_us"][index])
    kind = str(rows["kind"][index])
    more: dict[str, Any] = {"iteration": int(rows["iteration"][index])}
    if kind != "calc":
        more |= {"peer": int(rows["peer"][index]), "bytes": int(rows["bytes"][index])}
    name = str(rows["name"][index])
    return {
        "ph": "X",
        "name": name if kind in {name, "calc"} else f"{name} ({kind})",
        "cat": kind,
        "ts": round(start, 6),  # picoseconds
        "dur": round(end - start, 6),
        "pid": job,
        "tid": thread,
        "args": more,
    }
