"""Which hosts a testbed has: the names in hosts.toml. What else it says `clearwayd` reads and checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clearway import documents
from clearway.errors import ClearwayError

_REMEDY = 'each host is a table [[host]] with name = "..." and control = "ADDRESS:PORT"'


def names_in(file: Path) -> list[str]:
    """Return the names of the hosts, in the order of the file."""
    hosts: Any = documents.parse(documents.read_text(file), str(file)).get("host")
    if not isinstance(hosts, list) or not hosts:
        raise ClearwayError(f"{file}: host: found no table [[host]]", _REMEDY)
    names: list[str] = []
    for index, host in enumerate(hosts):
        name = host.get("name") if isinstance(host, dict) else None
        if not isinstance(name, str) or not name:
            raise ClearwayError(f"{file}: host[{index}].name: missing", _REMEDY)
        if name in names:
            raise ClearwayError(
                f"{file}: host[{index}].name: {name} is host[{names.index(name)}], too",
                "give each its own name",
            )
        names.append(name)
    return names
