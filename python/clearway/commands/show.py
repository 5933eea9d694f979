"""The command `clearway show`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from clearway import console, directory, stops, tables
from clearway.api import load_scenario
from clearway.commands.options import JsonOption, SeedOption, SetsOption, UnsetsOption, parsed
from clearway.preview import contents, page
from clearway.preview.description import describe

app = typer.Typer(add_completion=False)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario.")],
    between: Annotated[
        tuple[str, str] | None,
        typer.Option("--between", metavar="A B", help="List the paths from one host to another."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write a page with a drawing of it, too."),
    ] = None,
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    seed: SeedOption = None,
    json: JsonOption = False,
) -> None:
    """Show a scenario's network, what its keys come to, and the load to expect, without a run."""
    if output is not None:
        directory.check_file_writable(output)
    loaded = load_scenario(file, parsed(sets, unsets), seed)
    found = describe(loaded, between, "--between")
    for warning in loaded.warnings:
        console.show_warning(warning)
    if output is not None:  # before what is printed, of which a reader may take the first lines alone
        text, warning = page.page(found)
        with stops.put_off():
            directory.write_text(output, text)
            stops.wrote(output)
        if warning:
            console.show_warning(warning)
    if json:
        console.show_json(found)
    else:
        _print(contents.heading(found), contents.tables(found))
    if output is not None:
        (console.say_beside if json else console.say)(f"page: {output}")


def _print(heading: str, shown: list[contents.Table]) -> None:
    console.say(heading)
    terminal = console.terminal(sys.stdout)
    for table in shown:
        columns = [
            tables.Column(head, [row[number] for row in table.rows], prose=number in table.words)
            for number, head in enumerate(table.headings)
        ]
        console.say()
        tables.draw(terminal, columns, title=table.title)
        if table.note:
            console.say(table.note)
