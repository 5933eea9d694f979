"""What Python code calls for a sweep."""

from __future__ import annotations

import os
from contextlib import ExitStack

from clearway import _clearway, api, arguments
from clearway.errors import ClearwayError
from clearway.execution import watching
from clearway.sweeps import sweep as sweeps
from clearway.sweeps.making import PointsInterrupted
from clearway.sweeps.store import STORE, Store
from clearway.sweeps.sweep import Sweep


def sweep(
    scenario: arguments.Source,
    sets: api.Sets | None = None,
    *,
    jobs: int | None = None,
    store: str | os.PathLike[str] = STORE,
    on: str | None = None,
    progress: api.Progress | None = None,
) -> Sweep:
    """Run a scenario at every point of its `[sweep]` table; return the points with their runs.

    The scenario is a path, TOML text (which has a line break), or a dict as TOML is read: files that the last
    two name are sought in the current directory. `sets` override keys of the scenario at every point. What
    the directory `store` has is not run again. `jobs` points run at once, by default one a core; or those
    that the workers of a Dask scheduler take, if its address is given by `on`, such as "tcp://10.0.0.1:8786".
    `progress` is called with sums over all points.

    Raises `ClearwayError` for an argument, a scenario, axes or a cluster that will not do, and for points
    that failed; `Interrupted` if `progress` returned False. What is finished by then is in the store.
    """
    jobs, on, progress = arguments.jobs(jobs), arguments.address("on", on), arguments.progress(progress)
    kept = Store(arguments.path("store", store))
    if on is not None and jobs is not None:
        raise ClearwayError("on and jobs exclude each other", "the workers say how many runs they take")
    planned = sweeps.plan(scenario, api.sets_of(sets))
    with ExitStack() as stack:
        cluster = None
        if on is not None:
            from clearway.cluster.client import connected  # noqa: PLC0415 - Dask is optional

            cluster = stack.enter_context(connected(on))
        try:
            return sweeps.run(planned, kept, jobs, watching(progress), cluster)
        except PointsInterrupted as interrupted:
            if isinstance(interrupted.__cause__, _clearway.Interrupted):
                raise _clearway.Interrupted(str(interrupted)) from interrupted
            raise
