"""The figures of a run or of several seeds in columns, as a terminal, a notebook and a page show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from clearway.figures import figures_in, is_of, readable
from clearway.statistics import Interval

MISSING = "-"
"""Stands where a figure has no value."""

MAIN = frozenset(
    {
        "completed",
        "goodput_gbps",
        "loss_rate_whole",
        "rtt_mean_us",
        "rtt_p99_us",
        "unfinished_flows",
        "fct_mean_us",
        "fct_p99_us",
        "slowdown_p99",
        "operations",
        "unfinished_operations",
        "latency_p99_us",
        "queue_peak_bytes",
    }
)
"""The figures that say in some ten lines what came of a run."""


@dataclass(frozen=True)
class Overview:
    """Rows of figures, with a cell for each column."""

    headings: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    keys: Sequence[str] = ()
    """The figure of each row."""

    @classmethod
    def of(cls, columns: Sequence[tuple[str, Mapping[str, Interval]]]) -> Overview:
        """Take a heading and the intervals of figures for each column."""
        rows, keys = [], []
        for figure in figures_in([{key: of.mean for key, of in column.items()} for _, column in columns]):
            found = [column.get(figure.key) if is_of(figure, column) else None for _, column in columns]
            cells = [MISSING if of is None else readable(figure.kind, of.mean, of.half_width) for of in found]
            rows.append((figure.heading, cells))
            keys.append(figure.key)
        return cls([heading for heading, _ in columns], rows, keys)

    def notes(self, absent: Sequence[Mapping[str, str]]) -> list[str]:
        """Say why a column has no value in some of the rows, a line a column, from its reasons by figure."""
        lines = []
        for column, (heading, reasons) in enumerate(zip(self.headings, absent, strict=True)):
            missing = [
                reasons[key]
                for key, (_, cells) in zip(self.keys, self.rows, strict=True)
                if cells[column] == MISSING and key in reasons
            ]
            lines += reasons_in_words(heading, missing)
        return lines

    def text(self, title: str) -> str:
        """Write a line a row."""
        heads = [("", self.headings)] if any(self.headings) else []
        lines = [*heads, *self.rows]
        first = max((len(label) for label, _ in lines), default=0)
        widths = [max(len(cells[column]) for _, cells in lines) for column in range(len(self.headings))]
        written = [title]
        for label, cells in lines:
            aligned = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
            written.append("  ".join([label.ljust(first), *aligned]))
        return "\n".join(written)

    def html(self, title: str) -> str:
        """Write a table that needs no style sheet."""
        heads = "".join(f"<th>{escape(heading)}</th>" for heading in self.headings)
        head = f"<thead><tr><th></th>{heads}</tr></thead>" if any(self.headings) else ""
        rows = []
        for label, cells in self.rows:
            values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            rows.append(f'<tr><th style="text-align: left">{escape(label)}</th>{values}</tr>')
        body = "".join(rows)
        return f"<table><caption>{escape(title)}</caption>{head}<tbody>{body}</tbody></table>"


def listed(sentences: Iterable[str]) -> str:
    """Write sentences as an HTML list; nothing where there are none."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def reasons_in_words(column: str, reasons: Iterable[str]) -> list[str]:
    """Say in a line why a column has no value in some rows; in none where there is no reason to give."""
    every = "; ".join(dict.fromkeys(reasons))
    return [f"{MISSING} of {column}: {every}" if column else f"{MISSING}: {every}"] if every else []
