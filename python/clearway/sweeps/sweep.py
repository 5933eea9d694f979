"""Making a sweep: the points of a file, run or found, and what is written about them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import _clearway, arguments, columns, directory, drawing, frames, units
from clearway.arguments import Source
from clearway.execution import Watch
from clearway.figures import figures_in
from clearway.overview import Overview
from clearway.runs import Run
from clearway.seeds import Seeds
from clearway.statistics import Interval
from clearway.sweeps import page, saved, table
from clearway.sweeps.figures import intervals, name_of, with_unfinished, written
from clearway.sweeps.file import SweepFile, read
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.making import Made, run_points
from clearway.sweeps.overrides import label_of, short_keys
from clearway.sweeps.points import Point
from clearway.sweeps.standing import Standing
from clearway.sweeps.store import Store

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

    from clearway.api import Override
    from clearway.cluster.client import Cluster

PAGE = "report.html"
TABLE = "points"
_MOST_ROWS = 100  # in a notebook


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
class SweptPoint:
    """One point of a sweep."""

    overrides: dict[str, Any]
    """The values of the axes."""
    run: Run


@dataclass(frozen=True, repr=False)
class Sweep:
    """A sweep that is done: its points with their runs, and what can be said of all."""

    planned: Planned
    made: Made
    keys: Sequence[str]
    """The keys that change, the seed left out."""
    combinations: Sequence[tuple[Mapping[str, Any], Mapping[str, float]]]
    """Each combination of their values, and the means of its figures over the seeds."""
    intervals: Sequence[Mapping[str, Interval]]
    """The means of each combination with their 95 % intervals, in the same order."""
    seeds: int
    """How many runs a combination has, at most."""
    without_chance: Sequence[bool]
    """Whether it is known that every seed gives the figures of each combination."""

    def __repr__(self) -> str:
        """Write what it is in a line."""
        axes = ", ".join(self.planned.file.keys)
        made = f"{self.made.run} run, {self.made.found} found finished"
        damaged = f", {self.made.damaged} found damaged and run again" if self.made.damaged else ""
        return f"{self.planned.name}: {len(self.made.runs)} points of {axes}: {made}{damaged}"

    def _repr_html_(self) -> str:
        """Write the first combinations and their figures as a table and the conclusion, for notebooks."""
        columns = [self.column(key) for key in self.figures]
        rows = [
            (label_of(overrides), [cells[place] for _, cells in columns])
            for place, (overrides, _) in enumerate(self.combinations[:_MOST_ROWS])
        ]
        table = Overview([heading for heading, _ in columns], rows).html(repr(self))
        return table + (f"<p>{escape(self.conclusion)}</p>" if self.conclusion else "")

    @property
    def points(self) -> list[SweptPoint]:
        """The points in their order, the last axis changing fastest."""
        return [
            SweptPoint(dict(point.overrides), run)
            for point, run in zip(self.planned.points, self.made.runs, strict=True)
        ]

    @property
    def table(self) -> columns.Columns:
        """A row a point: its axes, every figure it measured, its digest, and its run directory."""
        return table.columns(self.planned.file.keys, self.planned.points, self.made.runs)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas frame.

        `attrs["units"]` has the unit of each column, nothing for a number, a name or a ratio, and
        `attrs["meanings"]` what each figure is.
        """
        rows = self.table
        return frames.to_pandas(rows, units.described_points(rows))

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a Polars frame."""
        return frames.to_polars(self.table)

    def as_json(self) -> dict[str, Any]:
        """Return what `clearway sweep --json` prints."""
        return as_json(self, None)

    def plot(
        self,
        figures: str | Sequence[str] | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        columns: int = 1,
    ) -> Figure:
        """Draw figures, such as "fct_p99_us", over the axis with the most values, and write PDF, SVG or PNG.

        A line is a combination of the other axes' values: means over the seeds, with 95 % intervals. Without
        `figures` it is the first that differs between points; several are panels. Else as `Run.plot`.
        """
        swept = (self.planned.name, self.described, self.seeds)
        return drawing.plot_sweep(swept, figures, path, columns)

    def save(self, path: str | Path) -> Path:
        """Write the table, a page and `sweep.json` into a directory that must not exist or be empty."""
        target = arguments.path("path", path)
        directory.check_writable(target, exact=True)
        with directory.Staging(target, exact=True) as staging:
            write_into(staging.path, self)
            return staging.commit()

    @property
    def headings(self) -> list[str]:
        """What the columns of the keys are called."""
        return short_keys(self.keys)

    @property
    def figures(self) -> list[str]:
        """What a table shows of each combination: the objectives of the frontier, then the headlines."""
        frontier = self.planned.file.frontier
        rows = [row for _, row in self.combinations]
        headlines = [figure.key for figure in figures_in(rows) if figure.headline]
        objectives = [] if frontier is None else list(frontier.objectives)
        there = {key for row in rows for key in row}
        return with_unfinished([*objectives, *headlines], there)

    def column(self, key: str) -> tuple[str, list[str]]:
        """Return the name of a figure, and what each combination has of it."""
        return name_of(key), [written(key, row) for row in self.intervals]

    @property
    def conclusion(self) -> str:
        """What the frontier says, if one is asked for."""
        frontier = self.planned.file.frontier
        if frontier is None:
            return ""
        labels = [label_of(overrides) for overrides, _ in self.combinations]
        standing = self.standing(frontier).in_words(frontier, labels)
        return frontier.in_words(labels, [row for _, row in self.combinations], standing)

    @property
    def described(self) -> list[page.Combination]:
        """Each combination of values with what is known of its figures."""
        of_each = zip(self.combinations, self.intervals, self.without_chance, strict=True)
        return [page.Combination(overrides, row, certain) for (overrides, _), row, certain in of_each]

    def standing(self, frontier: Frontier) -> Standing:
        """Tell what the recommended combination cannot be told from."""
        best = frontier.recommended([row for _, row in self.combinations])
        return Standing.of(frontier, [each.known for each in self.described], best)


def plan(source: Source, sets: Sequence[Override] = ()) -> Planned:
    """Read a scenario with axes and check all its points."""
    found = read(source, sets)
    return Planned(found, found.points())


def run(
    planned: Planned,
    store: Store,
    jobs: int | None = None,
    watch: Watch | None = None,
    cluster: Cluster | None = None,
) -> Sweep:
    """Run what the store does not have."""
    made = run_points(planned.points, store, jobs=jobs, watch=watch, cluster=cluster)
    keys = [key for key in planned.file.keys if key != "seed"]
    groups: dict[str, tuple[dict[str, Any], list[Run]]] = {}
    for point, result in zip(planned.points, made.runs, strict=True):
        overrides = {key: point.overrides[key] for key in keys}
        groups.setdefault(repr(overrides), (overrides, []))[1].append(result)
    found = [intervals([each.summary for each in results]) for _, results in groups.values()]
    combinations = [
        (overrides, {key: of.mean for key, of in row.items()})
        for (overrides, _), row in zip(groups.values(), found, strict=True)
    ]
    if planned.file.frontier is not None:
        planned.file.frontier.check_objectives([row for _, row in combinations], planned.file.name)
    seeds = max(len(results) for _, results in groups.values())
    certain = [Seeds(results).without_chance for _, results in groups.values()]
    return Sweep(planned, made, keys, combinations, found, seeds, certain)


def write_into(path: Path, done: Sweep) -> None:
    """Write the table, the page, and a manifest that says which run directory each point is."""
    rows = table.columns(done.planned.file.keys, done.planned.points, done.made.runs)
    described = columns.write_table(path, TABLE, rows)
    drawn = page.page(done.planned.name, done.described, done.figures, done.seeds, done.planned.file.frontier)
    (path / PAGE).write_text(drawn, encoding="utf-8")
    manifest = {
        "format": directory.FORMAT,
        "version": _clearway.VERSION,
        "tables": {TABLE: described},
        **as_json(done, None),
    }
    directory.write_json(path / saved.MANIFEST, manifest)


def as_json(done: Sweep, out: Path | None) -> dict[str, Any]:
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
        "damaged": done.made.damaged,
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
        standing = done.standing(frontier)
        answer["frontier"] = {
            "points": [dict(done.combinations[index][0]) for index in frontier.members(rows)],
            "recommended": None if best is None else dict(done.combinations[best][0]),
            "rivals": [dict(done.combinations[index][0]) for index in (*standing.rivals, *standing.better)],
            "untold": [dict(done.combinations[index][0]) for index in standing.untold],
            "lower_bounds": [dict(done.combinations[index][0]) for index in frontier.doubtful(rows)],
            "not_ranked": [dict(done.combinations[index][0]) for index in frontier.unranked(rows)],
            "rule": frontier.rule,
        }
    if out is not None:
        answer["out"] = str(out)
    return answer
