"""A page made of sections with charts and bars in them: what a sweep and a paper write.

It uses the charts, the script and the style of a run's report, and like it needs no network.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from clearway import _clearway
from clearway.report.chart import Chart
from clearway.report.page import asset, card, filled, swatch

_NARROWEST = 0.8  # per cent of its track: an interval's two ends are apart
_WIDEST = 62.0  # per cent of its track: a value stands beside the bar


@dataclass(frozen=True)
class Bar:
    """One bar: what it is of, its value, how the value is written."""

    name: str
    value: float
    text: str
    colour: int = 0
    half_width: float = 0.0
    """Half the width of its interval; 0 where there is none."""


@dataclass(frozen=True)
class Bars:
    """Bars under a title."""

    title: str
    note: str
    bars: Sequence[Bar]
    log: bool = False
    key: Mapping[int, str] = field(default_factory=dict)
    """What each colour means, if there are several."""

    def html(self) -> str:
        """Draw them without a script."""
        rows = "".join(self._row(bar) for bar in self.bars)
        names = "".join(f"<span>{swatch(colour)}{escape(name)}</span>" for colour, name in self.key.items())
        key = f'<p class="key">{names}</p>' if names else ""
        return (
            f'<section class="card"><h3>{escape(self.title)}</h3><p>{escape(self.note)}</p>'
            f'{key}<div class="bars">{rows}</div></section>'
        )

    def _row(self, bar: Bar) -> str:
        width, colour = self._place(bar.value), f"var(--series-{bar.colour + 1})"
        end, interval = width, ""
        low, high = (self._place(bar.value + sign * bar.half_width) for sign in (-1, 1))
        if high - low > _NARROWEST:
            end = high
            interval = f'<i class="interval" style="left: {low:.2f}%; width: {end - low:.2f}%"></i>'
        return (
            f'<span class="name">{escape(bar.name)}</span><span class="track">'
            f'<i class="bar" style="width: {width:.2f}%; --colour: {colour}"></i>{interval}'
            f'<span class="value" style="margin-left: {end - width:.2f}%">{escape(bar.text)}</span></span>'
        )

    def _place(self, value: float) -> float:
        """Return where a value is on the track, in per cent of it."""
        ends = [bar.value + bar.half_width for bar in self.bars if bar.value > 0]
        if not ends or value <= 0:
            return 0.0
        if not self.log:
            return _WIDEST * min(value, max(ends)) / max(ends)
        # Half a decade below the smallest, so that it too has a bar.
        low = math.floor(math.log10(min(bar.value for bar in self.bars if bar.value > 0))) - 0.5
        share = (math.log10(value) - low) / max(math.log10(max(ends)) - low, 1e-9)
        return _WIDEST * min(max(share, 0.0), 1.0)


@dataclass
class Sheet:
    """Sections, in order; charts are numbered through the page."""

    title: str
    sections: list[str] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)

    def drawn(self, drawings: Sequence[Chart | Bars]) -> str:
        """Return the cards of these charts and bars, which the page's script then fills."""
        cards = []
        for drawing in drawings:
            if isinstance(drawing, Bars):
                cards.append(drawing.html())
            else:
                cards.append(card(len(self.charts), drawing))
                self.charts.append(drawing)
        return f'<div class="charts">{"".join(cards)}</div>' if cards else ""

    def page(self) -> str:
        """Return the page."""
        return filled(
            "sheet.html",
            {
                "title": escape(self.title),
                "body": "\n".join(self.sections),
                "version": escape(_clearway.VERSION),
                "data": json.dumps([chart.as_json() for chart in self.charts], separators=(",", ":")).replace(
                    "<", "\\u003c"
                ),
                "sheet_style": asset("sheet.css"),
            },
        )
