"""The page about a network: the drawing, and the tables below it."""

from __future__ import annotations

from html import escape

from clearway import _clearway
from clearway.preview.contents import Table, heading, tables
from clearway.preview.description import Description
from clearway.preview.drawing import ROLES, drawing
from clearway.report.page import asset, filled
from clearway.report.page import table as laid_out

_LOADS = (("8", "load below 50 %"), ("5", "50 % and more"), ("6", "100 % and more"))
"""The colours of links, and what each stands for."""


def page(found: Description) -> tuple[str, str]:
    """Return the page, and what to warn of: nothing where the network could be drawn."""
    svg, caption = drawing(found)
    if svg:
        drawn = f'<p class="note">{escape(caption)}</p><div class="scroll">{svg}</div>{_key(found)}'
    else:
        drawn = f'<p class="empty">{escape(caption)}</p>'
    slots = {
        "title": escape(found["name"]),
        "heading": escape(heading(found)),
        "drawing": drawn,
        "tables": "\n".join(_section(table) for table in tables(found)),
        "version": escape(_clearway.VERSION),
        "seed": str(found["seed"]),
        "network_style": asset("network.css"),
    }
    return filled("network.html", slots), "" if svg else caption


def _key(found: Description) -> str:
    """Say what the colours mean."""
    there = {node["role"] for node in found["nodes"]}
    boxes = (
        f'<span class="{role}"><i class="frame"></i>{escape(name)}</span>'
        for role, name in ROLES.items()
        if role in there
    )
    lines = (
        f'<span><i class="line" style="--colour: var(--series-{colour})"></i>{escape(name)}</span>'
        for colour, name in _LOADS
    )
    return f'<p class="key">{"".join((*boxes, *lines))}</p>'


def _words(table: Table, column: int) -> str:
    return ' class="words"' if column in table.words else ""


def _section(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_words(table, column)}>{escape(head)}</th>'
        for column, head in enumerate(table.headings)
    )
    rows = []
    for first, *rest in table.rows:
        cells = "".join(
            f"<td{_words(table, column)}>{escape(cell)}</td>" for column, cell in enumerate(rest, start=1)
        )
        rows.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return f"<section><h2>{escape(table.title)}</h2>{note}{laid_out(heads, rows, table.style)}</section>"
