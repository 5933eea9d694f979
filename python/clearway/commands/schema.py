"""The command `clearway schema`."""

from __future__ import annotations

import typer

from clearway import api, console

app = typer.Typer(add_completion=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario, for editors."""
    console.show_json(api.schema())
