"""A file of another simulator, line by line, and what is said of a line that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path

from clearway import documents, files
from clearway.errors import ClearwayError, reason, shown

_WHOLE = re.compile(r"\d{1,18}")
_LONGEST_SHOWN = 60  # characters of what was found, in a message


@dataclass(frozen=True, slots=True)
class Line:
    """A line that has words on it."""

    number: int
    """Its number, from 1 on."""
    words: tuple[str, ...]


class Source:
    """A file, as bytes or as text.

    Each is read when it is first asked for, and raises `ClearwayError` if it cannot be read, or is no text.
    """

    def __init__(self, path: Path) -> None:
        """Take the path of the file."""
        self.path = path
        self.name = shown(path)

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        try:
            return files.read(self.path, files.LARGEST_TEXT)
        except OSError as error:
            raise ClearwayError(f"{self.name}: cannot be read: {reason(error)}", "check the path") from error

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        return documents.read_text(self.path).lstrip("\ufeff")

    @cached_property
    def _lines(self) -> list[list[str]]:
        return [line.split() for line in self.text.split("\n")]

    def lines(self, comment: str | None = None) -> Iterator[Line]:
        """Iterate over the lines that are neither empty nor begin with `comment`."""
        for number, words in enumerate(self._lines, 1):
            if words and not (comment and words[0].startswith(comment)):
                yield Line(number, tuple(words))

    @property
    def last(self) -> int:
        """The number of the last line that is not empty; 1 in an empty file."""
        return max((number for number, words in enumerate(self._lines, 1) if words), default=1)

    def error(self, line: int, message: str, remedy: str | None = None) -> ClearwayError:
        """Make the error that says what is wrong in a line, and what to do about it."""
        return ClearwayError(f"{self.name}:{line}: {message}", remedy)

    def whole(self, line: int, what: str, text: str, least: int = 0, most: int = 10**18) -> int:
        """Read a whole number from `least` to `most`; `what` is its name in the file."""
        if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
            limit = f"from {least} to {most}" if most < 10**18 else f"of at least {least}"
            raise self.error(
                line, f"{what}: found {brief(text)}, expected a whole number {limit}", "correct the line"
            )
        return int(text)

    def number(self, line: int, what: str, text: str, most: int = 10**18) -> Decimal:
        """Read a number from 0 to `most`, which may have a fraction."""
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if not (value.is_finite() and 0 <= value <= most):
            raise self.error(
                line, f"{what}: found {brief(text)}, expected a number from 0 to {most}", "correct the line"
            )
        return value


def brief(text: str) -> str:
    """Shorten what was found to what a message has room for."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
