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
from pathlib import Path

from clearway import _clearway
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.runs import Run

_POLL_S = 0.05
_GRACE_S = 0.5  # in which a run that is told to stop does; set-up looks at nothing

MOST_THREADS = 64
"""The most threads that one run may have."""


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
        for worker in workers:
            worker.start()
        _collect(len(scenarios), finished, positions, keep, watch)
    finally:
        cancelled.set()
        deadline = time.monotonic() + _GRACE_S
        for worker in workers:
            worker.join(max(0.0, deadline - time.monotonic()))


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


def available_memory() -> int | None:
    """Return the bytes that the system and the control group still allow; None if unknown."""
    limits: list[int] = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        limits.extend(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except OSError:
        pass
    try:
        group = Path("/sys/fs/cgroup")
        limit = (group / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            limits.append(int(limit) - int((group / "memory.current").read_text(encoding="ascii")))
    except (OSError, ValueError):
        pass
    return min(limits, default=None)


def fitting(scenarios: Sequence[Runnable]) -> int:
    """Return how many of these runs fit into memory at once; raise if not even one does."""
    available = available_memory()
    largest = max(scenarios, key=lambda scenario: scenario.estimated_bytes)
    needed = largest.estimated_bytes
    if available is None or needed == 0:
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


def _collect(
    count: int,
    finished: queue.SimpleQueue[tuple[int, Run | BaseException]],
    positions: Sequence[Position],
    keep: Callable[[int, Run | BaseException], None],
    watch: Watch | None,
) -> None:
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
