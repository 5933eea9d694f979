"""The command `clearway report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import console, directory, report, stops
from clearway.commands.options import ClassesOption, FiguresOption, TransportsOption, selected
from clearway.errors import shown
from clearway.seeds import load_directory

app = typer.Typer(add_completion=False)


@app.command()
def write_report(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Run directories.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")],
    figures: FiguresOption = None,
    transports: TransportsOption = None,
    classes: ClassesOption = None,
) -> None:
    """Write one self-contained HTML page about one run or several."""
    selection = selected(figures, transports, classes)
    directory.check_file_writable(output)
    loaded = [(shown(path.name), load_directory(path)) for path in directories]
    page = report.page(report.labelled(loaded), selection)
    with stops.put_off():
        directory.write_text(output, page)
        stops.wrote(output)
    console.say(f"report: {output}")
