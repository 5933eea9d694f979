"""Timelines of jobs: what each rank computes and exchanges over time, as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.sources import COLOURS, Labelled
from clearway.runs import Run

_CELLS = 600  # into which the time of a panel is cut, each with one colour
_LABEL = 64  # pixels of the column with the numbers of ranks
_WIDTH = 1100
_LANE = 9
_ROW = 2 * _LANE + 6
_AXIS = 34

Rows = Mapping[str, NDArray[Any]]

PANELS = 4
"""Jobs whose timelines are drawn, at most."""
RANKS = 16
"""Ranks of a job that are drawn, at most."""


@dataclass(frozen=True)
class Bar:
    """A stretch of time of a rank in one colour."""

    row: int
    """The rank's place among those that are drawn."""
    lane: int
    """0 for what it computes, 1 for what it exchanges."""
    name: str
    """The operations that are under way."""
    first: int
    """The cell in which it begins."""
    last: int
    """The cell before which it ends."""


@dataclass(frozen=True)
class Timeline:
    """The timeline of a job, its time cut into cells of one length."""

    title: str
    ranks: Sequence[int]
    names: Sequence[str]
    """What operations are called, in the order in which they come first."""
    begin_us: float
    end_us: float
    cells: int
    bars: Sequence[Bar]


def timelines(groups: Labelled) -> str:
    """Return the section with the timelines of all runs that have some; nothing where none has."""
    panels = [panel for label, group in groups for panel in _of_run(label, group.runs[0], len(groups) > 1)]
    if not panels:
        return ""
    more = len(panels) - PANELS
    note = (
        "Above in each row what a rank computes, below what it sends and waits for; where several are under "
        "way, the one that takes the most of the time is shown. clearway export perfetto writes all of it "
        "for ui.perfetto.dev."
    )
    left_out = f" {more} more {'job has' if more == 1 else 'jobs have'} one." if more > 0 else ""
    return (
        f'<section class="timelines"><h2>Timeline of jobs</h2><p>{note}{left_out}</p>'
        f"{''.join(panels[:PANELS])}</section>"
    )


def of_jobs(run: Run, cells: int) -> Iterator[Timeline]:
    """Yield the timeline of each job of a run that has one."""
    rows = run.tables.get("timeline")
    if rows is None:
        return
    titles = run.tables["jobs"]["name"]
    for job in np.unique(rows["job"]):
        yield _of_job(str(titles[int(job)]), _where(rows, rows["job"] == job), cells)


def _of_job(title: str, rows: Rows, cells: int) -> Timeline:
    """Find out what is to be shown of each rank of a job in each cell."""
    ranks = np.unique(rows["rank"])[:RANKS]
    rows = _where(rows, np.isin(rows["rank"], ranks))
    begin, end = float(rows["start_us"].min()), float(rows["end_us"].max())
    names = list(dict.fromkeys(str(name) for name in rows["name"]))
    bars = []
    for row, rank in enumerate(ranks):
        own = _where(rows, rows["rank"] == rank)
        computed = own["kind"] == "calc"
        for lane, chosen in enumerate((computed, ~computed)):
            shown = _bars(_where(own, chosen), names, begin, end, cells)
            bars += [Bar(row, lane, name, first, last) for name, first, last in shown]
    return Timeline(title, [int(rank) for rank in ranks], names, begin, end, cells, bars)


def _of_run(label: str, run: Run, named: bool) -> Iterator[str]:
    for job in of_jobs(run, _CELLS):
        yield _panel(f"{label}: {job.title}" if named else job.title, job)


def _where(rows: Rows, chosen: NDArray[Any]) -> Rows:
    return {name: values[chosen] for name, values in rows.items()}


def _panel(title: str, job: Timeline) -> str:
    """Draw the timeline of a job."""
    colours = {name: number % COLOURS + 1 for number, name in enumerate(job.names)}
    paths: dict[str, list[str]] = {name: [] for name in job.names}
    for bar in job.bars:
        left = _LABEL + bar.first * (_WIDTH - _LABEL) / job.cells
        width = (bar.last - bar.first) * (_WIDTH - _LABEL) / job.cells
        top = bar.row * _ROW + bar.lane * _LANE
        paths[bar.name].append(f"M{left:.1f} {top}h{width:.1f}v{_LANE - 1}h-{width:.1f}z")
    labels = [
        f'<text x="0" y="{row * _ROW + _LANE + 4}">rank {rank}</text>' for row, rank in enumerate(job.ranks)
    ]
    height = len(job.ranks) * _ROW
    drawn = "".join(
        f'<path d="{"".join(parts)}" style="fill: var(--series-{colours[name]})"/>'
        for name, parts in paths.items()
        if parts
    )
    legend = "".join(
        f'<li><i class="swatch" style="--colour: var(--series-{colours[name]})"></i>{escape(name)}</li>'
        for name in job.names
    )
    begin, end = job.begin_us, job.end_us
    described = escape(f"Timeline of {title}: {len(job.ranks)} ranks, {begin:.6g} us to {end:.6g} us")
    return (
        f'<h3>{escape(title)}</h3><ul class="names">{legend}</ul><div class="scroll">'
        f'<svg role="img" aria-label="{described}" width="{_WIDTH}" height="{height + _AXIS}" '
        f'viewBox="0 0 {_WIDTH} {height + _AXIS}">'
        f"{_grid(begin, end, height)}{drawn}{''.join(labels)}</svg></div>"
    )


def _bars(
    rows: Rows, names: list[str], begin: float, end: float, cells: int
) -> Iterator[tuple[str, int, int]]:
    """Yield which operations are shown from which cell to which."""
    taken = np.zeros((len(names), cells))
    scale = cells / (end - begin)
    for number, name in enumerate(names):
        chosen = rows["name"] == name
        starts, ends = ((rows[column][chosen] - begin) * scale for column in ("start_us", "end_us"))
        for start, stop in zip(*_united(starts, ends), strict=True):
            first, last = int(start), min(int(stop), cells - 1)
            if first == last:
                taken[number, first] += stop - start
                continue
            taken[number, first] += first + 1 - start
            taken[number, first + 1 : last] += 1
            taken[number, last] += stop - last
    if not names:
        return
    shown = np.where(taken.max(axis=0) > 0, taken.argmax(axis=0), -1)
    changes = np.flatnonzero(np.diff(shown)) + 1
    for first, last in zip([0, *changes], [*changes, cells], strict=True):
        if shown[first] >= 0:
            yield names[int(shown[first])], int(first), int(last)


def _united(starts: NDArray[Any], ends: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where any of these spans is, as spans that do not overlap."""
    if not len(starts):
        return starts, ends
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    first = np.concatenate(([True], starts[1:] > reached[:-1]))
    return starts[first], reached[np.concatenate((first[1:], [True]))]


def _grid(begin: float, end: float, height: int) -> str:
    """Draw lines at round times, with their labels below."""
    divisor, unit = next(
        (each for each in ((1e6, "s"), (1e3, "ms")) if end - begin >= 2 * each[0]), (1.0, "us")
    )
    rough = (end - begin) / divisor / 6
    power = 10 ** np.floor(np.log10(rough))
    step = float(power * next(digit for digit in (1, 2, 5, 10) if digit * power >= rough))
    parts = []
    for number in range(int(np.ceil(begin / divisor / step)), int(end / divisor / step) + 1):
        x = _LABEL + (number * step * divisor - begin) * (_WIDTH - _LABEL) / (end - begin)
        parts.append(f'<path class="rule" d="M{x:.1f} 0v{height}"/>')
        anchor = "end" if x > _WIDTH - 30 else "middle"
        text = f"{number * step:.6g} {unit}"
        parts.append(f'<text x="{x:.1f}" y="{height + 18}" text-anchor="{anchor}">{text}</text>')
    return "".join(parts)
