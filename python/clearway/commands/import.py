"""The command `clearway import`."""

# ruff: noqa: N999 - the file has the name of its command, and is imported by it

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clearway import console
from clearway.commands.options import JsonOption
from clearway.errors import ClearwayError, shown
from clearway.importing import joining, writing
from clearway.importing.formats import FORMATS, format_named
from clearway.importing.parts import PACKED, RANDOM, ROUND_ROBIN, Choices

app = typer.Typer(add_completion=False)

_UNITS = ("ps", "us")
_PLACEMENTS = {"packed": PACKED, "round-robin": ROUND_ROBIN, "round_robin": ROUND_ROBIN, "random": RANDOM}
_MODES = ("multi-job", "multi-tenant")

PlacementOption = Annotated[
    str | None,
    typer.Option(
        "--placement",
        metavar="WORD",
        help="Hosts of the ranks of jobs: packed (the default), round-robin, or random.",
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="WORD",
        help="Several jobs: multi-job, each on hosts of its own (the default), or multi-tenant.",
    ),
]


@app.command()
def import_files(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Files of one simulation: its network, its flows or jobs, its settings."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The scenario to write; what it names goes beside it."
        ),
    ] = Path("scenario.toml"),
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help=f"What a file is, where that is not recognised; one for each FILE: {', '.join(FORMATS)}.",
        ),
    ] = None,
    start_unit: Annotated[
        str | None,
        typer.Option(
            "--start-unit",
            metavar="UNIT",
            help="Unit of start in htsim's connection matrices: ps, or us; by default us if they have msg.",
        ),
    ] = None,
    placement: PlacementOption = None,
    mode: ModeOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    json: JsonOption = False,
) -> None:
    """Make a scenario of files of other simulators, and say what it has no room for."""
    choices = _choices(start_unit, placement, mode)
    wanted = [format_named(name) for name in formats or []]
    if wanted and len(wanted) != len(files):
        raise ClearwayError(
            f"--format: given {len(wanted)} times for {len(files)} files",
            "give it once for each file, in order",
        )
    destination = writing.Destination(output, force=force)
    scenario = joining.join(joining.gather(files, choices, wanted or [None] * len(files)), choices)
    written, warnings = destination.write(scenario)
    for warning in warnings:
        console.show_warning(warning)
    if json:
        console.show_json(_as_json(scenario, written))
        return
    for heading, said in writing.remarks(scenario):
        if said:
            console.say(f"{heading}:")
        for each in said:
            console.say(f"- {each}")
    console.say(f"written to {', '.join(str(path) for path in written)}")


def _choices(start_unit: str | None, placement: str | None, mode: str | None) -> Choices:
    """Check what a person says of files."""
    if start_unit not in (None, *_UNITS):
        raise ClearwayError(f"--start-unit {start_unit}: is unknown", f"the units are {' and '.join(_UNITS)}")
    if placement not in (None, *_PLACEMENTS):
        raise ClearwayError(
            f"--placement {placement}: is unknown", "the words are packed, round-robin and random"
        )
    if mode not in (None, *_MODES):
        raise ClearwayError(f"--mode {mode}: is unknown", f"the modes are {' and '.join(_MODES)}")
    return Choices(start_unit, _PLACEMENTS[placement] if placement else None, mode)


def _as_json(scenario: joining.Scenario, written: list[Path]) -> dict[str, object]:
    return {
        "scenario": shown(written[-1]),
        "files": [shown(path) for path in written],
        "read": [
            {"file": each.source.name, "format": each.format.name, "found": each.part.summary}
            for each in scenario.reads
        ],
        "hosts": len(scenario.network.hosts),
        "switches": len(scenario.network.nodes) - len(scenario.network.hosts),
        "links": len(scenario.network.links),
        "flows": len(scenario.flows),
        "jobs": [{"name": job.keys.get("name"), "messages": job.messages} for job in scenario.jobs],
        "assumed": scenario.assumed,
        "not_carried_over": scenario.lost,
    }
