"""The directory of a sweep, read back: its combinations and what is known of their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import directory
from clearway.columns import REMEDY
from clearway.errors import ClearwayError
from clearway.records import Record
from clearway.saved import figures_in_record
from clearway.sweeps.figures import intervals
from clearway.sweeps.page import Combination

MANIFEST = "sweep.json"


@dataclass(frozen=True)
class SavedSweep:
    """A sweep as its directory has it."""

    name: str
    combinations: Sequence[Combination]
    seeds: int
    """The most runs that a combination has."""


def read_sweep(path: Path) -> SavedSweep:
    """Read the directory of a sweep; raise for what is none, and for one that is damaged."""
    file = path / MANIFEST
    if not file.exists():
        raise ClearwayError(
            f"{path}: not the directory of a sweep: it has no {MANIFEST}",
            "clearway sweep FILE --out DIR writes one",
        )
    manifest = Record.read(file)
    if manifest.whole("format") != directory.FORMAT:
        manifest.refuse("format", f"expected {directory.FORMAT}")
    groups: dict[str, tuple[dict[str, Any], list[Mapping[str, Any]]]] = {}
    for point in manifest.records("points"):
        overrides = {key: value for key, value in point.anything("overrides").items() if key != "seed"}
        summary = figures_in_record(point.record("summary"))
        groups.setdefault(repr(overrides), (overrides, []))[1].append(summary)
    if not groups:
        raise ClearwayError(f"{file}: points: expected at least one", REMEDY)
    keys = [list(overrides) for overrides, _ in groups.values()]
    if any(each != keys[0] for each in keys):
        raise ClearwayError(f"{file}: points: expected all of them to have the same axes", REMEDY)
    return SavedSweep(
        manifest.text("name"),
        [Combination(overrides, intervals(summaries)) for overrides, summaries in groups.values()],
        max(len(summaries) for _, summaries in groups.values()),
    )
