"""The opening of a report: the sentences on each run that the terminal prints, too."""

from __future__ import annotations

from html import escape

from clearway.overview import listed
from clearway.report.sources import Labelled

_MOST_OPEN = 3  # runs whose sentences are not folded away


def opening(groups: Labelled) -> str:
    """Say of each run what happened: one is part of its overview, several are a section, many folded away."""
    told = [(label, *group.what_happened()) for label, group in groups]
    told = [(label, heading, sentences) for label, heading, sentences in told if sentences]
    if not told:
        return ""
    if len(groups) == 1:
        ((_, heading, sentences),) = told
        return f'<div class="happened"><h2>{escape(heading)}</h2>{listed(sentences)}</div>'
    parts = []
    for label, heading, sentences in told:
        of_seed = heading.removeprefix("What happened")
        if len(told) <= _MOST_OPEN:
            parts.append(f"<div><h3>{escape(label + of_seed)}</h3>{listed(sentences)}</div>")
        else:
            summary = f"<summary>{escape(label + of_seed)}</summary>"
            parts.append(f"<details>{summary}{listed(sentences)}</details>")
    beside = ' class="beside"' if len(told) <= _MOST_OPEN else ""
    inside = f"<div{beside}>{''.join(parts)}</div>"
    return f'<section class="happened"><h2>What happened</h2>{inside}</section>'
