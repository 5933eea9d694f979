"""What a person sees of results: tables, and a progress bar where someone sees it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from clearway import _clearway
from clearway.comparison import Comparison, setting
from clearway.console import say, say_beside, show_json, show_warning, terminal, write
from clearway.execution import Position, Watch, execute
from clearway.figures import interval_in_words, readable
from clearway.measurement import Measurement
from clearway.overview import Overview
from clearway.runs import Run
from clearway.seeds import Seeds
from clearway.tables import Column, draw

if TYPE_CHECKING:
    from clearway.paper.claims import Judged
    from clearway.paper.experiment import Experiment
    from clearway.paper.result import Reproduced
    from clearway.sweeps.store import Store
    from clearway.sweeps.sweep import Sweep

_WIDE = 80  # from here on a progress bar has room for the speed
_WIDTH_OF_CLAIMS = 120  # from here on a table of claims has room for their words
_BEST = "bold green"
_MOST_SETTINGS = 30
_MOST_ROWS = 40
_VERDICT_STYLES = {
    "reproduced": _BEST,
    "straddles": "yellow",
    "not reproduced": "bold red",
    "extension failed": "bold red",
}


def show_warnings(scenarios: Sequence[_clearway.Scenario | Measurement]) -> None:
    """Print each warning of these scenarios once."""
    for warning in dict.fromkeys(warning for scenario in scenarios for warning in scenario.warnings):
        show_warning(warning)


@contextmanager
def telling_damage(store: Store) -> Iterator[None]:
    """Say once, when the body has ended in whatever way, what of a store it could not use."""
    try:
        yield
    finally:
        if count := len(store.damaged):
            were = "1 run was" if count == 1 else f"{count} runs were"
            show_warning(
                f"{were} not in {store.path} as they had been kept (edited, cut short or renamed), "
                "and had to be run again"
            )


def show_run(group: Seeds) -> None:
    """Print the summary of a run, or the means and intervals of several seeds."""
    overview = Overview.of(group.columns())
    columns = [Column("", [label for label, _ in overview.rows], prose=True)]
    for number, heading in enumerate(overview.headings):
        columns.append(Column(heading, [cells[number] for _, cells in overview.rows]))
    draw(terminal(sys.stdout), columns, title=group.title)
    for note in overview.notes(group.all_absent()):
        say(note)
    if interval := interval_in_words([run.summary for run in group.runs]):
        say(interval)


def show_what_happened(group: Seeds) -> None:
    """Print in some ten sentences what came of the run, a line each."""
    heading, sentences = group.what_happened()
    if sentences:
        say()
        say(f"{heading}:")
        for sentence in sentences:
            say(f"- {sentence}")
        say()


def note_if_alike(groups: Sequence[Seeds]) -> None:
    """Say on standard error where several seeds were no more than one."""
    for group in groups:
        if group.all_alike:
            say_beside(
                f"note: all {len(group.runs)} seeds of {group.name} gave the same result: "
                "nothing in it is left to chance, and one is enough"
            )


def show_effort(runs: Sequence[Run], wall_s: float) -> None:
    """Print what it took, and the digest that says whether it was the same as elsewhere."""
    hops = sum(run.packet_hops for run in runs)
    for run in runs:
        say(f"digest {run.digest}" + (f"  seed {run.seed}" if len(runs) > 1 else ""))
    rate = f", {hops / wall_s / 1e6:.3g} M/s" if wall_s > 0 else ""
    threads = max(run.threads for run in runs)
    on = f", on {threads} threads" + (" a run" if len(runs) > 1 else "") if threads > 1 else ""
    say(f"{readable('count', hops)} packet-hops in {readable('time', wall_s * 1e6)}{rate}{on}")


def show_comparison(comparison: Comparison) -> None:
    """Print the columns side by side, the differences in words, and where the scenarios differ."""
    _show_figures(comparison)
    if comparison.interval:
        say(comparison.interval)
    for finding in comparison.findings:
        say(finding)
    if comparison.needs:
        say(comparison.needs)
    if comparison.settings:
        _show_settings(comparison)


def _show_figures(comparison: Comparison) -> None:
    """Print the columns side by side."""
    rows = comparison.rows
    columns = [Column("", [row.heading for row in rows], prose=True)]
    for number, label in enumerate(comparison.labels):
        styles = [_BEST if number in row.best else "" for row in rows]
        columns.append(Column(label, [row.readable(number) for row in rows], styles=styles))
    draw(terminal(sys.stdout), columns)
    for note in comparison.notes(rows):
        say(note)


def execute_shown(
    scenarios: Sequence[_clearway.Scenario],
    *,
    threads: int | None,
    as_json: bool,
    keep_partial: bool = False,
) -> list[Run]:
    """Run scenarios under a progress bar, if there is someone to see it; say first what is hardly meant."""
    show_warnings(scenarios)
    _note_threads(scenarios, threads)
    label = scenarios[0].name if len(scenarios) == 1 else f"{len(scenarios)} runs"
    with progress(label, as_json=as_json) as watch:
        return execute(scenarios, watch, threads, keep_partial=keep_partial)


def _note_threads(scenarios: Sequence[_clearway.Scenario], threads: int | None) -> None:
    """Say on standard error where a run was given more threads than it has work for."""
    worth = {scenario.name: scenario.worthwhile_threads for scenario in scenarios}
    for name, most in worth.items():
        if threads is not None and threads > most:
            worth_it = "1 thread" if most == 1 else f"{most} threads"
            say_beside(
                f"note: {name} is worth {worth_it} on this machine: "
                f"on {threads}, which wait for each other, it is likely to take longer"
            )


def show_sweep(done: Sweep) -> None:
    """Print a row a combination of values, with the figures that differ between them."""
    shown = done.combinations[:_MOST_ROWS]
    columns = [
        Column(heading, [str(overrides[key]) for overrides, _ in shown], prose=True)
        for key, heading in zip(done.keys, done.headings, strict=True)
    ]
    for key in done.figures:
        heading, cells = done.column(key)
        columns.append(Column(heading, cells[:_MOST_ROWS]))
    draw(terminal(sys.stdout), columns, title=done.planned.name, keys=len(done.keys))
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
    runs = [sum(len(run.variants) for run in each.runs) for each in experiments]
    columns = [
        Column("", [each.id for each in experiments], prose=True),
        Column("figure", [each.figure for each in experiments], prose=True),
        Column("what it is", [each.title for each in experiments], prose=True),
        Column("claims", [str(len(each.claims)) for each in experiments]),
        Column("runs", [str(count) for count in runs]),
    ]
    draw(terminal(sys.stdout), columns)


def show_reproduced(each: Reproduced) -> None:
    """Print a line about an experiment that is done, on standard error: it is no result."""
    counts = Counter(claim.verdict for claim in each.claims)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    runs = f"{each.run} run, {each.found} found finished" if each.run + each.found else "nothing to run"
    line = f"{each.experiment.figure}: {runs}" + (f": {verdicts}" if verdicts else "")
    say_beside(line)


def show_claims(done: Sequence[Reproduced]) -> None:
    """Print the claims, and under them why a verdict is not "reproduced"."""
    claims = [claim for each in done for claim in each.claims]
    for each in done:
        if each.conclusion:
            say(f"{each.experiment.figure}: {each.conclusion}")
    if not claims:
        return
    console = terminal(sys.stdout)
    if console.width < _WIDTH_OF_CLAIMS:
        for claim in claims:
            _show_claim(console, claim)
    else:
        draw(console, _claim_columns(claims))
    for claim in claims:
        if claim.reason:
            say(f"{claim.figure}, {claim.verdict}: {claim.text}: {claim.reason}")


def _claim_columns(claims: Sequence[Judged]) -> Sequence[Column]:
    cells = {
        "figure": [claim.figure for claim in claims],
        "claim": [claim.text for claim in claims],
        "paper": [claim.readable(claim.paper) for claim in claims],
        "ours, 95 % interval": [claim.readable(claim.ours) for claim in claims],
        "bar": [claim.asked for claim in claims],
        "seeds": [claim.seeds for claim in claims],
    }
    verdicts = [claim.verdict_in_words for claim in claims]
    styles = [_VERDICT_STYLES.get(claim.verdict, "") for claim in claims]
    return [
        *(Column(heading, texts, prose=True) for heading, texts in cells.items()),
        Column("verdict", verdicts, prose=True, styles=styles),
    ]


def _show_claim(console: Console, claim: Judged) -> None:
    """Print a claim over several lines, where there is no room for a table."""
    style = _VERDICT_STYLES.get(claim.verdict, "")
    write(console, Text.assemble(f"{claim.figure}: ", (claim.verdict_in_words, style), f": {claim.text}"))
    numbers = {
        "paper": claim.readable(claim.paper),
        "ours": claim.readable(claim.ours),
        "bar": claim.asked,
        "seeds": claim.seeds,
    }
    line = "; ".join(f"{name} {value}" for name, value in numbers.items())
    console.print(Padding(Text(line), (0, 0, 0, 2)))


@contextmanager
def progress(label: str, *, as_json: bool) -> Iterator[Watch | None]:
    """Show a bar while the body runs; what to call with the positions, or None if no one is there to see.

    It is on standard error. Words on standard output that go elsewhere go to a program that shows them, such
    as `less`, in whose way it would be; JSON does not.
    """
    if not sys.stderr.isatty() or not (as_json or sys.stdout.isatty()):
        yield None
        return
    with _Bar(label) as bar:
        yield bar.watch


class _Bar:
    """Simulated time, packet-hops a second and the time left, over all runs."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._started = time.monotonic()
        console = terminal(sys.stderr)
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


def _show_settings(comparison: Comparison) -> None:
    # A parameter that only one protocol has differs by necessity.
    shared = {key: values for key, values in comparison.settings.items() if None not in values}
    shown = dict(list(shared.items())[:_MOST_SETTINGS])
    columns = [Column("", list(shown), prose=True)]
    for number, label in enumerate(comparison.labels):
        columns.append(Column(label, [setting(values[number]) for values in shown.values()], prose=True))
    if shown:
        draw(terminal(sys.stdout), columns, title="The scenarios differ in")
    if (more := len(comparison.settings) - len(shown)) > 0:
        keys = "key" if more == 1 else "keys"
        said = (
            f"and in {more} more {keys}"
            if shown
            else f"The scenarios differ in {more} {keys} that not all have"
        )
        say(f"{said}: --json lists them")
