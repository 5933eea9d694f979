"""A 64 to 1 incast on namespaces of this machine beside its simulation: `python -m tools.hosts incast`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from clearway import api, documents
from clearway.errors import ClearwayError
from clearway.testbed import local
from clearway.testbed.given import given_keys

from tools.hosts import swift
from tools.hosts.demo import write_whole
from tools.hosts.incast_page import Pair, Scheme, Sets, Shown, html, sentences, table
from tools.hosts.machine import UnavailableError, demand

SCENARIO = Path(__file__).parent / "incast.toml"
_LEAST_S = 2
_WARMUP_S = 1

_NO_SWIFT: Sets = {"transport.flows.base_target": None, "transport.flows.fs_range": None}
# What Swift in the kernel's TCP is, in the simulator's words: one window, packets of TCP, its least timeout.
_KERNEL: Sets = {
    "transport.flows.endpoint_window": False,
    "transport.flows.topology_scaling": False,
    "transport.flows.min_rto": "200ms",
}


SCHEMES = (
    Scheme("Cubic", "tcp:cubic", {**_NO_SWIFT, "transport.flows.protocol": "cubic"}),
    Scheme("BBR", "tcp:bbr", None),
    Scheme("Swift in TCP", "tcp:swift", _KERNEL),
    Scheme("Swift", "udp:swift", {}),
)


def incast(seconds: int) -> Shown:
    """Measure and simulate every scheme; raise `UnavailableError` where this machine cannot."""
    demand("ip", "tc")
    pairs, remarks = [], []
    for scheme in SCHEMES:
        print(f"  {scheme.label} for {seconds} s ...", flush=True)
        try:
            with _offered(scheme):
                pairs.append(_pair(scheme, seconds))
        except (UnavailableError, ClearwayError) as reason:
            if scheme.carrier == "udp:swift":
                raise UnavailableError(str(reason)) from reason
            remarks.append(f"Without {scheme.label}: {' '.join(str(reason).split())}")
    return Shown(pairs, remarks)


@contextmanager
def _offered(scheme: Scheme) -> Iterator[None]:
    """Have the kernel offer Swift with the scenario's parameters, for the scheme that needs it."""
    if scheme.carrier != "tcp:swift":
        yield
        return
    table = documents.parse(SCENARIO.read_text(encoding="utf-8"), str(SCENARIO))["transport"]["flows"]
    words = [f"--base-target={table['base_target']}", f"--fs-range={table['fs_range']}"]
    with swift.installed(*words, f"--initial-cwnd={table['initial_cwnd']}"):
        yield


def _pair(scheme: Scheme, seconds: int) -> Pair:
    times: Sets = {"duration": f"{seconds}s", "warmup": f"{_WARMUP_S}s"}
    overrides = api.sets_of(times)
    scenario = api.load_scenario(SCENARIO, overrides, None)
    plan = local.plan_of(scenario, scheme.carrier, None, given_keys(SCENARIO, overrides), is_star=True)
    before = _busy_s()
    started = time.monotonic()
    measured, ended = local.execute(plan, None, partial(local.star, local.links_of(scenario)))
    load = (_busy_s() - before) / (time.monotonic() - started)
    if ended.interrupted:
        raise KeyboardInterrupt
    if not ended.measured.is_complete:
        raise UnavailableError(f"{scheme.carrier}: the run ended early: {ended.measured.reason}")
    simulated = None if scheme.sets is None else api.run(SCENARIO, {**times, **scheme.sets})
    return Pair(scheme, replace(measured, name=scheme.label), simulated, load, os.cpu_count() or 1)


def _busy_s() -> float:
    """Return for how many seconds processors of this machine have worked so far, all together."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in words[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def demo(page: Path, seconds: int) -> int:
    """Show it; return the status that the process ends with: 0, too, where this machine cannot do it."""
    print("64 flows to 1 of 8 namespaces, over one port of 200 Mb/s with 20 ms of queue", flush=True)
    try:
        shown = incast(max(_LEAST_S, seconds))
    except UnavailableError as reason:
        print(f"skipped: {reason}")
        return 0
    except ClearwayError as reason:
        print(f"error: {reason}", file=sys.stderr)
        return 1
    print(f"\n{table(shown.pairs)}\n")
    for line in (*sentences(shown.pairs), *shown.remarks):
        print(line)
    write_whole(page, html(shown))
    print(f"page: {page}")
    return 0
