"""Which keys of transports a person gives, where a scenario as resolved has them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clearway import documents


def given_keys(file: Path, sets: Sequence[tuple[str, str | None]]) -> frozenset[tuple[str, str]]:
    """Return the keys that the file's transports have, or `--set` gives them, as (transport, key)."""
    document = documents.parse(documents.read_text(file), str(file))
    transports: Any = document.get("transport")
    found = set()
    if isinstance(transports, Mapping):
        for name, table in transports.items():
            found |= {(name, key) for key in table} if isinstance(table, Mapping) else set()
    for dotted, value in sets:
        parts = dotted.split(".")
        if len(parts) == 3 and parts[0] == "transport":
            if value is None:
                found.discard((parts[1], parts[2]))
            else:
                found.add((parts[1], parts[2]))
    return frozenset(found)
