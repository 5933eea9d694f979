"""Making points: those that the store does not have are run, here or on a cluster, and kept as they finish.

Runs are in threads with the interpreter released, as everywhere here: they are as parallel as processes would
be, and Ctrl-C stops them at once. What is finished by then is in the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clearway import _clearway, directory, stops
from clearway.errors import ClearwayError
from clearway.execution import Watch, execute_each
from clearway.runs import Run
from clearway.sweeps.points import Point
from clearway.sweeps.store import Store

if TYPE_CHECKING:
    from clearway.cluster.client import Cluster


class PointsInterrupted(KeyboardInterrupt):
    """Ctrl-C while points were made; says what is finished and how to go on."""


@dataclass(frozen=True)
class Made:
    """What `run_points` did."""

    runs: Sequence[Run]
    """The runs, in the order of the points."""
    found: int
    """How many different points were there already."""
    run: int
    """How many were run."""
    damaged: int = 0
    """How many of these were there but damaged."""


@dataclass(frozen=True)
class Tried:
    """The outcome of `try_points`: as `Made`, with runs and failures of points by key."""

    runs: Mapping[str, Run]
    failures: Mapping[str, BaseException]
    """The failures of points without a run, in the order in which they came."""
    found: int
    run: int
    damaged: int


def run_points(
    points: Sequence[Point],
    store: Store,
    *,
    jobs: int | None = None,
    watch: Watch | None = None,
    cluster: Cluster | None = None,
) -> Made:
    """Run the points that the store does not have, in any order, and return all in theirs.

    A point that fails stops none of the others; they are all in the store when the error is raised that names
    it. (Bad input fails earlier, where the scenario is loaded.) Raises `PointsInterrupted` on Ctrl-C. With a
    `cluster` they run there; what measures time still runs on this machine, as it is kept by machine.
    """
    tried = try_points(points, store, jobs=jobs, watch=watch, cluster=cluster)
    keys = [point.key for point in points]
    if tried.failures:
        key, first = next(iter(tried.failures.items()))
        more = f" (and {len(tried.failures) - 1} more)" if len(tried.failures) > 1 else ""
        raise ClearwayError(
            f"{points[keys.index(key)].label}: failed: {said_of(first)}{more}",
            f"the other runs are finished and kept in {store.path}",
        ) from first
    return Made([tried.runs[key] for key in keys], tried.found, tried.run, tried.damaged)


def try_points(
    points: Sequence[Point],
    store: Store,
    *,
    jobs: int | None = None,
    watch: Watch | None = None,
    cluster: Cluster | None = None,
) -> Tried:
    """Run the points that the store does not have, as `run_points`; return what went wrong with any."""
    store.remove_left()
    by_key: dict[str, Run] = {}
    missing: dict[str, Point] = {}
    for point in points:
        key = point.key
        if key in by_key or key in missing:
            continue
        if (run := store.find(key)) is not None:
            by_key[key] = run
        else:
            missing[key] = point
    found = len(by_key)
    failures: dict[str, BaseException] = {}
    if missing:
        directory.check_writable(store.path / next(iter(missing)), exact=False, option="--store")
        failures = _run_missing(missing, by_key, store, jobs, watch, cluster)
    damaged = sum(key in store.damaged for key in missing)
    return Tried(by_key, failures, found, len(missing), damaged)


def said_of(failure: BaseException) -> str:
    """Say what went wrong with a point."""
    return "out of memory" if isinstance(failure, MemoryError) else str(failure) or type(failure).__name__


def _run_missing(
    missing: Mapping[str, Point],
    by_key: dict[str, Run],
    store: Store,
    jobs: int | None,
    watch: Watch | None,
    cluster: Cluster | None,
) -> dict[str, BaseException]:
    failures: dict[str, BaseException] = {}

    def make(keys: Sequence[str], jobs: int | None, cluster: Cluster | None = None) -> None:
        def keep(index: int, outcome: Run | BaseException) -> None:
            if isinstance(outcome, BaseException):
                failures[keys[index]] = outcome
            else:
                with stops.put_off():
                    by_key[keys[index]] = store.save(keys[index], outcome, missing[keys[index]].keep)

        if keys and cluster is not None:
            cluster.execute_each([missing[key] for key in keys], keep, watch)
        elif keys:
            execute_each([missing[key].scenario for key in keys], keep, watch, jobs)

    try:
        make([key for key, point in missing.items() if not point.alone], jobs, cluster)
        # What measures time has the machine to itself, as far as this program goes.
        make([key for key, point in missing.items() if point.alone], 1)
    except BaseException as error:
        if not isinstance(error, _clearway.Interrupted) and not stops.caused(error):
            raise
        left = sum(key not in by_key for key in missing)
        raise PointsInterrupted(
            f"interrupted: {len(by_key)} of {len(by_key) + left} runs are finished and kept in {store.path}; "
            "the same command goes on from there"
        ) from error
    return failures
