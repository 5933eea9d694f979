"""Measures of losses that are counted over all seeds together, with intervals that suit counts.

Losses are rare and come in bursts: on most seeds there are none, and on one there are many. A mean over
seeds then has no interval of Student's. So what was lost is added up, and its chance is that of a Poisson
number of losses of unequal size. A loss is what one port lost in one run: what it loses at once is one event.

The interval of a sum L of losses w is the one of Fay and Feuer (1997). Its ends are quantiles of two gamma
distributions: the lower of mean L and variance V, the sum of all w squared, the upper of L and V with one
more loss, as large as any may be. Where nothing was lost it has no lower end, and reaches to three losses:
3/n of n.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearway.errors import ClearwayError
from clearway.paper.measures.classes import class_rows, utilisation_of
from clearway.paper.measures.registry import of_pooled, of_run
from clearway.paper.measures.rows import column_of
from clearway.paper.measures.scenario import amount_of
from clearway.paper.measures.values import Between, Floats, Losses, Series
from clearway.runs import Run

_NORMAL = 1.959963984540054  # of 97.5 %
_TAIL = 0.025
_OF_NONE = -math.log(0.05)  # with this many on average there are none in one of twenty cases: nearly 3


@of_run
def losses(
    run: Run,
    traffic_class: str,
    links: str,
    edges: Sequence[float] = (0, 100),
    own_share: bool = False,
    from_us: float | None = None,
) -> Losses:
    """Add up what a class lost and offered, in bins of the port's utilisation with these edges in per cent.

    Links, intervals and utilisation are those of `loss_against_utilisation`.
    """
    rows = class_rows(run, traffic_class, links, from_us)
    lost, sent = column_of(run, rows, "dropped_bytes"), column_of(run, rows, "sent_bytes")
    bins = len(edges) - 1
    places = np.digitize(utilisation_of(run, rows, traffic_class, own_share=own_share), edges) - 1
    inside = (places >= 0) & (places < bins)
    names, ports = np.unique(rows["link"][inside], return_inverse=True)
    of_ports = np.zeros((bins, len(names)))
    np.add.at(of_ports, (places[inside], ports), lost[inside])
    offered = np.zeros(bins)
    np.add.at(offered, places[inside], (lost + sent)[inside])
    largest = of_ports.max(axis=1, initial=0.0)
    packet = amount_of(run.scenario["network"]["mtu"])
    return Losses(of_ports.sum(axis=1), offered, (of_ports**2).sum(axis=1), largest, packet)


@of_pooled
def pooled_rate(of: Losses) -> Between:
    """Take what was lost over what was offered; of several bins the worst.

    Where nothing was lost, a loss is taken to be one packet, and n is the number of packets.
    """
    return _worst([_rate(of, place, of.packet) for place in range(len(of.lost)) if of.offered[place] > 0])


@of_pooled
def pooled_ratio(of: Losses, to: Losses, largest: bool = False) -> Between:
    """Take one loss rate over another, each of all seeds together; of several bins the worst.

    Bins in which neither lost anything are left out. With `largest`, the highest rate of any bin is taken
    over the highest of the other. A loss that was not seen is taken to be as large as one of `to`, weighted
    by size: where nothing of `of` was lost, the ratio reaches to 3/n of n equal losses of `to`. Where
    `to` lost nothing or was offered nothing, the interval is open: it reaches to infinity.
    """
    if len(of.lost) != len(to.lost):
        raise ClearwayError(f"pooled_ratio: {len(of.lost)} bins, and {len(to.lost)} to compare with")
    pairs = [(place, place) for place in range(len(of.lost)) if of.lost[place] + to.lost[place] > 0]
    there = [other for _, other in pairs if to.offered[other] > 0]
    if largest and there:
        highest = max(there, key=lambda other: to.lost[other] / to.offered[other])
        pairs = [(place, highest) for place in range(len(of.lost)) if of.offered[place] > 0]
    return _worst([_ratio(of, to, place, other) for place, other in pairs])


@of_pooled
def pooled_quantile_ratio(of: Series, to: Series, q: float, above: float = 0.0) -> Between:
    """Take a quantile of one series' values at x of at least `above` over that of another, such as of loss.

    The interval of a quantile reaches from one ordered value to another, so that the number of values above
    it is as chance may have it, whatever their distribution; values are taken as independent. Where there
    are too few for an upper end, it is infinite. Raises unless 0 < q < 1: the ends have no interval.
    """
    if not 0 < q < 1:
        raise ClearwayError(f"pooled_quantile_ratio: q is {q:g}, and has to be between 0 and 1")
    ours, theirs = (_quantile(series.y[series.x >= above], q) for series in (of, to))
    if not theirs > 0:
        return Between(math.nan, math.nan, math.nan)
    return Between(
        ours / theirs,
        ours.low / theirs.high,
        ours.high / theirs.low if theirs.low > 0 else math.inf,
    )


def _worst(found: Sequence[Between]) -> Between:
    """Return the largest value; its interval reaches from the highest lower end to the highest upper end."""
    if not found:
        return Between(math.nan, math.nan, math.nan)
    return Between(max(found), max(value.low for value in found), max(value.high for value in found))


def _rate(of: Losses, place: int, unseen: float) -> Between:
    """Take the rate in a bin; a loss that was not seen would have been `unseen` bytes, or as the largest."""
    lost, squares, offered = of.lost[place], of.squares[place], of.offered[place]
    if not lost > 0:
        return Between(0.0, 0.0, _OF_NONE * unseen / offered)
    further = max(float(of.largest[place]), unseen)
    low = _gamma_quantile(lost, squares, -_NORMAL)
    high = _gamma_quantile(lost + further, squares + further**2, _NORMAL)
    return Between(lost / offered, low / offered, high / offered)


def _gamma_quantile(mean: float, variance: float, normal: float) -> float:
    """Take a quantile of the gamma distribution, by Wilson and Hilferty, given that of the normal one."""
    shape = mean**2 / variance
    return float(mean * max(1 - 1 / (9 * shape) + normal / (3 * math.sqrt(shape)), 0.0) ** 3)


def _ratio(of: Losses, to: Losses, place: int, other: int) -> Between:
    """Take a ratio of two rates, with the interval that follows from theirs (Donner and Zou, 2012)."""
    ours = _rate(of, place, _size(to, other))
    theirs = _rate(to, other, _size(of, place))
    both = ours * theirs
    down = theirs.low * (2 * theirs - theirs.low)
    up = theirs.high * (2 * theirs - theirs.high)
    # With few losses `up` is below zero, and the lower end the other root of the same equation.
    low, high = 0.0, math.inf
    if ours.low > 0 and up:
        low = (both - math.sqrt(max(both**2 - ours.low * (2 * ours - ours.low) * up, 0.0))) / up
    if down > 0:
        high = (both + math.sqrt(max(both**2 - ours.high * (2 * ours - ours.high) * down, 0.0))) / down
    return Between(ours / theirs if theirs else math.inf, low, high)


def _size(of: Losses, place: int) -> float:
    """Return the mean size of a loss, weighted by size; 0 where there was none."""
    return float(of.squares[place] / of.lost[place]) if of.lost[place] > 0 else 0.0


def _quantile(values: Floats, q: float) -> Between:
    """Take a quantile, and the ordered values that its interval reaches from and to."""
    count = len(values)
    if not count:
        return Between(math.nan, math.nan, math.nan)
    down = np.sort(values)[::-1]
    at_most = np.cumsum(_few_of(count, 1 - q))  # the chances that no more than 0, 1, 2, ... are above
    rank = min(math.floor(count * (1 - q) + 1e-9), count - 1)
    # Fewer than `within` are above in no more than this share of cases, and so are more than `beyond`.
    within = int(np.searchsorted(at_most, _TAIL, side="right"))
    beyond = int(np.searchsorted(at_most, 1 - _TAIL)) + 1
    high = float(down[within - 1]) if within else math.inf
    return Between(float(down[rank]), float(down[min(beyond, count) - 1]), high)


def _few_of(count: int, chance: float) -> Floats:
    """Return the chances of 0, 1, 2, ... of `count`, each of which has this chance, but for the most.

    Eight standard deviations above the mean are enough: by Cantelli's inequality 1 in 65 is above, if at all.
    """
    mean = count * chance
    many = np.arange(min(count, math.ceil(mean + 8 * math.sqrt(mean * (1 - chance)))) + 1)
    logs = np.array([math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in many])
    return np.asarray(np.exp(logs + many * math.log(chance) + (count - many) * math.log1p(-chance)))
