"""Figures over the parameter of a sweep, in memory or in directories that `clearway sweep` has written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from clearway.errors import ClearwayError
from clearway.plotting.panels import Curves, Panel
from clearway.report.chart import Line
from clearway.report.sources import look_of
from clearway.sweeps.figures import name_of
from clearway.sweeps.page import Combination, bars_of, figures_shown, main_axis, over_axis, over_seeds
from clearway.sweeps.saved import SavedSweep, read_sweep


@dataclass(frozen=True)
class Swept:
    """A sweep with the label that it goes by."""

    label: str
    combinations: Sequence[Combination]
    seeds: int
    """The most runs that a combination has."""


def read(paths: Sequence[Path], labels: Sequence[str]) -> list[Swept]:
    """Read directories of sweeps."""
    found: list[SavedSweep] = [read_sweep(path) for path in paths]
    return [Swept(label, sweep.combinations, sweep.seeds) for label, sweep in zip(labels, found, strict=True)]


def panels(sweeps: Sequence[Swept], figures: Sequence[str]) -> list[Panel]:
    """Draw these figures, a panel each; without any, the first that differs between points."""
    wanted = list(figures) or figures_shown(sweeps[0].combinations)[:1]
    for sweep in sweeps:
        known = dict.fromkeys(name for each in sweep.combinations for name in each.intervals)
        for figure in wanted:
            if figure not in known:
                raise ClearwayError(
                    f"{sweep.label}: no point has a figure {figure}", f"there is {', '.join(known)}"
                )
    return [_panel(sweeps, figure) for figure in wanted]


def _panel(sweeps: Sequence[Swept], figure: str) -> Panel:
    axes = [main_axis(list(each.combinations[0].overrides), each.combinations) for each in sweeps]
    if len(set(axes)) > 1:
        pairs = (f"{each.label} over {axis}" for each, axis in zip(sweeps, axes, strict=True))
        raise ClearwayError(f"sweeps over different axes: {', '.join(pairs)}", "draw them apart")
    axis = axes[0]
    if axis is None:
        if len(sweeps) > 1:
            raise ClearwayError("sweeps without an axis of numbers cannot share a plot", "draw them apart")
        return bars_of(figure, sweeps[0].combinations, over_seeds(sweeps[0].seeds))
    charts = [over_axis(axis, figure, each.combinations, over_seeds(each.seeds)) for each in sweeps]
    lines: list[Line] = []
    for sweep, chart in zip(sweeps, charts, strict=True):
        for line in chart.lines:
            colour, dash = look_of(len(lines))
            label = "" if line.label == name_of(figure) else line.label
            parts = [part for part in (sweep.label if len(sweeps) > 1 else "", label) if part]
            lines.append(replace(line, label=", ".join(parts), colour=colour, dash=dash))
    return Curves(
        replace(
            charts[0],
            note=" ".join(dict.fromkeys(chart.note for chart in charts)),
            lines=lines,
            log_x=any(chart.log_x for chart in charts),
            log_y=any(chart.log_y for chart in charts),
        )
    )
