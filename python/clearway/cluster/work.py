"""What a worker needs to run a point: plain data, as the scheduler in between need not know clearway."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from clearway.sweeps.points import Point, build


@dataclass(frozen=True)
class Work:
    """A point, packed."""

    text: str
    """What a worker reads, as JSON."""
    files: Mapping[str, Path]
    """The files that the scenario names, by the names they have on the worker."""


def pack(point: Point, topic: str, index: int) -> Work:
    """Pack a point; the worker tells how far it is under this topic, by this index."""
    document = json.loads(point.scenario.resolved)
    names = {text: _name_there(text, number) for number, text in enumerate(point.files)}
    scenario = {key: value if key == "name" else _renamed(value, names) for key, value in document.items()}
    work = {
        "build": build(),
        "scenario": scenario,
        "keep": point.keep,
        "topic": topic,
        "index": index,
    }
    return Work(json.dumps(work), {names[text]: path for text, path in point.files.items()})


def _name_there(text: str, number: int) -> str:
    """Choose a name that stays below a directory: as it is, if it does."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or "\\" in text:
        return f"{number}-{path.name}"
    return text


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Mapping):
        return {key: _renamed(entry, names) for key, entry in value.items()}
    if isinstance(value, list):
        return [_renamed(entry, names) for entry in value]
    return value
