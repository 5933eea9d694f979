"""The unit of each figure and of each column of a table, as documents, frames and notebooks give it.

A unit stands at the end of a name, so that no table of units can disagree with the names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache

from clearway import _clearway
from clearway.figures import FIGURES, Figure, Kind, figure_of
from clearway.meanings import FIGURES as MEANINGS

_OF_KINDS: Mapping[Kind, str] = {
    "time": "us",
    "bytes": "bytes",
    "rate": "Gb/s",
    "share": "share",
    "count": "count",
}
_SUFFIXES: Mapping[str, str] = {
    "_us": "us",
    "_ps": "ps",
    "bytes": "bytes",
    "_gbps": "Gb/s",
    "_packets": "packets",
    "utilisation": "share",
}
_KEYS = frozenset(figure.key for figure in FIGURES)


def of_figure(figure: Figure) -> str:
    """Return the unit of a figure of a summary; nothing of a ratio."""
    return "1/s" if figure.key.endswith("_per_second") else _OF_KINDS.get(figure.kind, "")


def of_column(column: str) -> str:
    """Return the unit of a column of a table; nothing of a number, a name or a ratio."""
    return next((unit for suffix, unit in _SUFFIXES.items() if column.endswith(suffix)), "")


def described(table: str, columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the unit and the meaning of each column of a table of a run."""
    meanings = _meanings().get(table, {})
    names = list(columns)
    return {
        "units": {name: of_column(name) for name in names},
        "meanings": {name: meanings.get(name, "") for name in names},
    }


def described_points(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the unit and the meaning of each column of a sweep: figures, one transport's too, and axes."""
    units, meanings = {}, {}
    for name in columns:
        key = name.rpartition(".")[2]
        is_figure = key in _KEYS
        units[name] = of_figure(figure_of(key)) if is_figure else of_column(name)
        meanings[name] = MEANINGS.get(key, "") if is_figure else ""
    return {"units": units, "meanings": meanings}


@cache
def _meanings() -> dict[str, dict[str, str]]:
    return {
        table["name"]: {column["name"]: column["meaning"] for column in table["columns"]}
        for table in json.loads(_clearway.tables())
    }
