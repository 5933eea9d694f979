"""Times of which some were not over when the run ended: what is known of them is their age."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def bounded(
    key: str, finished: Sequence[float], ages: Sequence[float], shares: Mapping[str, float]
) -> tuple[dict[str, Any], list[str]]:
    """Return the mean and these quantiles by their figures' names, and which of them are lower bounds.

    `key` has braces where the name of a figure has `mean`, `p50` and so on. All are None for an empty sample.
    """
    every = np.sort(np.array([*finished, *ages], np.float64))
    figures: dict[str, Any] = {key.format(name): None for name in ("mean", *shares)}
    if not len(every):
        return figures, []
    done = np.sort(np.array(finished, np.float64))
    bounds = []
    figures[key.format("mean")] = float(every.mean())
    if len(ages):
        bounds.append(key.format("mean"))
    for name, share in shares.items():
        rank = max(math.ceil(len(every) * share), 1)
        value = float(every[rank - 1])
        figures[key.format(name)] = value
        if np.searchsorted(done, value, side="right") < rank:
            bounds.append(key.format(name))
    return figures, bounds
