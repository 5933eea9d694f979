"""What runs on a worker: a point that came as text, among others of the same process."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clearway import _clearway, documents
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.sweeps.points import build

_TELL_S = 1.0  # between two reports of how far a point is
_LOOK_S = 0.2  # between two looks at whether there is room in memory


def run(text: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Run a point. What goes wrong comes back as a sentence; another build than asked for, as its name."""
    work = json.loads(text)
    if work["build"] != build():
        return {"build": build()}
    try:
        return _run(work, files)
    except (KeyboardInterrupt, SystemExit):
        raise
    except MemoryError:
        return {"failed": "out of memory"}
    except (_clearway.LosslessDrop, _clearway.Standstill) as error:
        return {"failed": str(error), "kind": type(error).__name__}
    except BaseException as error:  # a panic of the simulator is no Exception
        return {"failed": str(error) or type(error).__name__}


def _run(work: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    scenario = _scenario(work["scenario"], files)
    tell, goes_on = _tell(work["topic"], work["index"]), _goes_on()
    told = time.monotonic()

    def progress(simulated_us: float, _end_us: float, packet_hops: int) -> bool:
        nonlocal told
        if (now := time.monotonic()) - told >= _TELL_S:
            told = now
            tell(simulated_us, packet_hops)
        return goes_on()

    with _ROOM.taken(scenario.estimated_bytes, goes_on):
        result = scenario.run(progress, 1)
    keep = work["keep"]
    return {
        "digest": result.digest,
        "packet_hops": result.packet_hops,
        "wall_s": result.wall_s,
        "threads": result.threads,
        "summary": result.summary,
        "tables": {name: table for name, table in result.tables.items() if keep is None or name in keep},
    }


def _scenario(document: Mapping[str, Any], files: Mapping[str, bytes]) -> _clearway.Scenario:
    """Load what was sent, from a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="clearway-") as folder:
        for name, content in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        scenario = _clearway.load_text(documents.text_of(document), str(document["name"]), folder)
    if json.loads(scenario.resolved) != document:
        raise ClearwayError("the scenario reads differently on the worker than where the sweep was started")
    return scenario


def _tell(topic: str, index: int) -> Callable[[float, int], None]:
    from distributed import get_worker  # noqa: PLC0415 - only on workers

    worker = get_worker()
    return lambda simulated_us, packet_hops: worker.log_event(topic, [index, simulated_us, packet_hops])


def _goes_on() -> Callable[[], bool]:
    """Return what says whether anyone still waits for the point."""
    from distributed import get_worker  # noqa: PLC0415

    worker = get_worker()
    key, tasks = worker.get_current_task(), worker.state.tasks

    def goes_on() -> bool:
        task = tasks.get(key)
        return task is not None and task.state != "cancelled"

    return goes_on


class _Room:
    """The memory of a worker, shared by the points that run on its threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken: list[int] = []
        self._available = 0
        """What was available when nothing ran."""

    @contextmanager
    def taken(self, needed: int, goes_on: Callable[[], bool]) -> Iterator[None]:
        """Wait until there is room for `needed` bytes, and take it while the body runs."""
        with self._changed:
            while not self._fits(needed) and goes_on():
                self._changed.wait(_LOOK_S)
            self._taken.append(needed)
        try:
            yield
        finally:
            with self._changed:
                self._taken.remove(needed)
                self._changed.notify_all()

    def _fits(self, needed: int) -> bool:
        if not self._taken:
            self._available = _available()
            if needed > self._available:
                raise ClearwayError(
                    f"needs about {readable('bytes', needed)} of memory, "
                    f"{readable('bytes', self._available)} are available on its worker"
                )
        return sum(self._taken) + needed <= self._available


def _available() -> int:
    """Return the bytes that the system allows, and the limit at which Dask would end the worker."""
    from distributed import get_worker  # noqa: PLC0415

    limit = get_worker().memory_manager.memory_limit
    return min(_clearway.memory_limit(), limit) if limit else _clearway.memory_limit()


_ROOM = _Room()
