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
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from clearway import _clearway
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.measurement import Measurement
from clearway.runs import Run
from clearway.seeds import seeds_in_words

_POLL_S = 0.05
_GRACE_S = 0.5  # in which a run that is told to stop does; set-up looks at nothing


@dataclass
class Position:
    """How far one run is."""

    simulated_us: float
    end_us: float
    packet_hops: int


Runnable = _clearway.Scenario | Measurement
"""What can be run."""

Watch = Callable[[Sequence[Position]], None]
"""Called with the positions of all runs some 20 times a second, in the calling thread."""


class RunsInterrupted(KeyboardInterrupt):
    """Ctrl-C while scenarios were run; says what was simulated by then."""


def execute(
    scenarios: Sequence[Runnable],
    watch: Watch | None = None,
    threads: int | None = None,
    *,
    keep_partial: bool = False,
) -> list[Run]:
    """Run all scenarios, as many at once as cores and memory allow; results in the same order.

    `threads` are those of each run, as for `execute_each`. Raises `RunsInterrupted` on Ctrl-C. With
    `keep_partial` it then returns what there is, unless that is nothing: of one scenario what was simulated
    by then, of several the runs that are finished.
    """
    runs: dict[int, Run] = {}
    positions = [Position(0.0, scenario.duration_us, 0) for scenario in scenarios]

    def keep(index: int, outcome: Run | BaseException) -> None:
        if isinstance(outcome, BaseException):
            raise outcome
        runs[index] = outcome

    try:
        execute_each(scenarios, keep, watch, threads=threads, positions=positions, keep_partial=keep_partial)
    except (KeyboardInterrupt, _clearway.Interrupted) as error:
        if not (keep_partial and runs):
            kind = _clearway.Interrupted if isinstance(error, _clearway.Interrupted) else RunsInterrupted
            said = _how_far(scenarios, positions, runs)
            raise kind(f"interrupted, nothing written: {said}") from error
    return [runs[index] for index in sorted(runs)]


def _how_far(scenarios: Sequence[Runnable], positions: Sequence[Position], runs: Collection[int]) -> str:
    """Say how far runs are: simulated time of the total, packet-hops, and of several which are finished."""
    simulated, end = (
        readable("time", sum(times))
        for times in zip(*((each.simulated_us, each.end_us) for each in positions), strict=True)
    )
    hops = readable("count", sum(position.packet_hops for position in positions))
    said = f"simulated {simulated} of {end}, {hops} packet-hops"
    if len(scenarios) == 1:
        return said
    finished = f"{len(runs)} of {len(scenarios)} runs finished"
    if runs and len({scenario.name for scenario in scenarios}) == 1:
        finished += f" ({seeds_in_words([scenarios[index].seed for index in sorted(runs)])})"
    return f"{said}; {finished}"


def execute_each(
    scenarios: Sequence[Runnable],
    keep: Callable[[int, Run | BaseException], None],
    watch: Watch | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    *,
    positions: Sequence[Position] | None = None,
    keep_partial: bool = False,
) -> None:
    """Run all scenarios; hand over each with its place as soon as it is done, or what went wrong with it.

    `keep` is called in the calling thread; what it raises stops the others. At most `jobs` run at once, or as
    many as there are cores for, and never more than memory allows. Each has `threads` threads; by default one
    if several run at once, and else as many as the simulator chooses. `positions` are kept up to date, those
    of the caller if it gives them. With `keep_partial` what there is after an interruption is handed over
    before that is raised: what is finished, and one run by itself as far as it came.
    """
    jobs = min(len(scenarios), jobs or max(1, cores() // (threads or 1)), fitting(scenarios))
    if threads is None and jobs > 1:
        threads = 1
    if positions is None:
        positions = [Position(0.0, scenario.duration_us, 0) for scenario in scenarios]
    keeps_part = keep_partial and len(scenarios) == 1
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
                run = _run(scenarios[index], positions[index], cancelled, threads, keeps_part)
                finished.put((index, run))
            except BaseException as error:  # a panic of the simulator is no Exception
                finished.put((index, error))

    workers = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    try:
        _start(workers)
        collect(len(scenarios), finished, positions, keep, watch)
    except (KeyboardInterrupt, _clearway.Interrupted):
        if keep_partial:
            cancelled.set()
            _keep_rest(workers, finished, keep)
        raise
    finally:
        cancelled.set()
        deadline = time.monotonic() + _GRACE_S
        for worker in (worker for worker in workers if worker.ident is not None):
            worker.join(max(0.0, deadline - time.monotonic()))


def _keep_rest(
    workers: Sequence[threading.Thread],
    finished: queue.SimpleQueue[tuple[int, Run | BaseException]],
    keep: Callable[[int, Run | BaseException], None],
) -> None:
    """Wait for workers that are told to stop, and hand over what they came to; Ctrl-C ends the waiting."""
    for worker in (worker for worker in workers if worker.ident is not None):
        worker.join()
    while not finished.empty():
        index, outcome = finished.get()
        if not isinstance(outcome, _clearway.Interrupted):
            keep(index, outcome)


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


def _run(
    scenario: Runnable,
    position: Position,
    cancelled: threading.Event,
    threads: int | None,
    keeps_part: bool,
) -> Run:
    def progress(simulated_us: float, end_us: float, packet_hops: int) -> bool:
        position.simulated_us, position.end_us, position.packet_hops = simulated_us, end_us, packet_hops
        return not cancelled.is_set()

    run = Run.of(scenario, scenario.run(progress, threads, keeps_part))
    position.packet_hops = run.packet_hops
    position.simulated_us = position.end_us if run.interrupted_at_us is None else run.interrupted_at_us
    return run


def collect(
    count: int,
    finished: queue.SimpleQueue[tuple[int, Run | BaseException]],
    positions: Sequence[Position],
    keep: Callable[[int, Run | BaseException], None],
    watch: Watch | None,
) -> None:
    """Hand over `count` outcomes as they come, and in between show how far all are."""
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
