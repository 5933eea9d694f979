"""Running scenarios: on the cores at hand, memory looked at first, and Ctrl-C obeyed at once.

Each run is started in a thread of its own, with the interpreter released; the calling thread waits, shows
progress, and hears Ctrl-C. An interrupted run stops at its next call of the progress function. A run may take
further threads for itself; its results are the same on any number of them.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clearway import _clearway
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.runs import Run

_POLL_S = 0.05
_GRACE_S = 0.5  # in which a run that is told to stop does; set-up looks at nothing

MOST_THREADS = 64
"""The most threads that one run may have."""
MOST_SEEDS = 10_000
"""The most seeds that a scenario may be run with at once."""
MOST_JOBS = 1024
"""The most runs at once that one may ask for."""


@dataclass
class Position:
    """How far one run is."""

    simulated_us: float
    end_us: float
    packet_hops: int


Runnable = _clearway.Scenario | _clearway.Measurement
"""What can be run."""

Watch = Callable[[Sequence[Position]], None]
"""Called with the positions of all runs some 20 times a second, in the calling thread."""


def execute(
    scenarios: Sequence[Runnable], watch: Watch | None = None, threads: int | None = None
) -> list[Run]:
    """Run all scenarios, as many at once as cores and memory allow; results in the same order.

    `threads` are those of each run, as for `execute_each`.
    """
    runs: dict[int, Run] = {}

    def keep(index: int, outcome: Run | BaseException) -> None:
        if isinstance(outcome, BaseException):
            raise outcome
        runs[index] = outcome

    execute_each(scenarios, keep, watch, threads=threads)
    return [runs[index] for index in range(len(scenarios))]


def execute_each(
    scenarios: Sequence[Runnable],
    keep: Callable[[int, Run | BaseException], None],
    watch: Watch | None = None,
    jobs: int | None = None,
    threads: int | None = None,
) -> None:
    """Run all scenarios; hand over each with its place as soon as it is done, or what went wrong with it.

    `keep` is called in the calling thread; what it raises stops the others. At most `jobs` run at once, or as
    many as there are cores for, and never more than memory allows. Each has so many `threads`; by default one
    if several run at once, and else as many as the simulator chooses.
    """
    jobs = min(len(scenarios), jobs or max(1, cores() // (threads or 1)), fitting(scenarios))
    if threads is None and jobs > 1:
        threads = 1
    positions = [Position(0.0, scenario.duration_us, 0) for scenario in scenarios]
    cancelled = threading.Event()
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    finished: queue.SimpleQueue[tuple[int, Run | BaseException]] = queue.SimpleQueue()
    for index in range(len(scenarios)):
        waiting.put(index)

    def work() -> None:
        while not cancelled.is_set():
            try:
                index = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                finished.put((index, _run(scenarios[index], positions[index], cancelled, threads)))
            except BaseException as error:  # a panic of the simulator is no Exception
                finished.put((index, error))

    workers = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    try:
        _start(workers)
        collect(len(scenarios), finished, positions, keep, watch)
    finally:
        cancelled.set()
        deadline = time.monotonic() + _GRACE_S
        for worker in (worker for worker in workers if worker.ident is not None):
            worker.join(max(0.0, deadline - time.monotonic()))


def watching(progress: Callable[[float, float, int], bool | None] | None) -> Watch | None:
    """Turn a function that is told of one run into one that is told the sums over many; False stops them."""
    if progress is None:
        return None

    def watch(positions: Sequence[Position]) -> None:
        simulated = sum(position.simulated_us for position in positions)
        end = sum(position.end_us for position in positions)
        answer = progress(simulated, end, sum(position.packet_hops for position in positions))
        if answer is not None and not answer:
            raise _clearway.Interrupted("the runs were interrupted")

    return watch


def check_seeds(seeds: int) -> None:
    """Raise if this is no number of seeds that a scenario may be run with."""
    _check_count("seeds", seeds, MOST_SEEDS, "leave it out for one run with the seed of the scenario")


def check_jobs(jobs: int | None) -> None:
    """Raise if this is no number of runs at once."""
    if jobs is not None:
        _check_count("jobs", jobs, MOST_JOBS, "leave it out for one a core")


def _check_count(name: str, found: int, most: int, remedy: str) -> None:
    if isinstance(found, bool) or not isinstance(found, (int, np.integer)) or not 1 <= found <= most:
        raise ClearwayError(f"{name}: found {found!r}, expected a whole number from 1 to {most:,}", remedy)


def _start(workers: Sequence[threading.Thread]) -> None:
    """Start as many as the system allows; raise if that is none."""
    try:
        for worker in workers:
            worker.start()
    except RuntimeError as error:
        if workers[0].ident is None:
            raise ClearwayError(
                "no thread can be started", "end other processes, or raise the limit of threads (ulimit -u)"
            ) from error


def check_threads(threads: int | None) -> None:
    """Raise if this is no number of threads that a run may have."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ClearwayError(
            f"threads: found {threads}, expected 1 to {MOST_THREADS}",
            "leave it out to have as many as the run is worth",
        )


def cores() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def fitting(scenarios: Sequence[Runnable]) -> int:
    """Return how many of these runs fit into memory at once; raise if not even one does."""
    available = _clearway.memory_limit()
    largest = max(scenarios, key=lambda scenario: scenario.estimated_bytes)
    needed = largest.estimated_bytes
    if needed == 0:
        return len(scenarios)
    if needed > available:
        raise ClearwayError(
            f"{largest.name}: needs about {readable('bytes', needed)} of memory, "
            f"{readable('bytes', available)} are available",
            "use fewer hosts or flows, sample less often under [record], or shorten duration",
        )
    return max(1, available // needed)


def _run(scenario: Runnable, position: Position, cancelled: threading.Event, threads: int | None) -> Run:
    def progress(simulated_us: float, end_us: float, packet_hops: int) -> bool:
        position.simulated_us, position.end_us, position.packet_hops = simulated_us, end_us, packet_hops
        return not cancelled.is_set()

    run = Run.of(scenario, scenario.run(progress, threads))
    position.simulated_us, position.packet_hops = position.end_us, run.packet_hops
    return run


def collect(
    count: int,
    finished: queue.SimpleQueue[tuple[int, Run | BaseException]],
    positions: Sequence[Position],
    keep: Callable[[int, Run | BaseException], None],
    watch: Watch | None,
) -> None:
    """Hand over so many outcomes as they come, and in between show how far all are."""
    left = count
    while left:
        try:
            index, outcome = finished.get(timeout=_POLL_S)
        except queue.Empty:
            pass
        else:
            keep(index, outcome)
            left -= 1
        if watch is not None:
            watch(positions)
