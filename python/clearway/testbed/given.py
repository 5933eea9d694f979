"""Which keys a person gives of tables that a scenario as resolved has whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import documents


@dataclass(frozen=True)
class Given:
    """The keys that a scenario's file has, or `--set` gives."""

    transports: frozenset[tuple[str, str]] = frozenset()
    """Those of transports, as (transport, key)."""
    arbiter: frozenset[str] = frozenset()
    """Those of `[arbiter]`."""


def given_keys(file: Path, sets: Sequence[tuple[str, str | None]]) -> Given:
    """Return the keys that the file has, or `--set` gives."""
    document = documents.parse(documents.read_text(file), str(file))
    found = {("arbiter", *parts) for parts in _keys(document.get("arbiter"))}
    transports: Any = document.get("transport")
    if isinstance(transports, Mapping):
        found |= {("transport", name, *parts) for name in transports for parts in _keys(transports[name])}
    for dotted, value in sets:
        parts = tuple(dotted.split("."))
        if value is None:
            found = {each for each in found if each[: len(parts)] != parts}
        else:
            found.add(parts)
    return Given(
        frozenset((parts[1], parts[2]) for parts in found if len(parts) == 3 and parts[0] == "transport"),
        frozenset(parts[1] for parts in found if len(parts) == 2 and parts[0] == "arbiter"),
    )


def _keys(table: Any) -> list[tuple[str, ...]]:
    return [(key,) for key in table] if isinstance(table, Mapping) else []
