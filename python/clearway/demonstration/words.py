"""How much more or less one figure is than another, in words that follow the figures."""

from __future__ import annotations

from dataclasses import dataclass

_ALIKE = 0.01  # relative: below it two figures are called alike
_TWICE = 2.0  # from here on a factor reads better than a percentage
_MANY = 10.0  # from here on a factor has no decimals


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
        if factor >= _TWICE:
            return f"{factor:,.0f}x {word}" if factor >= _MANY else f"{factor:.2g}x {word}"
        return f"{abs(mine - other) / other * 100:.0f} % {word}"


LENGTH = Words("shorter than", "longer than", "as long as")
AMOUNT = Words("less than", "more than", "as much as")
EQUALITY = Words("less equal shares", "more equal shares", "shares as equal")


def share(mine: float, other: float) -> str:
    """Write the one as a share of the other."""
    return f"{mine / other * 100:.3g} %"
