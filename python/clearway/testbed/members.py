"""What the arbiters and endpoints of a testbed have done, as a simulated run has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearway.columns import Columns
from clearway.testbed.plan import Plan
from clearway.testbed.reading import Measured

NOT_KNOWN = "endpoints did not tell it, or do not count it"
"""Why a figure of timeslots is absent."""
_NAN = float("nan")

# The columns of a simulated run's tables, each with the count of a status that it is.
_OF_ENDPOINTS: Mapping[str, str] = {
    "requests": "requests",
    "requests_repeated": "retransmissions",
    "allocations": "allocations",
    "slots_demanded": "slots_demanded",
    "slots_granted": "slots_granted",
    "slots_used": "slots_used",
    "slots_unused": "slots_unused",
    "slots_lost": "slots_lost",
    "refused_late": "slots_late",
    "refused_early": "slots_early",
    "fenced": "slots_fenced",
    "resets": "resets",
    "fallbacks": "fallbacks",
    "returns": "returns",
}
_OF_ARBITERS: Mapping[str, str] = {
    "requests": "requests",
    "slots_demanded": "slots_demanded",
    "slots_granted": "slots_granted",
    "allocations": "allocations",
    "allocations_empty": "allocations_empty",
    "retransmissions": "retransmissions",
    "batches": "batches",
    "late_batches": "batches_late",
    "overdue_grants": "grants_overdue",
    "resets": "resets",
    "watchdogs": "watchdogs",
    "takeovers": "takeovers",
    "stepped_down": "stepped_down",
    "paths_changed": "paths_changed",
    "rejected": "rejected",
}


def _statuses(measured: Measured, what: str) -> dict[str, Mapping[str, Any]]:
    """Return the statuses of arbiters or of endpoints, by the names of their hosts."""
    found = {member["host"]: member["status"] for member in measured.members if member["status"] is not None}
    return {name: status for name, status in found.items() if status.get("what") == what}


def figures(measured: Measured) -> dict[str, Any]:
    """Return the figures of timeslots, all endpoints together; None where no endpoint told anything."""
    statuses = [status["counts"] for status in _statuses(measured, "endpoint").values()]

    def total(*keys: str) -> int | None:
        return sum(counts.get(key, 0) for counts in statuses for key in keys) if statuses else None

    return {
        "request_share": None,
        "allocation_share": None,
        "slots_granted": total("slots_granted"),
        "slots_unused": total("slots_unused"),
        "slots_refused": total("slots_late", "slots_early"),
        "fallbacks": total("fallbacks"),
    }


def remarks(measured: Measured) -> list[str]:
    """Say which of them did not live until the end, or had no part in it."""
    said = [
        f"{member['host']}: {member['lost']}" for member in measured.members if member["lost"] is not None
    ]
    for name, status in _statuses(measured, "endpoint").items():
        counts = status["counts"]
        if counts.get("slots_demanded", 0) > 0 and counts.get("slots_granted", 0) == 0:
            said.append(f"{name} was granted no timeslot: no arbiter was heard")
    return said


def endpoints(plan: Plan, measured: Measured) -> Columns:
    """Return the table of endpoints: a row for each that told what it did."""
    statuses = _statuses(measured, "endpoint")
    rows = [(host, statuses[name]) for host, name in plan.hosts.items() if name in statuses]
    counts = [status["counts"] for _, status in rows]
    table: Columns = {"host": _whole([host for host, _ in rows])}
    table |= {column: _whole([each.get(key, 0) for each in counts]) for column, key in _OF_ENDPOINTS.items()}
    table["term"] = _whole([status["term"] for _, status in rows])
    return table


def arbiters(plan: Plan, measured: Measured) -> Columns:
    """Return the table of arbiters: a row for each, of which one that told nothing is dead."""
    assert plan.fastpass is not None
    statuses = _statuses(measured, "arbiter")
    found = [statuses.get(plan.hosts[host]) for host in plan.fastpass.ranks]
    counts: list[Mapping[str, Any]] = [{} if status is None else status["counts"] for status in found]
    table: Columns = {
        "rank": _whole(list(range(len(found)))),
        "node": _texts([f"h{host}" for host in plan.fastpass.ranks]),
        "role": _texts(["dead" if status is None else str(status["state"]) for status in found]),
        "term": _whole([0 if status is None else status["term"] for status in found]),
    }
    table |= {column: _whole([each.get(key, 0) for each in counts]) for column, key in _OF_ARBITERS.items()}
    nothing = np.full(len(found), _NAN)
    failed = [" ".join(status.get("failed_links", [])) if status else "" for status in found]
    return table | {
        "queue_mean_us": nothing,
        "queue_p99_us": nothing,
        "queue_drops": _whole([each.get("datagrams_dropped", 0) for each in counts]),
        "utilisation": nothing,
        "failed_links": _texts(failed),
    }


def _whole(values: list[int]) -> Any:
    return np.array(values, np.uint64)


def _texts(values: list[str]) -> Any:
    return np.array(values, np.str_) if values else np.array([], "<U1")
