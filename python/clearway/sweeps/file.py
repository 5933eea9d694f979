"""A scenario with a `[sweep]` table, as read: the scenario, the axes, and where each stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, api, arguments, documents
from clearway.errors import ClearwayError, shown
from clearway.sweeps.axes import Axis, Where, axes_of, variants
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.overrides import expanded
from clearway.sweeps.points import Point


@dataclass(frozen=True)
class SweepFile:
    """A file, text or document, as read."""

    name: str
    """What messages call it."""
    folder: Path
    """The directory of the files that the scenario names."""
    scenario: str
    """The document without its `[sweep]`, every line where it was."""
    document: Mapping[str, Any]
    """The same as read."""
    axes: Sequence[Axis]
    places: Mapping[str, str]
    """Where each key of an axis stands: file and line."""
    frontier: Frontier | None
    sets: Sequence[api.Override]
    """What overrides keys of the scenario at every point."""

    @property
    def keys(self) -> list[str]:
        """All keys that change."""
        return [key for axis in self.axes for key in axis.keys]

    def points(self) -> list[Point]:
        """Read and check every point; an error names the file and the line of the axis that is wrong."""
        return [Point(self._load(variant), variant, self.folder) for variant in variants(self.axes)]

    def _load(self, variant: Mapping[str, Any]) -> _clearway.Scenario:
        sets = api.sets_of(expanded(variant, self.document))
        try:
            return _clearway.load_text(self.scenario, self.name, self.folder, [*self.sets, *sets])
        except _clearway.ScenarioError as error:
            message = str(error)
            places = expanded(self.places, self.document)
            for key, value in sets:
                place = f"{places[key]}: [sweep] {key} = {value}: "
                message = message.replace(f"--set {key}={value}: {key}: ", place).replace(
                    f"--set {key}={value}: ", place
                )
            raise ClearwayError(message, "no point was run") from error


def read(source: arguments.Source, sets: Sequence[api.Override] = ()) -> SweepFile:
    """Read a scenario with a `[sweep]` table; `sets` override keys of the scenario, as those of a run."""
    found = arguments.source(source)
    if isinstance(found, Path):
        api.check_readable(found)
        return _of_text(documents.read_text(found), shown(found), found.parent, sets)
    if isinstance(found, str):
        return _of_text(found, "scenario", Path(), sets)
    return _of_document(found, sets)


def _of_document(document: Mapping[str, Any], sets: Sequence[api.Override]) -> SweepFile:
    left = {key: value for key, value in document.items() if key != "sweep"}
    table = _table(document, "scenario", 'add one, such as {"sweep": {"seed": [1, 2, 3]}}')

    def where(key: str) -> str:
        return f"scenario: [sweep] {key}".rstrip()

    return _checked(
        "scenario", Path(), documents.text_of(left), left, table, where, lambda _: "scenario", sets
    )


def _of_text(text: str, name: str, folder: Path, sets: Sequence[api.Override]) -> SweepFile:
    try:
        document = documents.parse(text, name)
    except ClearwayError:
        _clearway.load_text(text, name, folder)  # says it as it does elsewhere
        raise
    table = _table(document, name, f"clearway run {name} runs it as it is")
    scenario, header = documents.without_table(text, "sweep")
    left = documents.parse(scenario, name)
    if "sweep" in left or not header:
        line = documents.line_of(text, "sweep")
        raise ClearwayError(f"{name}:{line}: sweep: expected a table with a header of its own, [sweep]")

    def place(key: str) -> str:
        return f"{name}:{_line(text, key, header) if key else header}"

    def where(key: str) -> str:
        return f"{place(key)}: [sweep] {key}".rstrip()

    return _checked(name, folder, scenario, left, table, where, place, sets)


def _table(document: Mapping[str, Any], name: str, remedy: str) -> Mapping[str, Any]:
    table = document.get("sweep")
    if not isinstance(table, Mapping):
        raise ClearwayError(f"{name}: has no [sweep] table", remedy)
    return table


def _checked(
    name: str,
    folder: Path,
    scenario: str,
    document: Mapping[str, Any],
    table: Mapping[str, Any],
    where: Where,
    place: Callable[[str], str],
    sets: Sequence[api.Override],
) -> SweepFile:
    """Put together what was read, if the axes are sound and nothing is set twice."""
    frontier = Frontier.of(table["frontier"], where("frontier")) if "frontier" in table else None
    axes = axes_of(table, where)
    keys = [key for axis in axes for key in axis.keys]
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:
        raise ClearwayError(f"{place(repeated)}: [sweep] {repeated}: is in two axes")
    swept = expanded(dict.fromkeys(keys), document)
    for key, value in sets:
        option = f"--unset {key}" if value is None else f"--set {key}={value}"
        if key == "sweep" or key.startswith("sweep."):
            raise ClearwayError(
                f"{option}: [sweep] is no part of the scenario", "change the axes where they stand"
            )
        if key in swept:
            raise ClearwayError(
                f"{option}: {where(key)} is an axis, which sets it at every point",
                "leave one of them out",
            )
    places = {key: place(key) for key in keys}
    return SweepFile(name, folder, scenario, document, axes, places, frontier, sets)


def _line(text: str, key: str, header: int) -> int:
    """Find the line of an axis; of a key that is spread over header and line, that of its last part."""
    line = documents.line_of(text, key, header)
    return line if line != header else documents.line_of(text, key.rsplit(".", 1)[-1], header)
