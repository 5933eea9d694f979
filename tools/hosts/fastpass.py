"""Fastpass on hosts held against its bars: part of `python -m tools.hosts bench`."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

from clearway.testbed.network import Network

from tools.hosts.bars import Bar, skipped
from tools.hosts.fabric import (
    CONTROL_SHARE,
    ENDPOINTS,
    PAYLOAD_BYTES,
    Fabric,
    fabric,
    incast,
    namespaces,
)
from tools.hosts.machine import UnavailableError

FASTPASS = "fastpass"
_SLOT_BYTES = 12_500 * (1 - CONTROL_SHARE)
"""What a slot of 100 us of a link of 1 Gb/s carries on the wire."""
_SLOTS_GBPS = 0.2
"""Links in the mode `slots`: at 1 Gb/s four senders, each a real-time thread, do not fit two processors."""
_WIRE = (PAYLOAD_BYTES + 90) / PAYLOAD_BYTES
_REQUESTS = 1_000_000  # a second of a processor

_bar = partial(Bar, of=FASTPASS)


def lines(repeats: int, seconds: float) -> Iterator[str]:
    """Measure one thing after the other, and yield each line as soon as it is known."""
    yield from _or_skipped("incast", _incast(repeats, seconds))
    yield from _or_skipped("incast_in_slots", _incast_in_slots(repeats, seconds))
    yield from _or_skipped("slots", _slots(repeats))
    yield from _or_skipped("arbiter", _arbiter())
    yield from _or_skipped("takeover", _takeover(20 * repeats))
    yield from _or_skipped("paths", _paths(repeats))


def _or_skipped(name: str, found: Iterator[str]) -> Iterator[str]:
    try:
        yield from found
    except UnavailableError as reason:
        yield skipped(name, reason, FASTPASS)


def _incast(repeats: int, seconds: float) -> Iterator[str]:
    """Four hosts send to a fifth: under cubic alone, and by its sockets at rates that are granted."""
    with namespaces(1) as made:
        cubic = [incast(made, made.data(0), seconds) for _ in range(repeats)]
        yield _measured("cubic", cubic)
        with fabric(made, "rates", 1) as found:
            rates = [incast(made, found.address(0), seconds) for _ in range(repeats)]
            yield _measured("rates", rates)
            base_queue = _middle(cubic, "queue_bytes")
            queue = _middle(rates, "queue_bytes") / base_queue if base_queue else float("nan")
            yield _bar("rates_incast_queue_of_cubic", queue, "most", 0.1).line()
            goodput = _middle(rates, "goodput_mbps") / _middle(cubic, "goodput_mbps")
            yield _bar("rates_incast_goodput_of_cubic", goodput, "least", 0.95).line()
            yield _bar("rates_incast_jain", _middle(rates, "jain"), "least", 0.97).line()
            yield from _granted(found, made, seconds)


def _incast_in_slots(repeats: int, seconds: float) -> Iterator[str]:
    """Four hosts send to a fifth in timeslots."""
    with namespaces(_SLOTS_GBPS) as made, fabric(made, "slots", _SLOTS_GBPS) as found:
        slots = [incast(made, found.address(0), seconds) for _ in range(repeats)]
        yield _measured("slots", slots)
        yield _bar("slots_incast_jain", _middle(slots, "jain"), "least", 0.97).line()
        queue = _middle(slots, "queue_p99_bytes") / (_SLOTS_GBPS * 62_500)
        yield _bar("slots_incast_queue_p99_in_slots", queue, "most", 2).line()


def _granted(found: Fabric, made: Network, seconds: float) -> Iterator[str]:
    """Hold what each pair has sent against what it was granted."""
    for control in ("cubic", "bbr"):
        for flows in (1, 4, 8):
            name = f"rates_{control}_{flows}_flow{'s' * (flows > 1)}_off_grants"
            before = _counts(found)
            try:
                incast(made, found.address(0), seconds, control=control, flows=flows)
            except UnavailableError as reason:
                yield skipped(name, reason, FASTPASS)
                continue
            off = max(
                abs(sent * _WIRE / (slots * _SLOT_BYTES) - 1)
                for (sent, slots) in (
                    (after[0] - early[0], after[1] - early[1])
                    for after, early in zip(_counts(found), before, strict=True)
                )
            )
            yield _bar(name, off, "most", 0.02).line()


def _counts(found: Fabric) -> list[tuple[int, int]]:
    """Return the bytes that each sender has sent by grants, and the slots that it was granted and wanted."""
    counts = [found.status(host)["counts"] for host in range(1, ENDPOINTS)]
    return [(each["bytes_scheduled"], each["slots_used"] - each.get("slots_unused", 0)) for each in counts]


def _slots(repeats: int) -> Iterator[str]:
    """Hold packets through TUN devices in slots of 500 us against the link itself."""
    told = _cargo("slots", "--seconds", "2", "--rounds", str(repeats))
    if reason := re.search(r"^skipped: (.*)", told, re.MULTILINE):
        raise UnavailableError(reason[1])
    yield from (f"measured {line.strip()}" for line in told.splitlines())
    direct, plain = _all(told, r"^direct: ([\d.]+) Gb/s"), _all(told, r"^direct without TSO: ([\d.]+) Gb/s")
    name = "Scheduled, 10 Gb/s, slots of 500 us"
    through = _all(told, rf"^{name}: 1 flows ([\d.]+) Gb/s")
    trips, own = _all(told, rf"^{name}: round trip p50 (\d+)"), _all(told, r"^direct: .*round trip p50 (\d+)")
    yield _bar("slots_goodput_of_direct", _ratio(through, direct), "least", 0.2).line()
    if plain:
        yield _bar("slots_goodput_of_direct_without_tso", _ratio(through, plain), "least", 0.6).line()
    # There and back are two waits for a slot.
    added = median(each - its for each, its in zip(trips, own, strict=True))
    yield _bar("slots_added_round_trip_us", added, "most", 2 * (100 + 500)).line()
    late = r"late p50 [\d.]+ p99 ([\d.]+) p99.9 [\d.]+ us, missed ([\d.]+) % of"
    ends = [
        found
        for block in re.findall(rf"^{name}: 8 flows.*\n.*\n.*", told, re.MULTILINE)
        for found in re.findall(late, block)
    ]
    yield _bar("slots_lateness_p99_us", max(float(p99) for p99, _ in ends), "most", 150).line()
    yield _bar("slots_missed_percent", max(float(missed) for _, missed in ends), "most", 0.5).line()


def _arbiter() -> Iterator[str]:
    """Load an arbiter with the requests of a thousand endpoints."""
    most = _json(_cargo("arbiter", "--seconds=3"))
    figure = float(most["requests_a_second_of_a_processor"])
    yield _bar("arbiter_requests_a_second_of_a_processor", figure, "least", _REQUESTS).line()
    half = _json(_cargo("arbiter", "--seconds=3", f"--rate={most['requests_a_second'] / 2}"))
    slots = (half["latency_us"]["p50"] or float("nan")) / half["slot_us"]
    yield f"measured arbiter {json.dumps(half)}"
    yield _bar("arbiter_grant_latency_p50_in_slots", slots, "most", 1).line()


def _takeover(rounds: int) -> Iterator[str]:
    """Kill, stop and cut off the primary; takeover after 2 ms of silence."""
    told = _json(_cargo("takeover", f"--rounds={rounds}"))
    for failure in ("kill", "stop", "cut"):
        of = told[failure]
        if "skipped" in of:
            yield skipped(f"takeover_{failure}", of["skipped"], FASTPASS)
            continue
        yield f"measured takeover {failure} {json.dumps(of)}"
        yield _bar(f"takeover_{failure}_ms", of["gap_ms"]["p99"], "most", 5).line()


def _paths(rounds: int) -> Iterator[str]:
    """Kill a path in four ways; the rest is what one of two spines carries, or all where that is enough."""
    told = _json(_cargo("paths", f"--rounds={rounds}"))
    if "skipped" in told:
        yield skipped("paths", told["skipped"], FASTPASS)
        return
    for way, found in told.items():
        yield f"measured paths {way} {json.dumps(found)}"
        rest = median(each["after_100ms_of_what_lives"] for each in found)
        yield _bar(f"paths_{way}_after_100ms", rest, "least", 0.95).line()


def _cargo(bench: str, *arguments: str) -> str:
    if shutil.which("cargo") is None:
        raise UnavailableError("missing: cargo")
    words = ("cargo", "bench", "--quiet", "-p", "clearway-host", "--features", "tcp", "--bench", bench)
    ran = subprocess.run([*words, "--", *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    if ran.returncode:
        raise UnavailableError(f"cargo bench ended with {ran.returncode}: {ran.stderr[-300:]}")
    return ran.stdout


def _json(text: str) -> dict[str, Any]:
    return dict(json.loads(text[text.index("{") :]))


def _all(text: str, pattern: str) -> list[float]:
    return [float(found) for found in re.findall(pattern, text, re.MULTILINE)]


def _ratio(one: list[float], other: list[float]) -> float:
    return median(own / its for own, its in zip(one, other, strict=False))


def _middle(runs: list[Any], figure: str) -> float:
    return median(float(getattr(each, figure)) for each in runs)


def _measured(name: str, runs: list[Any]) -> str:
    mean, p99 = _middle(runs, "queue_bytes") / 1e3, _middle(runs, "queue_p99_bytes") / 1e3
    return (
        f"measured incast of 4 under {name}: {_middle(runs, 'goodput_mbps'):.4g} Mb/s,"
        f" Jain {_middle(runs, 'jain'):.3f}, queue {mean:.1f} kB, p99 {p99:.1f} kB"
    )
