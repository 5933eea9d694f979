"""Tables in the terminal: lines break between words, and columns without room go below the others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clearway.console import terminal, write

_GAP = 2  # between two columns
_EDGES = 2
_INDENT = "  "
_LITTLE = 6  # of which a column is better given all


@dataclass(frozen=True)
class Column:
    """A heading and the cells below it."""

    heading: str
    cells: Sequence[str]
    prose: bool = False
    """Whether cells are words, which may break into lines; numbers stand on the right and do not."""
    styles: Sequence[str] = ()
    """How each cell is shown, in the words of rich; none if all are plain."""

    @property
    def least(self) -> int:
        """The width below which a word would be cut."""
        texts = self.cells if self.prose else ()
        words = [word for text in (self.heading, *texts) for word in text.split()]
        whole = () if self.prose else self.cells
        return max((cell_len(text) for text in (*words, *whole)), default=0)

    @property
    def most(self) -> int:
        """The width at which no line breaks."""
        return max((cell_len(text) for text in (self.heading, *self.cells)), default=0)


def show_table(title: str, labels: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Print a column a label, and rows with what they are called."""
    columns = [Column("", [name for name, _ in rows], prose=True)]
    columns += [Column(label, [cells[index] for _, cells in rows]) for index, label in enumerate(labels)]
    draw(terminal(sys.stdout), columns, title=title)


def draw(console: Console, columns: Sequence[Column], *, title: str = "", keys: int = 1) -> None:
    """Print a table; one that is too wide in parts, each with the first `keys` columns in front.

    Where not even one column has room beside them, each row is printed over several lines.
    """
    if title:
        write(console, Text(title, style="table.title"))
    divided = list(parts(columns, console.width, keys))
    if any(_taken(part) > console.width for part in divided):
        _list(console, columns, keys)
        return
    for part in divided:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, _GAP - 1, 0, 0), pad_edge=False)
        for column, width in zip(part, widths(part, console.width), strict=True):
            table.add_column(
                Text(column.heading),
                justify="left" if column.prose else "right",
                overflow="fold",
                width=width,
            )
        for row in range(len(part[0].cells)):
            table.add_row(*(_cell(column, row) for column in part))
        console.print(table)


def _list(console: Console, columns: Sequence[Column], keys: int) -> None:
    """Print for each row what it is called, and below it a line for each other column."""
    for row in range(len(columns[0].cells)):
        named = [column for column in columns[:keys] if column.cells[row]]
        names = [_named(column.heading, Text(column.cells[row]), " ") for column in named]
        write(console, Text(", ").join(names))
        for column in columns[keys:]:
            line = Text(_INDENT) + _named(column.heading, _cell(column, row), ": ")
            if column.heading and cell_len(line.plain) > console.width:
                write(console, Text(f"{_INDENT}{column.heading}:"))
                line = Text(2 * _INDENT) + _cell(column, row)
            write(console, line)


def _named(heading: str, cell: Text, between: str) -> Text:
    return Text(f"{heading}{between}") + cell if heading else cell


def parts(columns: Sequence[Column], width: int, keys: int) -> Iterator[Sequence[Column]]:
    """Divide columns so that each part, with the first `keys` in front, has room for its longest words.

    A part of one column besides those is given even if it has not.
    """
    first, others = columns[:keys], list(columns[keys:])
    while True:
        part = [*first, *others[:1]]
        others = others[1:]
        while others and _taken([*part, others[0]]) <= width:
            part.append(others.pop(0))
        yield part
        if not others:
            return


def widths(columns: Sequence[Column], width: int) -> list[int]:
    """Share the width out: to each its longest word, then what it lacks if little, then to the longest.

    There must be room for their longest words.
    """
    given = [column.least for column in columns]
    spare = width - _taken(columns)
    lacking = [column.most - has for column, has in zip(columns, given, strict=True)]
    for index, lack in sorted(enumerate(lacking), key=lambda entry: entry[1]):
        if 0 < lack <= min(spare, _LITTLE):
            given[index] += lack
            spare -= lack
    while spare > 0:
        lines = [column.most / max(has, 1) for column, has in zip(columns, given, strict=True)]
        longest = max(range(len(columns)), key=lambda index: lines[index])
        if lines[longest] <= 1:
            break
        given[longest] += 1
        spare -= 1
    return given


def _taken(columns: Sequence[Column]) -> int:
    return _EDGES + sum(column.least for column in columns) + _GAP * (len(columns) - 1)


def _cell(column: Column, row: int) -> Text:
    return Text(column.cells[row], style=column.styles[row] if column.styles else "")
