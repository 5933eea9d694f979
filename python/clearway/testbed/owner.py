"""Which process made something, in its name: what one left that was killed can be told apart."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OWNED = re.compile(r"clearway-(\d+)-(\d+)-.*")


def owned(what: str) -> str:
    """Return a name for something of this process: with its number, and when it started."""
    return f"clearway-{os.getpid()}-{_started(os.getpid())}-{what}"


def is_left(name: str) -> bool:
    """Tell whether a name is of something whose process has ended."""
    match = _OWNED.fullmatch(name)
    return match is not None and _started(int(match[1])) != match[2]


@contextmanager
def folder() -> Iterator[Path]:
    """Have a directory for temporary files while the body runs; first those that others left are removed."""
    for left in Path(tempfile.gettempdir()).glob("clearway-*-*-testbed*"):
        if is_left(left.name) and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=owned("testbed-")) as name:
        yield Path(name)


def _started(process: int) -> str:
    """Return when a process started, in the kernel's ticks; nothing if there is none."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    # Its name may hold anything, and ends with the last parenthesis.
    return text.rpartition(")")[2].split()[19]
