"""What must be reached, and the line that says whether it was."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from tools.hosts.load import Outcome

_SIGNS = {"least": ">=", "most": "<="}


@dataclass(frozen=True)
class Bar:
    """A figure, and what it must reach at least, or may be at most."""

    name: str
    figure: float
    kind: Literal["least", "most"]
    limit: float
    of: str = "swift"
    """What it is a bar of: `swift` in the kernel's TCP, `testbed`, `fastpass` or `swing`."""

    @property
    def reached(self) -> bool:
        """Whether it is; a figure that could not be measured is not."""
        if math.isnan(self.figure):
            return False
        return self.figure >= self.limit if self.kind == "least" else self.figure <= self.limit

    def line(self) -> str:
        """Return `swift NAME FIGURE BAR ok|short`, or `testbed ...`."""
        verdict = "ok" if self.reached else "short"
        return f"{self.of} {self.name} {self.figure:.4g} {_SIGNS[self.kind]}{self.limit:g} {verdict}"


def skipped(name: str, reason: object, of: str = "swift") -> str:
    """Return the line of what this machine cannot measure."""
    return f"{of} {name} skipped {' '.join(str(reason).split())}"


@dataclass(frozen=True)
class Pairs:
    """Runs of Swift and of what it is held against, in turn."""

    swift: Sequence[Outcome]
    other: Sequence[Outcome]

    def ratio(self, figure: Callable[[Outcome], float]) -> float:
        """Return the median over the pairs of Swift's figure over the other's.

        Of pairs, as a machine with other work on it is fast at one time and slow at another.
        """
        return median(
            _over(figure(swift), figure(other)) for swift, other in zip(self.swift, self.other, strict=True)
        )


def middle(outcomes: Sequence[Outcome], figure: Callable[[Outcome], float]) -> float:
    """Return the median of a figure."""
    return median(figure(outcome) for outcome in outcomes)


def measured(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return the line of what was measured of one congestion control: medians."""
    return (
        f"measured {name} {outcomes[0].control}"
        f" {middle(outcomes, lambda each: each.goodput_mbps):.4g} Mb/s,"
        f" srtt {middle(outcomes, lambda each: each.srtt_ms):.3g} ms,"
        f" Jain {middle(outcomes, lambda each: each.jain):.3f},"
        f" {middle(outcomes, lambda each: each.retransmissions):.0f} retransmissions,"
        f" {middle(outcomes, lambda each: each.drops):.0f} drops"
    )


def _over(figure: float, other: float) -> float:
    if other:
        return figure / other
    return math.inf if figure else 0.0
