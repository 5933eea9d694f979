"""The command `clearway schema`."""

from __future__ import annotations

import typer

from clearway import console, scenario_schema

app = typer.Typer(add_completion=False)


@app.command()
def schema() -> None:
    """Print the JSON Schema of a scenario, for editors."""
    console.show_json(scenario_schema.schema())
