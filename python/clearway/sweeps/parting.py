"""A file that is a scenario with a table of ours in it, `[sweep]` or `[tune]`, taken apart.

The scenario is left without the table, every line where it was, so that the simulator's errors name lines of
the file. The table is read by whom it is for, whose errors name lines of the file, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, api, arguments, documents
from clearway.errors import ClearwayError, shown
from clearway.sweeps.overrides import expanded


@dataclass(frozen=True)
class Parted:
    """A scenario, and a table that was with it."""

    name: str
    """The name of the file in messages."""
    folder: Path
    """The directory of the files that the scenario names."""
    scenario: str
    """The scenario as text, without the table."""
    document: Mapping[str, Any]
    """The same as read."""
    header: str
    """The name of the table: sweep or tune."""
    table: Mapping[str, Any]
    place: Callable[[str], str]
    """Says in which file and line a key of the table stands, or its header (no key)."""

    def where(self, key: str) -> str:
        """Say where a key of the table stands, and what it is; without a key, the table itself."""
        return f"{self.place(key)}: [{self.header}] {key}".rstrip()

    def refuse_sets(self, sets: Sequence[api.Override], keys: Sequence[str], what: str) -> None:
        """Raise if something overrides the table, or a key that it sets; `what` says what such a key is."""
        ours = expanded(dict.fromkeys(keys), self.document)
        for key, value in sets:
            option = f"--unset {key}" if value is None else f"--set {key}={value}"
            if key == self.header or key.startswith(f"{self.header}."):
                raise ClearwayError(
                    f"{option}: [{self.header}] is no part of the scenario", "change it where it stands"
                )
            if key in ours:
                raise ClearwayError(f"{option}: {self.where(key)} is {what}", "leave one of them out")

    def placed(self, message: str, sets: Sequence[api.Override], places: Mapping[str, str]) -> str:
        """Rewrite what the simulator says of overrides: with the places of the keys that they come from.

        `places` say of each key where it stands, and in which table.
        """
        found = expanded(places, self.document)
        for key, value in sets:
            place = f"{found[key]} {key} = {value}: "
            message = message.replace(f"--set {key}={value}: {key}: ", place).replace(
                f"--set {key}={value}: ", place
            )
        return message


def parted(source: arguments.Source, header: str, example: str) -> Parted:
    """Take a file, text or document apart; `example` is a table for a document that has none."""
    found = arguments.source(source)
    if isinstance(found, Path):
        api.check_readable(found)
        return _of_text(documents.read_text(found), shown(found), found.parent, header)
    if isinstance(found, str):
        return _of_text(found, "scenario", Path(), header)
    table = _table(found, "scenario", header, f"add one, such as {example}")
    left = {key: value for key, value in found.items() if key != header}
    return Parted("scenario", Path(), documents.text_of(left), left, header, table, lambda _: "scenario")


def _of_text(text: str, name: str, folder: Path, header: str) -> Parted:
    try:
        document = documents.parse(text, name)
    except ClearwayError:
        _clearway.load_text(text, name, folder)  # says it as it does elsewhere
        raise
    table = _table(document, name, header, f"clearway run {name} runs it as it is")
    scenario, first = documents.without_table(text, header)
    left = documents.parse(scenario, name)
    if header in left or not first:
        line = documents.line_of(text, header)
        raise ClearwayError(f"{name}:{line}: {header}: expected a table with a header of its own, [{header}]")

    def place(key: str) -> str:
        return f"{name}:{_line(text, key, first) if key else first}"

    return Parted(name, folder, scenario, left, header, table, place)


def _table(document: Mapping[str, Any], name: str, header: str, remedy: str) -> Mapping[str, Any]:
    table = document.get(header)
    if not isinstance(table, Mapping):
        other = next((each for each in ("sweep", "tune") if each != header and each in document), None)
        instead = f"its table is for clearway {other}" if other else remedy
        raise ClearwayError(f"{name}: has no [{header}] table", instead)
    return table


def _line(text: str, key: str, header: int) -> int:
    """Find the line of a key; of one that is spread over header and line, that of its last part."""
    line = documents.line_of(text, key, header)
    return line if line != header else documents.line_of(text, key.rsplit(".", 1)[-1], header)
