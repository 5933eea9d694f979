"""The parameters that all experiments of a paper share: `parameters.toml`, one set, each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import documents
from clearway.paper.checker import Checker, Table

FILE = "parameters.toml"
_PARAMETER = {"key": str, "value": object, "source": str, "why": str, "fitted_on": list}
_SOURCES = ("paper", "public code", "calibrated", "ours")
_DISCRIMINATED = {"transport": "protocol", "host": "model"}
"""Tables of named entries whose parameters depend on what they are: keys are `transport.PROTOCOL.KEY`."""


@dataclass(frozen=True)
class Parameter:
    """One value of the set that all experiments share."""

    key: str
    value: Any
    source: str
    """One of paper, public code, calibrated, ours."""
    why: str
    fitted_on: Sequence[str]
    """The experiments it was chosen on, whose claims are at best calibrated."""


def read_parameters(path: Path) -> Iterator[Parameter]:
    """Read and check the file."""
    text = documents.read_text(path)
    table = documents.parse(text, str(path))
    check = Checker(path, text)
    check.keys(table, {"parameter": list}, "", required=("parameter",))
    for index, entry in enumerate(table["parameter"]):
        where = f"parameter[{index}]"
        check.keys(entry, _PARAMETER, where, required=("key", "value", "source", "why"))
        check.one_of(entry["source"], _SOURCES, f"{where}.source")
        if (entry["source"] == "calibrated") != bool(entry.get("fitted_on")):
            raise check.error(f"{where}.source", "a calibrated value, and no other, has fitted_on")
        yield Parameter(
            entry["key"], entry["value"], entry["source"], entry["why"], entry.get("fitted_on", [])
        )


def with_parameters(document: Table, parameters: Sequence[Parameter], label: str) -> dict[str, Any]:
    """Fill in the shared parameters where a document does not say otherwise."""
    filled: dict[str, Any] = _copied({"format": 1, "name": label, **document})
    for parameter in parameters:
        section, *rest = parameter.key.split(".")
        if section in _DISCRIMINATED and len(rest) == 2:
            for entry in filled.get(section, {}).values():
                if entry.get(_DISCRIMINATED[section]) == rest[0]:
                    entry.setdefault(rest[1], parameter.value)
            continue
        place: dict[str, Any] = filled.setdefault(section, {})
        for part in rest[:-1]:
            place = place.setdefault(part, {})
        place.setdefault(rest[-1], parameter.value)
    return filled


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(entry) for key, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value
