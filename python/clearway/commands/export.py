"""The commands `clearway export ...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import console, directory, perfetto, stops
from clearway.runs import Run
from clearway.seeds import load_directory

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write what a run has recorded as other tools read it."""


@app.command("perfetto")
def export_perfetto(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory with a timeline.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The trace to write.")],
) -> None:
    """Write the timeline of a run's jobs for ui.perfetto.dev; of several seeds, that of the first."""
    directory.check_file_writable(output)
    loaded = load_directory(run)
    trace = perfetto.trace(loaded if isinstance(loaded, Run) else loaded.runs[0])
    with stops.put_off():
        directory.write_text(output, trace)
        stops.wrote(output)
    console.say(f"trace: {output}")
