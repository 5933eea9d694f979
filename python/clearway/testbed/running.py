"""A scenario on agents: planned, run, and as a run of the kind that a simulation leaves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearway import daemon, stops
from clearway.columns import Columns
from clearway.runs import Run
from clearway.testbed import controller
from clearway.testbed.controller import Ended
from clearway.testbed.plan import Plan
from clearway.testbed.queues import Ports
from clearway.testbed.reading import Measured
from clearway.testbed.record import run_of
from clearway.testbed.summary import View

PLAN = "PLAN.json"
"""The plan, as `clearwayd testbed` reads it: in the run directory, too."""


@dataclass(frozen=True)
class Seen:
    """What a network did that can be asked."""

    ports: Ports | None = None
    """The ports that somebody saw; None for none."""
    tables: Mapping[str, Columns] = field(default_factory=dict)
    """Further tables of a run, by name."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What else it said of itself, for the run's manifest."""


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
    seen: Callable[[Measured], Seen] = lambda _: Seen()
    """Asks what the network did, after the run."""


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
    command = [daemon.program(), "testbed", str(file)]
    command += ["--hosts", str(hosts), "--keys", str(place.keys)]
    if place.name is not None:
        command += ["--name", place.name]
    started = time.monotonic()
    ended = controller.conduct([*place.before, *controller.dies_with_us(command)])
    with stops.put_off():
        seen = place.seen(ended.measured)
        view = View(plan, ended.measured, seen.ports, seen.tables, seen.said)
        return run_of(view, time.monotonic() - started, interrupted=ended.interrupted), ended


def writer(plan: Plan, run: Run) -> Callable[[Path], None]:
    """Return what fills a run directory: what a simulated run leaves, and the plan."""

    def fill(path: Path) -> None:
        run.write_into(path)
        (path / PLAN).write_text(plan.text() + "\n", encoding="utf-8")

    return fill
