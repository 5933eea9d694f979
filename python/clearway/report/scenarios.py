"""The scenarios of a report, as resolved: every default is filled in."""

from __future__ import annotations

from html import escape

from clearway import documents
from clearway.report.copyable import copyable
from clearway.report.sources import Labelled


def scenarios(groups: Labelled) -> str:
    """Show the scenario of each run, folded away; one that is alike but for name and seed is only named."""
    blocks = []
    shown: dict[str, str] = {}
    for label, group in groups:
        scenario = group.runs[0].scenario
        if not scenario:
            continue
        rest = {key: value for key, value in scenario.items() if key not in ("name", "seed")}
        text = documents.tables_of(rest)
        if text in shown:
            body = f"<p>As {escape(shown[text])}, but for name and seed.</p>"
        else:
            shown[text] = label
            body = copyable(documents.tables_of(scenario))
        seeds = ", ".join(str(run.seed) for run in group.runs)
        of_seeds = f"<p>Seeds: {seeds}.</p>" if len(group.runs) > 1 else ""
        blocks.append(f"<h3>{escape(label)}</h3>{of_seeds}{body}")
    if not blocks:
        return ""
    return (
        "<section><h2>Scenario</h2><p>As it was run, with every default.</p>"
        f"<details><summary>Show</summary>{''.join(blocks)}</details></section>"
    )
