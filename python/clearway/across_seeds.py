"""Figures of one scenario under several seeds: means and 95 % intervals over the summaries of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clearway.figures import figures_in, value_of
from clearway.overview import MAIN, Overview
from clearway.statistics import Interval, interval

Summaries = Sequence[Mapping[str, Any]]
"""The summaries of a scenario's runs, a seed each."""


def transports_in(summaries: Summaries) -> list[str]:
    """List the names of the transports of which the summaries speak."""
    return list(dict.fromkeys(name for summary in summaries for name in summary.get("transports") or {}))


def of_transport(summaries: Summaries, transport: str | None) -> list[Mapping[str, Any]]:
    """Return what the summaries say of one transport, or of the whole run."""
    if transport is None:
        return list(summaries)
    return [(summary.get("transports") or {}).get(transport) or {} for summary in summaries]


def intervals_of(summaries: Summaries) -> dict[str, Interval]:
    """Return mean and 95 % interval of every figure, over the summaries that have it."""
    found = {}
    for figure in figures_in(summaries, rare=True):
        values = [value_of(summary, figure.key) for summary in summaries]
        found[figure.key] = interval([value for value in values if value is not None])
    return found


def figure_columns(summaries: Summaries) -> list[tuple[str, dict[str, Interval]]]:
    """Return a heading and the intervals for the whole run, and for each transport if there are several."""
    names = transports_in(summaries)
    several = names if len(names) > 1 else []
    whole = ("all" if several else "", intervals_of(summaries))
    return [whole, *((name, intervals_of(of_transport(summaries, name))) for name in several)]


def main_figures(summaries: Summaries) -> Overview:
    """Return the main figures, a column for each of `figure_columns`."""
    return Overview.of(
        [
            (heading, {key: of for key, of in column.items() if key in MAIN})
            for heading, column in figure_columns(summaries)
        ]
    )
