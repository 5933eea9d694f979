"""The command `clearway compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import api, comparison, console, screen
from clearway.commands.options import (
    JsonOption,
    SeedsOption,
    SetsOption,
    ThreadsOption,
    UnsetsOption,
    parsed,
)

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    items: Annotated[
        list[Path], typer.Argument(metavar="DIR|FILE...", help="Run directories and scenarios, in any mix.")
    ],
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    seeds: SeedsOption = None,
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> None:
    """Show runs side by side, with the differences called out; scenario files are run first."""
    gathered = api.gather(
        items,
        seeds or 1,
        parsed(sets, unsets),
        lambda scenarios: screen.execute_shown(scenarios, threads=threads, as_json=json),
    )
    compared = comparison.compare(gathered)
    screen.note_if_alike(compared.groups)
    if json:
        console.show_json(compared.as_json())
    else:
        screen.show_comparison(compared)
