"""Drawings other than lines: bars by place, colours over time, and the timeline of a job."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from clearway.plotting.lines import Entry, logarithmic, printable, with_units
from clearway.plotting.panels import Heat, Lanes, Ranking
from clearway.plotting.style import HEAT, colour
from clearway.report.charts import unit_of_time
from clearway.report.sheet import Bars

_GROUP = 0.8  # of the room of a place, for its bars
_LANE = 0.4  # of the height of a rank
_MOST_NAMES = 40  # beside the rows of a heat map
_CHARACTERS = 28  # of a line of the name of a bar


def draw_ranking(axes: Axes, ranking: Ranking) -> list[Entry]:
    """Draw bars by place, those of the first place on top."""
    places = np.arange(len(ranking.places))
    thick = _GROUP / len(ranking.series)
    for number, series in enumerate(ranking.series):
        at = places + (number - (len(ranking.series) - 1) / 2) * thick
        errors = None
        if series.low is not None and series.high is not None:
            errors = np.nan_to_num(np.array([series.values - series.low, series.high - series.values]))
        look = {"elinewidth": 0.7, "capsize": 1.5}
        axes.barh(at, series.values, thick * 0.9, color=colour(series.colour), xerr=errors, error_kw=look)
    axes.set_yticks(places, [printable(place) for place in ranking.places])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(left=0.0)
    axes.set_xlabel(with_units(ranking.x))
    return _patches([(series.label, series.colour) for series in ranking.series])


def draw_bars(axes: Axes, bars: Bars) -> list[Entry]:
    """Draw bars with their values beside them; what they are is their panel's title."""
    places = np.arange(len(bars.bars))
    values = [bar.value for bar in bars.bars]
    halves = [bar.half_width for bar in bars.bars]
    axes.barh(
        places,
        values,
        _GROUP,
        color=[colour(bar.colour) for bar in bars.bars],
        xerr=halves if any(halves) else None,
        error_kw={"elinewidth": 0.7, "capsize": 1.5},
    )
    for place, bar in zip(places, bars.bars, strict=True):
        axes.annotate(
            bar.text,
            (bar.value + bar.half_width, place),
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
        )
    axes.set_yticks(places, [textwrap.fill(printable(bar.name), _CHARACTERS) for bar in bars.bars])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    if bars.log and min(values, default=0.0) > 0:
        logarithmic(axes.xaxis, [np.array(values)])
    axes.margins(x=0.3)
    return _patches([(label, number) for number, label in bars.key.items()])


def draw_heat(axes: Axes, heat: Heat) -> list[Entry]:
    """Draw a cell for each row and time, and say what the rows are: all of them if these are few."""
    rows = np.arange(len(heat.rows) + 1)
    drawn = axes.pcolormesh(
        heat.edges, rows, heat.values, cmap=HEAT, vmin=0.0, vmax=100.0, shading="flat", rasterized=True
    )
    ends = np.cumsum([0, *(count for _, count in heat.tiers)])
    if len(heat.rows) <= _MOST_NAMES:
        axes.set_yticks(rows[:-1] + 0.5, [printable(row) for row in heat.rows], fontsize=5.5)
    else:
        axes.set_yticks((ends[:-1] + ends[1:]) / 2, [printable(tier) for tier, _ in heat.tiers])
    for end in ends[1:-1]:
        axes.axhline(end, color="white", linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.set_xlabel(with_units(heat.x))
    figure = axes.get_figure()
    assert figure is not None
    figure.colorbar(drawn, ax=axes, label=heat.unit, pad=0.02, aspect=30)
    return []


def draw_lanes(axes: Axes, lanes: Lanes) -> list[Entry]:
    """Draw a row a rank: what it computes above, what it exchanges below."""
    job = lanes.timeline
    divisor, unit = unit_of_time(job.end_us)
    cell = (job.end_us - job.begin_us) / job.cells
    colours = {name: number for number, name in enumerate(job.names)}
    spans: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
    for bar in job.bars:
        span = (job.begin_us + bar.first * cell) / divisor, (bar.last - bar.first) * cell / divisor
        spans.setdefault((bar.name, bar.row, bar.lane), []).append(span)
    for (name, row, lane), of_lane in sorted(spans.items(), key=lambda of: (colours[of[0][0]], of[0])):
        place = (row - _LANE + lane * _LANE, _LANE)
        axes.broken_barh(of_lane, place, facecolors=colour(colours[name]), linewidth=0.0)
    axes.set_yticks(range(len(job.ranks)), [str(rank) for rank in job.ranks])
    axes.set_ylim(len(job.ranks) - 0.5, -0.5)
    axes.set_xlim(job.begin_us / divisor, job.end_us / divisor)
    axes.grid(visible=False, axis="y")
    axes.set_ylabel("rank")
    axes.set_xlabel(with_units(f"simulated time ({unit})"))
    there = {bar.name for bar in job.bars}
    return _patches([(name, number) for name, number in colours.items() if name in there])


def _patches(named: Sequence[tuple[str, int]]) -> list[Entry]:
    return (
        [(label, Patch(color=colour(number))) for label, number in named if label] if len(named) > 1 else []
    )
