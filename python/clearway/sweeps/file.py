"""A scenario with a `[sweep]` table, as read: the scenario, the axes, and where each stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, api, arguments
from clearway.errors import ClearwayError
from clearway.sweeps.axes import Axis, axes_of, variants
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.overrides import expanded
from clearway.sweeps.parting import Parted, parted
from clearway.sweeps.points import Point

_EXAMPLE = '{"sweep": {"seed": [1, 2, 3]}}'


@dataclass(frozen=True)
class SweepFile:
    """A file, text or document, as read."""

    parts: Parted
    axes: Sequence[Axis]
    places: Mapping[str, str]
    """The place of each key of an axis: file, line and table."""
    frontier: Frontier | None
    sets: Sequence[api.Override]
    """What overrides keys of the scenario at every point."""

    @property
    def name(self) -> str:
        """The name of the file in messages."""
        return self.parts.name

    @property
    def folder(self) -> Path:
        """The directory of the files that the scenario names."""
        return self.parts.folder

    @property
    def keys(self) -> list[str]:
        """All keys that change."""
        return [key for axis in self.axes for key in axis.keys]

    def points(self) -> list[Point]:
        """Read and check every point; an error names the file and the line of the axis that is wrong."""
        return [Point(self._load(variant), variant, self.folder) for variant in variants(self.axes)]

    def _load(self, variant: Mapping[str, Any]) -> _clearway.Scenario:
        parts = self.parts
        sets = api.sets_of(expanded(variant, parts.document))
        try:
            return _clearway.load_text(parts.scenario, parts.name, parts.folder, [*self.sets, *sets])
        except _clearway.ScenarioError as error:
            raise ClearwayError(parts.placed(str(error), sets, self.places), "no point was run") from error


def read(source: arguments.Source, sets: Sequence[api.Override] = ()) -> SweepFile:
    """Read a scenario with a `[sweep]` table; `sets` override keys of the scenario, as those of a run."""
    parts = parted(source, "sweep", _EXAMPLE)
    table = parts.table
    frontier = Frontier.of(table["frontier"], parts.where("frontier")) if "frontier" in table else None
    axes = axes_of(table, parts.where)
    keys = [key for axis in axes for key in axis.keys]
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:
        raise ClearwayError(f"{parts.where(repeated)}: is in two axes")
    parts.refuse_sets(sets, keys, "an axis, which sets it at every point")
    places = {key: f"{parts.place(key)}: [sweep]" for key in keys}
    return SweepFile(parts, axes, places, frontier, sets)
