"""`clearway demo`: the packaged 1000-to-1 incast, under Swift and under DCTCP."""

from __future__ import annotations

from importlib import resources

from clearway import _clearway, comparison, screen
from clearway.runs import Seeds

_CASES = {"Swift": "demo_swift.toml", "DCTCP": "demo_dctcp.toml"}

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


def compare_incast(*, quiet: bool) -> comparison.Comparison:
    """Run both and compare them."""
    folder = resources.files("clearway") / "scenarios"
    scenarios = [
        _clearway.load_text((folder / file).read_text(encoding="utf-8"), file) for file in _CASES.values()
    ]
    runs = screen.execute_shown(scenarios, quiet=quiet)
    return comparison.compare(
        [(label, Seeds([run])) for label, run in zip(_CASES, runs, strict=True)], labelled=True
    )


def conclusion(compared: comparison.Comparison) -> str:
    """Say in one line what the figures show, and what it costs."""
    swift, dctcp = (group.runs[0].summary for group in compared.groups)
    lower = dctcp["rtt_mean_us"] / swift["rtt_mean_us"]
    share = swift["goodput_gbps"] / dctcp["goodput_gbps"]
    return (
        f"Swift keeps the mean RTT {lower:.2g}x lower at {share * 100:.3g} % of the goodput, as its windows "
        "go below one packet and DCTCP's do not; DCTCP is fairer."
    )
