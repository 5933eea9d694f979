"""What is printed of a case: the figures of both, their ratio, and whether it is within the bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.htsim.cases import Bar, Case
from tools.htsim.figures import UNITS
from tools.htsim.running import Took

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Verdict:
    """Whether a figure of Clearway is as near to htsim's as the bar asks for."""

    bar: Bar
    ratio: float

    @property
    def holds(self) -> bool:
        """Whether the bar is kept; a hair is for the rounding of printed times."""
        return abs(self.ratio - 1) <= self.bar.within + 1e-9


def verdicts(case: Case, htsim: Figures, clearway: Figures) -> list[Verdict]:
    """Return a verdict for each bar of a case."""
    return [Verdict(bar, _ratio(htsim[bar.figure], clearway[bar.figure])) for bar in case.bars]


def lines(case: Case, htsim: tuple[Figures, Took], clearway: tuple[Figures, Took, int]) -> list[str]:
    """Return the lines that show a case. Hops are those of packets and acknowledgements in Clearway."""
    by_figure = {verdict.bar.figure: verdict for verdict in verdicts(case, htsim[0], clearway[0])}
    shown = [_row(case.name, "htsim", "Clearway", "ratio", "bar")]
    for figure, unit in UNITS.items():
        one, other = htsim[0][figure], clearway[0][figure]
        decimals = 2 if unit else 0
        ratio = f"{_ratio(one, other):.4f}" if one else "-"
        said = _said(by_figure[figure]) if figure in by_figure else ""
        label, values = f"  {figure} {unit}".rstrip(), [f"{value:.{decimals}f}" for value in (one, other)]
        shown.append(_row(label, values[0], values[1], ratio, said))
    took, hops = (htsim[1], clearway[1]), clearway[2]
    for what, seconds in (
        ("processor s", [each.cpu_s for each in took]),
        ("wall s", [each.wall_s for each in took]),
        (f"us for each of {hops / 1e6:.2f} M hops", [each.cpu_s * 1e6 / hops for each in took]),
    ):
        values = [f"{value:.3f}" for value in seconds]
        shown.append(_row(f"  {what}", values[0], values[1], f"{_ratio(*seconds):.4f}", ""))
    return shown


def summary(all_verdicts: Sequence[Verdict]) -> str:
    """Return the last line."""
    failed = sum(not verdict.holds for verdict in all_verdicts)
    return f"{len(all_verdicts) - failed} of {len(all_verdicts)} bars hold"


def _said(verdict: Verdict) -> str:
    asked = f"within {verdict.bar.within:.0%}" if verdict.bar.within else "the same"
    return f"{asked}: {'holds' if verdict.holds else 'FAILS'}"


def _row(name: str, one: str, other: str, ratio: str, bar: str) -> str:
    return f"{name:<30} {one:>11} {other:>11} {ratio:>8}  {bar}".rstrip()


def _ratio(one: float, other: float) -> float:
    return other / one if one else float("inf") if other else 1.0
