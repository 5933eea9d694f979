"""Processes of a testbed: wait for what one says first, and have several end."""

from __future__ import annotations

import select
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

_PATIENCE_S = 20.0
_FAREWELL_S = 3.0  # for agents, of which an arbiter or an endpoint may be a child


def first_line(process: subprocess.Popen[bytes]) -> bytes:
    """Return the first line that a process prints; nothing if none comes in good time."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _PATIENCE_S)
    return process.stdout.readline() if ready else b""


def end(processes: Sequence[subprocess.Popen[bytes]], patience_s: float = _FAREWELL_S) -> None:
    """Have processes end in order, and after `patience_s` in any case."""
    for process in processes:
        with suppress(OSError):
            process.terminate()
    until = time.monotonic() + patience_s
    for process in processes:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    for process in processes:
        with suppress(OSError):
            process.kill()
        process.wait()
