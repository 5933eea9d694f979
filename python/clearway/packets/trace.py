"""The packets of a run for Perfetto: a track for each link, with a slice for each packet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from clearway.packets.record import PacketRecord

PROCESS = 1_000_000
"""The process of all links, beyond those of jobs."""
_PS = 1e6  # in a microsecond


def events(record: PacketRecord) -> Iterator[dict[str, Any]]:
    """Yield the trace events: a thread for each link that has packets, in the order of links."""
    yield metadata("process_name", PROCESS, 0, name="packets")
    for link in np.unique(record.link).tolist():
        yield metadata("thread_name", PROCESS, link, name=record.links[link])
        yield metadata("thread_sort_index", PROCESS, link, sort_index=link)
    rows = record.rows
    ended = rows["time_ps"].astype(np.int64) - record.delays[record.link]
    begun = rows["begun_ps"].astype(np.int64)
    bits = rows["wire_bytes"].astype(np.int64) * 8
    # A PAUSE acts some time after it has arrived.
    takes = np.ceil(bits * 1e12 / record.rates[record.link]).astype(np.int64)
    lasted = np.where(record.is_pause, takes, ended - begun)
    for at in range(len(begun)):
        yield _packet(record, at, int(begun[at]), int(lasted[at]))


def _packet(record: PacketRecord, at: int, begun: int, lasted: int) -> dict[str, Any]:
    rows = record.rows
    kind, flow, lost = str(rows["kind"][at]), float(rows["flow"][at]), str(rows["lost"][at])
    of_flow = "" if np.isnan(flow) else f" {int(flow)}:{int(rows['seq'][at])}"
    event: dict[str, Any] = {
        "ph": "i" if lost else "X",
        "name": f"{'lost ' if lost else ''}{kind}{of_flow}",
        "cat": kind,
        "ts": round(begun / _PS, 6),  # picoseconds
        "pid": PROCESS,
        "tid": int(record.link[at]),
        "args": {
            "from": str(rows["from"][at]),
            "to": str(rows["to"][at]),
            "wire_bytes": int(rows["wire_bytes"][at]),
            "ecn": int(rows["ecn"][at]),
            "arrived_us": round(int(rows["time_ps"][at]) / _PS, 6),
        },
    }
    if lost:
        event["s"] = "t"
        event["args"]["lost"] = lost
    else:
        event["dur"] = round(lasted / _PS, 6)
    return event


def metadata(what: str, process: int, thread: int, **more: Any) -> dict[str, Any]:
    """Return the event that names a process or a thread, or says where it stands."""
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": more}
