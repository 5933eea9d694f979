"""How much more or less one figure is than another, in words that follow the figures."""

from __future__ import annotations

from dataclasses import dataclass

from clearway.figures import TWICE, times

_ALIKE = 0.01  # relative: below it two figures are called alike


@dataclass(frozen=True)
class Words:
    """What a figure is called that is smaller, larger or as large as another."""

    smaller: str
    larger: str
    alike: str

    def order(self, mine: float, other: float) -> str:
        """Say which is the larger: "shorter than", "longer than", "as long as"."""
        if abs(mine - other) <= _ALIKE * max(mine, other):
            return self.alike
        return self.smaller if mine < other else self.larger

    def beside(self, mine: float, other: float) -> str:
        """Say how far one is from the other: "9x shorter than", "27 % more than", "as long as"."""
        word = self.order(mine, other)
        small, large = sorted((mine, other))
        if word == self.alike or small <= 0:
            return word
        factor = large / small
        if factor >= TWICE:
            return f"{times(factor)} {word}"
        return f"{abs(mine - other) / other * 100:.0f} % {word}"


LENGTH = Words("shorter than", "longer than", "as long as")
AMOUNT = Words("less than", "more than", "as much as")
EQUALITY = Words("less equal shares", "more equal shares", "shares as equal")


def share(mine: float, other: float) -> str:
    """Write the one as a share of the other."""
    return f"{mine / other * 100:.3g} %"
