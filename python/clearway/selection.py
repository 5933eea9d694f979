"""Which rows of a comparison are shown: chosen by figure, by transport and by traffic class.

Rows are chosen after all of them have been tested, so no choice makes a difference significant, or takes that
from one that is: it only leaves out.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from clearway.errors import ClearwayError
from clearway.figures import ABSENT, FIGURES, LOWER_BOUNDS, Figure, figure_of

_NEAREST = 3  # names that a message suggests
_FAR = 0.5  # below this likeness a name is not suggested
_MOST_NAMES = 12  # names that a message lists where none is near


@dataclass(frozen=True)
class Selection:
    """The rows that are asked for; a kind of which nothing is named leaves out nothing."""

    figures: tuple[str, ...] = ()
    """Patterns with `*`, `?` and `[...]`, of keys such as `rtt_*` or of labels such as `p99 RTT`."""
    transports: tuple[str, ...] = ()
    """Names of transports: their rows, and none of the whole run."""
    classes: tuple[str, ...] = ()
    """Names of traffic classes: the rows of the transports whose data is in them."""

    def __bool__(self) -> bool:
        """Tell whether anything is asked for, and so something may be left out."""
        return bool(self.figures or self.transports or self.classes)

    def check_figures(self) -> None:
        """Raise if a pattern fits no figure that this version knows: to be told before anything is run."""
        for pattern in self.figures:
            if not any(fits(pattern, figure) for figure in FIGURES):
                raise _no_figure(pattern, FIGURES, "no figure has this key or label")

    def among(self, rows: Iterable[tuple[str, Figure]], scenarios: Sequence[Mapping[str, Any]]) -> Selected:
        """Find out what this leaves of rows, each a transport (or nothing for the whole run) and a figure.

        Raises if something that is asked for is not there; `scenarios` say which transport is in which class.
        """
        there = list(rows)
        names = list(dict.fromkeys(group for group, _ in there if group))
        kept: set[str] | None = None
        if self.transports:
            kept = self._of_transports(names, scenarios)
        if self.classes:
            of_classes = self._of_classes(names, scenarios)
            kept = of_classes if kept is None else kept & of_classes
            if not kept:
                raise ClearwayError(
                    f"no transport of {', '.join(self.transports)} is in class {', '.join(self.classes)}",
                    "--transport and --class narrow the same rows: leave one of them out",
                )
        chosen = Selected(self.figures, None if kept is None else frozenset(kept))
        figures = [figure for group, figure in there if chosen.has_group(group)]
        for pattern in self.figures:
            if not any(fits(pattern, figure) for figure in figures):
                raise _no_figure(pattern, figures, "none of the rows has this key or label")
        return chosen

    def _of_transports(self, names: Sequence[str], scenarios: Sequence[Mapping[str, Any]]) -> set[str]:
        known = dict.fromkeys([*names, *(name for each in scenarios for name in _transports(each))])
        for name in self.transports:
            if name not in known:
                raise ClearwayError(f"transport {name}: not in these runs", nearest(name, known))
            _check_has_rows(f"transport {name}", {name}, names)
        return set(self.transports)

    def _of_classes(self, names: Sequence[str], scenarios: Sequence[Mapping[str, Any]]) -> set[str]:
        known = dict.fromkeys(name for each in scenarios for name in each.get("class") or {})
        found: set[str] = set()
        for name in self.classes:
            if name not in known:
                remedy = nearest(name, known) if known else "these scenarios have no [class.NAME] tables"
                raise ClearwayError(f"class {name}: not in these runs", remedy)
            members = {
                transport
                for each in scenarios
                for transport, settings in _transports(each).items()
                if settings.get("class") == name
            }
            if not members:
                raise ClearwayError(
                    f"class {name}: no transport has its data in it", "name the class of a transport's data"
                )
            _check_has_rows(f"class {name}", members, names)
            found |= members
        return found

    def as_json(self) -> dict[str, list[str]]:
        """Return what `--json` says of it."""
        return {
            "figures": list(self.figures),
            "transports": list(self.transports),
            "classes": list(self.classes),
        }


@dataclass(frozen=True)
class Selected:
    """The rows that a selection leaves of certain runs."""

    patterns: tuple[str, ...] = ()
    groups: frozenset[str] | None = None
    """The transports whose rows are left; None where no row is left out for its transport."""

    def has_group(self, group: str) -> bool:
        """Tell whether rows of this transport, or of the whole run if it is nothing, are left."""
        return self.groups is None or group in self.groups

    def has_figure(self, figure: Figure) -> bool:
        """Tell whether rows of this figure are left."""
        return not self.patterns or any(fits(pattern, figure) for pattern in self.patterns)

    def has(self, group: str, figure: Figure) -> bool:
        """Tell whether the row of this figure and this transport is left."""
        return self.has_group(group) and self.has_figure(figure)

    def summary(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """Take from a summary, as JSON has it, the figures that are left."""
        left = self._figures(summary) if self.has_group("") else {}
        transports = summary.get("transports")
        if transports is not None:
            left["transports"] = {
                name: self._figures(of) for name, of in transports.items() if self.has_group(name)
            }
        return left

    def _figures(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        left: dict[str, Any] = {}
        for key, value in summary.items():
            if key == LOWER_BOUNDS:
                left[key] = [name for name in value if self.has_figure(figure_of(name))]
            elif key == ABSENT:
                left[key] = {name: why for name, why in value.items() if self.has_figure(figure_of(name))}
            elif key != "transports" and self.has_figure(figure_of(key)):
                left[key] = value
        return left


EVERYTHING = Selection()
"""The selection that leaves out nothing."""


def fits(pattern: str, figure: Figure) -> bool:
    """Tell whether a pattern fits the key of a figure or its label, large letters being as good as small."""
    lowered = pattern.lower()
    return fnmatchcase(figure.key, lowered) or fnmatchcase(figure.label.lower(), lowered)


def nearest(name: str, known: Collection[str]) -> str:
    """Suggest what may have been meant, or list what there is."""
    near = difflib.get_close_matches(name, list(known), n=_NEAREST, cutoff=_FAR)
    if near:
        return f"did you mean {' or '.join(near)}?"
    listed = list(known)[:_MOST_NAMES]
    more = f", and {len(known) - len(listed)} more" if len(known) > len(listed) else ""
    return f"there is {', '.join(listed)}{more}" if listed else "there is none"


def _no_figure(pattern: str, figures: Iterable[Figure], why: str) -> ClearwayError:
    return ClearwayError(
        f"figure {pattern}: {why}", nearest(pattern, dict.fromkeys(figure.key for figure in figures))
    )


def _check_has_rows(what: str, members: Collection[str], names: Collection[str]) -> None:
    """Raise if none of these transports has rows of its own, as each run has only one transport."""
    if not any(name in members for name in names):
        remedy = (
            f"there are rows of {', '.join(names)}"
            if names
            else "each run has one transport, so the rows of the whole run are its own: leave the option out"
        )
        raise ClearwayError(f"{what}: has no rows of its own", remedy)


def _transports(scenario: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    return scenario.get("transport") or {}
