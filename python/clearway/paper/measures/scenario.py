"""Measures of what a scenario says: its settings, and what headers leave of a rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run
from clearway.runs import Run


@of_run
def setting(run: Run, key: str) -> float:
    """Take a number of the scenario by dotted key; times in us, rates in Gb/s, sizes in bytes."""
    value: Any = run.scenario
    for part in key.split("."):
        value = entry_of(value, part, f"{run.name}: {key}")
    return amount_of(value)


@of_run
def headers_leave_gbps(run: Run, transport: str) -> float:
    """Take what headers and framing leave of the hosts' rate, in Gb/s: rate * mtu / (mtu + both)."""
    network, protocol = run.scenario["network"], run.scenario["transport"][transport]
    rate = amount_of(network["rate"])
    mtu, framing, header = (
        amount_of(text) for text in (network["mtu"], network["framing"], protocol["header"])
    )
    return rate * mtu / (mtu + header + framing)


def amount_of(value: Any) -> float:
    """Read a number, with its unit if it has one: times in us, rates in Gb/s, sizes in bytes."""
    found = quantity(value)
    if found is None:
        raise ClearwayError(f"{value!r} is no number")
    return found.value


def entry_of(table: Mapping[str, Any], key: str, what: str) -> Any:
    """Return an entry of a table; `what` says in a message which table it is."""
    if not isinstance(table, Mapping) or key not in table:
        known = ", ".join(table) if isinstance(table, Mapping) else "nothing"
        raise ClearwayError(f"{what}: there is no {key}", f"there is {known}")
    return table[key]
