"""The commands `clearway export ...`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from clearway import console, directory, perfetto, stops
from clearway.packets.pcapng import capture
from clearway.packets.record import packet_record
from clearway.runs import Run
from clearway.seeds import load_directory

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def export() -> None:
    """Write what a run has recorded as other tools read it."""


@app.command("perfetto")
def export_perfetto(
    run: Annotated[
        Path, typer.Argument(metavar="DIR", help="A run directory with a timeline of jobs, or with packets.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The trace to write.")],
) -> None:
    """Write a run's timeline of jobs, and its packets, for ui.perfetto.dev; of several seeds, the first's."""
    directory.check_file_writable(output)
    trace = perfetto.trace(_first(run))
    with stops.put_off():
        directory.write_text(output, trace)
        stops.wrote(output)
    console.say(f"trace: {output}")


@app.command("pcapng")
def export_pcapng(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="A run directory with packets.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The capture to write.")],
) -> None:
    """Write a run's packets for Wireshark, an interface for each link; of several seeds, the first's."""
    directory.check_file_writable(output)
    loaded = _first(run)
    contents = capture(packet_record(loaded), loaded.version)
    with stops.put_off():
        directory.write_bytes(output, contents)
        stops.wrote(output)
    console.say(f"capture: {output}")


@app.command("dissector")
def export_dissector(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write, such as clearway.lua.")
    ],
) -> None:
    """Write what tells Wireshark the names of the fields in such captures, a script in Lua."""
    directory.check_file_writable(output)
    script = resources.files("clearway.packets").joinpath("clearway.lua").read_text(encoding="utf-8")
    with stops.put_off():
        directory.write_text(output, script)
        stops.wrote(output)
    console.say(f"dissector: {output}")


def _first(run: Path) -> Run:
    """Read a run directory, or that of the first of several seeds."""
    loaded = load_directory(run)
    return loaded if isinstance(loaded, Run) else loaded.runs[0]
