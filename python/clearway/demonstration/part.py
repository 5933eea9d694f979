"""A part of the demo: a question, the scenarios that answer it, and what to look at in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clearway import comparison
from clearway.comparison import Comparison, Row
from clearway.figures import WHOLE_MARK, readable
from clearway.report.chart import Chart
from clearway.report.sources import Labelled
from clearway.runs import Run
from clearway.seeds import Seeds

Rows = Sequence[tuple[str, Sequence[str]]]
"""Rows of a table: what each is called, and a cell for each run."""


def _no_rows(_: Sequence[Run]) -> Rows:
    return []


def _no_more(_: Sequence[Run]) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Part:
    """What is asked, and how the runs answer it."""

    name: str
    """What it is called in `--json`."""
    asks: str
    """The question, in a line."""
    files: Mapping[str, str]
    """The scenario of each run, by what the run is called."""
    keys: frozenset[str]
    """The figures of a summary that are shown."""
    conclude: Callable[[Sequence[Run]], str]
    """The answer, in a sentence that follows the figures."""
    charts: Callable[[Labelled], Sequence[Chart]]
    note: str
    """What the words of the table mean."""
    rows: Callable[[Sequence[Run]], Rows] = field(default=_no_rows)
    """Rows of what no summary has."""
    more: Callable[[Sequence[Run]], Mapping[str, Any]] = field(default=_no_more)
    """The same for `--json`, by name."""


def _counts(row: Row) -> bool:
    """Tell whether a row says anything: that nothing was unfinished does not."""
    return not row.figure.rare or any(value is not None and value.mean for value in row.values)


@dataclass(frozen=True)
class Answer:
    """A part with its runs."""

    part: Part
    runs: Sequence[Run]

    @property
    def labels(self) -> list[str]:
        """What the runs are called."""
        return list(self.part.files)

    @property
    def groups(self) -> Labelled:
        """The runs, each with what it is called."""
        return [(label, Seeds([run])) for label, run in zip(self.labels, self.runs, strict=True)]

    @property
    def compared(self) -> Comparison:
        """The runs side by side."""
        return comparison.compare(self.groups, labelled=True)

    @property
    def covers(self) -> str:
        """Say what the figures cover."""
        start = readable("time", self.runs[0].summary["measured_from_us"])
        return f"From {start} on; {WHOLE_MARK} of the whole run"

    @property
    def rows(self) -> Rows:
        """The figures that a first look needs; run directories have them all."""
        shown = [row for row in self.compared.rows if row.figure.key in self.part.keys and _counts(row)]
        columns = range(len(self.runs))
        found = [(row.heading, [row.readable(column) for column in columns]) for row in shown]
        return [*found, *self.part.rows(self.runs)]

    @property
    def conclusion(self) -> str:
        """The answer in a sentence."""
        return self.part.conclude(self.runs)

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints of this part."""
        return {
            "asks": self.part.asks,
            **self.compared.as_json(),
            **self.part.more(self.runs),
            "conclusion": self.conclusion,
        }
