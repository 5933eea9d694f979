"""How every figure looks: a paper's columns, colours that all eyes tell apart, fonts that are embedded.

The colours are those of Okabe and Ito, "Color Universal Design" (2008), black last, which Wong, "Points of
view: Color blindness", Nature Methods 8:441 (2011), recommends for figures; neighbouring lines differ in
their dashes, too. Those of heat maps are cividis (Nuñez, Anderton and Renslow, "Optimizing colormaps with
consideration for color vision deficiency", PLoS ONE 13(7), 2018), whose lightness grows evenly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000")
"""Blue, vermilion, bluish green, reddish purple, orange, sky blue, yellow and black."""
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (4, 1.5, 1, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HEAT = "cividis"
BAND = 0.2
"""How opaque the band of an interval is."""
WIDTHS: Mapping[int, float] = {1: 3.33, 2: 7.0}
"""Inches of one and of two columns, as those of ACM, IEEE and USENIX have them, give or take a tenth."""
DOTS_PER_INCH = 300
_POINTS = 8.0
_SMALL = 7.0

_SETTINGS: Mapping[Any, Any] = {
    "font.family": "DejaVu Sans",  # matplotlib brings it, so a figure is the same everywhere
    "font.size": _POINTS,
    "axes.labelsize": _POINTS,
    "axes.titlesize": _POINTS,
    "xtick.labelsize": _SMALL,
    "ytick.labelsize": _SMALL,
    "legend.fontsize": _SMALL,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.2,
    "legend.borderpad": 0.2,
    "legend.labelspacing": 0.3,
    "text.hinting": "none",  # so that a legend is as wide in every format
    "text.parse_math": False,  # a dollar in a label is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "pdf.fonttype": 42,  # TrueType, which publishers ask for, and no Type 3
    "ps.fonttype": 42,
    "svg.fonttype": "path",  # text as outlines, as an SVG has no fonts with it
    "svg.hashsalt": "clearway",  # names in an SVG are the same each time
    "savefig.dpi": DOTS_PER_INCH,
    "figure.dpi": 100,
}


@contextmanager
def style() -> Iterator[None]:
    """Set everything that decides how a figure looks, whatever the reader's own settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        for key, value in _SETTINGS.items():
            mpl.rcParams[key] = value
        yield


def colour(number: int) -> str:
    """Return the colour of this number; they begin anew after the last."""
    return PALETTE[number % len(PALETTE)]
