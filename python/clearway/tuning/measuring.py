"""Measuring values: the scenario with them, simulated with several seeds, through the sweeps' store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clearway import _clearway
from clearway.errors import ClearwayError
from clearway.execution import Watch
from clearway.figures import ABSENT
from clearway.runs import Run
from clearway.seeds import Seeds
from clearway.statistics import Interval, exact, interval
from clearway.sweeps.figures import figures_of, written
from clearway.sweeps.making import said_of, try_points
from clearway.sweeps.points import Point
from clearway.sweeps.store import Store
from clearway.tuning.file import TuneFile

if TYPE_CHECKING:
    from clearway.cluster.client import Cluster

_OF_THE_SCENARIO = (_clearway.LosslessDrop, _clearway.Standstill)
"""Failures of a scenario wherever it is run; all others are no answer to what its values are worth."""


@dataclass(frozen=True)
class Measured:
    """Values, and what came of the scenario with them."""

    overrides: Mapping[str, Any]
    """The keys that are set, and their values; none for the scenario as it is."""
    runs: Sequence[Run] = ()
    """A run a seed; one for all of them where nothing is left to chance."""
    failure: str = ""
    """The reason why there are none: what the simulator refused, or what ended a run."""
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The values of each figure, a seed after the other; only figures that every seed has."""

    @property
    def without_chance(self) -> bool:
        """Whether it is known that any seed gives these values."""
        return bool(self.runs) and Seeds(self.runs).without_chance

    def interval(self, figure: str) -> Interval | None:
        """Return the mean of a figure with its 95 % interval; None if not every seed has it."""
        samples = self.samples.get(figure)
        if not samples:
            return None
        of = interval(samples)
        return exact(of) if self.without_chance else of

    def written(self, figure: str) -> str:
        """Write the mean of a figure with its unit and interval; a dash if not every seed has it."""
        found = self.interval(figure)
        return "-" if found is None else written(figure, {figure: found})

    def why_absent(self, figure: str) -> str:
        """Say why a figure has no value."""
        if self.failure:
            return self.failure
        transport, _, key = figure.rpartition(".")
        for run in self.runs:
            summary = (run.summary.get("transports") or {}).get(transport, {}) if transport else run.summary
            if reason := (summary.get(ABSENT) or {}).get(key):
                return f"{figure} has no value: {reason}"
        return f"{figure} has no value"


@dataclass
class Counts:
    """The number of runs that were simulated so far, and of those that were there already."""

    run: int = 0
    found: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class Place:
    """The place where scenarios are simulated, and their runs kept."""

    store: Store
    jobs: int | None = None
    watch: Watch | None = None
    cluster: Cluster | None = None
    counts: Counts = field(default_factory=Counts)


def measure(
    file: TuneFile, of: Sequence[Mapping[str, Any]], seeds: Sequence[int], place: Place
) -> list[Measured]:
    """Simulate the scenario with each of these values under all seeds, and return what came of it in order.

    Values that the simulator refuses, and those with which a run ends in a scenario's own fault, have a
    failure. Anything else that goes wrong, such as a lack of memory, is raised.
    """
    loaded = [_loaded(file, overrides, seeds) for overrides in of]
    points = [point for each in loaded if not isinstance(each, str) for point in each]
    tried = try_points(points, place.store, jobs=place.jobs, watch=place.watch, cluster=place.cluster)
    place.counts.run += tried.run
    place.counts.found += tried.found
    place.counts.damaged += tried.damaged
    for key, failure in tried.failures.items():
        if not isinstance(failure, _OF_THE_SCENARIO):
            label = next(point.label for point in points if point.key == key)
            raise ClearwayError(
                f"{label}: failed: {said_of(failure)}", f"the other runs are kept in {place.store.path}"
            ) from failure
    return [
        Measured(overrides, failure=each)
        if isinstance(each, str)
        else _measured(overrides, each, tried.runs, tried.failures)
        for overrides, each in zip(of, loaded, strict=True)
    ]


def _loaded(file: TuneFile, overrides: Mapping[str, Any], seeds: Sequence[int]) -> list[Point] | str:
    """Read the scenario under each seed, one if nothing is left to chance; or say why it cannot be run."""
    points = []
    try:
        for seed in seeds:
            scenario = file.scenario(overrides, seed)
            points.append(Point(scenario, {**overrides, "seed": seed}, file.parts.folder))
            if scenario.leaves_nothing_to_chance:
                break
    except _clearway.ScenarioError as error:
        return str(error)
    return points


def _measured(
    overrides: Mapping[str, Any],
    points: Sequence[Point],
    runs: Mapping[str, Run],
    failures: Mapping[str, BaseException],
) -> Measured:
    keys = [point.key for point in points]
    for point, key in zip(points, keys, strict=True):
        if key in failures:
            return Measured(overrides, failure=f"seed {point.scenario.seed}: {said_of(failures[key])}")
    found = [runs[key] for key in keys]
    rows = [dict(figures_of(run.summary)) for run in found]
    samples: dict[str, list[float]] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [value for row in rows if (value := row.get(name)) is not None]
        if len(values) == len(rows):
            samples[name] = values
    return Measured(overrides, found, samples=samples)
