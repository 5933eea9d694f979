"""Cubic, BBR and Swift through one bottleneck, and a page of it: `python -m tools.hosts demo`."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tools.hosts import swift
from tools.hosts.load import Outcome, load
from tools.hosts.machine import UnavailableError, demand
from tools.hosts.network import Bottleneck, Network, network
from tools.hosts.page import HEADINGS, cells, html, sentence

BOTTLENECK = Bottleneck(mbps=1000, queue_ms=10)
_FLOWS = 16


def demo(page: Path, seconds: int) -> int:
    """Show it; return the status that the process ends with: 0, too, where this machine cannot do it."""
    with ExitStack() as made:
        try:
            demand("ip", "tc", "ss", "iperf3")
            if not swift.is_installed():  # if somebody has installed it, it is shown as it is
                made.enter_context(swift.installed())
            through = made.enter_context(network(BOTTLENECK))
        except UnavailableError as reason:
            print(f"skipped: {reason}")
            return 0
        try:
            outcomes, remarks = _outcomes(through, seconds)
        except UnavailableError as reason:
            print(f"error: {reason}", file=sys.stderr)
            return 1
    print(table(outcomes))
    print(f"\n{sentence(outcomes)}")
    for remark in remarks:
        print(remark)
    write_whole(page, html(outcomes, BOTTLENECK, remarks))
    print(f"page: {page}")
    return 0


def _outcomes(through: Network, seconds: int) -> tuple[list[Outcome], list[str]]:
    print(
        f"{_FLOWS} flows through {BOTTLENECK.mbps:g} Mb/s with {BOTTLENECK.queue_ms:g} ms of queue",
        flush=True,
    )
    outcomes, remarks = [], []
    for control in ("cubic", "bbr", swift.NAME):
        print(f"  {control} for {seconds} s ...", flush=True)
        try:
            outcomes.append(load(through, control, _FLOWS, seconds))
        except UnavailableError as reason:
            if control != "bbr":  # not every kernel has it
                raise
            remarks.append(f"Without BBR: {reason}")
    print()
    return outcomes, remarks


def table(outcomes: list[Outcome]) -> str:
    """Return the figures as lines for a terminal."""
    rows = [HEADINGS, *(cells(outcome) for outcome in outcomes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def write_whole(path: Path, text: str) -> None:
    """Write a file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".partial")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
