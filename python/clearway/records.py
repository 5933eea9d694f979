"""JSON of a run directory: a value is checked when it is taken, and an error names the file and the key."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NoReturn

from clearway import directory
from clearway.columns import LARGEST, REMEDY
from clearway.errors import ClearwayError

_DEEPEST = 50  # tables in tables: a scenario has five or so
_SHOWN = 40  # characters of a value that is shown in a message


class Record:
    """An object of a JSON file, and where it stands there."""

    def __init__(self, path: Path, values: dict[str, Any], where: str = "") -> None:
        """Keep the path and the key for messages."""
        self._path = path
        self._values = values
        self._where = where

    @classmethod
    def read(cls, path: Path) -> Record:
        """Read a file."""
        return cls(path, directory.read_json(path))

    def __contains__(self, key: str) -> bool:
        """Tell whether there is a value."""
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        """Yield the keys."""
        return iter(self._values)

    def text(self, key: str) -> str:
        """Take a text."""
        value = self._value(key)
        return value if isinstance(value, str) else self.refuse(key, "expected text")

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts; none if there is no such key."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            self.refuse(key, "expected a list of texts")
        return tuple(value)

    def wholes(self, key: str) -> tuple[int, ...]:
        """Take a list of whole numbers; none if there is no such key."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(_is_whole(entry, 0) for entry in value):
            self.refuse(key, "expected a list of whole numbers")
        return tuple(value)

    def whole(self, key: str, least: int = 0, default: int | None = None) -> int:
        """Take a whole number."""
        value = self._values.get(key, default) if default is not None else self._value(key)
        if not _is_whole(value, least):
            self.refuse(key, f"expected a whole number from {least} on")
        return int(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Take true or false."""
        value = self._values.get(key, default)
        return value if isinstance(value, bool) else self.refuse(key, "expected true or false")

    def number(self, key: str) -> float:
        """Take a number."""
        value: float = self._value(key)
        return value if _is_number(value) else self.refuse(key, "expected a number")

    def number_or_none(self, key: str) -> float | None:
        """Take a number, or null for what was not measured."""
        if self._value(key) is None:
            return None
        return self.number(key)

    def name(self, key: str) -> str:
        """Take the name of something in the same directory."""
        value = self.text(key)
        return value if _is_name(value) else self.refuse(key, "expected the name of a file beside this one")

    def one_of(self, key: str, known: Collection[str]) -> str:
        """Take one of these texts."""
        value = self.text(key)
        return value if value in known else self.refuse(key, f"expected one of {', '.join(known)}")

    def record(self, key: str) -> Record:
        """Take an object."""
        value = self._value(key)
        if not isinstance(value, dict):
            self.refuse(key, "expected an object")
        return Record(self._path, value, self._named(key))

    def records(self, key: str) -> list[Record]:
        """Take a list of objects."""
        values = self._value(key)
        if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
            self.refuse(key, "expected a list of objects")
        return [Record(self._path, each, f"{self._named(key)}[{place}]") for place, each in enumerate(values)]

    def names(self) -> list[str]:
        """Return the keys, each the name of something in the same directory."""
        for key in self._values:
            if not _is_name(key):
                self.refuse(key, "expected the name of a directory beside this file", shown=False)
        return list(self._values)

    def anything(self, key: str) -> dict[str, Any]:
        """Take an object whatever is in it, but no number beyond all bounds and no endless nesting."""
        value: dict[str, Any] = self.record(key)._values
        _check(value, lambda what: self.refuse(key, what, shown=False))
        return value

    def refuse(self, key: str, expected: str, *, shown: bool = True) -> NoReturn:
        """Raise what a person can act on."""
        found = f"found {_short(self._values[key])}, " if shown and key in self._values else ""
        raise ClearwayError(f"{self._path}: {self._named(key)}: {found}{expected}", REMEDY)

    def _value(self, key: str) -> Any:
        if key not in self._values:
            raise ClearwayError(f"{self._path}: {self._named(key)}: missing", REMEDY)
        return self._values[key]

    def _named(self, key: str) -> str:
        return f"{self._where}.{key}" if self._where else key


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < LARGEST


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST


def _is_name(value: str) -> bool:
    return bool(value) and value not in (".", "..") and not set(value) & set("/\\\0")


def _check(value: Any, refuse: Any, depth: int = 0) -> None:
    if depth > _DEEPEST:
        refuse("is nested too deeply")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not _is_number(value):
        refuse("has a number that is too large")
    for entry in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check(entry, refuse, depth + 1)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
