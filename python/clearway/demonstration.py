"""`clearway demo`: the packaged 1000-to-1 incast, under Swift, DCTCP and GCN."""

from __future__ import annotations

from importlib import resources

from clearway import _clearway, comparison, screen
from clearway.runs import Seeds

_CASES = {"Swift": "demo_swift.toml", "DCTCP": "demo_dctcp.toml", "GCN": "demo_gcn.toml"}

ROWS = frozenset(
    {
        "goodput_gbps",
        "loss_rate",
        "retransmissions",
        "rtt_mean_us",
        "rtt_p50_us",
        "rtt_p99_us",
        "rtt_p999_us",
        "jain",
        "fct_mean_us",
        "fct_p99_us",
        "fct_max_us",
        "queue_mean_bytes",
        "queue_peak_bytes",
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


def conclusion(compared: comparison.Comparison) -> str:
    """Say in a sentence what the figures show, and what it costs."""
    swift, *others = (group.runs[0].summary for group in compared.groups)
    labels = list(_CASES)[1:]
    lower = [other["rtt_mean_us"] / swift["rtt_mean_us"] for other in others]
    share = swift["goodput_gbps"] / max(other["goodput_gbps"] for other in others)
    fairer = [label for label, other in zip(labels, others, strict=True) if other["jain"] > swift["jain"]]
    cost = f" Fairer to its flows: {' and '.join(fairer)}." if fairer else ""
    return (
        f"Swift keeps the mean RTT {_span(lower)} lower than {' and '.join(labels)} at {share * 100:.3g} % "
        f"of the goodput, as its windows go below one packet and theirs do not.{cost}"
    )


def _span(factors: list[float]) -> str:
    least, most = (f"{factor:.2g}" for factor in (min(factors), max(factors)))
    return f"{least}x" if least == most else f"{least} to {most}x"
