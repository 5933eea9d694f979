"""The figures of a point: those of the whole run, and those of each transport with its name in front."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clearway.figures import Figure, figure_of, mean_of, value_of
from clearway.runs import Run


def figures_of(run: Run) -> Iterator[tuple[str, float | None]]:
    """Yield the figures of a summary; those of a transport, if it has several, with its name in front."""
    yield from _numbers(run.summary)
    transports = run.summary.get("transports") or {}
    if len(transports) > 1:
        for name, figures in transports.items():
            for key, value in _numbers(figures):
                yield f"{name}.{key}", value


def _numbers(summary: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for key, value in summary.items():
        if value is None or isinstance(value, (int, float)):
            yield key, value_of(summary, key)


def means(runs: Sequence[Run]) -> dict[str, float]:
    """Take the mean of every figure over the runs that have it."""
    found: dict[str, list[float]] = {}
    for run in runs:
        for key, value in figures_of(run):
            if value is not None:
                found.setdefault(key, []).append(value)
    return {key: mean_of(values) for key, values in found.items()}


def described(key: str) -> Figure:
    """Describe a figure, whether it is of the whole run or of one transport."""
    return figure_of(key.rpartition(".")[2])


def name_of(key: str) -> str:
    """Write a figure's name; that of a transport has the transport in front."""
    transport = key.rpartition(".")[0]
    return f"{transport}: {described(key).label}" if transport else described(key).label
