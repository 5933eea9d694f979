"""Reproducing a paper: every point is run or found, every claim is judged, and the page is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clearway import _clearway, api, directory, documents
from clearway.errors import ClearwayError
from clearway.execution import Watch
from clearway.measurement import Measurement
from clearway.paper.checker import Table
from clearway.paper.claims import judge
from clearway.paper.evaluation import SEED, MadeRun, without_seed
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.page import page
from clearway.paper.papers import Paper
from clearway.paper.result import Reproduced, as_json
from clearway.sweeps.making import run_points
from clearway.sweeps.overrides import expanded
from clearway.sweeps.points import Point
from clearway.sweeps.store import Store

if TYPE_CHECKING:
    from clearway.cluster.client import Cluster

PAGE = "report.html"
CLAIMS = "claims.json"

Bar = Callable[[str], AbstractContextManager[Watch | None]]
"""Shows the progress of what goes by this name."""


@dataclass(frozen=True)
class Ready:
    """An experiment whose points are read and checked."""

    experiment: Experiment
    points: Sequence[tuple[PlannedRun, Sequence[Point]]]


def prepare(experiments: Sequence[Experiment]) -> list[Ready]:
    """Read and check every point of every experiment before any is run."""
    return [
        Ready(experiment, [(planned, _points(experiment, planned)) for planned in experiment.runs])
        for experiment in experiments
    ]


def reproduce(
    ready: Sequence[Ready], store: Store, jobs: int | None, bar: Bar, cluster: Cluster | None = None
) -> Iterator[Reproduced]:
    """Run experiment after experiment; each is yielded when it is done."""
    for number, each in enumerate(ready, 1):
        points = [point for _, points in each.points for point in points]
        label = f"{each.experiment.figure} ({number} of {len(ready)})"
        if points:
            with bar(label) as watch:
                made = run_points(points, store, jobs=jobs, watch=watch, cluster=cluster)
            results, run, found = iter(made.runs), made.run, made.found
        else:
            results, run, found = iter(()), 0, 0
        runs = {
            planned.name: MadeRun(
                planned.name, planned.label, [(point.overrides, next(results)) for point in points]
            )
            for planned, points in each.points
        }
        try:
            claims = judge(each.experiment, runs)
        except ClearwayError as error:
            raise ClearwayError(f"{each.experiment.path}: {error.message}", error.remedy) from error
        yield Reproduced(each.experiment, runs, claims, run, found)


def write_into(path: Path, paper: Paper, done: Sequence[Reproduced], *, full: bool) -> None:
    """Write the page and the claims."""
    (path / PAGE).write_text(page(paper, done, full=full), encoding="utf-8")
    directory.write_json(path / CLAIMS, as_json(done))


def _points(experiment: Experiment, planned: PlannedRun) -> list[Point]:
    if planned.measure is not None:
        return [_measured(experiment, planned, planned.measure, variant) for variant in planned.variants]
    folder = experiment.path.parent
    text = documents.text_of(planned.document)
    name = f"{experiment.path}, run {planned.name}"
    points = []
    for variant in planned.variants:
        sets = api.sets_of(expanded({**planned.overrides, **variant}, planned.document))
        try:
            scenario = _clearway.load_text(text, name, folder, sets)
        except _clearway.ScenarioError as error:
            # The line is that of a document put together here: the key says more.
            raise ClearwayError(str(error).replace("--set ", "set ")) from error
        points.append(Point(scenario, variant, folder, planned.keep))
    return points


def _measured(experiment: Experiment, planned: PlannedRun, measure: str, variant: Table) -> Point:
    """Read and check a point that is measured on this machine."""
    arguments = {**planned.document, **planned.overrides, **without_seed(variant)}
    name = f"{experiment.path}, run {planned.name}"
    measurement = Measurement.read(measure, arguments, name, variant[SEED])
    return Point(measurement, variant, keep=planned.keep)
