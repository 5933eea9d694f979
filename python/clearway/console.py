"""Lines on the terminal: results to standard output, everything else to standard error."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_PIPE_WIDTH = 160  # a pipe has no width: leave the lines whole
_MOST_DIGITS = 5  # of the width of a terminal
_PLAIN: Mapping[str, str] = {
    "±": "+-",
    "≥": ">=",
    "≤": "<=",
    "\N{MULTIPLICATION SIGN}": "x",
    "µ": "u",
    "§": "section ",
    "\N{EN DASH}": "-",
    "…": "...",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
}
"""What stands for a character where the terminal has not got it; for all others a question mark does."""


def accept_all() -> None:
    """Have both streams take any text, whatever their encoding: what it lacks is written in other words."""
    if len(os.environ.get("COLUMNS", "")) > _MOST_DIGITS:
        del os.environ["COLUMNS"]  # no terminal is so wide, and rich would try
    codecs.register_error("clearway", _in_other_words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="clearway")


def say(text: str = "") -> None:
    """Print a line of a result."""
    _print(sys.stdout, Text(text))


def say_beside(text: str) -> None:
    """Print a line that is no result, on standard error."""
    _remark(Text(text))


def show_json(value: object) -> None:
    """Print one JSON object and nothing else."""
    sys.stdout.write(json.dumps(value, indent=2, allow_nan=False) + "\n")


def show_error(message: str, remedy: str | None = None) -> None:
    """Print what went wrong, and what to do about it."""
    _remark(Text.assemble(("error: ", "bold red"), message))
    if remedy:
        _remark(Text(f"  {remedy}"))


def show_warning(message: str) -> None:
    """Print a warning: what can be run but is unlikely to be meant."""
    _remark(Text.assemble(("warning: ", "bold yellow"), message))


def terminal(file: Any) -> Console:
    """Write to what the stream is now: tests and callers replace it."""
    width = None if file.isatty() or os.environ.get("COLUMNS", "").isdigit() else _PIPE_WIDTH
    return _Console(file=file, width=width, markup=False, emoji=False, highlight=False)


def _remark(text: Text) -> None:
    """Print what is no result; where standard error cannot take it, nobody is there to be told."""
    with suppress(OSError):
        _print(sys.stderr, text)


def _print(file: Any, text: Text) -> None:
    """Print sentences. A terminal's lines break between words; those of a pipe are whole."""
    write(terminal(file), text)


def write(console: Console, text: Text) -> None:
    """Print sentences on a console. No word and no figure is ever cut."""
    # A word longer than a line, such as a path, is left to the terminal, so that it can be copied.
    width = console.width
    too_long = any(cell_len(word) > width for word in text.plain.split())
    console.print(text, soft_wrap=too_long or not console.file.isatty())


class _Console(Console):
    """Leaves a reader that goes away to the command line, which ends well; rich would end with status 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _in_other_words(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode what an encoding has not got; bytes of a path that are not UTF-8 stay as they are."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":
        return character.encode("ascii", "surrogateescape"), error.start + 1
    return _PLAIN.get(character, "?"), error.start + 1
