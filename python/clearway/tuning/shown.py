"""A tuning on the terminal: a bar while it runs, and then its result."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from clearway.console import say, terminal
from clearway.execution import Position, Watch
from clearway.figures import readable
from clearway.sweeps.figures import described, name_of
from clearway.sweeps.overrides import short_keys
from clearway.tables import Column, draw
from clearway.tuning import words
from clearway.tuning.file import TuneFile
from clearway.tuning.trials import Trial
from clearway.tuning.tuning import Tell, Tuning

_MOST_ROWS = 12


class _Bar:
    """Trials that are done, the best so far, and the time left."""

    def __init__(self, file: TuneFile) -> None:
        self._file = file
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[best]}", markup=False, justify="right"),
            TimeRemainingColumn(compact=True),
            console=terminal(sys.stderr),
            transient=True,
            speed_estimate_period=120,
        )
        self._task = self._progress.add_task("0 trials", total=1.0, best="")
        self._done, self._total, self._started = 0, 1, time.monotonic()

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def tell(self, done: int, total: int, best: Trial | None) -> None:
        """Say how many runs are done, and what the best trial is."""
        self._done, self._total = done, total
        trials = min(done // self._file.seeds, self._file.trials)
        what = f"{trials} of {self._file.trials} trials" if trials < self._file.trials else "testing the best"
        self._progress.update(self._task, description=what, completed=done / total, best=self._best(best))

    def watch(self, positions: Sequence[Position]) -> None:
        """Move on with the runs that are under way."""
        share = sum(each.simulated_us / each.end_us for each in positions if each.end_us)
        self._progress.update(self._task, completed=min((self._done + share) / self._total, 1.0))

    def _best(self, best: Trial | None) -> str:
        if best is None or best.objective is None:
            return ""
        kind = described(self._file.objective.figure).kind
        return f"best {readable(kind, best.objective.mean)} (trial {best.number})"


@contextmanager
def progress(file: TuneFile, *, as_json: bool) -> Iterator[tuple[Watch | None, Tell | None]]:
    """Show a bar while the body runs, where someone sees it, as `screen.progress` does."""
    if not sys.stderr.isatty() or not (as_json or sys.stdout.isatty()):
        yield None, None
        return
    with _Bar(file) as bar:
        yield bar.watch, bar.tell


def show(done: Tuning) -> None:
    """Print the best trials, what came out, and the values as options of a command."""
    file = done.file
    ranked = sorted(done.trials, key=lambda each: each.rank(file.objective))[:_MOST_ROWS]
    rows = [{**file.own, **each.measured.overrides} for each in ranked]
    columns = [Column("trial", [str(each.number) for each in ranked], prose=True)]
    for key, heading in zip(file.keys, short_keys(file.keys), strict=True):
        columns.append(
            Column(heading, ["-" if row[key] is None else str(row[key]) for row in rows], prose=True)
        )
    columns += [
        Column(name_of(figure), [each.measured.written(figure) for each in ranked]) for figure in file.figures
    ]
    if any(not each.eligible for each in ranked):
        columns.append(Column("", ["" if each.eligible else "breaks a limit" for each in ranked], prose=True))
    draw(terminal(sys.stdout), columns, title=done.name, keys=len(file.keys) + 1)
    if (more := len(done.trials) - len(ranked)) > 0:
        say(f"and {more} trials more: the table in the directory has them all")
    for sentence in done.sentences:
        say(sentence)
    if hint := words.importance_in_words(dict(done.importances)):
        say(hint)
    for option in done.options:
        say(f"  {option}")
    say(f"{done.counts.run} runs, {done.counts.found} found finished")
