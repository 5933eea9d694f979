"""What a command leaves: a directory, written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clearway import console, directory, stops


class Output:
    """The directory that a command is to write; that it can be made is checked before anything is run."""

    def __init__(self, out: Path | None, default: Path) -> None:
        """Take what `--out` says; without it the default, with a number if that is there already."""
        self._target = out or default
        self._exact = out is not None
        directory.check_writable(self._target, exact=self._exact)

    @property
    def target(self) -> Path:
        """The directory that is to be written; a number may be added to its name."""
        return self._target

    def write(self, fill: Callable[[Path], object]) -> Path:
        """Have the directory filled; return where it is, beside the target if that was taken meanwhile."""
        with directory.Staging(self._target, exact=self._exact) as staging:
            fill(staging.path)
            with stops.put_off():
                written = staging.commit(elsewhere=True)
                stops.wrote(written)
        if self._exact and written != self._target:
            console.show_warning(f"{self._target} was taken meanwhile, so {written} was written")
        return written
