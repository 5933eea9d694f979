"""An experiment of a paper, as read and checked: what is run, claimed and drawn for one figure or table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearway.paper.checker import Table


@dataclass(frozen=True)
class PlannedRun:
    """A named run of an experiment: a document, and the overrides of each of its points.

    The document is a scenario, or the arguments of a measurement.
    """

    name: str
    label: str
    document: Table
    overrides: Table
    variants: Sequence[Table]
    """The values of the axes at each point, the seed among them."""
    keep: tuple[str, ...] | None
    """The tables to keep of each point; None for all."""
    measure: str | None = None
    """What is measured on this machine, with the document as its arguments; None for a scenario."""


@dataclass(frozen=True)
class Experiment:
    """One figure or table."""

    id: str
    path: Path
    figure: str
    title: str
    setup: str
    model: str
    runs: Sequence[PlannedRun]
    claims: Sequence[Table]
    plots: Sequence[Table]
    frontier: Table | None

    @property
    def timed(self) -> frozenset[str]:
        """The names of the runs that measure time on this machine."""
        return frozenset(run.name for run in self.runs if run.measure is not None)
