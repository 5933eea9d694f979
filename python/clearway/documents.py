"""TOML documents in Python: read, written, and with a table of ours taken out of a scenario's.

The simulator reads scenarios itself and says file, line and key of what is wrong. What Python reads of a file
(the axes of a sweep, an experiment of a paper) is read here.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from clearway import arguments, files
from clearway.errors import ClearwayError, reason

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STEP = re.compile(r"([^.\[\]]+)(?!\])|\[(\d+)\]")  # of a dotted key: a name, or the number of a list's entry
_AT_LINE = re.compile(r"\(at line (\d+), column (\d+)\)")
_QUANTITY = re.compile(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([A-Za-z]+)\s*")
_UNITS: Mapping[str, tuple[float, str]] = {
    "ps": (1e-6, "us"),
    "ns": (1e-3, "us"),
    "us": (1.0, "us"),
    "ms": (1e3, "us"),
    "s": (1e6, "us"),
    "B": (1.0, "bytes"),
    "kB": (1e3, "bytes"),
    "MB": (1e6, "bytes"),
    "GB": (1e9, "bytes"),
    "KiB": (1024.0, "bytes"),
    "MiB": (1024.0**2, "bytes"),
    "GiB": (1024.0**3, "bytes"),
    "bps": (1e-9, "gbps"),
    "kbps": (1e-6, "gbps"),
    "Mbps": (1e-3, "gbps"),
    "Gbps": (1.0, "gbps"),
    "Tbps": (1e3, "gbps"),
}


@dataclass(frozen=True)
class Quantity:
    """A number with a dimension, in the unit that tables use for it."""

    value: float
    unit: str
    """The unit, such as us, bytes or gbps; nothing for a plain number."""


def quantity(value: Any) -> Quantity | None:
    """Read a number, or a number with its unit as scenarios write them; None if it is neither."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return Quantity(float(value), "")
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    factor, unit = _UNITS[match[2]]
    return Quantity(float(f"{float(match[1]) * factor:.12g}"), unit)


def read_text(path: Path) -> str:
    """Read a file of text."""
    try:
        return files.read(path, files.LARGEST_TEXT).decode()
    except OSError as error:
        raise ClearwayError(f"{path}: cannot be read: {reason(error)}", "check the path") from error
    except UnicodeDecodeError as error:
        raise ClearwayError(f"{path}: not UTF-8 at byte {error.start}", "save it as UTF-8") from error


def parse(text: str, name: str) -> dict[str, Any]:
    """Read TOML; an error has file and line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = _AT_LINE.search(str(error))
        place = f"{name}:{at[1]}" if at else name
        raise ClearwayError(f"{place}: {_AT_LINE.sub('', str(error)).strip()}") from error
    except RecursionError:
        raise ClearwayError(f"{name}: is nested too deeply") from None


def text_of(document: Mapping[str, Any]) -> str:
    """Write TOML that reads as this document: one top-level key a line, what is in it inline.

    Raises `ClearwayError` that names the key for what TOML has no value for.
    """
    try:
        text = "".join(
            f"{_key(key, 'scenario')} = {value_of(value, f'scenario: {key}')}\n"
            for key, value in document.items()
        )
        return arguments.text("scenario", text)
    except RecursionError:
        raise ClearwayError("the scenario: is nested too deeply") from None


def tables_of(document: Mapping[str, Any]) -> str:
    """Write TOML that reads as this document, with a header for each table, as a person writes a scenario."""
    return "\n".join(_blocks(document, ()))


def _blocks(table: Mapping[str, Any], path: tuple[str, ...], brackets: str = "[]") -> Iterator[str]:
    """Write the values of a table, and then each table in it."""
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    lists = {
        key: value
        for key, value in table.items()
        if isinstance(value, list) and value and all(isinstance(entry, Mapping) for entry in value)
    }
    lines = [
        f"{_key(key)} = {value_of(value)}\n"
        for key, value in table.items()
        if key not in tables and key not in lists and value is not None
    ]
    # A table that only has tables in it needs no header.
    if path and (lines or not (tables or lists) or brackets == "[[]]"):
        half = len(brackets) // 2
        lines.insert(0, f"{brackets[:half]}{'.'.join(_key(part) for part in path)}{brackets[half:]}\n")
    if lines:
        yield "".join(lines)
    for key, value in tables.items():
        yield from _blocks(value, (*path, key))
    for key, values in lists.items():
        for entry in values:
            yield from _blocks(entry, (*path, key), "[[]]")


def value_of(value: Any, where: str = "") -> str:
    """Write a value as TOML; NumPy's are taken for Python's.

    Raises `ClearwayError` for what TOML has no value for; `where` is the key that it is of, for the message.
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return value_of(value.tolist(), where)
    if isinstance(value, Mapping):
        entries = [
            f"{_key(key, where)} = {value_of(entry, f'{where}.{key}' if where else str(key))}"
            for key, entry in value.items()
        ]
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_of(each, f"{where}[{place}]") for place, each in enumerate(value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # TOML's nan and inf are Python's
    if not isinstance(value, (str, bool, int, float)):
        raise ClearwayError(
            f"{_place(where)}{value!r}: no value of a scenario",
            "leave the key out"
            if value is None
            else "give text, a number, true or false, or a list or dict of these",
        )
    return json.dumps(value, ensure_ascii=False)


def with_values(document: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a document with values at dotted keys, as `--set` takes them; None removes a key."""
    changed: dict[str, Any] = deepcopy(dict(document))
    for dotted, value in values.items():
        *path, last = [int(number) if number else name for name, number in _STEP.findall(dotted)]
        place: Any = changed
        for step in path:
            place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
        if value is None:
            place.pop(last, None)
        else:
            place[last] = deepcopy(value)
    return changed


def value_at(document: Any, dotted: str) -> Any:
    """Return what a document has at a dotted key; None if there is nothing."""
    for name, number in _STEP.findall(dotted):
        step = int(number) if number else name
        if isinstance(document, Mapping):
            document = document.get(step)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return None
    return document


def without_table(text: str, name: str) -> tuple[str, int]:
    """Blank a top-level table and its sub-tables, so that all other lines keep their numbers.

    Returns the text and the line of the table's header, 0 if there is none. The text must be TOML. A line is
    a header only if what stands above it is TOML by itself: then it is in no array and in no string.
    """
    lines = text.splitlines()
    ours = re.compile(rf"\s*\[\[?\s*{re.escape(name)}\s*[\].]")
    header, dropping = 0, False
    for index, line in enumerate(lines):
        if line.lstrip().startswith("[") and _complete("\n".join(text.splitlines()[:index])):
            dropping = ours.match(line) is not None
            header = header or (index + 1 if dropping else 0)
        if dropping:
            lines[index] = ""
    return "\n".join(lines) + "\n", header


def line_of(text: str, key: str, first: int = 1) -> int:
    """Find the line, from `first` on, that begins with a key; `first` if none does."""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.lstrip()
        if number >= first and any(
            stripped.startswith(start) and stripped[len(start) :].lstrip().startswith(("=", "."))
            for start in (key, f'"{key}"', f"'{key}'")
        ):
            return number
    return first


def _complete(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _key(key: object, where: str = "") -> str:
    if not isinstance(key, str):
        raise ClearwayError(f"{_place(where)}{key!r}: no key of a scenario", "give text")
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _place(where: str) -> str:
    return f"{where}: " if where else ""
