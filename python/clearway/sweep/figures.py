"""The figures of a point: those of the whole run, and those of each transport with its name in front."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from clearway.figures import Figure, figure_of
from clearway.runs import Run


def figures_of(run: Run) -> Iterator[tuple[str, float | None]]:
    """Yield the figures of a summary; those of a transport, if it has several, with its name in front."""
    for key, value in run.summary.items():
        if value is None or isinstance(value, (int, float)):
            yield key, value
    transports = run.summary.get("transports") or {}
    if len(transports) > 1:
        for name, figures in transports.items():
            for key, value in figures.items():
                if value is None or isinstance(value, (int, float)):
                    yield f"{name}.{key}", value


def means(runs: Sequence[Run]) -> dict[str, float]:
    """Take the mean of every figure over the runs that have it."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for key, value in figures_of(run):
            if value is not None:
                found.setdefault(key, []).append(float(value))
    return {key: math.fsum(values) / len(values) for key, values in found.items()}


def described(key: str) -> Figure:
    """Describe a figure, whether it is of the whole run or of one transport."""
    return figure_of(key.rpartition(".")[2])


def name_of(key: str) -> str:
    """Write a figure's name; that of a transport has the transport in front."""
    transport = key.rpartition(".")[0]
    return f"{transport}: {described(key).label}" if transport else described(key).label
