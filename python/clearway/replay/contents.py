"""The contents of a page that plays a run: network with places, samples, flows, jobs and faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway import _clearway, documents
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.replay.packing import packed
from clearway.replay.places import placed
from clearway.runs import HOW_TO_RECORD, Run

_COUNTS = ("sent_bytes", "queue_bytes", "dropped_frames", "lost_frames", "marked_frames")
_SLOTS = ("slots_used", "slots_unused", "refused_late", "slots_waiting")
_PS = 1_000_000  # picoseconds in a microsecond


def check(run: Run) -> None:
    """Raise what a person can act on if a run cannot be played."""
    place = run.path or run.name
    if run.testbed is not None:
        raise ClearwayError(f"{place}: is of real hosts, expected a simulated run", "simulate its scenario")
    if "replay" not in run.tables:
        raise ClearwayError(f"{place}: recorded no replay", f"{HOW_TO_RECORD['replay']} and run it again")
    begin = _us(run.scenario["record"].get("replay_from"))
    if run.summary["simulated_us"] <= begin:
        raise ClearwayError(
            f"{place}: ended before its replay began, at {readable('time', begin)}",
            "set record.replay_from to an earlier time",
        )


def data(run: Run, files: Path) -> str:
    """Return all that the page shows, packed; `files` has what the scenario names."""
    check(run)
    scenario = _clearway.load_text(documents.text_of(run.scenario), run.name, files, [], run.seed)
    network = _described(json.loads(scenario.network(0)), run)
    places = placed(network)
    instants = _instants(run)
    head = {
        "name": run.name,
        "seed": run.seed,
        "version": run.version,
        "digest": run.digest,
        "where": run.path.name if run.path else "",
        "begin_us": _us(run.scenario["record"].get("replay_from")),
        "width": round(places.width, 2),
        "height": round(places.height, 2),
        "cell": places.cell,
        "nodes": [node["name"] for node in network["nodes"]],
        "roles": [node["role"] for node in network["nodes"]],
        "arbiters": [number for number, node in enumerate(network["nodes"]) if node["arbiter"]],
        "x": [round(x, 2) for x in places.x],
        "y": [round(y, 2) for y in places.y],
        "lifts": {str(link): round(lift, 1) for link, lift in places.lifts.items()},
        "from": network["ends"][0],
        "to": network["ends"][1],
        "rate_gbps": [float(rate) for rate in run.links["rate_gbps"]],
        "delay_us": [float(delay) for delay in run.links["delay_us"]],
        "timeslot_us": _timeslot(run.scenario),
        "transports": sorted(set(run.flows["transport"].tolist())),
        "jobs": _jobs(run),
        "faults": _faults(run.scenario),
    }
    columns = {"instant_us": instants / _PS, **_samples(run, instants), **_timeslots(run, instants)}
    return packed(head, columns | _flows(run))


def _described(network: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """Return the network as those who place it know it."""
    arbiters = set((run.scenario.get("arbiter") or {}).get("at", ()))
    names = [node["name"] for node in network["nodes"]]
    return {
        "nodes": [{**node, "arbiter": node["name"] in arbiters} for node in network["nodes"]],
        "links": [{"from": names[link["from"]], "to": names[link["to"]]} for link in network["links"]],
        "between": None,
        "ends": [[link[end] for link in network["links"]] for end in ("from", "to")],
    }


def _us(text: object) -> float:
    found = quantity(text)
    return found.value if found else 0.0


def _instants(run: Run) -> NDArray[np.int64]:
    """Return the instants of the samples in picoseconds."""
    keys = run.scenario["record"]
    begin, step = (round(_us(keys.get(key)) * _PS) for key in ("replay_from", "replay"))
    until = round(_us(keys["replay_until"]) * _PS) if "replay_until" in keys else None
    end = round(float(run.summary["simulated_us"]) * _PS)
    end = end if until is None else min(end, until)
    grid = np.arange(begin + step, end, step, dtype=np.int64)
    return np.append(grid, end) if end > begin else np.array([max(end, 1)], dtype=np.int64)


@dataclass(frozen=True)
class _Rows:
    """The rows of a table of samples: by instant, then by number of what is sampled."""

    order: NDArray[np.int64]
    of_instants: NDArray[np.uint64]
    """How many there are of each instant."""
    steps: NDArray[np.uint64]
    """From each number to the next of the same instant; the first of an instant is the number itself."""


def _rows(times_us: NDArray[Any], numbers: NDArray[Any], instants: NDArray[np.int64]) -> _Rows:
    """Return the rows that have these times and numbers."""
    at = np.searchsorted(instants, np.rint(times_us * _PS).astype(np.int64))
    order = np.lexsort((numbers, at))
    at, ordered = at[order], numbers[order].astype(np.int64)
    steps = np.diff(ordered, prepend=0)
    first = np.flatnonzero(np.diff(at, prepend=-1))
    steps[first] = ordered[first]
    of_instants = np.bincount(at, minlength=len(instants))
    return _Rows(order, of_instants.astype(np.uint64), steps.astype(np.uint64))


def _samples(run: Run, instants: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of the samples of links."""
    table = run.table("replay")
    rows = _rows(table["time_us"], table["link_number"], instants)
    return {
        "rows": rows.of_instants,
        "link_steps": rows.steps,
        **{name: table[name][rows.order] for name in _COUNTS},
        "paused_ns": np.rint(table["paused_us"][rows.order] * 1000).astype(np.uint64),
    }


def _timeslots(run: Run, instants: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of the samples of timeslots; none where the run has no such samples."""
    if "replay_timeslots" not in run.tables:
        return {}
    table = run.table("replay_timeslots")
    rows = _rows(table["time_us"], table["host"], instants)
    return {
        "slot_rows": rows.of_instants,
        "slot_host_steps": rows.steps,
        **{name: table[name][rows.order] for name in _SLOTS},
    }


def _flows(run: Run) -> dict[str, NDArray[Any]]:
    """Return the columns of the flows, in their order."""
    flows = run.flows
    _, numbers = np.unique(flows["transport"], return_inverse=True)
    return {
        "flow_from": flows["from"],
        "flow_to": flows["to"],
        "flow_bytes": flows["bytes"],
        "flow_delivered_bytes": flows["delivered_bytes"],
        "flow_retransmissions": flows["retransmissions"],
        "flow_transport": numbers.astype(np.uint64),
        "flow_start_us": flows["start_us"],
        "flow_fct_us": flows["fct_us"],
        "flow_slowdown": flows["slowdown"],
    }


def _jobs(run: Run) -> list[dict[str, Any]]:
    """Return name, hosts and times of each job."""
    if "jobs" not in run.tables:
        return []
    jobs, ranks, iterations = (run.table(name) for name in ("jobs", "job_ranks", "iterations"))
    listed = []
    for number, name in zip(jobs["job"].tolist(), jobs["name"].tolist(), strict=True):
        ended = iterations["ended_us"][iterations["job"] == number]
        ended = ended[np.isfinite(ended)]
        listed.append(
            {
                "name": name,
                "hosts": sorted(set(ranks["host"][ranks["job"] == number].tolist())),
                "iterations_us": ended.tolist(),
            }
        )
    return listed


def _faults(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return kind, place and times of each fault; one without an end has none."""
    listed = []
    for fault in scenario.get("fault", []):
        place = next((fault[key] for key in ("link", "node", "relay", "arbiter") if key in fault), "")
        until = _us(fault["until"]) if "until" in fault else None
        listed.append(
            {"kind": fault["kind"], "place": str(place), "at_us": _us(fault.get("at")), "until_us": until}
        )
    return listed


def _timeslot(scenario: Mapping[str, Any]) -> float | None:
    """Return the length of Fastpass's timeslots in microseconds; None where there is no arbiter."""
    arbiter = scenario.get("arbiter")
    return _us(arbiter.get("slot")) or None if arbiter else None
