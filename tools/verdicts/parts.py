"""The parts of the page, made from the papers' files and from the records of their last whole runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from clearway.paper import claims, reading, verdicts
from clearway.paper.checker import Table
from clearway.paper.claim_rules import is_extension
from clearway.paper.experiment import Experiment
from clearway.paper.papers import paper_named

from tools.verdicts import record

PAGE = Path(__file__).parent.parent.parent / "docs" / "DEVIATIONS.md"

_BEGIN = "<!-- made by `python -m tools.verdicts`: {} -->"
_END = "<!-- end of what is made -->"
_PART = re.compile(rf"{re.escape(_BEGIN).replace(re.escape('{}'), '(.+?)')}\n.*?{re.escape(_END)}", re.DOTALL)
PAPERS = ("swift", "fastpass", "swing")


def with_parts(page: str) -> str:
    """Return the page with every part that is marked in it made anew."""
    return _PART.sub(lambda found: _marked(found[1]), page)


def parts_in(page: str) -> list[str]:
    """Name the parts that are marked in a page."""
    return [found[1] for found in _PART.finditer(page)]


def _marked(name: str) -> str:
    lines = _kinds() if name == "kinds of claims" else _claims(name.removeprefix("claims of "))
    return "\n".join([_BEGIN.format(name), "", *lines, "", _END])


def _kinds() -> Iterator[str]:
    """Yield a table of what the claims of each paper can be at best."""
    words = (
        verdicts.REPRODUCED,
        verdicts.ARITHMETIC,
        verdicts.CALIBRATED,
        verdicts.STAND_IN,
        verdicts.EXTENSION,
    )
    heads = ["paper", "claims", *(f"at best {word}" for word in words), "by our bar", "with a control"]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for paper in PAPERS:
        found = [claim for _, claim in _all_claims(paper)]
        counts = Counter(claims.best(claim) for claim in found)
        ours = sum(claim.get("bar") == "ours" or is_extension(claim) for claim in found)
        controlled = sum("control" in claim for claim in found)
        numbers = (len(found), *(counts[word] for word in words), ours, controlled)
        yield f"| {paper} | {' | '.join(str(number) for number in numbers)} |"


def _claims(paper: str) -> Iterator[str]:
    """Yield a table of a paper's claims, with what the last whole run gave."""
    kept = record.read(paper)
    found = [
        (experiment, claim, None if kept is None else kept.of(experiment, claim))
        for experiment, claim in _all_claims(paper)
    ]
    if kept is not None:
        yield f"The last whole run was that of {kept.date}, at commit {kept.commit}, on {kept.machine}:"
        for whose, ours in (("of the paper's claims", False), ("of those beyond it", True)):
            counts = Counter(
                entry.verdict.partition(",")[0] if entry else "not run since"
                for _, claim, entry in found
                if is_extension(claim) == ours
            )
            words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
            yield f"{whose} {words}{'.' if ours else ';'}"
        yield from (f"Run by itself since: {each}." for each in kept.since)
        yield ""
    yield "| claim | the paper | here, and its control | bar | verdict, and why if it is none |"
    yield "|---|---|---|---|---|"
    for experiment, claim, entry in found:
        yield f"| {' | '.join(_row(experiment, claim, entry))} |"


def _row(experiment: Experiment, claim: Table, entry: record.Entry | None) -> tuple[str, ...]:
    name = _cell(f"{experiment.figure.removeprefix('Experiment ')}: {claim['text']}")
    bar = verdicts.in_words(claim["holds"], claim.get("kind", "plain"))
    bar += " (our bar)" if claim.get("bar") == "ours" else ""
    if entry is None:
        void = f"not run since it was changed; {claims.best(claim)} at best"
        return name, _cell(str(claim["paper"])), "-", _cell(bar), void
    ours = entry.ours + (f" ({entry.control})" if entry.control else "")
    verdict = f"{entry.verdict}. {entry.reason}" if entry.reason else entry.verdict
    return name, _cell(entry.paper), _cell(ours), _cell(bar), _cell(verdict)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ").replace("<", "&lt;").replace("*", r"\*")


def _all_claims(paper: str) -> Iterator[tuple[Experiment, Table]]:
    for experiment in reading.experiments(paper_named(paper), [], full=False):
        for claim in experiment.claims:
            yield experiment, claim
