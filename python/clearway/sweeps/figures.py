"""The figures of a point: those of the whole run, and those of each transport with its name in front."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from clearway.figures import Figure, figure_of, readable, unfinished_beside, value_of
from clearway.statistics import Interval, interval


def figures_of(summary: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield the figures of a summary; those of a transport, if it has several, with its name in front."""
    yield from _numbers(summary)
    transports = summary.get("transports") or {}
    if len(transports) > 1:
        for name, figures in transports.items():
            for key, value in _numbers(figures):
                yield f"{name}.{key}", value


def _numbers(summary: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for key, value in summary.items():
        if value is None or isinstance(value, (int, float)):
            yield key, value_of(summary, key)


def intervals(summaries: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
    """Take the mean of every figure and its 95 % interval over the summaries that have it."""
    found: dict[str, list[float]] = {}
    for summary in summaries:
        for key, value in figures_of(summary):
            if value is not None:
                found.setdefault(key, []).append(value)
    return {key: interval(values) for key, values in found.items()}


def with_unfinished(keys: Sequence[str], there: Collection[str]) -> list[str]:
    """Put how much was unfinished in front of the figures that it makes lower bounds."""
    placed: list[str] = []
    for key in keys:
        transport, dot, figure = key.rpartition(".")
        unfinished = unfinished_beside(figure)
        beside = f"{transport}{dot}{unfinished}"
        placed.extend(name for name in (beside, key) if name in there and name not in placed)
    return placed


def described(key: str) -> Figure:
    """Describe a figure, whether it is of the whole run or of one transport."""
    return figure_of(key.rpartition(".")[2])


def name_of(key: str) -> str:
    """Write a figure's name; that of a transport has the transport in front."""
    transport = key.rpartition(".")[0]
    return f"{transport}: {described(key).label}" if transport else described(key).label


def written(key: str, intervals: Mapping[str, Interval]) -> str:
    """Write a figure with its unit, and its interval where there are several seeds."""
    of = intervals.get(key)
    return "-" if of is None else readable(described(key).kind, of.mean, of.half_width)
