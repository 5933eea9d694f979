"""The command `clearway run`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from clearway import _clearway, api, console, directory, screen
from clearway.commands.options import (
    JsonOption,
    OutOption,
    SeedOption,
    SeedsOption,
    SetsOption,
    ThreadsOption,
    UnsetsOption,
    parsed,
)
from clearway.commands.output import Output
from clearway.errors import ClearwayError
from clearway.runs import Seeds

app = typer.Typer(add_completion=False)

_LONGEST = 1 << 24  # characters of a scenario on standard input, which may have no end


@app.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Scenario (TOML); - for standard input.")],
    sets: SetsOption = None,
    unsets: UnsetsOption = None,
    seed: SeedOption = None,
    seeds: SeedsOption = None,
    threads: ThreadsOption = None,
    out: OutOption = None,
    json: JsonOption = False,
) -> None:
    """Run a scenario and write a run directory."""
    if seed is not None and seeds is not None:
        raise ClearwayError(
            "--seed and --seeds exclude each other", "set the first of several with --set seed=N"
        )
    scenario = _from_standard_input() if str(file) == "-" else file
    scenarios = api.with_seeds(scenario, parsed(sets, unsets), seed, seeds or 1)
    output = Output(out, Path("runs") / _default_name(scenarios, several=seeds is not None))
    started = time.monotonic()
    group = Seeds(screen.execute_shown(scenarios, threads=threads, quiet=json))
    wall_s = time.monotonic() - started if seeds else group.runs[0].wall_s
    written = output.write((group if seeds else group.runs[0]).write_into)
    screen.note_if_alike([group])
    if json:
        console.show_json(group.as_json(written, wall_s) if seeds else group.runs[0].as_json(written))
        return
    screen.show_run(group)
    screen.show_effort(group.runs, wall_s)
    console.say(f"written to {written}")


def _from_standard_input() -> str:
    """Read a scenario's text; files that it names are sought here."""
    try:
        text = sys.stdin.read(_LONGEST + 1) if sys.stdin else ""
    except UnicodeDecodeError as error:
        raise ClearwayError(f"standard input: not UTF-8 at byte {error.start}", "save it as UTF-8") from error
    if len(text) > _LONGEST:
        raise ClearwayError(
            f"standard input: longer than {_LONGEST} characters", "name the files of flows or links in it"
        )
    return text + "\n"


def _default_name(scenarios: list[_clearway.Scenario], *, several: bool) -> str:
    first, last = scenarios[0], scenarios[-1]
    name = f"{directory.slug(first.name)}-{first.seed}"
    return f"{name}-to-{last.seed}" if several else name
