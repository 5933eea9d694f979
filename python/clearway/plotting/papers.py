"""A paper's figures, run anew, as files for a paper: what the page draws, the paper's own points among it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clearway.paper.page import drawings
from clearway.paper.result import Reproduced
from clearway.plotting.making import of_panels
from clearway.plotting.panels import Curves, Panel
from clearway.report.chart import Chart
from clearway.report.sheet import Bars

_COLUMNS = 1


def write_figures(path: Path, done: Sequence[Reproduced]) -> list[str]:
    """Write a PDF for each experiment that has anything to draw; return the names of the files."""
    written = []
    for each in done:
        panels = [panel for drawing in drawings(each) if (panel := _panel(drawing)) is not None]
        if panels:
            name = f"{each.experiment.id}.pdf"
            of_panels(panels, _COLUMNS, f"{each.experiment.figure}: {each.experiment.title}").write(
                path / name
            )
            written.append(name)
    return written


def _panel(drawing: Chart | Bars) -> Panel | None:
    """Return what is drawn; None where nothing was measured."""
    if isinstance(drawing, Bars):
        return drawing if drawing.bars else None
    return Curves(drawing) if drawing.lines else None
