"""The functions of tuning for Python code."""

from __future__ import annotations

import os
from contextlib import ExitStack

from clearway import _clearway, api, arguments
from clearway.errors import ClearwayError
from clearway.execution import watching
from clearway.sweeps.making import PointsInterrupted
from clearway.sweeps.store import STORE, Store
from clearway.tuning import tuning
from clearway.tuning.file import check_trials
from clearway.tuning.measuring import Place
from clearway.tuning.tuning import Tuning


def tune(
    scenario: arguments.Source,
    sets: api.Sets | None = None,
    *,
    trials: int | None = None,
    jobs: int | None = None,
    store: str | os.PathLike[str] = STORE,
    on: str | None = None,
    progress: api.Progress | None = None,
) -> Tuning:
    """Search the ranges of a scenario's `[tune]` table for the best values, and test them on other seeds.

    The scenario is a path, TOML text (which has a line break), or a dict as TOML is read. `sets` override
    keys of the scenario in every trial, `trials` the number that the table has. What the directory `store`
    has is not run again: a call that was stopped goes on where it was. `jobs` runs are under way at once, by
    default one a core; or those that the workers of a Dask scheduler take, if its address is given by `on`.
    The result is the same on any number. `progress` is called with sums over the runs of a batch of trials.

    Raises `ClearwayError` for an argument, a table, a range or a cluster that will not do, and where Optuna
    is missing; `ScenarioError` for a scenario that cannot be run as it is; `Interrupted` if `progress`
    returned False.
    """
    jobs, on, progress = arguments.jobs(jobs), arguments.address("on", on), arguments.progress(progress)
    kept = Store(arguments.path("store", store))
    if on is not None and jobs is not None:
        raise ClearwayError("on and jobs exclude each other", "the workers say how many runs they take")
    file = tuning.plan(scenario, api.sets_of(sets), check_trials("trials", trials))
    with ExitStack() as stack:
        cluster = None
        if on is not None:
            from clearway.cluster.client import connected  # noqa: PLC0415 - Dask is optional

            cluster = stack.enter_context(connected(on))
        try:
            return tuning.run(file, Place(kept, jobs, watching(progress), cluster))
        except PointsInterrupted as interrupted:
            if isinstance(interrupted.__cause__, _clearway.Interrupted):
                raise _clearway.Interrupted(str(interrupted)) from interrupted
            raise
