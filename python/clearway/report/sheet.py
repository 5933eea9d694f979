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
from clearway.report.charts import Chart
from clearway.report.page import asset, card, filled, swatch

_WIDEST = 62.0  # per cent of its track: a value stands beside the bar


@dataclass(frozen=True)
class Bar:
    """One bar: what it is of, its value, how the value is written."""

    name: str
    value: float
    text: str
    colour: int = 0


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
        rows = "".join(
            f'<span class="name">{escape(bar.name)}</span><span class="track">'
            f'<i class="bar" style="width: {width:.2f}%; --colour: var(--series-{bar.colour + 1})"></i>'
            f'<span class="value">{escape(bar.text)}</span></span>'
            for bar, width in zip(self.bars, self._widths(), strict=True)
        )
        names = "".join(f"<span>{swatch(colour)}{escape(name)}</span>" for colour, name in self.key.items())
        key = f'<p class="key">{names}</p>' if names else ""
        return (
            f'<section class="card"><h3>{escape(self.title)}</h3><p>{escape(self.note)}</p>'
            f'{key}<div class="bars">{rows}</div></section>'
        )

    def _widths(self) -> list[float]:
        values = [bar.value for bar in self.bars if bar.value > 0]
        if not values:
            return [0.0] * len(self.bars)
        if not self.log:
            return [_WIDEST * max(bar.value, 0.0) / max(values) for bar in self.bars]
        # A decade below the smallest, so that it too has a bar.
        low, high = math.floor(math.log10(min(values))) - 0.5, math.log10(max(values))
        return [
            _WIDEST * (math.log10(bar.value) - low) / max(high - low, 1e-9) if bar.value > 0 else 0.0
            for bar in self.bars
        ]


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
