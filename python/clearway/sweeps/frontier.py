"""Which of many points are worth having: the Pareto frontier, and a recommended one by a stated rule.

A point is on the frontier if no other is at least as good in every objective and better in one. The rule for
the recommended point: of those on the frontier that keep every limit, the one that is best in the objective
that decides; the first of several alike. A value that is only a lower bound, as something was unfinished, may
be anything above: it beats no other, and keeps no limit from above.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.errors import ClearwayError
from clearway.figures import FIGURES, AtLeast

Row = Mapping[str, float]

_MOST_NAMED = 4  # points in a sentence


@dataclass(frozen=True)
class Frontier:
    """What is asked of the points."""

    objectives: Mapping[str, str]
    """The direction that is better, "higher" or "lower", by figure."""
    limits: Mapping[str, float]
    """The worst value allowed, by objective."""
    decide: str
    """The objective that chooses among those that keep the limits."""

    @classmethod
    def of(cls, table: Mapping[str, Any], where: str) -> Frontier:
        """Read `objectives`, `limits` and `decide` of a table; `where` names it in messages."""
        if not isinstance(table, Mapping):
            raise ClearwayError(f"{where}: expected a table with objectives and decide")
        unknown = set(table) - {"objectives", "limits", "decide"}
        if unknown:
            raise ClearwayError(
                f"{where}: {min(unknown)}: unknown key", "known keys: objectives, limits, decide"
            )
        objectives, limits = table.get("objectives"), table.get("limits", {})
        decide = table.get("decide")
        if not isinstance(objectives, Mapping) or any(
            better not in ("higher", "lower") for better in objectives.values()
        ):
            raise ClearwayError(
                f"{where}.objectives: expected figures with the direction that is better",
                'for example { jain = "higher", rtt_p99_us = "lower" }',
            )
        names = ", ".join(objectives)
        if (
            not isinstance(limits, Mapping)
            or not set(limits) <= set(objectives)
            or not all(_is_number(limit) for limit in limits.values())
        ):
            raise ClearwayError(f"{where}.limits: expected numbers for some of {names}")
        if decide not in list(objectives):
            raise ClearwayError(f"{where}.decide: found {decide!r}, expected one of {names}")
        return cls(dict(objectives), dict(limits), str(decide))

    @property
    def rule(self) -> str:
        """The rule in words."""
        limits = [
            f"{name} of {'at least' if self.objectives[name] == 'higher' else 'at most'} {limit:g}"
            for name, limit in self.limits.items()
        ]
        among = f" with {' and '.join(limits)}" if limits else ""
        best = "largest" if self.objectives[self.decide] == "higher" else "smallest"
        return f"of the points on the frontier{among}, the one with the {best} {self.decide}"

    def members(self, rows: Sequence[Row]) -> list[int]:
        """Return the places of the points on the frontier. One without a value for an objective is not."""
        there = [index for index, row in enumerate(rows) if all(name in row for name in self.objectives)]
        return [
            index for index in there if not any(self._dominates(rows[other], rows[index]) for other in there)
        ]

    def recommended(self, rows: Sequence[Row]) -> int | None:
        """Return the place of the recommended point; None if no point keeps the limits for certain."""
        kept = [
            index
            for index in self.members(rows)
            if all(
                self._worst(name, rows[index]) <= self.cost(name, limit)
                for name, limit in self.limits.items()
            )
            and self._worst(self.decide, rows[index]) < math.inf
        ]
        return min(kept, key=lambda index: self._worst(self.decide, rows[index]), default=None)

    def doubtful(self, rows: Sequence[Row]) -> list[int]:
        """Return the places of points of which an objective is a lower bound: something was unfinished."""
        return [
            index
            for index, row in enumerate(rows)
            if any(isinstance(row.get(name), AtLeast) for name in self.objectives)
        ]

    def unranked(self, rows: Sequence[Row]) -> list[int]:
        """Return the places of points that have no value for an objective."""
        return [index for index, row in enumerate(rows) if any(name not in row for name in self.objectives)]

    def in_words(self, labels: Sequence[str], rows: Sequence[Row], standing: str = "") -> str:
        """Say which point is recommended, how it stands among the others, and by which rule.

        `labels` are what the points are called.
        """
        best = self.recommended(rows)
        sentences = [f"{len(self.members(rows))} of {len(rows)} points are on the frontier."]
        if best is None:
            sentences.append("None is recommended: no point keeps the limits.")
        else:
            sentences.append(f"Recommended: {labels[best]}.")
            sentences += [standing] if standing else []
        sentences.append(f"The rule: {self.rule}.")
        if doubtful := self.doubtful(rows):
            sentences.append(
                f"Objectives are lower bounds, as something was unfinished, at {listed(labels, doubtful)}: "
                "by these no other point is beaten, and none is recommended."
            )
        if unranked := self.unranked(rows):
            sentences.append(f"Not ranked, as an objective has no value: {listed(labels, unranked)}.")
        return " ".join(sentences)

    def check_objectives(self, rows: Sequence[Row], file: str) -> None:
        """Raise if an objective is a figure that no point has; `file` is what names it."""
        known = dict.fromkeys(name for row in rows for name in row)
        for name in self.objectives:
            if name not in known:
                near = difflib.get_close_matches(name, [*known, *(figure.key for figure in FIGURES)], n=1)
                hint = (
                    f"did you mean {near[0]}?" if near and near[0] != name else "sweep.json lists the figures"
                )
                raise ClearwayError(
                    f"{file}: [sweep.frontier] objectives: no point has a figure {name}", hint
                )

    def _dominates(self, a: Row, b: Row) -> bool:
        costs = [(self._worst(name, a), self._least(name, b)) for name in self.objectives]
        return all(of_a <= of_b for of_a, of_b in costs) and any(of_a < of_b for of_a, of_b in costs)

    def _worst(self, name: str, row: Row) -> float:
        """Return the largest cost that a point may have: above a lower bound may be anything."""
        is_open = isinstance(row[name], AtLeast) and self.objectives[name] == "lower"
        return math.inf if is_open else self.cost(name, row[name])

    def _least(self, name: str, row: Row) -> float:
        """Return the smallest cost that a point may have."""
        is_open = isinstance(row[name], AtLeast) and self.objectives[name] == "higher"
        return -math.inf if is_open else self.cost(name, row[name])

    def cost(self, name: str, value: float) -> float:
        """Return the value as something of which less is better."""
        return -float(value) if self.objectives[name] == "higher" else float(value)


def listed(labels: Sequence[str], places: Sequence[int]) -> str:
    """Name points, the first few of many."""
    shown = "; ".join(labels[place] for place in places[:_MOST_NAMED])
    more = len(places) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
