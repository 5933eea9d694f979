"""How long a sweep takes on two workers of a Dask cluster, beside two jobs here.

`python -m tools.cluster_time` prints it: 64 points of a second or so, eight at a time, here and there by
turns, so that other work on the machine slows down both.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clearway.cluster.client import connected
from clearway.sweeps import file
from clearway.sweeps.making import run_points
from clearway.sweeps.points import Point
from clearway.sweeps.store import Store

POINTS = 64
AT_A_TIME = 8
_SCENARIO: dict[str, Any] = {
    "format": 1,
    "name": "a point of a second",
    "duration": "1600ms",
    "network": {"topology": "star", "hosts": 11, "rate": "10Gbps", "delay": "1us", "mtu": "1500B"},
    "transport": {"bulk": {"protocol": "swift"}},
    "traffic": [{"pattern": "incast", "to": 10}],
}


@contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    """Start a scheduler and two workers of one thread; yield the address."""
    told = folder / "scheduler.json"
    common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(told)]
    scheduler = _started("dask_scheduler", *common, "--port", "0")
    processes = [scheduler]
    try:
        while not told.exists():
            time.sleep(0.05)
        one = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--local-directory", str(folder)]
        processes += [_started("dask_worker", *common, *one) for _ in range(2)]
        address = str(json.loads(told.read_text())["address"])
        from distributed import Client  # noqa: PLC0415 - slow to import

        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2)
        yield address
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def _started(program: str, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own arguments
        [sys.executable, "-m", f"distributed.cli.{program}", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def main() -> None:
    """Time both by turns, some points at a time, and print the sums and the median of the ratios."""
    with tempfile.TemporaryDirectory() as name, _cluster(Path(name)) as address:
        points = file.read({**_SCENARIO, "sweep": {"seed": list(range(1, POINTS + 1))}}).points()
        here, there, ratios = 0.0, 0.0, []
        started = time.monotonic()
        with connected(address) as cluster:
            there += time.monotonic() - started
            for first in range(0, POINTS, AT_A_TIME):
                batch = points[first : first + AT_A_TIME]
                store = Path(name) / str(first)
                took = [
                    _timed(batch, Store(store / "here"), jobs=2),
                    _timed(batch, Store(store / "there"), cluster=cluster),
                ]
                assert took[0][1] == took[1][1], "the digests differ"
                here, there = here + took[0][0], there + took[1][0]
                ratios.append(took[1][0] / took[0][0])
                print(f"here {took[0][0]:.2f} s, there {took[1][0]:.2f} s", flush=True)
    print(f"in all, with the connection: here {here:.1f} s, there {there:.1f} s, ratio {there / here:.3f}")
    print(f"median of the batches: {statistics.median(ratios):.3f}")


def _timed(points: Sequence[Point], store: Store, **place: Any) -> tuple[float, list[str]]:
    """Run the points as a sweep does; return the seconds it took, and the digests."""
    started = time.monotonic()
    made = run_points(points, store, **place)
    return time.monotonic() - started, [run.digest for run in made.runs]


if __name__ == "__main__":
    main()
