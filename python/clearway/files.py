"""Opening files that a person names, or that lie where a person says.

A run directory, a store or the folder of a scenario may hold anything: a link to a device that never ends,
a pipe that waits for a writer, a file of a terabyte. So all of them are opened here: regular files only,
links to them followed, and none larger than its reader has room for.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from clearway.errors import ClearwayError
from clearway.figures import readable

LARGEST_TEXT = 1 << 28
"""The most bytes of TOML or JSON that Python reads."""
LARGEST_NAMED = 1 << 30
"""The most bytes of a scenario, and of a file that one names: the simulator reads no more."""
LARGEST_TABLE = 1 << 34
"""The most bytes of a table of a run directory."""

# A pipe without a writer is opened at once, and then refused.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def opened(path: Path, most: int, remedy: str | None = None) -> Iterator[BinaryIO]:
    """Open a regular file of at most `most` bytes while the body runs.

    Raises `ClearwayError` for anything else, with the remedy given or one that fits what was found; and
    `OSError` where the system does.
    """
    _check(path, path.stat(), most, remedy)  # before it is opened, which some devices take for an order
    descriptor = os.open(path, _FLAGS)
    try:
        _check(path, os.fstat(descriptor), most, remedy)
        file = os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
    with file:
        yield file


def read(path: Path, most: int, remedy: str | None = None) -> bytes:
    """Read a regular file of at most `most` bytes; raises as `opened` does."""
    with opened(path, most, remedy) as file:
        # One more than there may be: what a system's own files say of their size is not what comes.
        content = file.read(most + 1) or b""
    if len(content) > most:
        raise _too_large(path, f"more than {most:,} bytes", most, remedy)
    return content


def _check(path: Path, about: os.stat_result, most: int, remedy: str | None) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise ClearwayError(f"{path}: is a directory, expected a file", remedy or "name a file in it")
    if not stat.S_ISREG(about.st_mode):
        raise ClearwayError(
            f"{path}: is a device or a pipe, expected a file",
            remedy or "save what it gives as a file, or pipe it into: clearway run -",
        )
    if about.st_size > most:
        raise _too_large(path, readable("bytes", about.st_size), most, remedy)


def _too_large(path: Path, size: str, most: int, remedy: str | None) -> ClearwayError:
    return ClearwayError(
        f"{path}: has {size}, expected at most {readable('bytes', most)}", remedy or "use a smaller file"
    )
