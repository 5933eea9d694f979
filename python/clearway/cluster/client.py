"""A Dask cluster as a place to run points: work is sent, watched, gathered; what was lost is run again there.

All work goes to the scheduler, which gives it to workers as they become free, and to another one if a worker
dies. Work that no one waits for any more, as after Ctrl-C, is dropped by the scheduler and stopped by its
worker.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import re
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import _clearway, files
from clearway.cluster.work import Work, pack
from clearway.errors import ClearwayError
from clearway.execution import Position, Watch, collect
from clearway.outcome import Outcome
from clearway.runs import Run
from clearway.sweeps.points import Point, build

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE_S = 10
_ADDRESS = re.compile(r"[a-z]+://\S+")
# What a worker evaluates, with Python's own `eval`: so a scheduler need not have clearway, and what a worker
# without it says is that it has none.
_BUILD = "__import__('clearway.sweeps.points', fromlist=['build']).build()"
_RUN = "__import__('clearway.cluster.worker', fromlist=['run']).run(text, files)"
_KINDS: Mapping[str | None, type[Exception]] = {
    kind.__name__: kind for kind in (_clearway.LosslessDrop, _clearway.Standstill)
}
_SAME = "install the wheel that this machine has on all workers (docs/CLUSTER.md)"


class ClusterError(ClearwayError):
    """What ends a whole sweep, not just a point."""


class Cluster:
    """The workers of a scheduler."""

    def __init__(self, address: str, client: Client) -> None:
        """Take a client that is connected; raise if a worker would not run what this machine does."""
        self._address = address
        self._client = client
        self.workers = self._checked_workers()
        """How many there are; others may come, and are looked at when they run something."""

    def _checked_workers(self) -> int:
        answers = self._client.run(eval, _BUILD, on_error="return")
        # One that does not answer is on its way out.
        found = {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}
        wrong = {worker: answer for worker, answer in found.items() if answer != build()}
        if wrong:
            kinds = Counter(_described(answer) for answer in wrong.values())
            first = next(iter(wrong))
            raise ClusterError(
                f"{self._address}: of {len(found)} workers, "
                + ", ".join(
                    f"{count} {'has' if count == 1 else 'have'} {kind}" for kind, count in kinds.items()
                )
                + f" (such as {first}); here is clearway {_clearway.VERSION}",
                _SAME,
            )
        return len(found)

    def execute_each(
        self,
        points: Sequence[Point],
        keep: Callable[[int, Run | BaseException], None],
        watch: Watch | None = None,
    ) -> None:
        """Run all points; hand over each with its place when it is done, or what went wrong with it.

        `keep` is called in the calling thread; what it raises stops the others.
        """
        positions = [Position(0.0, point.scenario.duration_us, 0) for point in points]
        finished: queue.SimpleQueue[tuple[int, Run | BaseException]] = queue.SimpleQueue()
        topic = f"clearway-{secrets.token_hex(8)}"

        def moved(event: tuple[float, Sequence[Any]]) -> None:
            index, simulated_us, packet_hops = event[1]
            positions[index].simulated_us, positions[index].packet_hops = simulated_us, packet_hops

        def receive(index: int, outcome: Run | BaseException) -> None:
            if isinstance(outcome, ClusterError):
                raise outcome
            if isinstance(outcome, Run):
                positions[index].simulated_us = positions[index].end_us
                positions[index].packet_hops = outcome.packet_hops
            keep(index, outcome)

        self._client.subscribe_topic(topic, moved)
        futures = self._submit([pack(point, topic, index) for index, point in enumerate(points)], topic)
        try:
            gather = threading.Thread(target=self._gather, args=(points, futures, finished), daemon=True)
            gather.start()
            collect(len(points), finished, positions, receive, watch)
        finally:
            self._client.unsubscribe_topic(topic)
            for future in futures:
                future.release()

    def _submit(self, works: Sequence[Work], topic: str) -> list[Future]:
        """Send the work; a file that many points name is sent once."""
        contents: dict[Path, Future] = {}
        for path in dict.fromkeys(path for work in works for path in work.files.values()):
            content = files.read(path, files.LARGEST_NAMED)
            contents[path] = self._client.submit(
                bytes, content, key=f"{topic}-file-{sha256(content).hexdigest()}", pure=False
            )
        return [
            self._client.submit(
                eval,
                _RUN,
                {"text": work.text, "files": {name: contents[path] for name, path in work.files.items()}},
                key=f"{topic}-{index}",
                pure=False,
            )
            for index, work in enumerate(works)
        ]

    def _gather(
        self,
        points: Sequence[Point],
        futures: Sequence[Future],
        finished: queue.SimpleQueue[tuple[int, Run | BaseException]],
    ) -> None:
        """Take what comes back, in any order, in a thread of its own."""
        from distributed import as_completed  # noqa: PLC0415

        places = {future.key: index for index, future in enumerate(futures)}
        try:
            for future, result in as_completed(
                futures, with_results=True, raise_errors=False, loop=self._client.loop
            ):
                index = places[future.key]
                outcome = self._outcome(points[index], future.status, result)
                future.release()
                finished.put((index, outcome))
        except Exception as error:  # who waits for the outcomes must hear of it
            finished.put((0, ClusterError(f"{self._address}: what came back cannot be used: {error!r}")))

    def _outcome(self, point: Point, status: str, result: Any) -> Run | BaseException:
        if status == "finished":
            return self._unpacked(point, result)
        if status == "error":
            return self._failure(result[1])
        return ClusterError(
            f"{self._address}: the scheduler is gone", "start it, and the same command goes on"
        )

    def _unpacked(self, point: Point, result: Mapping[str, Any]) -> Run | BaseException:
        if "failed" in result:
            return _KINDS.get(result.get("kind"), ClearwayError)(result["failed"])
        if "build" in result:
            return ClusterError(f"{self._address}: a worker has {_described(result['build'])}", _SAME)
        return Run.of(point.scenario, Outcome(**result))

    def _failure(self, error: BaseException) -> BaseException:
        """Say what Dask itself had to report of a point."""
        from distributed import KilledWorker  # noqa: PLC0415

        if isinstance(error, ImportError):
            return ClusterError(f"{self._address}: a worker has {_described(error)}", _SAME)
        if isinstance(error, KilledWorker):
            lost = error.allowed_failures + 1
            return ClearwayError(
                f"{lost} workers died while they ran it: it may need more memory than they have"
            )
        return error


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Connect to a scheduler while the body runs."""
    client = _client(address)
    with _silence():
        try:
            yield Cluster(address, client)
        finally:
            client.close(timeout=1)


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask from logging what is said in errors, such as a connection that is lost."""
    loggers = [
        logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("distributed")
    ]
    spoke = [logger for logger in loggers if not logger.disabled]
    for logger in spoke:
        logger.disabled = True
    try:
        yield
    finally:
        for logger in spoke:
            logger.disabled = False


def _client(address: str) -> Client:
    if not _ADDRESS.fullmatch(address):
        raise ClearwayError(
            f"{address}: is no address of a scheduler", "expected one such as tcp://10.0.0.1:8786"
        )
    try:
        import distributed  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise ClearwayError("running on a cluster needs Dask", "pip install 'clearway[dask]'") from error
    remedy = "dask scheduler starts one and prints its address (docs/CLUSTER.md)"
    try:
        # In a thread, as a notebook has an event loop of its own in this one. Ctrl-C does not wait for it.
        other = ThreadPoolExecutor(1)
        try:
            kind = other.submit(asyncio.run, _kind_at(address)).result()
        finally:
            other.shutdown(wait=False)
    except (OSError, ValueError, TypeError, asyncio.TimeoutError) as error:
        why = str(error) or f"it was silent for {_PATIENCE_S} s"
        raise ClearwayError(f"{address}: no scheduler answers there: {why}", remedy) from error
    if kind != "Scheduler":
        raise ClearwayError(f"{address}: is a {kind.lower()}, expected a scheduler", remedy)
    return distributed.Client(address, timeout=_PATIENCE_S, set_as_default=False, name="clearway")


async def _kind_at(address: str) -> str:
    """Ask what is at an address: a client of what is none would wait for longer than it is told to."""
    from distributed import Security, rpc  # noqa: PLC0415

    arguments = Security().get_connection_args("client")
    async with rpc(address, timeout=_PATIENCE_S, connection_args=arguments) as there:
        identity = await asyncio.wait_for(there.identity(), _PATIENCE_S + 1)
    return str(identity["type"])


def _described(answer: object) -> str:
    """Describe the clearway of a worker, given its build or why it has none."""
    if not isinstance(answer, str):
        return "no clearway, or an older one"
    version = answer.partition(" ")[0]
    other = "another build of " if version == _clearway.VERSION else ""
    return f"{other}clearway {version}"
