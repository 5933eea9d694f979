"""A relay beside the kernel's own redirection: part of `python -m tools.hosts bench`."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from statistics import median

from tools.hosts.bars import Bar, skipped
from tools.hosts.frames import ADDRESSES, DEVICE, PRIORITY, TRAFFIC_CLASS
from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.swift import DAEMON
from tools.hosts.wire import LOCAL, REMOTE, Wire, inside, redirected, relay, round_trips_us, started, wire

SWING = "swing"
# A rate that this machine does not reach: what waits is then not held up by the link's own rate.
_CONFIG = f'[relay]\nrate = "100Gbps"\ndelay = "10us"\npriorities = [{PRIORITY}]\n'
_QUESTIONS = 500


def lines(repeats: int, seconds: int) -> Iterator[str]:
    """Measure one thing after the other, and yield each line as soon as it is known."""
    measurements: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
        ("forwarding_of_redirect", lambda: _throughput(repeats, seconds, stores=False)),
        ("storing_of_redirect", lambda: _throughput(repeats, seconds, stores=True)),
        ("round_trip_added", lambda: _added(repeats)),
    )
    for name, measure in measurements:
        yield from _or_skipped(name, measure)


def _or_skipped(name: str, measure: Callable[[], Iterator[str]]) -> Iterator[str]:
    try:
        demand("ip", "tc", "iperf3")
        yield from measure()
    except UnavailableError as reason:
        yield skipped(name, reason, SWING)


@contextmanager
def _relayed(through: Wire) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "relay.toml"
        config.write_text(_CONFIG)
        with relay(through, config):
            yield


def _throughput(repeats: int, seconds: int, *, stores: bool) -> Iterator[str]:
    """Compare a flood of UDP with the kernel's redirection: frames a second that come out."""
    ratios: list[float] = []
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(repeats):
        for figures, between in ((ours, _relayed), (theirs, _redirected)):
            with wire() as through, between(through):
                figures.append(_frames_a_second(through, seconds, stores=stores and between is _relayed))
        ratios.append(ours[-1] / theirs[-1])
    name, least = ("storing", 0.3) if stores else ("forwarding", 0.9)
    yield f"measured {name} relay {median(ours):.4g} frames/s, redirect {median(theirs):.4g} frames/s"
    yield Bar(f"{name}_of_redirect", median(ratios), "least", least, SWING).line()


def _redirected(through: Wire) -> AbstractContextManager[None]:
    redirected(through)
    return nullcontext()


def _frames_a_second(through: Wire, seconds: int, *, stores: bool) -> float:
    """Return the frames of a flood in the lossless priority that come out at the far end, a second."""
    server = inside(through.far, "iperf3", "-s", "-1")
    with subprocess.Popen(server, stdout=subprocess.DEVNULL) as serving:  # noqa: S603 - our own
        time.sleep(0.3)
        how = ("-u", "-b", "0", "-l", "1400", "-S", str(TRAFFIC_CLASS), "-t", str(seconds + 2))
        client = inside(through.switch, "iperf3", "-c", ADDRESSES[1], *how)
        with subprocess.Popen(client, stdout=subprocess.DEVNULL) as flooding:  # noqa: S603 - our own
            time.sleep(0.5)
            # What comes after a PAUSE (10 us here) goes to the process until nothing has come for 1 ms.
            pausing = started(through.far, "say", *(("2000", "@0.5") * (seconds * 2000 if stores else 0)))
            time.sleep(0.3)
            before, start = _received(through), time.monotonic()
            kernel = _by_kernel(through) if stores else 0
            time.sleep(seconds)
            received = _received(through) - before
            found = received / (time.monotonic() - start)
            if stores and (passed := _by_kernel(through) - kernel) > received / 20:
                raise UnavailableError(f"{passed} of {received} frames were not stored")
            flooding.kill()
            pausing.kill()
        serving.kill()
    return found


def _by_kernel(through: Wire) -> int:
    """Return how many frames from the switch the kernel has passed on."""
    ends = ("--local", LOCAL, "--remote", REMOTE)
    told = run(inside(through.relay, str(DAEMON), "relay", *ends, "--status", "--json"))
    return int(json.loads(told)["lanes"][0]["kernel"]["passed"])


def _received(through: Wire) -> int:
    told = json.loads(run(f"ip -n {through.far} -s -j link show {DEVICE}".split()))
    return int(told[0]["stats64"]["rx"]["packets"])


def _added(repeats: int) -> Iterator[str]:
    added = []
    for _ in range(repeats):
        found = []
        for between in (_relayed, _redirected):
            with wire() as through, between(through):
                found.append(median(round_trips_us(through, _QUESTIONS)))
        added.append(found[0] - found[1])
    yield Bar("round_trip_added_us", median(added), "most", 60, SWING).line()
