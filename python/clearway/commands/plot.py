"""The command `clearway plot`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from clearway import console, drawing, report, stops
from clearway.errors import ClearwayError, check_text, shown
from clearway.plotting import kinds
from clearway.seeds import load_directory

app = typer.Typer(add_completion=False)

_LIST = "list"


@app.command()
def plot(
    directories: Annotated[
        list[Path] | None, typer.Argument(metavar="DIR...", help="Run directories, or those of sweeps.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            "--kind", metavar="KIND", help="What to draw; list shows what there is and what it needs."
        ),
    ] = _LIST,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write: .pdf, .svg or .png."),
    ] = None,
    columns: Annotated[
        int, typer.Option("--columns", min=1, max=2, help="As wide as one column of a paper, or as two.")
    ] = 1,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label", metavar="NAME", help="What a directory is called, in their order; one for each."
        ),
    ] = None,
    figures: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="KEY", help="What to draw with --kind sweep, such as fct_p99_us."),
    ] = None,
) -> None:
    """Draw runs or sweeps as a figure for a paper: PDF, SVG or PNG. Needs matplotlib."""
    if kind == _LIST:
        _show_kinds()
        return
    if not directories:
        raise ClearwayError("no directory to draw", "clearway plot DIR... --kind KIND -o FILE")
    if output is None:
        raise ClearwayError("no file to write", "name it: -o plot.pdf")
    if figures and kind != kinds.SWEEP:
        raise ClearwayError(f"--figure goes with --kind {kinds.SWEEP}", "leave it out")
    for option, texts in (("--kind", [kind]), ("--label", labels or []), ("--figure", figures or [])):
        for text in texts:
            check_text(text, f"{option} {text}")
    drawing.check_target(output)
    named = _labels(labels or [], directories)
    made = _of_sweeps if kind == kinds.SWEEP else _of_runs
    drawn = made(directories, named, kind, figures or [], columns)
    with stops.put_off():
        drawn.write(output)
        stops.wrote(output)
    console.say(f"plot: {output}")
    for note in drawn.notes:
        console.say(note)


def _show_kinds() -> None:
    for name, (shows, needs) in kinds.SHOWN.items():
        console.say(f"{name}: {shows}; needs {needs}")


def _labels(labels: Sequence[str], directories: Sequence[Path]) -> list[str] | None:
    """Return what the directories are to be called; None if that is for them to say."""
    if labels and len(labels) != len(directories):
        raise ClearwayError(
            f"found {len(labels)} --label and {len(directories)} directories",
            "give one to each, in their order",
        )
    return list(labels) or None


def _of_runs(
    directories: Sequence[Path], labels: list[str] | None, kind: str, _figures: Sequence[str], columns: int
) -> Any:
    kinds.kind_named(kind)
    loaded = [load_directory(path) for path in directories]
    names = [shown(path.name) for path in directories]
    found = report.labelled(list(zip(names, loaded, strict=True)))
    of_labels = labels or [label for label, _ in found]
    return drawing.making().of_runs(list(zip(of_labels, loaded, strict=True)), kind, columns)


def _of_sweeps(
    directories: Sequence[Path], labels: list[str] | None, _kind: str, figures: Sequence[str], columns: int
) -> Any:
    making = drawing.making()
    names = labels or [shown(path.name) for path in directories]
    return making.of_sweeps(making.swept.read(directories, names), figures, columns)
