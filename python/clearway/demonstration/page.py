"""The page of the demo: for each part the question, the figures, the answer, and charts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from clearway.demonstration.part import Answer
from clearway.report.page import provenance, swatch, table
from clearway.report.scenarios import scenarios
from clearway.report.sheet import Sheet
from clearway.report.sources import looks


def page(answers: Sequence[Answer]) -> str:
    """Return the page."""
    sheet = Sheet("Swift, Fastpass and Swing, each beside what it is held against")
    groups = [group for answer in answers for group in answer.groups]
    for answer in answers:
        sheet.sections.append(_section(answer))
        sheet.sections.append(sheet.drawn(answer.part.charts(answer.groups)))
    sheet.sections.append(scenarios([(group.name, group) for _, group in groups]))
    sheet.sections.append(
        "<section><h2>Where the numbers come from</h2><p>The same scenario and seed give the same digest on "
        f"every machine.</p>{provenance([(group.name, group) for _, group in groups])}</section>"
    )
    return sheet.page()


def _section(answer: Answer) -> str:
    heads = "".join(
        f'<th scope="col">{"".join(swatch(look.colour) for look in of_run.values())}{escape(label)}</th>'
        for label, of_run in zip(answer.labels, looks(answer.groups), strict=True)
    )
    rows = [
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for name, cells in answer.rows
    ]
    shown = table(f"<th></th>{heads}", rows)
    return (
        f'<section class="figure"><h2>{escape(answer.part.asks)}</h2>'
        f"<p>{escape(answer.conclusion)}</p>{shown}"
        f'<p class="note">{escape(answer.covers)}. {escape(answer.part.note)}</p></section>'
    )
