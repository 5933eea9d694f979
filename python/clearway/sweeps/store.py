"""The store of finished points: a directory with an ordinary run directory for each, named by its key.

Each is written whole or not at all, so several processes can share a store: at worst two of them make the
same point, and the second finds it there. Each has a seal: its key and a hash over each of its files. What
does not agree with its seal counts as not there, and is replaced when its point has been run again.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearway import directory, files, unfinished
from clearway.errors import ClearwayError
from clearway.runs import Run

STORE = Path(".clearway") / "runs"
"""Where finished points are, under the current directory."""
SEAL = "seal.json"
_TAKEN = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}


class Store:
    """A directory with a run directory for each finished point."""

    def __init__(self, path: Path = STORE) -> None:
        """Nothing is made before the first point is saved, but that it can be is looked at now."""
        directory.check_place(path, "--store")
        self.path = path
        self.damaged: set[str] = set()
        """The keys of what was found but does not agree with its seal."""

    def find(self, key: str) -> Run | None:
        """Return a finished point; its tables are read when they are first used."""
        if not (self.path / key).exists():
            return None
        run = self._unharmed(key)
        if run is None:
            self.damaged.add(key)
        return run

    def save(self, key: str, run: Run, keep: Sequence[str] | None = None) -> Run:
        """Keep a point, unless another process was faster; return it as it is in the store."""
        if keep is not None:
            run = replace(run, tables={name: run.tables[name] for name in keep if name in run.tables})
        with directory.Staging(self.path / key, exact=True) as staging:
            run.write_into(staging.path)
            directory.write_json(staging.path / SEAL, _seal(key, staging.path))
            try:
                staging.commit()
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
                if (there := self._unharmed(key)) is not None:
                    return there
                staging.replace()
        return Run.load(self.path / key)

    def remove_left(self) -> None:
        """Remove what processes that were killed had begun to write."""
        unfinished.remove_left(self.path)

    def _unharmed(self, key: str) -> Run | None:
        path = self.path / key
        try:
            if directory.read_json(path / SEAL) != _seal(key, path):
                return None
            return Run.load(path)
        except (ClearwayError, OSError):
            return None


def _seal(key: str, path: Path) -> dict[str, Any]:
    """Make the seal of a directory as it is; hidden files are none of ours."""
    files = sorted(entry for entry in path.iterdir() if entry.name != SEAL and not entry.name.startswith("."))
    return {"key": key, "files": {entry.name: _hash_of(entry) for entry in files}}


def _hash_of(path: Path) -> str:
    hashed = hashlib.sha256()
    with files.opened(path, files.LARGEST_TABLE) as file:
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    return hashed.hexdigest()
