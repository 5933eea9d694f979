"""Lines over time as wide as the page: curves are SVG, and the numbers beside them are the page's text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Line:
    """One line: its label and its points, in the units of the axes."""

    label: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Chart:
    """What is drawn, and what is said about it."""

    title: str
    note: str
    x_unit: str
    y_unit: str
    lines: Sequence[Line]
    log: bool = False
    """Whether y is logarithmic; else it begins at zero."""

    def html(self) -> str:
        """Draw it as a section of a page."""
        ticks = logarithmic_ticks(self._values()) if self.log else linear_ticks(max(self._values()))
        low, high = ticks[0], ticks[-1]
        last = self._end()
        rows = [(100 - self._height(tick, low, high), tick) for tick in ticks]
        columns = [(100 * tick / last, tick) for tick in linear_ticks(last) if tick <= last]
        grid = "".join(f'<path class="grid" d="M0 {place:.2f}H100"/>' for place, _ in rows)
        # The last one, which the page is about, lies on top.
        curves = "".join(
            f'<path class="line look-{look}" d="M{"L".join(self._places(line, low, high, last))}"/>'
            for look, line in enumerate(self.lines, 1)
        )
        y_texts = "".join(f'<span style="top:{place:.2f}%">{tick:g}</span>' for place, tick in rows)
        x_texts = "".join(f'<span style="left:{place:.2f}%">{tick:g}</span>' for place, tick in columns)
        return (
            f"<section><h2>{escape(self.title)}, in {escape(self.y_unit)}</h2>"
            f"<p>{escape(self.note)}</p>{self._key()}"
            f'<div class="plot"><div class="y">{y_texts}</div>'
            f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img" '
            f'aria-label="{escape(self.title)}">{grid}{curves}</svg><div class="x">{x_texts}</div></div>'
            f'<p class="units">{escape(self.x_unit)}</p></section>'
        )

    def _end(self) -> float:
        """Return the end of the x axis: a round number, if the lines nearly reach one."""
        last = max(x for line in self.lines for x, _ in line.points)
        tick = linear_ticks(last)[-1]
        return tick if last > 0.9 * tick else last

    def _key(self) -> str:
        names = "".join(
            f'<span><svg viewBox="0 0 26 8"><path class="line look-{look}" d="M1 4H25"/></svg>'
            f"{escape(line.label)}</span>"
            for look, line in enumerate(self.lines, 1)
        )
        return f'<p class="key">{names}</p>'

    def _values(self) -> list[float]:
        return [y for line in self.lines for _, y in line.points]

    def _places(self, line: Line, low: float, high: float, last: float) -> list[str]:
        return [f"{100 * x / last:.2f} {100 - self._height(y, low, high):.2f}" for x, y in line.points]

    def _height(self, value: float, low: float, high: float) -> float:
        """Return where a value is on the y axis, in per cent of it."""
        if self.log:
            return 100 * math.log(value / low) / math.log(high / low)
        return 100 * (value - low) / (high - low)


def linear_ticks(most: float) -> list[float]:
    """Return some five round numbers from zero to the first that is `most` or more."""
    power = 10.0 ** math.floor(math.log10(most / 5))
    step = power * next(digit for digit in (1, 2, 5, 10) if digit * power >= most / 5 * 0.999)
    return [step * number for number in range(math.ceil(most / step - 1e-9) + 1)]


def logarithmic_ticks(values: Sequence[float]) -> list[float]:
    """Return the numbers 1, 2 and 5 times a power of ten that enclose these values, which are above zero."""
    powers = range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)
    all_ticks = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    first = max(place for place, tick in enumerate(all_ticks) if tick <= min(values))
    last = min(place for place, tick in enumerate(all_ticks) if tick >= max(values) and place > first)
    return all_ticks[first : last + 1]
