"""A scenario on agents: planned, run, and as a run of the kind that a simulation leaves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clearway import stops
from clearway.runs import Run
from clearway.testbed import controller, queues
from clearway.testbed.controller import Ended
from clearway.testbed.plan import Plan
from clearway.testbed.record import run_of
from clearway.testbed.summary import View

PLAN = "PLAN.json"
"""The plan, as `clearwayd testbed` reads it: in the run directory, too."""


@dataclass(frozen=True)
class Place:
    """Where a plan runs."""

    hosts: Path
    """The file with the hosts."""
    keys: Path
    """The directory with the certificates."""
    name: str | None
    """Whose certificate is shown; None for this host's."""
    before: tuple[str, ...] = ()
    """Words before the controller's command, which say where it runs."""
    ports: Path | None = None
    """The file to which samples of the switch's ports are written; None where nobody sees them."""


def execute(plan: Plan, place: Place, folder: Path) -> tuple[Run, Ended]:
    """Run a plan on its agents; the plan lies in `folder` meanwhile.

    Raises what `controller.conduct` raises.
    """
    file = folder / PLAN
    file.write_text(plan.text(), encoding="utf-8")
    hosts = place.hosts
    if plan.fastpass is not None and plan.fastpass.hosts is not None:
        hosts = folder / "inner.toml"
        hosts.write_text(plan.fastpass.hosts, encoding="utf-8")
    command = [controller.program(), "testbed", str(file)]
    command += ["--hosts", str(hosts), "--keys", str(place.keys)]
    if place.name is not None:
        command += ["--name", place.name]
    started = time.monotonic()
    ended = controller.conduct([*place.before, *controller.dies_with_us(command)])
    with stops.put_off():
        seen = None if place.ports is None else queues.read(place.ports, ended.measured)
        view = View(plan, ended.measured, seen)
        return run_of(view, time.monotonic() - started, interrupted=ended.interrupted), ended


def writer(plan: Plan, run: Run) -> Callable[[Path], None]:
    """Return what fills a run directory: what a simulated run leaves, and the plan."""

    def fill(path: Path) -> None:
        run.write_into(path)
        (path / PLAN).write_text(plan.text() + "\n", encoding="utf-8")

    return fill
