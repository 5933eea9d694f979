"""The command `clearway demo`."""

from __future__ import annotations

from pathlib import Path

import typer

from clearway import console
from clearway.commands.options import JsonOption, OutOption, ThreadsOption
from clearway.commands.output import Output
from clearway.demonstration import PAGE, SCENARIOS, Demonstration

app = typer.Typer(add_completion=False)


@app.command()
def demo(out: OutOption = None, threads: ThreadsOption = None, json: JsonOption = False) -> None:
    """Run Swift, Fastpass and Swing, each beside what it is held against, and write a report."""
    output = Output(out, Path("runs") / "demo")
    shown = Demonstration.run(threads=threads, as_json=json)
    written = output.write(shown.write_into)
    page, scenarios = written / PAGE, written / SCENARIOS
    if json:
        console.show_json(
            {**shown.as_json(), "out": str(written), "report": str(page), "scenarios": str(scenarios)}
        )
        return
    shown.show()
    console.say(f"report: {page}")
    console.say(f"scenarios: {scenarios} (one run of each; what is chance: clearway run FILE --seeds 5)")
