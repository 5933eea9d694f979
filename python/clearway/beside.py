"""A run measured on real hosts beside its simulation: how far the one is from the other, in words.

Nothing is tested here: one run on hosts is a sample of a machine and its moment, not of a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clearway.figures import TWICE, Figure, figure_of, readable, times
from clearway.seeds import Seeds

KEYS = (
    "rtt_mean_us",
    "rtt_p99_us",
    "goodput_gbps",
    "fct_mean_us",
    "fct_p99_us",
    "latency_mean_us",
    "latency_p99_us",
)
"""The figures that are held against each other."""


def is_measured(group: Seeds) -> bool:
    """Tell whether runs are of real hosts."""
    return any(run.testbed is not None for run in group.runs)


def measured_labels(labels: Sequence[str], groups: Sequence[Seeds]) -> list[str]:
    """Return what columns are called, those of real hosts with a word that says so."""
    return [
        f"{label} (measured)" if is_measured(group) else label
        for label, group in zip(labels, groups, strict=True)
    ]


def differences(
    labels: Sequence[str], groups: Sequence[Seeds], wanted: Callable[[Figure], bool]
) -> list[str]:
    """Say of each measured column how far it is from the first simulated one; nothing without both.

    Only figures that are wanted are spoken of.
    """
    simulated = [place for place, group in enumerate(groups) if not is_measured(group)]
    if not simulated:
        return []
    return [
        line
        for place, group in enumerate(groups)
        if is_measured(group)
        for key in KEYS
        if wanted(figure_of(key))
        and (line := _difference(key, labels[simulated[0]], groups[simulated[0]], labels[place], group))
    ]


def _difference(key: str, simulated: str, one: Seeds, measured: str, other: Seeds) -> str:
    """Say what a figure is in both; nothing where one has none."""
    figure = figure_of(key)
    model, found = (group.intervals().get(key) for group in (one, other))
    if model is None or found is None or model.mean <= 0:
        return ""
    ratio = found.mean / model.mean
    if 1 / TWICE < ratio < TWICE:
        percent = abs(ratio - 1) * 100
        how = "the same" if percent < 1 else f"{percent:.2g} % {'more' if ratio > 1 else 'less'}"
    else:
        how = f"{times(ratio)} as much" if ratio > 1 else f"1/{1 / ratio:.2g} of it"
    values = f"{readable(figure.kind, found.mean)}, and {readable(figure.kind, model.mean)} in {simulated}"
    return f"{figure.label}: {measured} has {values}: {how}"
