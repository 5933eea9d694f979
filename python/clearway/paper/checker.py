"""Checks of the files of a paper: what is wrong is said with file, line, key, and what was expected."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from clearway.errors import ClearwayError

Table = Mapping[str, Any]
"""A table of TOML, as read."""

_NAMES = {
    str: "a text",
    dict: "a table",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
    object: "a value",
    (int, float): "a number",
}
"""What a type is called in a message."""


class Checker:
    """Says where in a file something is wrong."""

    def __init__(self, path: Path, text: str) -> None:
        """Check the file at this path, whose text is this."""
        self.path = path
        self._text = text

    def keys(self, table: Any, known: Mapping[str, Any], where: str, required: Collection[str] = ()) -> None:
        """Raise if a table is none, has a key that is not known, lacks one, or has one of another type."""
        if not isinstance(table, Mapping):
            raise self.error(where, "expected a table")
        for key, value in table.items():
            if key not in known:
                raise self.error(f"{where}.{key}".lstrip("."), "unknown key", nearest(key, known))
            if not isinstance(value, known[key]):
                raise self.error(
                    f"{where}.{key}".lstrip("."), f"found {value!r}, expected {_NAMES[known[key]]}"
                )
        for key in required:
            if key not in table:
                raise self.error(f"{where}.{key}".lstrip("."), "missing")

    def tables(self, tables: Any, where: str) -> Iterator[tuple[str, Table]]:
        """Yield named tables."""
        for key, table in tables.items():
            if not isinstance(table, Mapping):
                raise self.error(f"{where}.{key}", "expected a table")
            yield key, table

    def one_of(self, value: Any, known: Collection[str], where: str) -> None:
        """Raise if a value is not one of these."""
        if value not in known:
            raise self.error(where, f"found {value!r}", nearest(str(value), known))

    def error(self, key: str, message: str, remedy: str | None = None) -> ClearwayError:
        """Make the error; its line is that of the last part of the key."""
        return ClearwayError(f"{self.path}:{self._line(key)}: {key}: {message}", remedy)

    def _line(self, key: str) -> int:
        """Follow the parts of a key through the lines; entry n of a list begins at its n-th header."""
        lines, at = self._text.splitlines(), 0
        for part in key.split("."):
            name, _, index = part.partition("[")
            wanted = int(index.rstrip("]")) if index.rstrip("]").isdigit() else 0
            headers = [
                number
                for number, line in enumerate(lines[at:], at)
                if line.strip().startswith("[[") and line.strip().strip("[] ").rsplit(".", 1)[-1] == name
            ]
            if index and len(headers) > wanted:
                at = headers[wanted]
                continue
            at = next(
                (
                    number
                    for number, line in enumerate(lines[at:], at)
                    if line.strip().lstrip("[").replace('"', "").startswith((name, f"{name}."))
                    or (name and f" {name} =" in line)
                    or (name and line.strip().strip("[]").endswith(f".{name}"))
                ),
                at,
            )
        return at + 1


def nearest(name: str, known: Collection[str]) -> str:
    """Suggest which of the known names may have been meant."""
    near = difflib.get_close_matches(name, list(known), n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"one of {', '.join(known)}" if known else "there is none"
