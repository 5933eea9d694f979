"""Lines over time as an SVG picture that can be read on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 692, 78, 258  # of what is drawn
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#57606a}.title{font-size:15px;font-weight:600}"
    ".grid{stroke:#8c959f;stroke-opacity:.35}.line{fill:none;stroke-width:2;stroke-linejoin:round}"
    ".one{stroke:#0969da}.two{stroke:#bc4c00;stroke-dasharray:7 3}.three{stroke:#1a7f37;stroke-dasharray:2 3}"
    "@media(prefers-color-scheme:dark){text{fill:#9da7b3}.one{stroke:#58a6ff}.two{stroke:#f0883e}"
    ".three{stroke:#3fb950}}"
)
_LOOKS = ("one", "two", "three")
_KEY_WIDTH, _LETTER, _GAP = 28, 6.6, 10  # of a sample of a line, of a letter, between two labels


@dataclass(frozen=True)
class Line:
    """One line: its label, and its points in the units of the axes."""

    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True)
class Picture:
    """What is drawn, and what is said about it."""

    title: str
    subtitle: str
    description: str
    """What a reader hears who does not see the picture."""
    x_unit: str
    y_unit: str
    lines: Sequence[Line]
    log: bool = False
    """Whether y is logarithmic, in whole decades; else it begins at zero."""

    def svg(self) -> str:
        """Draw it."""
        low, high, ticks = self._y_axis()
        last = max(float(line.x.max()) for line in self.lines)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" role="img" aria-label="{escape(self.description)}">',
            f"<style>{_STYLE}</style>",
            f'<text class="title" x="{_LEFT}" y="20">{escape(self.title)}</text>',
            f'<text x="{_LEFT}" y="40">{escape(self.subtitle)}</text>',
            *self._key(),
        ]
        for tick in ticks:
            y = self._place_y(tick, low, high)
            parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>')
            text = f"{tick:,g} {self.y_unit}"
            parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
        for tick in _steps(last):
            text = f"{tick:g} {self.x_unit}" if tick else "0"
            x = _place_x(tick, last)
            parts.append(f'<text x="{x:.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{text}</text>')
        # The first line, which the picture is about, lies on top.
        for line, look in reversed(list(zip(self.lines, _LOOKS, strict=False))):
            places = [
                f"{_place_x(x, last):.1f} {self._place_y(y, low, high):.1f}"
                for x, y in zip(line.x.tolist(), line.y.tolist(), strict=True)
            ]
            parts.append(f'<path class="line {look}" d="M{"L".join(places)}"/>')
        return "\n".join([*parts, "</svg>"]) + "\n"

    def _key(self) -> list[str]:
        """Say what each line is, above all of them."""
        parts, x = [], float(_LEFT)
        for line, look in zip(self.lines, _LOOKS, strict=False):
            parts.append(f'<path class="line {look}" d="M{x:.1f} 57h{_KEY_WIDTH - 6}"/>')
            parts.append(f'<text x="{x + _KEY_WIDTH:.1f}" y="61">{escape(line.label)}</text>')
            x += _KEY_WIDTH + _LETTER * len(line.label) + _GAP
        return parts

    def _y_axis(self) -> tuple[float, float, list[float]]:
        """Return the ends of the axis, and where it has lines."""
        values = np.concatenate([line.y for line in self.lines])
        if not self.log:
            ticks = _steps(float(values.max()) * 1.02)
            return 0.0, float(values.max()) * 1.02, ticks
        first, last = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))
        decades = [10.0**power for power in range(first, last + 1)]
        return decades[0], decades[-1], decades

    def _place_y(self, value: float, low: float, high: float) -> float:
        if self.log:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return _BOTTOM - (value - low) / (high - low) * (_BOTTOM - _TOP)


def _place_x(value: float, last: float) -> float:
    return _LEFT + value / last * (_RIGHT - _LEFT)


def _steps(last: float) -> list[float]:
    """Return round numbers from zero to at most `last`, some five of them."""
    power = 10.0 ** math.floor(math.log10(last / 5))
    step = power * next(digit for digit in (1, 2, 5, 10) if digit * power >= last / 5)
    return [step * number for number in range(int(last / step + 1e-9) + 1)]
