"""The store of finished points: a directory with an ordinary run directory for each, named by its key.

Each is written whole or not at all, so several processes can share a store: at worst two of them make the
same point, and the second finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from clearway import directory
from clearway.errors import ClearwayError
from clearway.runs import Run

STORE = Path(".clearway") / "runs"
"""Where finished points are, under the current directory."""


class Store:
    """A directory with a run directory for each finished point."""

    def __init__(self, path: Path = STORE) -> None:
        """Nothing is made before the first point is saved."""
        self.path = path

    def find(self, key: str) -> Run | None:
        """Return a finished point; its tables are read when they are first used."""
        path = self.path / key
        if not path.exists():
            return None
        try:
            return Run.load(path)
        except ClearwayError as error:
            raise ClearwayError(error.message, f"remove {path}: it is then run again") from error

    def save(self, key: str, run: Run, keep: Sequence[str] | None = None) -> Run:
        """Keep a point, unless another process was faster; return it as it is in the store."""
        if keep is not None:
            run = replace(run, tables={name: run.tables[name] for name in keep if name in run.tables})
        try:
            run.save(self.path / key)
        except ClearwayError:
            if not (self.path / key / directory.MANIFEST).exists():
                raise
        return Run.load(self.path / key)
