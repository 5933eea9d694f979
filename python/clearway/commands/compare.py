"""The command `clearway compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from clearway import _clearway, api, comparison, console, screen
from clearway.commands.options import (
    ClassesOption,
    FiguresOption,
    JsonOption,
    SeedsOption,
    SetsOption,
    ThreadsOption,
    TransportsOption,
    UnsetsOption,
    parsed,
    selected,
)
from clearway.runs import Run

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
    figures: FiguresOption = None,
    transports: TransportsOption = None,
    classes: ClassesOption = None,
    json: JsonOption = False,
) -> None:
    """Show runs side by side, with the differences called out; scenario files are run first."""
    selection = selected(figures, transports, classes)

    def run_all(scenarios: Sequence[_clearway.Scenario]) -> list[Run]:
        selection.check_figures()
        return screen.execute_shown(scenarios, threads=threads, as_json=json)

    gathered = api.gather(items, seeds or 1, parsed(sets, unsets), run_all)
    compared = comparison.compare(gathered, selection=selection)
    screen.note_if_alike(compared.groups)
    if json:
        console.show_json(compared.as_json())
    else:
        screen.show_comparison(compared)
