"""The command `clearway demo`."""

from __future__ import annotations

from pathlib import Path

import typer

from clearway import console, demonstration
from clearway.commands.options import JsonOption, OutOption, ThreadsOption
from clearway.commands.output import Output

app = typer.Typer(add_completion=False)


@app.command()
def demo(out: OutOption = None, threads: ThreadsOption = None, json: JsonOption = False) -> None:
    """Run a 1000-to-1 incast under Swift, DCTCP and GCN, side by side, and write a report."""
    output = Output(out, Path("runs") / "demo")
    compared = demonstration.compare_incast(threads=threads, as_json=json)
    written = output.write(lambda path: demonstration.write_into(path, compared))
    page = written / demonstration.PAGE
    if json:
        console.show_json({**demonstration.as_json(compared), "out": str(written), "report": str(page)})
        return
    demonstration.show(compared)
    console.say(f"report: {page}")
