"""What a person sees in the terminal: tables, a progress bar, errors.

Results go to standard output, everything else to standard error. There is a progress bar only where both are
terminals.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from clearway import _clearway
from clearway.comparison import Comparison, setting
from clearway.execution import Position, Watch, execute
from clearway.figures import figures_in, readable
from clearway.paper.experiment import Experiment
from clearway.paper.result import Reproduced
from clearway.runs import Run, Seeds
from clearway.sweep.sweep import Swept

_PIPE_WIDTH = 160  # a pipe has no width: leave the lines whole
_WIDE = 80  # from here on a progress bar has room for the speed
_BEST = "bold green"
_MOST_SETTINGS = 30
_MOST_ROWS = 40
_VERDICT_STYLES = {"reproduced": _BEST, "straddles": "yellow", "not reproduced": "bold red"}


def say(text: str = "") -> None:
    """Print a line of a result."""
    _console(sys.stdout).print(Text(text), soft_wrap=True)


def show_json(value: object) -> None:
    """Print one JSON object and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def show_error(message: str, remedy: str | None = None) -> None:
    """Print what went wrong, and what to do about it."""
    console = _console(sys.stderr)
    console.print(Text.assemble(("error: ", "bold red"), message), soft_wrap=True)
    if remedy:
        console.print(Text(f"  {remedy}"), soft_wrap=True)


def show_warning(message: str) -> None:
    """Print the warnings: what can be run but is unlikely to be meant."""
    _console(sys.stderr).print(Text.assemble(("warning: ", "bold yellow"), message), soft_wrap=True)


def show_warnings(scenarios: Sequence[_clearway.Scenario | _clearway.Measurement]) -> None:
    """Print each warning of these scenarios once."""
    for warning in dict.fromkeys(warning for scenario in scenarios for warning in scenario.warnings):
        show_warning(warning)


def show_run(group: Seeds) -> None:
    """Print the summary of a run, or the means and intervals of several seeds."""
    transports = group.runs[0].summary.get("transports") or {}
    shown = list(transports) if len(transports) > 1 else []
    columns = [group.intervals(), *(group.intervals(name) for name in shown)]
    table = Table(box=box.SIMPLE_HEAD, title=Text(_title(group)), title_justify="left")
    table.add_column("")
    for heading in ["all" if shown else "", *shown]:
        table.add_column(Text(heading), justify="right")
    for figure in figures_in([{key: of.mean for key, of in column.items()} for column in columns]):
        cells = []
        for column in columns:
            of = column.get(figure.key)
            cells.append("-" if of is None else readable(figure.kind, of.mean, of.half_width))
        table.add_row(figure.label, *(Text(cell) for cell in cells))
    _console(sys.stdout).print(table)


def show_effort(runs: Sequence[Run], wall_s: float) -> None:
    """Print what it took, and the digest that says whether it was the same as elsewhere."""
    hops = sum(run.packet_hops for run in runs)
    for run in runs:
        say(f"digest {run.digest}" + (f"  seed {run.seed}" if len(runs) > 1 else ""))
    rate = f", {hops / wall_s / 1e6:.3g} M/s" if wall_s > 0 else ""
    threads = max(run.threads for run in runs)
    on = f", on {threads} threads" + (" a run" if len(runs) > 1 else "") if threads > 1 else ""
    say(f"{hops / 1e6:.4g} M packet-hops in {readable('time', wall_s * 1e6)}{rate}{on}")


def show_comparison(comparison: Comparison) -> None:
    """Print the columns side by side, the differences in words, and where the scenarios differ."""
    show_figures(comparison)
    for finding in comparison.findings:
        say(finding)
    if any(len(group.runs) == 1 for group in comparison.groups) and len(comparison.groups) > 1:
        say("One seed says nothing about chance: --seeds N gives intervals.")
    if comparison.settings:
        _show_settings(comparison)


def show_figures(comparison: Comparison, keys: Collection[str] | None = None, title: str = "") -> None:
    """Print the columns side by side: the figures with these keys, or all."""
    table = _side_by_side(title, comparison.labels)
    for row in comparison.rows:
        if keys is not None and row.figure.key not in keys:
            continue
        cells = [
            Text(row.readable(column), style=_BEST if column in row.best else "")
            for column in range(len(row.values))
        ]
        table.add_row(Text(row.label), *cells)
    _console(sys.stdout).print(table)


def show_table(title: str, labels: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print a column a label, and rows with what they are called."""
    table = _side_by_side(title, labels)
    for label, cells in rows:
        table.add_row(label, *cells)
    _console(sys.stdout).print(table)


def _side_by_side(title: str, labels: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=Text(title) if title else None, title_justify="left")
    table.add_column("")
    for label in labels:
        table.add_column(Text(label), justify="right", overflow="fold")
    return table


def execute_shown(scenarios: Sequence[_clearway.Scenario], *, threads: int | None, quiet: bool) -> list[Run]:
    """Run scenarios under a progress bar, if there is someone to see it; say first what is hardly meant."""
    show_warnings(scenarios)
    label = scenarios[0].name if len(scenarios) == 1 else f"{len(scenarios)} runs"
    with progress(label, quiet=quiet) as watch:
        return execute(scenarios, watch, threads)


def show_sweep(done: Swept) -> None:
    """Print a row a combination of values, with the figures that differ between them."""
    table = Table(box=box.SIMPLE_HEAD, title=Text(done.planned.name), title_justify="left")
    figures = [figure for figure in figures_in([means for _, means in done.combinations]) if figure.headline]
    for key in done.keys:
        table.add_column(Text(key), overflow="fold")
    for figure in figures:
        table.add_column(Text(figure.label), justify="right")
    for overrides, means in done.combinations[:_MOST_ROWS]:
        values = [str(overrides[key]) for key in done.keys]
        cells = [readable(figure.kind, means.get(figure.key)) for figure in figures]
        table.add_row(*(Text(cell) for cell in [*values, *cells]))
    _console(sys.stdout).print(table)
    if (more := len(done.combinations) - _MOST_ROWS) > 0:
        say(f"and {more} rows more: the table in the directory has them all")
    if done.conclusion:
        say(done.conclusion)
    say(f"{len(done.made.runs)} points: {done.made.run} run, {done.made.found} found finished")


def show_experiments(experiments: Sequence[Experiment], *, as_json: bool) -> None:
    """Print what there is to run."""
    if as_json:
        rows = [
            {"id": each.id, "figure": each.figure, "title": each.title, "claims": len(each.claims)}
            for each in experiments
        ]
        show_json({"experiments": rows})
        return
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("", "figure", "what it is"):
        table.add_column(heading)
    table.add_column("claims", justify="right")
    table.add_column("runs", justify="right")
    for each in experiments:
        runs = sum(len(run.variants) for run in each.runs)
        table.add_row(each.id, each.figure, each.title, str(len(each.claims)), str(runs))
    _console(sys.stdout).print(table)


def show_reproduced(each: Reproduced) -> None:
    """Print a line about an experiment that is done, on standard error: it is no result."""
    counts = Counter(claim.verdict for claim in each.claims)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    runs = f"{each.run} run, {each.found} found finished" if each.run + each.found else "nothing to run"
    line = f"{each.experiment.figure}: {runs}" + (f": {verdicts}" if verdicts else "")
    _console(sys.stderr).print(Text(line), soft_wrap=True)


def show_claims(done: Sequence[Reproduced]) -> None:
    """Print the table of claims, and under it why a verdict is not "reproduced"."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("figure", no_wrap=True)
    table.add_column("claim", overflow="fold")
    for heading in ("paper", "ours, 95 % interval", "bar", "seeds"):
        table.add_column(heading, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    claims = [claim for each in done for claim in each.claims]
    for each in done:
        if each.conclusion:
            say(f"{each.experiment.figure}: {each.conclusion}")
    if not claims:
        return
    for claim in claims:
        table.add_row(
            Text(claim.figure),
            Text(claim.text),
            Text(claim.readable(claim.paper)),
            Text(claim.readable(claim.ours)),
            Text(claim.asked),
            Text(claim.seeds),
            Text(claim.verdict_in_words, style=_VERDICT_STYLES.get(claim.verdict, "")),
        )
    _console(sys.stdout).print(table)
    for claim in claims:
        if claim.reason:
            say(f"{claim.figure}, {claim.verdict}: {claim.text}: {claim.reason}")


@contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Watch | None]:
    """Show a bar while the body runs; what to call with the positions, or None if no one is there to see."""
    if quiet or not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield None
        return
    with _Bar(label) as bar:
        yield bar.watch


class _Bar:
    """Simulated time, packet-hops a second and the time left, over all runs."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._started = time.monotonic()
        console = _console(sys.stderr)
        rate = [TextColumn("{task.fields[rate]}", justify="right")] if console.width >= _WIDE else []
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[simulated]}", justify="right"),
            *rate,
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._task: TaskID = self._progress.add_task(self._label, total=1.0, simulated="", rate="")

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def watch(self, positions: Sequence[Position]) -> None:
        """Redraw."""
        simulated = sum(position.simulated_us for position in positions)
        end = sum(position.end_us for position in positions)
        hops = sum(position.packet_hops for position in positions)
        elapsed = max(time.monotonic() - self._started, 1e-3)
        self._progress.update(
            self._task,
            completed=simulated / end if end else 1.0,
            simulated=f"{readable('time', simulated)} of {readable('time', end)}",
            rate=f"{hops / elapsed / 1e6:.1f} M hops/s",
        )


def _title(group: Seeds) -> str:
    first, last = group.runs[0].seed, group.runs[-1].seed
    if len(group.runs) == 1:
        return f"{group.name} (seed {first})"
    return f"{group.name} (seeds {first} to {last}: mean and 95 % interval)"


def _show_settings(comparison: Comparison) -> None:
    table = Table(box=box.SIMPLE_HEAD, title=Text("The scenarios differ in"), title_justify="left")
    table.add_column("")
    for label in comparison.labels:
        table.add_column(Text(label), overflow="fold")
    # A parameter that only one protocol has differs by necessity.
    shared = {key: values for key, values in comparison.settings.items() if None not in values}
    for key, values in list(shared.items())[:_MOST_SETTINGS]:
        table.add_row(Text(key), *(Text(setting(value)) for value in values))
    _console(sys.stdout).print(table)
    if (more := len(comparison.settings) - min(len(shared), _MOST_SETTINGS)) > 0:
        say(f"and in {more} keys more, most of which not all of them have: --json lists them")


def _console(file: Any) -> Console:
    """Write to what the stream is now: tests and callers replace it."""
    width = None if file.isatty() else _PIPE_WIDTH
    return _Console(file=file, width=width, markup=False, emoji=False, highlight=False)


class _Console(Console):
    """Leaves a reader that goes away to the command line, which ends well; rich would end with status 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
