"""A scenario file with a `[sweep]` table, as read: the scenario, the axes, and the line of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, api, documents
from clearway.errors import ClearwayError
from clearway.sweep.axes import Axis, axes_of, variants
from clearway.sweep.frontier import Frontier
from clearway.sweep.overrides import expanded
from clearway.sweep.points import Point


@dataclass(frozen=True)
class SweepFile:
    """A file as read."""

    path: Path
    scenario: str
    """The document without its `[sweep]`, every line where it was."""
    document: Mapping[str, Any]
    """The same as read."""
    axes: Sequence[Axis]
    lines: Mapping[str, int]
    """Where each key of an axis stands."""
    frontier: Frontier | None

    @property
    def keys(self) -> list[str]:
        """All keys that change."""
        return [key for axis in self.axes for key in axis.keys]

    def points(self) -> list[Point]:
        """Read and check every point; an error names the file and the line of the axis that is wrong."""
        return [Point(self._load(variant), variant, self.path.parent) for variant in variants(self.axes)]

    def _load(self, variant: Mapping[str, Any]) -> _clearway.Scenario:
        sets = api.sets_of(expanded(variant, self.document))
        try:
            return _clearway.load_text(self.scenario, str(self.path), self.path.parent, sets)
        except _clearway.ScenarioError as error:
            message = str(error)
            lines = expanded(self.lines, self.document)
            for key, value in sets:
                place = f"{self.path}:{lines[key]}: [sweep] {key} = {value}: "
                message = message.replace(f"--set {key}={value}: {key}: ", place).replace(
                    f"--set {key}={value}: ", place
                )
            raise ClearwayError(message, "no point was run") from error


def read(path: Path) -> SweepFile:
    """Read a scenario file with a `[sweep]` table."""
    api.check_readable(path)
    text = documents.read_text(path)
    try:
        document = documents.parse(text, str(path))
    except ClearwayError:
        _clearway.load(path)  # says it as it does elsewhere
        raise
    table = document.get("sweep")
    if not isinstance(table, Mapping):
        raise ClearwayError(f"{path}: has no [sweep] table", f"clearway run {path} runs it as it is")
    scenario, header = documents.without_table(text, "sweep")
    left = documents.parse(scenario, str(path))
    if "sweep" in left or not header:
        line = documents.line_of(text, "sweep")
        raise ClearwayError(f"{path}:{line}: sweep: expected a table with a header of its own, [sweep]")

    def where(key: str) -> str:
        return f"{path}:{_line(text, key, header) if key else header}: [sweep] {key}".rstrip()

    frontier = Frontier.of(table["frontier"], where("frontier")) if "frontier" in table else None
    axes = axes_of(table, where)
    keys = [key for axis in axes for key in axis.keys]
    lines = {key: _line(text, key, header) for key in keys}
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:
        raise ClearwayError(f"{path}:{lines[repeated]}: [sweep] {repeated}: is in two axes")
    return SweepFile(path, scenario, left, axes, lines, frontier)


def _line(text: str, key: str, header: int) -> int:
    """Find the line of an axis; of a key that is spread over header and line, that of its last part."""
    line = documents.line_of(text, key, header)
    return line if line != header else documents.line_of(text, key.rsplit(".", 1)[-1], header)
