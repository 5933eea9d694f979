"""What a run directory holds, read back: its manifest, its figures, and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clearway import columns, directory
from clearway.columns import Columns, Described
from clearway.errors import ClearwayError
from clearway.figures import ABSENT, LOWER_BOUNDS
from clearway.records import Record

_TEXTS = frozenset(
    {
        "transport",
        "name",
        "kind",
        "sort",
        "carries",
        "link",
        "class",
        "part",
        "node",
        "place",
        "role",
        "failed_links",
        "lost",
        "contents",
    }
)
"""The columns of a run's tables that are text; all others are numbers."""
_NODES = frozenset({"from", "to"})
"""Those that are text in one table and numbers in another."""


def read_manifest(path: Path) -> Record:
    """Read the manifest of a run directory, after checking that it is one that this version understands."""
    if not path.is_dir():
        what = "is a file, not a run directory" if path.exists() else "no such run directory"
        raise ClearwayError(f"{path}: {what}", "clearway run FILE --out DIR writes one")
    if not (path / directory.MANIFEST).exists():
        raise ClearwayError(
            f"{path}: not a run directory: it has no {directory.MANIFEST}",
            "clearway run FILE --out DIR writes one",
        )
    manifest = Record.read(path / directory.MANIFEST)
    if manifest.whole("format") != directory.FORMAT:
        raise ClearwayError(
            f"{path}: format {manifest.whole('format')}, this version reads {directory.FORMAT}",
            "run the scenario again with this version",
        )
    return manifest


def scenario_in(manifest: Record) -> dict[str, Any]:
    """Take the scenario as resolved, in which what is a table in every scenario is one."""
    scenario = manifest.record("scenario")
    for key in ("network", "switch", "host", "transport", "class", "record"):
        if key in scenario:
            scenario.record(key)
    return manifest.anything("scenario")


def figures_in_record(record: Record) -> dict[str, Any]:
    """Take the figures of a summary, or of one of its transports."""
    figures: dict[str, Any] = {}
    for key in record:
        if key == LOWER_BOUNDS:
            figures[key] = list(record.texts(key))
        elif key == ABSENT:
            reasons = record.record(key)
            figures[key] = {name: reasons.text(name) for name in reasons}
        elif key == "transports":
            by_name = record.record(key)
            figures[key] = {name: figures_in_record(by_name.record(name)) for name in by_name}
        else:
            figures[key] = record.number_or_none(key)
    return figures


def described_in(entry: Record) -> Described:
    """Take what a manifest says of a table."""
    described = entry.record("columns")
    kinds = {column: described.one_of(column, list(columns.KINDS)) for column in described}
    for column, kind in kinds.items():
        if column not in _NODES and (kind == "text") != (column in _TEXTS):
            described.refuse(column, "expected text" if column in _TEXTS else "expected integer or float")
    return Described(entry.name("file"), entry.whole("rows"), kinds)


class SavedTables(Mapping[str, Columns]):
    """The tables of a run directory, each read when it is first asked for."""

    def __init__(self, path: Path, described: Mapping[str, Described]) -> None:
        """Take the directory and what its manifest says of each table."""
        self._path = path
        self._described = described
        self._read: dict[str, Columns] = {}

    def __getitem__(self, name: str) -> Columns:
        """Return a table, which is read now if it was not before."""
        if name not in self._read:
            self._read[name] = columns.read_table(self._path, self._described[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        """Say whether the directory has a table of this name."""
        return name in self._described

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the tables."""
        return iter(self._described)

    def __len__(self) -> int:
        """Return how many tables there are."""
        return len(self._described)
