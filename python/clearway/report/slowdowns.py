"""The table of slowdowns by flow size: how many flows there are, how many ended, and how they fared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from clearway.columns import where
from clearway.figures import AtLeast, readable
from clearway.report.chart import Floats
from clearway.report.charts import ages, sized
from clearway.report.sources import Labelled, Look, Source, by_transport
from clearway.statistics import Interval, interval

_MOST_SIZES = 8  # from here on sizes share rows, by decade


@dataclass(frozen=True)
class Fared:
    """How the flows of one size fared under one transport of one run, over its seeds."""

    label: str
    look: Look
    flows: Interval
    unfinished: Interval
    mean: Interval
    median: Interval
    tail: Interval
    """The 99th percentile."""

    def cells(self) -> Sequence[str]:
        """Write the figures, in the order of `HEADINGS`."""
        counts = (self.flows, self.unfinished)
        slowdowns = (self.mean, self.median, self.tail)
        return [
            *(readable("count", count.mean, count.half_width) for count in counts),
            *(readable("plain", each.mean, each.half_width) for each in slowdowns),
        ]


HEADINGS = ("flows", "unfinished", "mean", "median", "p99")


def slowdowns(groups: Labelled) -> list[tuple[str, list[Fared]]]:
    """Return the sizes of flows in words, and how each transport of each run fared with them."""
    sources = [source for source in by_transport(groups, "flows") if _any_sized(source)]
    sizes = [sized(flows)[0] for source in sources for flows in source.tables]
    if not sizes or not len(np.concatenate(sizes)):
        return []
    found = []
    for words, low, high in _bins(np.unique(np.concatenate(sizes))):
        fared = [each for source in sources if (each := _fared(source, low, high)) is not None]
        if fared:
            found.append((words, fared))
    return found


def _any_sized(source: Source) -> bool:
    return any(len(sized(flows)[0]) for flows in source.tables)


def _bins(sizes: Floats) -> Iterator[tuple[str, float, float]]:
    """Yield ranges of sizes in words, with their ends; the upper one is not in it."""
    if len(sizes) <= _MOST_SIZES:
        yield from ((readable("bytes", size), size, np.nextafter(size, math.inf)) for size in sizes)
        return
    first, last = math.floor(math.log10(sizes[0])), math.floor(math.log10(sizes[-1]))
    for decade in range(first, last + 1):
        low, high = 10.0**decade, 10.0 ** (decade + 1)
        yield f"{readable('bytes', low)} to {readable('bytes', high)}", low, high


def _fared(source: Source, low: float, high: float) -> Fared | None:
    """Measure the flows of a range of sizes; None if no seed has any."""
    counts, unfinished = [], []
    samples: dict[str, list[float]] = {"mean": [], "median": [], "tail": []}
    for flows in source.tables:
        in_range = (flows["bytes"] >= low) & (flows["bytes"] < high)
        chosen = where(flows, in_range)
        _, every = sized(chosen)
        done = chosen["slowdown"][np.isfinite(chosen["slowdown"])]
        counts.append(float(len(every)))
        unfinished.append(float(np.isfinite(ages(chosen)).sum()))
        if len(every):
            mean = float(every.mean())
            samples["mean"].append(AtLeast(mean) if unfinished[-1] else mean)
            samples["median"].append(_quantile(every, done, 0.5))
            samples["tail"].append(_quantile(every, done, 0.99))
    if not samples["mean"]:
        return None
    return Fared(
        source.label,
        source.look,
        interval(counts),
        interval(unfinished),
        **{name: interval(values) for name, values in samples.items()},
    )


def _quantile(every: Floats, done: Floats, fraction: float) -> float:
    """Return the slowdown that a fraction does not exceed, as the summary has it.

    It is a lower bound unless enough of those that are done are as short: the others count with their age.
    """
    rank = max(math.ceil(len(every) * fraction), 1)
    value = float(np.sort(every)[rank - 1])
    return value if np.count_nonzero(done <= value) >= rank else AtLeast(value)
