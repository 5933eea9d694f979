"""The command `clearway sweep`."""

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
from clearway.sweeps import sweep
from clearway.sweeps.store import STORE, Store

app = typer.Typer(add_completion=False)


@app.command()
def run_sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario (TOML) with a \\[sweep] table.")],
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    jobs: JobsOption = None,
    on: OnOption = None,
    out: OutOption = None,
    store: StoreOption = STORE,
    json: JsonOption = False,
) -> None:
    r"""Run a scenario at every point of its \[sweep] table; write a table and a page. Can be interrupted."""
    planned = sweep.plan(file, parsed(sets, unsets))
    output = Output(out, Path("runs") / f"{directory.slug(planned.name)}-sweep")
    screen.show_warnings([point.scenario for point in planned.points])
    kept = Store(store)
    with (
        place(on, jobs) as cluster,
        screen.telling_damage(kept),
        screen.progress(f"{len(planned.points)} points", as_json=json) as watch,
    ):
        done = sweep.run(planned, kept, jobs, watch, cluster)
    written = output.write(lambda path: sweep.write_into(path, done))
    if json:
        console.show_json(sweep.as_json(done, written))
        return
    screen.show_sweep(done)
    console.say(f"written to {written}, with a page: {written / sweep.PAGE}")
