"""What a figure is made of: panels as data, below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearway.report.chart import Chart, Floats
from clearway.report.sheet import Bars
from clearway.report.timeline import Timeline


@dataclass(frozen=True)
class Curves:
    """The lines of a chart."""

    chart: Chart
    steps: bool = False
    """Whether they are cumulative distributions, which rise in steps from zero."""
    statistics: Sequence[str] = ()
    """What each pattern of dashes stands for; nothing where each line has a label of its own."""

    @property
    def title(self) -> str:
        """The title of the chart."""
        return self.chart.title

    @property
    def note(self) -> str:
        """What a caption has to say of the lines; of a single one also what it is."""
        lines = self.chart.lines
        only = f" The line: {lines[0].label}." if len(lines) == 1 and lines[0].label else ""
        return self.chart.full_note + only


@dataclass(frozen=True)
class Series:
    """Bars of one colour, one at each place."""

    label: str
    colour: int
    values: Floats
    low: Floats | None = None
    """The lower ends of intervals around the values, if there are intervals."""
    high: Floats | None = None
    """The upper ends of them."""


@dataclass(frozen=True)
class Ranking:
    """Bars by place, a series each run."""

    title: str
    note: str
    x: str
    """What the lengths of the bars are, with the unit."""
    places: Sequence[str]
    """What stands beside the bars, from top to bottom."""
    series: Sequence[Series]


@dataclass(frozen=True)
class Heat:
    """A value over time and by row, as colours."""

    title: str
    note: str
    x: str
    edges: Floats
    """Where columns begin, and where the last one ends, in the unit of `x`."""
    rows: Sequence[str]
    tiers: Sequence[tuple[str, int]]
    """What neighbouring rows have in common, and how many these are, from the first row on."""
    values: Floats
    """A row for each of `rows`, a column for each time."""
    unit: str
    """What the colours are, with the unit."""


@dataclass(frozen=True)
class Lanes:
    """The timeline of a job."""

    title: str
    note: str
    timeline: Timeline


Panel = Curves | Ranking | Heat | Lanes | Bars
