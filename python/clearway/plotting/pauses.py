"""The share of a run for which flow control paused each link, of the links that it paused the most."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearway.plotting.panels import Ranking, Series
from clearway.report.sources import Labelled, Source, by_run, over_seeds
from clearway.runs import Run

_MOST_LINKS = 16


def pauses(groups: Labelled) -> Ranking:
    """Rank links, each with its class where there are classes, by the longest share of any run."""
    found: list[tuple[Source, list[dict[str, float]]]] = []
    for source in by_run(groups, "pauses"):
        runs = [run for run in groups[source.look.run][1].runs if "pauses" in run.tables]
        found.append((source, [_shares(run) for run in runs]))
    means: dict[str, float] = {}
    for _, seeds in found:
        for name in dict.fromkeys(name for seed in seeds for name in seed):
            mean = float(np.mean([seed.get(name, 0.0) for seed in seeds]))
            means[name] = max(means.get(name, 0.0), mean)
    paused = sorted((name for name in means if means[name] > 0), key=lambda name: -means[name])
    places = paused[:_MOST_LINKS]
    left = len(paused) - len(places)
    more = f" {left} more links were paused, each for less." if left else ""
    return Ranking(
        "Links paused",
        f"Share of the run for which flow control paused a link, whose far end sends the PAUSEs. "
        f"{len(means) - len(paused)} of {len(means)} links that it can pause never were.{more}",
        "time paused (% of the run)",
        places,
        [_series(source, seeds, places) for source, seeds in found] if places else [],
    )


def _shares(run: Run) -> dict[str, float]:
    """Return the share of the run, in per cent, for which each link and class was paused."""
    rows = run.tables["pauses"]
    names = [f"{link} {of_class}".strip() for link, of_class in zip(rows["link"], rows["class"], strict=True)]
    shares = 100 * rows["paused_us"] / float(run.summary["simulated_us"])
    return dict(zip(names, map(float, shares), strict=True))


def _series(source: Source, seeds: list[dict[str, float]], places: list[str]) -> Series:
    values: Any = np.array([[seed.get(place, 0.0) for place in places] for seed in seeds])
    found = over_seeds(values)
    return Series(source.label, source.look.colour, found.mean, found.low, found.high)
