"""The page that plays a run: one file, with style, script and data in it. It needs no network."""

from __future__ import annotations

import re
from html import escape
from importlib import resources
from pathlib import Path

from clearway import _clearway
from clearway.replay.contents import data
from clearway.report.page import asset as report_asset
from clearway.runs import Run

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_SCRIPTS = (
    "block",
    "words",
    "moment",
    "timeslots",
    "scene",
    "drawing",
    "marks",
    "charts",
    "details",
    "panel",
    "controls",
    "main",
)
"""The parts of the script, in the order in which they stand."""


def page(run: Run, files: Path) -> str:
    """Return the page of a run; `files` has what its scenario names."""
    slots = {
        "title": escape(run.name),
        "seed": str(run.seed),
        "digest": escape(run.digest),
        "version": escape(_clearway.VERSION),
        "colours": _colours(),
        "style": "\n".join(map(asset, ("style.css", "timeslots.css"))),
        "script": "\n".join(asset(f"{name}.js") for name in _SCRIPTS),
        "data": data(run, files),
    }
    return _SLOT.sub(lambda match: slots[match.group(1)], asset("page.html"))


def asset(name: str) -> str:
    """Read a file of the page."""
    return resources.files("clearway.replay").joinpath(name).read_text(encoding="utf-8")


def _colours() -> str:
    """Return the part of the report's style sheet that has its colours, light and dark."""
    sheet = report_asset("style.css")
    return sheet[: sheet.index("* {")]
