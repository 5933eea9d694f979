"""How loaded links are over time, tier by tier."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.plotting.panels import Heat
from clearway.report.chart import Floats
from clearway.report.charts import unit_of_time
from clearway.report.sources import Labelled, by_run, interval_us, thinned

_DIGITS = re.compile(r"(\d+)")


def loads(groups: Labelled) -> list[Heat]:
    """Show the load of each switch port that sent anything, a panel a run; of several seeds their mean."""
    return [
        _of_run(source.label, source.tables, interval_us(groups[source.look.run][1].runs[0], "links") or 0.0)
        for source in by_run(groups, "links_series")
    ]


def _of_run(label: str, tables: Sequence[Mapping[str, NDArray[Any]]], step: float) -> Heat:
    names = sorted(set(np.concatenate([np.unique(rows["link"]) for rows in tables]).tolist()), key=_order)
    times = np.unique(np.concatenate([rows["time_us"] for rows in tables]).astype(float))
    grid = np.mean([_grid(rows, names, times) for rows in tables], axis=0)
    kept, values = thinned(times, grid, 1, np.nanmean)
    edges = np.append(kept - step, times[-1])
    divisor, unit = unit_of_time(float(edges[-1]))
    tiers = [(tier, len(list(links))) for tier, links in groupby(names, _tier)]
    return Heat(
        f"Load of links: {label}" if label else "Load of links",
        "Bytes of all classes that each switch port put on its link over what the rate allows; ports that "
        "sent nothing are left out.",
        f"simulated time ({unit})",
        edges / divisor,
        names,
        tiers,
        100 * values,
        "load (%)",
    )


def _grid(rows: Mapping[str, NDArray[Any]], names: Sequence[str], times: Floats) -> Floats:
    """Put the loads below each other, a row a link; each class of a link has the load of them all."""
    grid = np.zeros((len(names), len(times)))
    found, of_row = np.unique(rows["link"], return_inverse=True)
    places = {name: place for place, name in enumerate(names)}
    at = np.array([places[str(name)] for name in found])
    grid[at[of_row], np.searchsorted(times, rows["time_us"])] = rows["utilisation"]
    return grid


def _tier(link: str) -> str:
    """Say what a link has in common with others: the names of its ends without their numbers."""
    return _DIGITS.sub("", link)


def _order(link: str) -> tuple[str, list[int]]:
    """Put links by tier, and in the order of the numbers in their names."""
    return _tier(link), [int(digits) for digits in _DIGITS.findall(link)]
