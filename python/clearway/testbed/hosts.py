"""Which hosts a testbed has, as hosts.toml says; `clearwayd` reads it, too, and checks all of it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import documents
from clearway.errors import ClearwayError

_REMEDY = 'each host is a table [[host]] with name = "..." and control = "ADDRESS:PORT"'


@dataclass(frozen=True)
class Host:
    """A host of a testbed."""

    name: str
    """As in its certificate."""
    agent: str
    """Where its agent listens, as ADDRESS:PORT."""
    data: str | None = None
    """Where its traffic goes to; None for the address of its agent."""

    def entry(self, data: str | None) -> str:
        """Write it as hosts.toml has it, with this address of data."""
        line = "" if data is None else f'data = "{data}"\n'
        return f'[[host]]\nname = "{self.name}"\ncontrol = "{self.agent}"\n{line}'

    def address(self) -> str:
        """Return the IP address of its agent."""
        return _resolved(self.agent.rpartition(":")[0].strip("[]"), self.name)

    def data_address(self) -> str:
        """Return the IP address that its traffic goes to."""
        return self.address() if self.data is None else _resolved(self.data.strip("[]"), self.name)


def hosts_in(file: Path) -> list[Host]:
    """Return the hosts, in the order of the file."""
    tables: Any = documents.parse(documents.read_text(file), str(file)).get("host")
    if not isinstance(tables, list) or not tables:
        raise ClearwayError(f"{file}: host: found no table [[host]]", _REMEDY)
    hosts: list[Host] = []
    for index, table in enumerate(tables):
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name:
            raise ClearwayError(f"{file}: host[{index}].name: missing", _REMEDY)
        names = names_of(hosts)
        if name in names:
            raise ClearwayError(
                f"{file}: host[{index}].name: {name} is host[{names.index(name)}], too",
                "give each its own name",
            )
        data = table.get("data")
        hosts.append(Host(name, str(table.get("control", "")), None if data is None else str(data)))
    return hosts


def names_of(hosts: Sequence[Host]) -> list[str]:
    """Return the names of hosts."""
    return [host.name for host in hosts]


def _resolved(address: str, name: str) -> str:
    try:
        found = socket.getaddrinfo(address, None, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise ClearwayError(f"the host {name}: {address!r}: {error}", _REMEDY) from error
    return str(found[0][4][0])
