"""The command `clearway tune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import console, directory, screen
from clearway.commands.options import (
    JobsOption,
    JsonOption,
    OnOption,
    OutOption,
    SetsOption,
    StoreOption,
    UnsetsOption,
    parsed,
    place,
)
from clearway.commands.output import Output
from clearway.sweeps.store import STORE, Store
from clearway.tuning import shown, tuning
from clearway.tuning.file import LEAST_TRIALS, MOST_TRIALS
from clearway.tuning.measuring import Place

app = typer.Typer(add_completion=False)

TrialsOption = Annotated[
    int | None,
    typer.Option(
        "--trials",
        min=LEAST_TRIALS,
        max=MOST_TRIALS,
        help="Values to try, instead of what the file says; those tried before are found, not run.",
    ),
]


@app.command()
def run_tune(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario (TOML) with a \\[tune] table.")],
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    trials: TrialsOption = None,
    jobs: JobsOption = None,
    on: OnOption = None,
    out: OutOption = None,
    store: StoreOption = STORE,
    json: JsonOption = False,
) -> None:
    r"""Search the ranges of a \[tune] table for good values; test them on other seeds. Needs Optuna."""
    planned = tuning.plan(file, parsed(sets, unsets), trials)
    own = planned.scenario({})
    output = Output(out, Path("runs") / f"{directory.slug(own.name)}-tune")
    screen.show_warnings([own])
    kept = Store(store)
    with (
        place(on, jobs) as cluster,
        screen.telling_damage(kept),
        shown.progress(planned, as_json=json) as (watch, tell),
    ):
        done = tuning.run(planned, Place(kept, jobs, watch, cluster), tell)
    written = output.write(lambda path: tuning.write_into(path, output.target, done))
    if json:
        console.show_json(tuning.as_json(done, written))
        return
    shown.show(done)
    best = f", and the best values as a scenario: {written / tuning.BEST}" if done.best is not None else ""
    console.say(f"written to {written}, with a page: {written / tuning.PAGE}{best}")
