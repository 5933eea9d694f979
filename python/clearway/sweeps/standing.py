"""What a recommended point cannot be told from: the best mean over few seeds may be the best by chance.

A point may be as good as the recommended one if its seeds do not show that it breaks a limit, and do not show
that it is worse in the objective that decides: Welch's t, and Holm's correction, as all points are tested at
once. Of what has one seed, and leaves something to chance, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clearway.figures import AtLeast
from clearway.statistics import Interval, p_value, told_apart
from clearway.sweeps.frontier import Frontier, listed

_SEEDS = "seed = [1, 2, 3, 4, 5] under [sweep]"

Row = Mapping[str, Interval]


@dataclass(frozen=True)
class Standing:
    """How the recommended point stands among the others, by their places."""

    rivals: Sequence[int] = ()
    """Points that may be as good, as far as their seeds tell."""
    untold: Sequence[int] = ()
    """Points of which nothing can be told, as they or the recommended one have one seed."""
    near: Sequence[str] = ()
    """Limits that the recommended point keeps, though its interval reaches beyond them."""
    better: Sequence[int] = ()
    """Points better in the objective that decides, which may keep the limits that their means break."""

    @classmethod
    def of(cls, frontier: Frontier, rows: Sequence[Row], best: int | None) -> Standing:
        """Compare the recommended point with all others; with none where there is none."""
        if best is None:
            return cls()
        others = [
            place
            for place, row in enumerate(rows)
            if place != best and _is_ranked(frontier, row) and _may_keep_limits(frontier, row)
        ]
        p_values = {
            place: p_value(rows[best][frontier.decide], rows[place][frontier.decide]) for place in others
        }
        tested = {place: p for place, p in p_values.items() if p is not None}
        apart = dict(zip(tested, told_apart(list(tested.values())), strict=True))

        def cost(place: int) -> float:
            return frontier.cost(frontier.decide, rows[place][frontier.decide].mean)

        return cls(
            rivals=[place for place in tested if not apart[place]],
            untold=[place for place in others if place not in tested],
            near=[name for name in frontier.limits if _reaches_beyond(frontier, name, rows[best][name])],
            better=[place for place in tested if apart[place] and cost(place) < cost(best)],
        )

    def in_words(self, frontier: Frontier, labels: Sequence[str]) -> str:
        """Say what the recommended point cannot be told from, and what would tell; nothing if it can."""
        sentences = []
        if self.rivals:
            sentences.append(
                f"By {frontier.decide}, the seeds do not tell it from {listed(labels, self.rivals)}."
            )
        if self.better:
            better = listed(labels, self.better)
            sentences.append(f"Better by {frontier.decide}, and perhaps within the limits: {better}.")
        if self.untold:
            which = "the others" if len(self.untold) == len(labels) - 1 else listed(labels, self.untold)
            sentences.append(f"Whether {which} are worse cannot be told from one seed: {_SEEDS} would tell.")
        if self.near:
            sentences.append(f"Its interval reaches beyond the limit of {' and '.join(self.near)}.")
        return " ".join(sentences)


def _is_ranked(frontier: Frontier, row: Row) -> bool:
    """Tell whether a point has all objectives; lower bounds are named apart."""
    return all(name in row and not isinstance(row[name].mean, AtLeast) for name in frontier.objectives)


def _may_keep_limits(frontier: Frontier, row: Row) -> bool:
    return all(
        frontier.cost(name, row[name].mean) - (row[name].half_width or 0.0) <= frontier.cost(name, limit)
        for name, limit in frontier.limits.items()
    )


def _reaches_beyond(frontier: Frontier, name: str, of: Interval) -> bool:
    return frontier.cost(name, of.mean) + (of.half_width or 0.0) > frontier.cost(name, frontier.limits[name])
