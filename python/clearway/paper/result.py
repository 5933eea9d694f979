"""What came of an experiment: its runs, its claims with their verdicts, and what its frontier says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clearway.paper import verdicts
from clearway.paper.claims import Judged
from clearway.paper.evaluation import Runs
from clearway.paper.experiment import Experiment
from clearway.paper.frontier import frontier_of, frontier_rows
from clearway.sweeps.overrides import label_of


@dataclass(frozen=True)
class Reproduced:
    """An experiment that was run."""

    experiment: Experiment
    runs: Runs
    claims: Sequence[Judged]
    run: int
    """How many points were run."""
    found: int
    """How many were there already."""

    @property
    def conclusion(self) -> str:
        """What its frontier says, if it has one."""
        if self.experiment.frontier is None:
            return ""
        combinations, rows = frontier_rows(self.experiment, self.runs)
        frontier = frontier_of(self.experiment.frontier, self.experiment.id)
        return frontier.in_words([label_of(combination) for combination in combinations], rows)


def as_json(done: Sequence[Reproduced]) -> dict[str, Any]:
    """Return what `--json` prints of a paper."""
    claims = _claims(done)
    paper, extensions = tallies(claims)
    return {"claims": [claim.as_json() for claim in claims], "verdicts": paper, "extensions": extensions}


def tallies(claims: Sequence[Judged]) -> tuple[dict[str, int], dict[str, int]]:
    """Count the verdicts of the paper's claims, and apart from them those of our extensions."""
    counts = Counter(claim.verdict for claim in claims)
    paper, extensions = (
        {verdict: counts[verdict] for verdict in known if counts[verdict]}
        for known in (verdicts.VERDICTS, verdicts.EXTENSIONS)
    )
    return paper, extensions


def in_words(done: Sequence[Reproduced]) -> list[str]:
    """Write the tallies as a person reads them, a line for the paper's and a line for ours."""
    both = zip(("The paper's claims", "Beyond the paper"), tallies(_claims(done)), strict=True)
    return [
        f"{whose}: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}"
        for whose, counts in both
        if counts
    ]


def failed(done: Sequence[Reproduced]) -> bool:
    """Whether a claim did not hold, or was left open."""
    return any(claim.verdict in verdicts.FAILED for claim in _claims(done))


def _claims(done: Sequence[Reproduced]) -> list[Judged]:
    return [claim for each in done for claim in each.claims]
