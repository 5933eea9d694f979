"""The command line: `python -m tools.hosts bench|demo|incast|distance|soak|dashboard`."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType

from tools.hosts import dashboard, distance_page, incast, soak
from tools.hosts.bench import QUICK, Effort, lines
from tools.hosts.demo import demo
from tools.hosts.machine import UnavailableError


def main() -> int:
    """Do what is asked; return the status that the process ends with."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    parser = argparse.ArgumentParser(
        prog="python -m tools.hosts", description=sys.modules["tools.hosts"].__doc__
    )
    commands = parser.add_subparsers(dest="command", required=True)
    bench = commands.add_parser("bench", help="hold Swift and a testbed against their bars: a line each")
    bench.add_argument("--quick", action="store_true", help="one run of each, of 2 s at most")
    bench.add_argument("--runs", type=int, metavar="N", help="short runs in which no flow may starve (20)")
    bench.add_argument("--soak", type=int, metavar="S", help="seconds in which memory may not grow (30)")
    shown = commands.add_parser("demo", help="show cubic, BBR and Swift on one page")
    shown.add_argument("--out", type=Path, default=Path("target/demo-tcp.html"), help="the page")
    shown.add_argument("--seconds", type=int, default=8, help="for each (8)")
    beside = commands.add_parser("incast", help="show a 64 to 1 incast on namespaces beside its simulation")
    beside.add_argument("--out", type=Path, default=Path("target/demo-hosts.html"), help="the page")
    beside.add_argument("--seconds", type=int, default=6, help="for each (6)")
    far = commands.add_parser("distance", help="show a long link of many lengths, with relays and without")
    far.add_argument("--out", type=Path, default=Path("target/demo-distance.html"), help="the page")
    kept = commands.add_parser("soak", help="restart relays under PAUSEs at random: nothing may be lost")
    kept.add_argument("--seconds", type=int, default=3600, help="how long (3600)")
    kept.add_argument("--restarts", type=int, default=10, help="of relays (10)")
    kept.add_argument("--replace", action="store_true", help="by processes to which they hand over")
    kept.add_argument("--seed", type=int, default=1, help="of the PAUSEs (1)")
    commands.add_parser("dashboard", help="ask the dashboard's queries of a Prometheus that reads two agents")
    given = parser.parse_args()
    try:
        return _do(given)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _do(given: argparse.Namespace) -> int:
    match given.command:
        case "incast":
            status = incast.demo(given.out, given.seconds)
        case "demo":
            status = demo(given.out, max(2, given.seconds))
        case "dashboard":
            status = _dashboard()
        case "distance":
            status = distance_page.demo(given.out)
        case "soak":
            status = _soak(max(10, given.seconds), max(0, given.restarts), given.seed, replaces=given.replace)
        case _:
            status = _bench(quick=given.quick, runs=given.runs, soak=given.soak)
    return status


def _bench(*, quick: bool, runs: int | None, soak: int | None) -> int:
    effort = QUICK if quick else Effort()
    if runs is not None:
        effort = replace(effort, starving_runs=max(1, runs))
    if soak is not None:
        effort = replace(effort, soak_s=max(6, soak))
    for line in lines(effort):
        print(line, flush=True)
    return 0


def _soak(seconds: int, restarts: int, seed: int, *, replaces: bool) -> int:
    told = []
    try:
        for line in soak.lines(seconds, restarts, seed, replaces=replaces):
            print(line, flush=True)
            told.append(line)
    except UnavailableError as reason:
        print(f"soak skipped: {reason}")
        return 0
    return int(any(line.endswith("short") for line in told))


def _dashboard() -> int:
    try:
        told = list(dashboard.lines())
    except UnavailableError as reason:
        print(f"dashboard skipped: {reason}")
        return 0
    print("\n".join(told))
    return int(not all(": ok" in line for line in told))


def _leave(number: int, _: FrameType | None) -> None:
    # As an exception, so that networks and Swift are removed.
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
