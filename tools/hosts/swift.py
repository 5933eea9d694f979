"""Swift in this kernel, for as long as somebody measures it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from clearway import daemon

from tools.hosts.machine import UnavailableError, demand, run

NAME = "swift"
DAEMON = daemon.path()


def tcp(*arguments: str) -> str:
    """Run `clearwayd tcp` and return what it prints; raise `UnavailableError` if it fails."""
    if not DAEMON.is_file():
        raise UnavailableError("clearwayd is missing: make build")
    return run([str(DAEMON), "tcp", *arguments])


def is_installed() -> bool:
    """Return whether sockets can choose Swift now."""
    return bool(json.loads(tcp("status", "--json"))["installed"])


@contextmanager
def installed(*parameters: str) -> Iterator[None]:
    """Offer Swift to all sockets while the body runs.

    Raises `UnavailableError` where this kernel does not take it, or somebody else has installed it.
    """
    demand()
    tcp("install", *parameters)
    try:
        yield
    finally:
        with suppress(UnavailableError):  # of somebody else's removing it before
            tcp("remove")
