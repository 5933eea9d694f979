"""The command `clearway replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import console, directory, stops
from clearway.figures import readable
from clearway.replay import contents, page
from clearway.seeds import load_one

app = typer.Typer(add_completion=False)


@app.command("replay")
def write_replay(
    source: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")],
    files: Annotated[
        Path, typer.Option("--files", metavar="DIR", help="Where the files are that the scenario names.")
    ] = Path(),
) -> None:
    """Write one self-contained HTML page that plays a run: its network, and what happened in it."""
    run = load_one(source)
    contents.check(run)
    directory.check_file_writable(output)
    text = page.page(run, files)
    with stops.put_off():
        directory.write_text(output, text)
        stops.wrote(output)
    console.say(f"replay: {output}, {readable('bytes', len(text.encode()))}")
