"""The command `clearway paper`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import console, drawing, screen
from clearway.commands.options import (
    JobsOption,
    JsonOption,
    OnOption,
    OutOption,
    StoreOption,
    place,
)
from clearway.commands.output import Output
from clearway.errors import CLAIM_FAILED
from clearway.paper import papers, reading, reproduce, result
from clearway.sweeps.store import STORE, Store

app = typer.Typer(add_completion=False)


@app.command()
def run_paper(
    name: Annotated[str, typer.Argument(metavar="PAPER", help="The paper: swift, fastpass or swing.")],
    figures: Annotated[
        list[str] | None, typer.Argument(metavar="[FIGURE...]", help="Such as fig20 table3; by default all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="At the paper's scale.")] = False,
    jobs: JobsOption = None,
    on: OnOption = None,
    out: OutOption = None,
    store: StoreOption = STORE,
    show: Annotated[
        bool, typer.Option("--list", help="List the figures there are, and run nothing.")
    ] = False,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Write each figure as a PDF beside the page, too. Needs matplotlib.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a paper's figures anew: a verdict for each claim, and a page. Can be interrupted."""
    found = papers.paper_named(name)
    chosen = reading.experiments(found, figures or [], full=full)
    if show:
        screen.show_experiments(chosen, as_json=json)
        return
    drawer = drawing.writing_papers() if pdf else None
    output = Output(out, Path("runs") / f"paper-{found.name}")
    done = []
    kept = Store(store)
    with place(on, jobs) as cluster, screen.telling_damage(kept):
        for each in reproduce.reproduce(
            reproduce.prepare(chosen), kept, jobs, lambda label: screen.progress(label, as_json=json), cluster
        ):
            done.append(each)
            if not json:
                screen.show_reproduced(each)

    def fill(path: Path) -> None:
        reproduce.write_into(path, found, done, full=full)
        if drawer is not None:
            drawer.write_figures(path, done)

    written = output.write(fill)
    if json:
        console.show_json(result.as_json(done))
    else:
        screen.show_claims(done)
        for line in result.in_words(done):
            console.say(line)
        pdfs = " and a PDF of each figure" if pdf else ""
        console.say(f"written to {written}, with a page: {written / reproduce.PAGE}{pdfs}")
    if result.failed(done):
        raise typer.Exit(CLAIM_FAILED)
