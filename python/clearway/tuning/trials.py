"""Trials: values that were tried, how good they are, and which of them is the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clearway.statistics import Interval
from clearway.tuning.goals import Limit, Objective
from clearway.tuning.measuring import Measured
from clearway.tuning.space import Drawn

BEYOND = 1e15
"""The rank at which trials begin that break a limit: above the cost of any figure (31 years, a petabyte)."""
_FAILED = 1e6  # relative excess that counts for more than any


@dataclass(frozen=True)
class Trial:
    """One trial."""

    number: int
    """Its place, from 0 on; 0 is the scenario's own values."""
    measured: Measured
    objective: Interval | None
    """The mean of the objective over the seeds; None if there is none."""
    excess: float
    """The distance beyond the limits, relative to each and summed; 0 if the trial keeps all of them."""
    complaint: str
    """The reason why it is not eligible: a failure, a figure without a value, or limits that it breaks."""
    drawn: dict[str, Drawn] | None
    """The sampler's numbers for it; None if there are none: the scenario's values outside of the range."""

    @property
    def eligible(self) -> bool:
        """Whether it may be the best: it has the objective for certain, and keeps all limits."""
        return not self.complaint

    def rank(self, objective: Objective) -> float:
        """Return a number by which trials are in order, the best first.

        Those that keep the limits by their cost, and behind them the others by how far they break them. TPE
        uses nothing but the order of trials; so this is what its own constraints would come to.
        """
        if self.objective is not None and self.eligible:
            return objective.cost(self.objective.mean)
        return BEYOND * (1 + self.excess)


def trial(
    number: int,
    measured: Measured,
    objective: Objective,
    limits: Sequence[Limit],
    drawn: dict[str, Drawn] | None,
) -> Trial:
    """Judge what was measured."""
    of = measured.interval(objective.figure)
    if of is None:
        return Trial(number, measured, None, _FAILED, measured.why_absent(objective.figure), drawn)
    excess, complaints = 0.0, []
    for limit in limits:
        held = measured.interval(limit.figure)
        beyond = _FAILED if held is None else max(limit.excess(held.mean), 0.0)
        if held is None:
            complaints.append(measured.why_absent(limit.figure))
        elif beyond > 0:
            complaints.append(f"not {limit.words}")
        excess += beyond
    if objective.is_open(of.mean):
        excess += 1.0
        complaints.append(f"{objective.figure} is a lower bound, as something was unfinished")
    return Trial(number, measured, of, excess, "; ".join(complaints), drawn)


def best_of(trials: Sequence[Trial], objective: Objective) -> Trial | None:
    """Return the best trial that keeps all limits, the first of several alike; None if none does."""
    eligible = [each for each in trials if each.eligible]
    return min(eligible, key=lambda each: each.rank(objective), default=None)


def nearest_of(trials: Sequence[Trial], objective: Objective) -> Trial | None:
    """Return the trial that has the objective and breaks the limits by the least; None if none has it."""
    there = [each for each in trials if each.objective is not None]
    return min(there, key=lambda each: each.rank(objective), default=None)
