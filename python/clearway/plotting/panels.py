"""Figures as data: panels below each other."""

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
    """The statistic of each pattern of dashes; none where each line has a label of its own."""

    @property
    def title(self) -> str:
        """The title of the chart."""
        return self.chart.title

    @property
    def note(self) -> str:
        """The note of the chart; a single line is named, too, as it has no legend."""
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
    """The label of the bars' axis, with the unit."""
    places: Sequence[str]
    """The labels beside the bars, from top to bottom."""
    series: Sequence[Series]


@dataclass(frozen=True)
class Heat:
    """A value over time and by row, as colours."""

    title: str
    note: str
    x: str
    edges: Floats
    """The beginning of each column, and the end of the last one, in the unit of `x`."""
    rows: Sequence[str]
    tiers: Sequence[tuple[str, int]]
    """Runs of neighbouring rows: their common name, and their number, from the first row on."""
    values: Floats
    """A row for each of `rows`, a column for each time."""
    unit: str
    """The label of the colours, with the unit."""


@dataclass(frozen=True)
class Lanes:
    """The timeline of a job."""

    title: str
    note: str
    timeline: Timeline


Panel = Curves | Ranking | Heat | Lanes | Bars
