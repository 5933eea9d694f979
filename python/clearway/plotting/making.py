"""Making a figure of runs, or of sweeps, and its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from clearway.plotting import swept
from clearway.plotting.figure import figure_of, write
from clearway.plotting.kinds import panels_of
from clearway.plotting.panels import Panel
from clearway.plotting.swept import Swept
from clearway.runs import Run
from clearway.seeds import Seeds

_MOST_NAMED = 20  # runs in the metadata of a file


@dataclass(frozen=True)
class Plot:
    """A figure, and what can be said of it."""

    figure: Figure
    notes: Sequence[str]
    """Notes for its caption, a line a panel."""
    subject: str
    """The metadata of its file: the kind, and the runs with their digests."""

    def write(self, target: Path) -> None:
        """Write its file, as its ending says."""
        write(target, self.figure, self.subject)


def of_runs(items: Sequence[tuple[str, Run | Seeds]], kind: str, columns: int) -> Plot:
    """Draw runs, each with its label, as a kind of figure; seeds are one run with intervals."""
    groups = [(label, Seeds([item]) if isinstance(item, Run) else item) for label, item in items]
    runs = [f"{label} seed {run.seed} digest {run.digest}" for label, group in groups for run in group.runs]
    more = f", and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    return of_panels(panels_of(kind, groups), columns, f"{kind} of {', '.join(runs[:_MOST_NAMED])}{more}")


def of_sweeps(sweeps: Sequence[Swept], figures: Sequence[str], columns: int) -> Plot:
    """Draw figures over the parameter of sweeps."""
    labels = ", ".join(each.label for each in sweeps)
    return of_panels(swept.panels(sweeps, figures), columns, f"sweep of {labels}")


def of_panels(panels: Sequence[Panel], columns: int, subject: str) -> Plot:
    """Draw panels below each other."""
    notes = [f"{panel.title}: {panel.note}".removesuffix(": ") for panel in panels]
    return Plot(figure_of(panels, columns), notes, subject)
