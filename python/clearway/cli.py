"""The command line: which commands there are, and what their errors become.

Exit status: 0 done, 1 a claim of a paper did not hold or a testbed's run ended early, 2 bad input; after a
signal 128 and its number, so 130 for Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from clearway import _clearway, console, stops
from clearway.errors import BAD_INPUT, ClearwayError, reason

COMMANDS = {
    "demo": "Run Swift, Fastpass and Swing, each beside what it is held against, and write a report.",
    "run": "Run a scenario and write a run directory.",
    "show": "Show a scenario's network, what its keys come to, and the load to expect, without a run.",
    "compare": "Show runs side by side, with the differences called out; scenario files are run first.",
    "sweep": (
        r"Run a scenario at every point of its \[sweep] table; write a table and a page. Can be interrupted."
    ),
    "tune": r"Search the ranges of a \[tune] table for good values; test them on other seeds. Needs Optuna.",
    "paper": "Run a paper's figures anew: a verdict for each claim, and a page. Can be interrupted.",
    "why": "Say what a flow of a run waited for. The run is simulated again for it.",
    "replay": "Write one self-contained HTML page that plays a run: its network, and what happened in it.",
    "report": "Write one self-contained HTML page about one run or several.",
    "plot": "Draw runs or sweeps as a figure for a paper: PDF, SVG or PNG. Needs matplotlib.",
    "export": "Write what a run has recorded as other tools read it.",
    "import": "Make a scenario of files of other simulators, and say what it has no room for.",
    "schema": "Print the JSON Schema of a scenario, for editors.",
    "plan": "Answer by arithmetic what a network needs.",
    "testbed": "Run a scenario on real hosts, and leave what a simulated run leaves.",
}
"""The commands, and what each says of itself: a list of them imports none."""


class _Commands(TyperGroup):
    """Imports the file of a command when it is called, and turns errors into messages and exit statuses."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - as typer calls it
        if cmd_name not in COMMANDS:
            return None
        command = _command(cmd_name)
        stops.listen()
        return command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        listed = TyperGroup(
            name=self.name,
            help=self.help,
            epilog=self.epilog,
            params=self.params,
            commands={**self.commands},
        )
        listed.format_help(ctx, formatter)

    def main(self, *arguments: Any, **settings: Any) -> Any:
        console.accept_all()
        try:
            return super().main(*arguments, **settings)
        except OSError as error:
            _show_error_of_system(error)
            sys.exit(BAD_INPUT)

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        try:
            return super().make_context(*arguments, **settings)
        except SystemExit:
            raise _reader_has_left() from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BaseException as error:
            if isinstance(error, _clearway.Interrupted) or stops.caused(error):
                said = str(error) if isinstance(error, KeyboardInterrupt) else ""
                console.show_error(said or stops.outcome())
                raise typer.Exit(stops.status()) from None
            if isinstance(error, BrokenPipeError | SystemExit):
                raise _reader_has_left() from None
            if not _show(error):
                raise
        raise typer.Exit(BAD_INPUT)


@cache
def _command(name: str) -> Any:
    """Return a command, made of its file once: a program that calls many times does not wait for it anew."""
    return typer.main.get_command(import_module(f"clearway.commands.{name}").app)


app = typer.Typer(
    name="clearway",
    cls=_Commands,
    epilog=(
        "Exit status: 0 done; 1 a claim or a check did not hold, or a run on real hosts failed; 2 bad input, "
        "nothing was done; 128 and its number after a signal, so 130 after Ctrl-C."
    ),
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Datacenter transports in a deterministic, very fast packet simulator."""
    if version:
        console.say(f"clearway {_clearway.VERSION}")
        raise typer.Exit


def _reader_has_left() -> typer.Exit:
    """Say no more: who has seen enough makes no error, whatever rich thinks, which prints help."""
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the end
    return typer.Exit()


def _show(error: BaseException) -> bool:
    """Say what went wrong, if it is of a kind that its reader can act on; tell whether it is."""
    match error:
        case ClearwayError():
            console.show_error(error.message, error.remedy)
        case _clearway.ScenarioError() | _clearway.LosslessDrop() | _clearway.Standstill():
            console.show_error(str(error))
        case MemoryError():
            console.show_error(
                "out of memory", "use fewer hosts or flows, or sample less often under [record]"
            )
        case OSError():
            _show_error_of_system(error)
        case _:
            return False
    return True


def _show_error_of_system(error: OSError) -> None:
    """Say what the operating system refused; of what has no name, it is the directory or the stream."""
    try:
        Path.cwd()
    except OSError:
        console.show_error(f"the working directory: {reason(error)}", "change to one that is there")
    else:
        console.show_error(f"{error.filename or 'standard output'}: {reason(error)}")


def main() -> None:
    """Run the command line and end the process."""
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for all that follows
    if sys.stdout is None:
        console.show_error("standard output: closed")
        os._exit(BAD_INPUT)
    status = 0
    try:
        try:
            app()
        finally:
            stops.finish()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    except BaseException as error:
        # A signal in the last moment: before `finish`, or where typer had nothing to stop any more.
        if not stops.caused(error):
            raise
    if stops.were_heard():
        status = stops.status()
    # Not `sys.exit`: a run that was setting up when it was told to stop may still be at it, and what standard
    # output could not take now it could not take later.
    os._exit(_flushed(status))


def _flushed(status: int) -> int:
    """Write out what is left; return the status that the process ends with."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as error:
        if status == 0:
            console.show_error(f"standard output: {reason(error)}")
            status = BAD_INPUT
    with suppress(OSError):
        sys.stderr.flush()
    return status
