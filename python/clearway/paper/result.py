"""What came of an experiment: its runs, its claims with their verdicts, and what its frontier says."""

from __future__ import annotations

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
    return {"claims": [claim.as_json() for each in done for claim in each.claims]}


def failed(done: Sequence[Reproduced]) -> bool:
    """Whether a claim did not hold, or was left open."""
    return any(
        claim.verdict in {verdicts.NOT_REPRODUCED, verdicts.STRADDLES}
        for each in done
        for claim in each.claims
    )
