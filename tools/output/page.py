"""The page of what a run leaves, made from the definitions of figures, tables and keys."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from clearway import _clearway, meanings, units
from clearway.figures import FIGURES, Figure

PAGE = Path(__file__).parent.parent.parent / "docs" / "OUTPUT.md"

_INTRODUCTION = Path(__file__).parent / "introduction.md"
_COVERS: Mapping[str, str] = {
    "nothing": "",
    "measured": "measured interval",
    "run": "whole run",
    "step": "since the sample before",
}


def page() -> str:
    """Return the page as Markdown."""
    lines = [_INTRODUCTION.read_text(encoding="utf-8")]
    lines += ["## Figures", "", "In `summary.json`, in the order in which they are shown.", ""]
    lines += _table(("key", "shown as", "unit", "covers"), (_figure(figure) for figure in FIGURES))
    lines += ["Beside these:", "", *_keys(meanings.SUMMARY), "## Tables", ""]
    for table in json.loads(_clearway.tables()):
        lines += [f"### `{table['name']}`", "", table["rows"], ""]
        columns = (
            (
                f"`{column['name']}`",
                units.of_column(column["name"]),
                _COVERS[column["covers"]],
                column["meaning"],
            )
            for column in table["columns"]
        )
        lines += _table(("column", "unit", "covers"), columns)
    lines += ["## Manifest", "", "In `manifest.json`.", "", *_keys(meanings.MANIFEST)]
    lines += [
        "## Several seeds",
        "",
        "`--seeds N` writes a directory for each seed, and above them a manifest:",
        "",
    ]
    lines += _keys(meanings.SEEDS)
    lines += ["In `summary.json` beside it, each figure is an object:", "", *_keys(meanings.INTERVAL)]
    lines += ["## What `--json` prints", "", "`clearway run FILE --json` prints an object.", ""]
    lines += _keys(meanings.JSON)
    return "\n".join(lines).rstrip() + "\n"


def _figure(figure: Figure) -> tuple[str, ...]:
    covers = "" if figure.always else _COVERS["run" if figure.whole else "measured"]
    heading = figure.heading.replace("*", r"\*")
    return f"`{figure.key}`", heading, units.of_figure(figure), covers, meanings.FIGURES[figure.key]


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table whose last column is the definition."""
    yield f"| {' | '.join(heads)} | definition |"
    yield f"|{'---|' * len(heads)}---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _keys(defined: Mapping[str, str]) -> Iterator[str]:
    for key, meaning in defined.items():
        yield f"- `{key}`: {meaning[0].lower()}{meaning[1:].removesuffix('.')}"
    yield ""
