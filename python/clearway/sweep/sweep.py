"""Making a sweep: the points of a file, run or found, and what is written about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, directory
from clearway.execution import Watch
from clearway.runs import Run
from clearway.sweep import page, table
from clearway.sweep.figures import means
from clearway.sweep.file import SweepFile, read
from clearway.sweep.making import Made, run_points
from clearway.sweep.overrides import label_of
from clearway.sweep.points import Point
from clearway.sweep.store import Store

PAGE = "report.html"
TABLE = "points"


@dataclass(frozen=True)
class Planned:
    """A sweep whose points are all read and checked."""

    file: SweepFile
    points: Sequence[Point]

    @property
    def name(self) -> str:
        """Return the name of the scenario."""
        return self.points[0].scenario.name


@dataclass(frozen=True)
class Swept:
    """A sweep that is done."""

    planned: Planned
    made: Made
    keys: Sequence[str]
    """The keys that change, the seed left out."""
    combinations: Sequence[tuple[Mapping[str, Any], Mapping[str, float]]]
    """Each combination of their values, and the means of its figures over the seeds."""
    seeds: int
    """How many runs a combination has, at most."""

    @property
    def conclusion(self) -> str:
        """What the frontier says, if one is asked for."""
        frontier = self.planned.file.frontier
        if frontier is None:
            return ""
        labels = [label_of(overrides) for overrides, _ in self.combinations]
        return frontier.in_words(labels, [row for _, row in self.combinations])


def plan(file: Path) -> Planned:
    """Read a file and check all its points."""
    found = read(file)
    return Planned(found, found.points())


def run(planned: Planned, store: Store, jobs: int | None, watch: Watch | None) -> Swept:
    """Run what the store does not have."""
    made = run_points(planned.points, store, jobs=jobs, watch=watch)
    keys = [key for key in planned.file.keys if key != "seed"]
    groups: dict[str, tuple[dict[str, Any], list[Run]]] = {}
    for point, result in zip(planned.points, made.runs, strict=True):
        overrides = {key: point.overrides[key] for key in keys}
        groups.setdefault(repr(overrides), (overrides, []))[1].append(result)
    combinations = [(overrides, means(results)) for overrides, results in groups.values()]
    if planned.file.frontier is not None:
        planned.file.frontier.check_objectives([row for _, row in combinations], planned.file.path)
    seeds = max(len(results) for _, results in groups.values())
    return Swept(planned, made, keys, combinations, seeds)


def write_into(path: Path, done: Swept) -> None:
    """Write the table, the page, and a manifest that says which run directory each point is."""
    columns = table.columns(done.planned.file.keys, done.planned.points, done.made.runs)
    described = directory.write_table(path, TABLE, columns)
    drawn = page.page(done.planned.name, done.combinations, done.seeds, done.planned.file.frontier)
    (path / PAGE).write_text(drawn, encoding="utf-8")
    manifest = {
        "format": directory.FORMAT,
        "version": _clearway.VERSION,
        "tables": {TABLE: described},
        **as_json(done, None),
    }
    directory.write_json(path / "sweep.json", manifest)


def as_json(done: Swept, out: Path | None) -> dict[str, Any]:
    """Return what `--json` prints of a sweep."""
    frontier = done.planned.file.frontier
    answer: dict[str, Any] = {
        "name": done.planned.name,
        "axes": {
            key: list(
                {repr(point.overrides[key]): point.overrides[key] for point in done.planned.points}.values()
            )
            for key in done.planned.file.keys
        },
        "run": done.made.run,
        "found": done.made.found,
        "points": [
            {
                "overrides": dict(point.overrides),
                "digest": result.digest,
                "summary": result.summary,
                "path": str(result.path),
            }
            for point, result in zip(done.planned.points, done.made.runs, strict=True)
        ],
    }
    if frontier is not None:
        rows = [row for _, row in done.combinations]
        best = frontier.recommended(rows)
        answer["frontier"] = {
            "points": [dict(done.combinations[index][0]) for index in frontier.members(rows)],
            "recommended": None if best is None else dict(done.combinations[best][0]),
            "rule": frontier.rule,
        }
    if out is not None:
        answer["out"] = str(out)
    return answer
