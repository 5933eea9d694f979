"""The scenario with the best values, as a file that can be run, and as options of a command line."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearway import api, documents
from clearway.errors import ClearwayError
from clearway.sweeps.overrides import expanded
from clearway.sweeps.points import Point
from clearway.tuning.file import TuneFile


def options(file: TuneFile, overrides: Mapping[str, Any]) -> list[str]:
    """Write values as options of a command: `--set KEY=VALUE` for each key, a star as each of its keys."""
    sets = api.sets_of(expanded(overrides, file.parts.document))
    return [f"--set {shlex.quote(f'{key}={value}')}" for key, value in sets]


def scenario(file: TuneFile, overrides: Mapping[str, Any], target: Path) -> str:
    """Write the scenario with these values as TOML, to stand in the directory `target`.

    The paths of files that it names are from there.
    """
    document = documents.with_values(file.parts.document, {key: _read(value) for key, value in file.sets})
    document = documents.with_values(document, expanded(overrides, file.parts.document))
    named = Point(file.scenario(overrides), {}, file.parts.folder).files
    moved = {
        text: os.path.relpath(path, target) for text, path in named.items() if not Path(text).is_absolute()
    }
    return documents.tables_of(_moved(document, moved))


def _read(value: str | None) -> Any:
    """Read the value of an override as the simulator does: TOML, or text without quotes."""
    if value is None:
        return None
    try:
        return documents.parse(f"value = {value}", "value")["value"]
    except ClearwayError:
        return value


def _moved(value: Any, moved: Mapping[str, str]) -> Any:
    """Replace texts that name files."""
    if isinstance(value, str):
        return moved.get(value, value)
    if isinstance(value, Mapping):
        return {key: _moved(each, moved) for key, each in value.items()}
    return [_moved(each, moved) for each in value] if isinstance(value, list) else value
