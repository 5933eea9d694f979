"""The command `clearway why`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from clearway import console, screen, why
from clearway.commands.options import JsonOption, ThreadsOption
from clearway.execution import Position
from clearway.figures import readable
from clearway.runs import Run
from clearway.seeds import load_one
from clearway.tables import Column, draw

app = typer.Typer(add_completion=False)

_PS_PER_US = 1e6


@app.command("why")
def explain(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.")],
    flow: Annotated[
        int | None,
        typer.Option("--flow", min=0, help="Number of the flow; by default that with the largest slowdown."),
    ] = None,
    files: Annotated[
        Path, typer.Option("--files", metavar="DIR", help="Where the files are that the scenario names.")
    ] = Path(),
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> None:
    """Say what a flow of a run waited for. The run is simulated again for it."""
    run = load_one(directory)
    number = why.slowest(run) if flow is None else flow
    why.check_complete(run, number)
    with screen.progress(run.name, as_json=json) as watch:
        position = Position(0.0, 1.0, 0)

        def told(simulated_us: float, end_us: float, packet_hops: int) -> None:
            position.simulated_us, position.end_us = simulated_us, end_us
            position.packet_hops = packet_hops
            if watch is not None:
                watch([position])

        explanation = why.explain(run, number, files, threads, told)
    if json:
        console.show_json(explanation.as_json())
    else:
        _show(run, explanation)


def _show(run: Run, explanation: why.Explanation) -> None:
    """Print the parts, the longest first."""
    flow, total = explanation.flow, explanation.completion_ps
    ends = f"host {int(run.flows['from'][flow])} to host {int(run.flows['to'][flow])}"
    took = readable("time", total / _PS_PER_US)
    slowdown = f"{run.flows['slowdown'][flow]:.3g}x what it takes alone"
    parts = explanation.parts
    columns = [
        Column("waited", [why.CAUSES[part.cause] for part in parts], prose=True),
        Column("link", [part.link or "" for part in parts], prose=True),
        Column("time", [readable("time", part.ps / _PS_PER_US) for part in parts]),
        Column("share", [f"{100 * part.ps / total:.1f} %" for part in parts]),
    ]
    draw(
        console.terminal(sys.stdout),
        columns,
        title=f"{run.name}: flow {flow}, {ends}, took {took}, {slowdown}",
    )
    last = explanation.last_packet
    way = ", ".join(hop["link"] for hop in last["journey"])
    sent = readable("time", last["last_sent_ps"] / _PS_PER_US)
    console.say(f"complete with packet {last['seq']}, sent after {sent} over {way}")
