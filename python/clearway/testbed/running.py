"""A scenario on agents: planned, run, and as a run of the kind that a simulation leaves."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from clearway import stops
from clearway.runs import Run
from clearway.testbed import controller
from clearway.testbed.controller import Ended
from clearway.testbed.plan import Plan
from clearway.testbed.record import run_of
from clearway.testbed.summary import View

PLAN = "PLAN.json"
"""The plan, as `clearwayd testbed` reads it: in the run directory, too."""


def execute(
    plan: Plan, hosts: Path, keys: Path, name: str | None, before: tuple[str, ...] = ()
) -> tuple[Run, Ended]:
    """Run a plan on its agents; `before` are words before the controller's command, which say where it runs.

    Raises what `controller.conduct` raises.
    """
    with tempfile.TemporaryDirectory(prefix="clearway-plan-") as folder:
        file = Path(folder) / PLAN
        file.write_text(plan.text(), encoding="utf-8")
        command = [controller.program(), "testbed", str(file), "--hosts", str(hosts), "--keys", str(keys)]
        if name is not None:
            command += ["--name", name]
        started = time.monotonic()
        ended = controller.conduct([*before, *controller.dies_with_us(command)])
    with stops.put_off():
        return run_of(View(plan, ended.measured), time.monotonic() - started, ended.interrupted), ended


def writer(plan: Plan, run: Run) -> Callable[[Path], None]:
    """Return what fills a run directory: what a simulated run leaves, and the plan."""

    def fill(path: Path) -> None:
        run.write_into(path)
        (path / PLAN).write_text(plan.text() + "\n", encoding="utf-8")

    return fill
