"""`clearway demo`: the packaged 1000-to-1 incast, under Swift and under DCTCP."""

from __future__ import annotations

from importlib import resources

from clearway import _clearway, comparison, screen
from clearway.runs import Seeds

_CASES = {"Swift": "demo_swift.toml", "DCTCP": "demo_dctcp.toml"}


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
