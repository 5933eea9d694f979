"""Measures of traffic classes at ports, from the record of links over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.paper.measures.registry import of_run
from clearway.paper.measures.rows import column_of, rows_of
from clearway.paper.measures.scenario import amount_of, entry_of
from clearway.paper.measures.values import Floats, Series
from clearway.runs import Run


@of_run
def loss_against_utilisation(
    run: Run, traffic_class: str, links: str, own_share: bool = False, from_us: float | None = None
) -> Series:
    """Take a class's loss in every interval at every port over the port's utilisation there, in per cent.

    `links` are names such as "tor*>h*". Loss is dropped bytes over offered ones; intervals in which the
    class offers nothing are left out, and so is the warm-up unless `from_us` says otherwise. With `own_share`
    the utilisation is the class's own: what it sent over what its weight guarantees it. What is full or more
    is just below 100.
    """
    rows = class_rows(run, traffic_class, links, from_us)
    used = utilisation_of(run, rows, traffic_class, own_share=own_share)
    lost, sent = column_of(run, rows, "dropped_bytes"), column_of(run, rows, "sent_bytes")
    offered = lost + sent > 0
    loss = lost[offered] / (lost + sent)[offered]
    return Series(used[offered], loss)


@of_run
def class_loss(
    run: Run,
    traffic_class: str,
    links: str,
    q: float | None = None,
    above: float = 0.0,
    from_us: float | None = None,
) -> float:
    """Take the mean, or a quantile, of `loss_against_utilisation` above this utilisation in per cent."""
    samples = loss_against_utilisation(run, traffic_class, links, from_us=from_us)
    losses = samples.y[samples.x >= above]
    if not len(losses):
        return math.nan
    return float(losses.mean() if q is None else np.quantile(losses, q))


@of_run
def class_gbps(run: Run, traffic_class: str, links: str, from_us: float | None = None) -> float:
    """Take what a class sends over these links together, headers included, in Gb/s."""
    rows = class_rows(run, traffic_class, links, from_us)
    times = len(np.unique(column_of(run, rows, "time_us")))
    return float(_sent_gbps(run, rows).sum()) / times if times else math.nan


def class_rows(run: Run, traffic_class: str, links: str, from_us: float | None) -> Mapping[str, NDArray[Any]]:
    """Return what is recorded of a class at these links after the warm-up, or after `from_us`."""
    start = amount_of(run.scenario["warmup"]) if from_us is None else from_us
    return rows_of(run, "links_series", {"class": traffic_class, "link": links}, start, math.inf)


def utilisation_of(
    run: Run, rows: Mapping[str, NDArray[Any]], traffic_class: str, *, own_share: bool
) -> Floats:
    """Return the utilisation in each row in per cent: the port's, or with `own_share` the class's own.

    What is full or more is just below 100.
    """
    used = 100 * column_of(run, rows, "utilisation")
    if own_share:
        used = 100 * _sent_gbps(run, rows) / (_rates_of(run, rows) * _weight_share(run, traffic_class))
    return np.minimum(used, math.nextafter(100, 0))


def _sent_gbps(run: Run, rows: Mapping[str, NDArray[Any]]) -> Floats:
    """Rate at which the class of each row sent; a byte in a microsecond is 8 Mb/s."""
    return column_of(run, rows, "sent_bytes") * 8e-3 / amount_of(run.scenario["record"]["links"])


def _rates_of(run: Run, rows: Mapping[str, NDArray[Any]]) -> Floats:
    """Rate of the link of each row, in Gb/s."""
    rates = dict(zip(run.links["link"].tolist(), column_of(run, run.links, "rate_gbps"), strict=True))
    return np.array([rates[name] for name in rows["link"].tolist()], dtype=float)


def _weight_share(run: Run, traffic_class: str) -> float:
    """Share of a link that a class has for certain: by its weight among the classes of its priority."""
    classes = run.scenario["class"]
    own = entry_of(classes, traffic_class, f"{run.name}: class")
    peers = [other["weight"] for other in classes.values() if other["priority"] == own["priority"]]
    return float(own["weight"] / sum(peers))
