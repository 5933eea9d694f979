"""Running experiments: their points through the store, their claims judged, their page written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, api, directory, documents
from clearway.axes import expanded, label_of
from clearway.errors import ClearwayError
from clearway.execution import Watch
from clearway.paper import verdicts
from clearway.paper.evaluation import Judged, Made, Runs, frontier_rows, judge
from clearway.paper.experiment import Experiment, Paper, Planned, frontier_of
from clearway.points import Point, Store, run_points
from clearway.report.sweep_page import frontier_words

PAGE = "report.html"
CLAIMS = "claims.json"

Bar = Callable[[str], AbstractContextManager[Watch | None]]
"""Shows the progress of what goes by this name."""


@dataclass(frozen=True)
class Ready:
    """An experiment whose points are read and checked."""

    experiment: Experiment
    points: Sequence[tuple[Planned, Sequence[Point]]]


@dataclass(frozen=True)
class Reproduced:
    """An experiment that was run."""

    experiment: Experiment
    runs: Runs
    claims: Sequence[Judged]
    run: int
    """How many points were run."""
    found: int
    """How many were there already."""

    @property
    def conclusion(self) -> str:
        """What its frontier says, if it has one."""
        if self.experiment.frontier is None:
            return ""
        combinations, rows = frontier_rows(self.experiment, self.runs)
        frontier = frontier_of(self.experiment.frontier, self.experiment.id)
        return frontier_words([label_of(combination) for combination in combinations], rows, frontier)


def prepare(experiments: Sequence[Experiment]) -> list[Ready]:
    """Read and check every point of every experiment before any is run."""
    return [
        Ready(experiment, [(planned, _points(experiment, planned)) for planned in experiment.runs])
        for experiment in experiments
    ]


def reproduce(ready: Sequence[Ready], store: Store, jobs: int | None, bar: Bar) -> Iterator[Reproduced]:
    """Run experiment after experiment; each is yielded when it is done."""
    for number, each in enumerate(ready, 1):
        points = [point for _, points in each.points for point in points]
        label = f"{each.experiment.figure} ({number} of {len(ready)})"
        if points:
            with bar(label) as watch:
                made = run_points(points, store, jobs=jobs, watch=watch)
            results, run, found = iter(made.runs), made.run, made.found
        else:
            results, run, found = iter(()), 0, 0
        runs = {
            planned.name: Made(
                planned.name, planned.label, [(point.overrides, next(results)) for point in points]
            )
            for planned, points in each.points
        }
        try:
            claims = judge(each.experiment, runs)
        except ClearwayError as error:
            raise ClearwayError(f"{each.experiment.path}: {error.message}", error.remedy) from error
        yield Reproduced(each.experiment, runs, claims, run, found)


def as_json(done: Sequence[Reproduced]) -> dict[str, Any]:
    """Return what `--json` prints of a paper."""
    return {"claims": [claim.as_json() for each in done for claim in each.claims]}


def failed(done: Sequence[Reproduced]) -> bool:
    """Whether a claim did not hold."""
    return any(claim.verdict == verdicts.NOT_REPRODUCED for each in done for claim in each.claims)


def write_into(path: Path, paper: Paper, done: Sequence[Reproduced], *, full: bool) -> None:
    """Write the page and the claims."""
    from clearway.paper.page import page  # noqa: PLC0415 - needs what is above

    (path / PAGE).write_text(page(paper, done, full=full), encoding="utf-8")
    directory.write_json(path / CLAIMS, as_json(done))


def _points(experiment: Experiment, planned: Planned) -> list[Point]:
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
