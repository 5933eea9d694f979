"""What is being written, and what a process that was killed left of it.

A file or directory being written stands beside its target with a dot in front of its name, and is renamed
when it is complete. A directory is locked meanwhile, and the system lifts the lock when the process ends,
however it ends: so what can be locked was left. The name says under which kernel it was made, as other
machines that share the disk do not see the lock; what was made there, or before a restart, counts as left
after a day.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a Unix: there only age tells
    fcntl = None  # type: ignore[assignment]

_NAME = re.compile(r"\..+-([0-9a-f]{8})-[0-9a-f]{8}")
_MOST_CHARACTERS = 50  # of the target's name: a name may have 255 bytes in all
_OLD_S = 24 * 3600


def beside(target: Path) -> Path:
    """Name something hidden next to the target, and so on the same file system."""
    return target.with_name(f".{target.name[:_MOST_CHARACTERS]}-{_kernel()}-{secrets.token_hex(4)}")


class Unfinished:
    """A directory to write into, made beside its target and locked until it is closed."""

    def __init__(self, target: Path) -> None:
        """Make it."""
        self._descriptor: int | None = None
        while True:
            self.path = beside(target)
            self.path.mkdir()
            with suppress(FileNotFoundError):  # someone took it for left before it was locked
                if self._lock():
                    return

    def close(self) -> None:
        """Lift the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _lock(self) -> bool:
        """Lock the directory, where that can be done; return whether it is there still."""
        if fcntl is None:
            return True
        self._descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            return False
        except OSError:
            return True
        return self.path.exists()


def remove_left(folder: Path) -> None:
    """Remove from a directory what processes that have ended were writing there."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None:
                with suppress(OSError):
                    _remove_if_left(Path(entry.path), here=match[1] == _kernel())


def _remove_if_left(path: Path, *, here: bool) -> None:
    if here and fcntl is not None and path.is_dir() and not path.is_symlink():
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        except BlockingIOError:
            return
        finally:
            os.close(descriptor)
    elif time.time() - path.lstat().st_mtime > _OLD_S:
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@cache
def _kernel() -> str:
    """Tell this machine, since it was started, from all others."""
    try:
        text = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        text = platform.node()
    return sha256(text.encode()).hexdigest()[:8]
