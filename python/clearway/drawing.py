"""The way from runs, comparisons and sweeps to `plotting`, which stands above them and needs matplotlib."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import arguments, directory
from clearway.errors import ClearwayError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = (".pdf", ".svg", ".png")
COLUMNS = (1, 2)

_MATPLOTLIB = "matplotlib"


def making() -> Any:
    """Import what makes figures, `clearway.plotting.making`; raise where there is no matplotlib."""
    if importlib.util.find_spec(_MATPLOTLIB) is None:
        raise ClearwayError("plots need matplotlib", "pip install 'clearway[plot]'")
    return import_module("clearway.plotting.making")


def writing_papers() -> Any:
    """Import what writes a paper's figures, `clearway.plotting.papers`; raise without matplotlib."""
    making()
    return import_module("clearway.plotting.papers")


def check_target(target: Path) -> None:
    """Raise before the work what is wrong with the file that is to be written."""
    if target.suffix.lower() not in ENDINGS:
        raise ClearwayError(
            f"{target}: expected a name that ends in {', '.join(ENDINGS)}", "for example plot.pdf"
        )
    directory.check_file_writable(target)


def plot_runs(
    groups: Sequence[tuple[str, Any]], kind: object, path: str | os.PathLike[str] | None, columns: object
) -> Figure:
    """Draw runs, each with its label, and write the file if one is named."""
    target = _target(path)
    plot = making().of_runs(groups, arguments.text("kind", kind), _columns(columns))
    return _written(plot, target)


def plot_sweep(
    sweep: Sequence[Any],
    figures: str | Sequence[str] | None,
    path: str | os.PathLike[str] | None,
    columns: object,
) -> Figure:
    """Draw figures of a sweep and write the file if one is named.

    The sweep is given as its label, its combinations, and how many runs a combination has.
    """
    target = _target(path)
    names = [figures] if isinstance(figures, str) else list(figures or [])
    wanted = [arguments.text("figures", name) for name in names]
    made = making()
    return _written(made.of_sweeps([made.Swept(*sweep)], wanted, _columns(columns)), target)


def _target(path: str | os.PathLike[str] | None) -> Path | None:
    if path is None:
        return None
    target = arguments.path("path", path)
    check_target(target)
    return target


def _columns(columns: object) -> int:
    if isinstance(columns, bool) or columns not in COLUMNS:
        raise ClearwayError(
            f"columns: found {columns!r}, expected 1 or 2", "as wide as one column of a paper: columns=1"
        )
    assert isinstance(columns, int)
    return columns


def _written(plot: Any, target: Path | None) -> Figure:
    if target is not None:
        plot.write(target)
    figure: Figure = plot.figure
    return figure
