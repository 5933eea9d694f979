"""Timelines of jobs: what each rank computes and exchanges over time, as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.report.sources import COLOURS, Labelled
from clearway.runs import Run

_PANELS = 4  # of a page: jobs that have a timeline
_RANKS = 16  # of a panel
_CELLS = 600  # into which the time of a panel is cut, each with one colour
_LABEL = 64  # pixels of the column with the numbers of ranks
_WIDTH = 1100
_LANE = 9
_ROW = 2 * _LANE + 6
_AXIS = 34

Rows = Mapping[str, NDArray[Any]]


def timelines(groups: Labelled) -> str:
    """Return the section with the timelines of all runs that have some; nothing where none has."""
    panels = [panel for label, group in groups for panel in _of_run(label, group.runs[0], len(groups) > 1)]
    if not panels:
        return ""
    more = len(panels) - _PANELS
    note = (
        "Above in each row what a rank computes, below what it sends and waits for; where several are under "
        "way, the one that takes the most of the time is shown. clearway export perfetto writes all of it "
        "for ui.perfetto.dev."
    )
    left_out = f" {more} more {'job has' if more == 1 else 'jobs have'} one." if more > 0 else ""
    return (
        f'<section class="timelines"><h2>Timeline of jobs</h2><p>{note}{left_out}</p>'
        f"{''.join(panels[:_PANELS])}</section>"
    )


def _of_run(label: str, run: Run, named: bool) -> Iterator[str]:
    rows = run.tables.get("timeline")
    if rows is None:
        return
    names = run.tables["jobs"]["name"]
    for job in np.unique(rows["job"]):
        title = str(names[int(job)])
        yield _panel(f"{label}: {title}" if named else title, _where(rows, rows["job"] == job))


def _where(rows: Rows, chosen: NDArray[Any]) -> Rows:
    return {name: values[chosen] for name, values in rows.items()}


def _panel(title: str, rows: Rows) -> str:
    """Draw the timeline of a job."""
    ranks = np.unique(rows["rank"])[:_RANKS]
    rows = _where(rows, np.isin(rows["rank"], ranks))
    begin, end = float(rows["start_us"].min()), float(rows["end_us"].max())
    names = list(dict.fromkeys(str(name) for name in rows["name"]))
    colours = {name: number % COLOURS + 1 for number, name in enumerate(names)}
    paths: dict[str, list[str]] = {name: [] for name in names}
    labels = []
    for row, rank in enumerate(ranks):
        top = row * _ROW
        labels.append(f'<text x="0" y="{top + _LANE + 4}">rank {int(rank)}</text>')
        own = _where(rows, rows["rank"] == rank)
        computed = own["kind"] == "calc"
        for lane, chosen in enumerate((computed, ~computed)):
            for name, first, last in _bars(_where(own, chosen), names, begin, end):
                left = _LABEL + first * (_WIDTH - _LABEL) / _CELLS
                width = (last - first) * (_WIDTH - _LABEL) / _CELLS
                paths[name].append(f"M{left:.1f} {top + lane * _LANE}h{width:.1f}v{_LANE - 1}h-{width:.1f}z")
    height = len(ranks) * _ROW
    bars = "".join(
        f'<path d="{"".join(parts)}" style="fill: var(--series-{colours[name]})"/>'
        for name, parts in paths.items()
        if parts
    )
    legend = "".join(
        f'<li><i class="swatch" style="--colour: var(--series-{colours[name]})"></i>{escape(name)}</li>'
        for name in names
    )
    described = escape(f"Timeline of {title}: {len(ranks)} ranks, {begin:.6g} us to {end:.6g} us")
    return (
        f'<h3>{escape(title)}</h3><ul class="names">{legend}</ul><div class="scroll">'
        f'<svg role="img" aria-label="{described}" width="{_WIDTH}" height="{height + _AXIS}" '
        f'viewBox="0 0 {_WIDTH} {height + _AXIS}">'
        f"{_grid(begin, end, height)}{bars}{''.join(labels)}</svg></div>"
    )


def _bars(rows: Rows, names: list[str], begin: float, end: float) -> Iterator[tuple[str, int, int]]:
    """Yield which operations are shown from which cell to which."""
    taken = np.zeros((len(names), _CELLS))
    scale = _CELLS / (end - begin)
    for number, name in enumerate(names):
        chosen = rows["name"] == name
        starts, ends = ((rows[column][chosen] - begin) * scale for column in ("start_us", "end_us"))
        for start, stop in zip(*_united(starts, ends), strict=True):
            first, last = int(start), min(int(stop), _CELLS - 1)
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
    for first, last in zip([0, *changes], [*changes, _CELLS], strict=True):
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
