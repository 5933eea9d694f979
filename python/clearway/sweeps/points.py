"""Points: runs that are known by what they are, so that none is ever made twice.

A point is a scenario as resolved, seed included. Its key is a hash over that, over the files it names, and
over the simulator that runs it: another build may give another result. Or it is a measurement, whose key is
also over the machine: times that were measured on another are never taken for this one's.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from clearway import _clearway, files
from clearway.machine import identity as identity_of_machine
from clearway.measurement import Measurement

_KEY_DIGITS = 32


@dataclass(frozen=True)
class Point:
    """One scenario to run, or one measurement to make."""

    scenario: _clearway.Scenario | Measurement
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """What sets it apart from its neighbours: for people, and for the axes of a figure."""
    base_dir: Path = Path()
    """The directory of the files that the scenario names."""
    keep: tuple[str, ...] | None = None
    """The tables to keep; None for all. A point with fewer tables is another point."""

    @property
    def key(self) -> str:
        """Return the key of the point in the store: the same for the same scenario, whatever its name."""
        resolved = json.loads(self.scenario.resolved)
        del resolved["name"]
        identity = {
            "scenario": resolved,
            "files": {text: _digest_of(path) for text, path in self.files.items()},
            "build": build(),
            "keep": self.keep,
        }
        if self.alone:
            identity["machine"] = identity_of_machine()
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:_KEY_DIGITS]

    @property
    def files(self) -> dict[str, Path]:
        """Return the files that the scenario names, by the texts that name them."""
        resolved = json.loads(self.scenario.resolved)
        del resolved["name"]
        named = {text: self.base_dir / text for text in _texts(resolved)}
        return {text: path for text, path in named.items() if _is_file(path)}

    @property
    def alone(self) -> bool:
        """Whether nothing may run beside it: it measures time."""
        return isinstance(self.scenario, Measurement)

    @property
    def label(self) -> str:
        """Return the name of the point in messages."""
        return ", ".join(f"{key} = {value}" for key, value in self.overrides.items()) or self.scenario.name


@cache
def build() -> str:
    """Tell simulators apart: the version, and a hash of the compiled engine."""
    digest = _digest_of(Path(_clearway.__file__))
    return f"{_clearway.VERSION} {digest}"


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)


def _digest_of(path: Path) -> str:
    return hashlib.sha256(files.read(path, files.LARGEST_NAMED)).hexdigest()[:_KEY_DIGITS]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.R_OK)
    except (OSError, ValueError):  # a text need not be anything that a path can be
        return False
