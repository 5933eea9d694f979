"""All parts of the demo: run together, printed one after the other, and written with one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from clearway import _clearway, console, screen, tables
from clearway.demonstration.fabric import FABRIC
from clearway.demonstration.incast import INCAST
from clearway.demonstration.long_link import LONG_LINK
from clearway.demonstration.page import page
from clearway.demonstration.part import Answer

PAGE = "report.html"
SCENARIOS = "scenarios"
"""Where in its directory the demo leaves its scenarios, for a person to change and run."""

PARTS = (INCAST, FABRIC, LONG_LINK)


def _text(name: str) -> str:
    return (resources.files("clearway") / "scenarios" / f"{name}.toml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Demonstration:
    """The parts, each with its runs."""

    answers: Sequence[Answer]

    @classmethod
    def run(cls, *, threads: int | None, as_json: bool) -> Demonstration:
        """Run everything."""
        names = [name for part in PARTS for name in part.files.values()]
        scenarios = [_clearway.load_text(_text(name), f"{name}.toml") for name in names]
        runs = iter(screen.execute_shown(scenarios, threads=threads, as_json=as_json))
        return cls([Answer(part, [next(runs) for _ in part.files]) for part in PARTS])

    def write_into(self, path: Path) -> None:
        """Write a run directory for each run, its scenario, and the page about all."""
        (path / SCENARIOS).mkdir()
        for answer in self.answers:
            for name, run in zip(answer.part.files.values(), answer.runs, strict=True):
                (path / SCENARIOS / f"{name}.toml").write_text(_text(name), encoding="utf-8")
                (path / name).mkdir()
                run.write_into(path / name)
        (path / PAGE).write_text(page(self.answers), encoding="utf-8")

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints: an object a part."""
        return {answer.part.name: answer.as_json() for answer in self.answers}

    def show(self) -> None:
        """Print each part: what is asked, the figures, and the answer."""
        for answer in self.answers:
            console.say(answer.part.asks)
            tables.show_table(answer.covers, answer.labels, answer.rows)
            console.say(answer.part.note)
            console.say(answer.conclusion)
            console.say()
