"""The command `clearway run`."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from clearway import _clearway, api, console, directory, screen, stops
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
from clearway.execution import RunsInterrupted
from clearway.figures import readable
from clearway.runs import Run

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
    keep_partial: Annotated[
        bool,
        typer.Option(
            "--keep-partial",
            help="After Ctrl-C write what there is: of several seeds those that are finished.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Run a scenario and write a run directory."""
    if seed is not None and seeds is not None:
        raise ClearwayError(
            "--seed and --seeds exclude each other", "set the first of several with --set seed=N"
        )
    scenario = _from_standard_input() if str(file) == "-" else file
    scenarios = api.with_seeds(scenario, parsed(sets, unsets), seed, seeds or 1)
    if (most := scenarios[0].replay_page_bytes) is not None:
        console.say_beside(f"replay: its page becomes {readable('bytes', most)} large at most, flows apart")
    output = Output(out, Path("runs") / _default_name(scenarios, several=seeds is not None))
    started = time.monotonic()
    runs = _executed(scenarios, threads, as_json=json, keep_partial=keep_partial)
    with stops.put_off() if keep_partial else nullcontext():
        group = api.seeds_of(scenarios, runs)
        if not group.interruption:
            stops.forget()  # it came when all was done
        wall_s = time.monotonic() - started if seeds else group.runs[0].wall_s
        written = output.write((group if seeds else group.runs[0]).write_into)
    screen.note_if_alike([group])
    if group.interruption:
        console.show_warning(f"{group.interruption}; {written} is not of the whole run")
    if json:
        console.show_json(group.as_json(written, wall_s) if seeds else group.runs[0].as_json(written))
        return
    screen.show_run(group)
    screen.show_what_happened(group)
    screen.show_effort(group.runs, wall_s)
    console.say(f"written to {written}")


def _executed(
    scenarios: list[_clearway.Scenario], threads: int | None, *, as_json: bool, keep_partial: bool
) -> list[Run]:
    """Run all; where Ctrl-C ends that, the message says what would have kept something."""
    try:
        return screen.execute_shown(scenarios, threads=threads, as_json=as_json, keep_partial=keep_partial)
    except RunsInterrupted as interrupted:
        if keep_partial:
            raise
        raise RunsInterrupted(f"{interrupted}\n  --keep-partial writes what there is") from interrupted


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
