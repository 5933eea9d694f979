"""`clearway demo`: the packaged 1000-to-1 incast, under Swift, DCTCP and GCN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from clearway import _clearway, comparison, console, directory, report, screen
from clearway.figures import readable
from clearway.runs import Run, Seeds

_CASES = {"Swift": "demo_swift.toml", "DCTCP": "demo_dctcp.toml", "GCN": "demo_gcn.toml"}
PAGE = "report.html"

ROWS = frozenset(
    {
        "goodput_gbps",
        "loss_rate_whole",
        "timeouts_whole",
        "rtt_mean_us",
        "rtt_p50_us",
        "rtt_p99_us",
        "rtt_p999_us",
        "jain",
        "unfinished_flows",
        "fct_mean_us",
        "fct_p99_us",
        "fct_max_us",
        "queue_mean_bytes",
    }
)
"""The figures that a first look needs; the report and the run directories have them all."""


def compare_incast(*, threads: int | None, quiet: bool) -> comparison.Comparison:
    """Run all and compare them."""
    folder = resources.files("clearway") / "scenarios"
    scenarios = [
        _clearway.load_text((folder / file).read_text(encoding="utf-8"), file) for file in _CASES.values()
    ]
    runs = screen.execute_shown(scenarios, threads=threads, quiet=quiet)
    return comparison.compare(
        [(label, Seeds([run])) for label, run in zip(_CASES, runs, strict=True)], labelled=True
    )


def write_into(path: Path, compared: comparison.Comparison) -> None:
    """Write a run directory for each, and a page about all."""
    runs = {label: group.runs[0] for label, group in zip(compared.labels, compared.groups, strict=True)}
    for label, run in runs.items():
        (path / directory.slug(label)).mkdir()
        run.write_into(path / directory.slug(label))
    (path / PAGE).write_text(report.page(list(runs.items())), encoding="utf-8")


@dataclass(frozen=True)
class StartUp:
    """What one of them is like before the steady state."""

    label: str
    until_us: float
    rtt_mean_us: float
    """Over time: every interval of the record in which there was a round trip counts alike."""
    rtt_max_us: float

    @classmethod
    def of(cls, label: str, run: Run) -> StartUp:
        """Measure a run's warm-up."""
        until, series = run.summary["measured_from_us"], run.rtt_series
        early = series["time_us"] <= until
        # Nothing is measured in an interval without a round trip.
        mean, most = np.nanmean(series["rtt_mean_us"][early]), np.nanmax(series["rtt_max_us"][early])
        return cls(label, until, float(mean), float(most))


def start_ups(compared: comparison.Comparison) -> Sequence[StartUp]:
    """Measure the warm-up of all."""
    return [
        StartUp.of(label, group.runs[0])
        for label, group in zip(compared.labels, compared.groups, strict=True)
    ]


def as_json(compared: comparison.Comparison) -> dict[str, Any]:
    """Return what `--json` prints: the comparison, which is of the steady state, and the start."""
    return {**compared.as_json(), "start_up": [asdict(one) for one in start_ups(compared)]}


def show(compared: comparison.Comparison) -> None:
    """Print the start, the steady state and what they show."""
    starts = start_ups(compared)
    until = readable("time", starts[0].until_us)
    screen.show_table(
        f"The first {until}",
        [start.label for start in starts],
        [
            ("mean RTT", [readable("time", start.rtt_mean_us) for start in starts]),
            ("longest RTT", [readable("time", start.rtt_max_us) for start in starts]),
        ],
    )
    screen.show_figures(compared, ROWS, title=f"From {until} on; * of the whole run")
    console.say(conclusion(compared))


def conclusion(compared: comparison.Comparison) -> str:
    """Say in a sentence what the figures show, and what it costs."""
    swift, *others = (group.runs[0].summary for group in compared.groups)
    labels = list(_CASES)[1:]
    lower = [other["rtt_mean_us"] / swift["rtt_mean_us"] for other in others]
    share = swift["goodput_gbps"] / max(other["goodput_gbps"] for other in others)
    fairer = [label for label, other in zip(labels, others, strict=True) if other["jain"] > swift["jain"]]
    cost = f" Fairer to its flows: {' and '.join(fairer)}." if fairer else ""
    chance = compared.needs or "Nothing here is drawn at random: any seed gives the same."
    return (
        f"Swift keeps the mean RTT {_span(lower)} lower than {' and '.join(labels)} at {share * 100:.3g} % "
        f"of the goodput, as its windows go below one packet and theirs do not.{cost} {chance}"
    )


def _span(factors: list[float]) -> str:
    least, most = (f"{factor:.2g}" for factor in (min(factors), max(factors)))
    return f"{least}x" if least == most else f"{least} to {most}x"
