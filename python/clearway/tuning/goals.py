"""The goals of tuning: one figure that is to be as low or as high as can be, and limits for others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.figures import FIGURES, AtLeast, Kind, readable
from clearway.selection import nearest
from clearway.statistics import Interval
from clearway.sweeps.figures import described, name_of

_UNITS: Mapping[Kind, tuple[str, str, str]] = {
    "time": ("us", "a time", "50us"),
    "bytes": ("bytes", "a size", "100kB"),
    "rate": ("gbps", "a rate", "90Gbps"),
}
"""The unit of each kind in tables, its name, and an example."""
_PLAIN = {"time": "us", "bytes": "bytes", "rate": "Gb/s", "share": "a share of 1"}
_SIDES = ("at_least", "at_most")
SIDES = frozenset(_SIDES)
"""A table with one of these keys is a limit."""


@dataclass(frozen=True)
class Objective:
    """The figure that decides."""

    figure: str
    better: str
    """The direction that is better: lower or higher."""

    def cost(self, value: float) -> float:
        """Return a value as something of which less is better."""
        return float(value) if self.better == "lower" else -float(value)

    def is_open(self, value: float) -> bool:
        """Tell whether the true value may be anything worse than this one."""
        return isinstance(value, AtLeast) and self.better == "lower"


@dataclass(frozen=True)
class Limit:
    """A figure, and the worst value that it may have."""

    figure: str
    side: str
    """The side of the value that is allowed: at_least or at_most."""
    value: float

    def excess(self, value: float) -> float:
        """Return how far a value is beyond the limit, relative to it; 0 or less if it keeps the limit."""
        beyond = self.value - float(value) if self.side == "at_least" else float(value) - self.value
        if self.side == "at_most" and isinstance(value, AtLeast):
            beyond = max(beyond, abs(self.value))  # the true value may be anything above
        return beyond / (abs(self.value) or 1.0)

    def standing(self, of: Interval | None) -> str:
        """Say in a word whether a mean keeps it: kept, near (its interval reaches beyond) or broken."""
        if of is None or self.excess(of.mean) > 0:
            return "broken"
        worst = of.mean + (of.half_width or 0.0) * (-1 if self.side == "at_least" else 1)
        return "near" if self.excess(worst) > 0 else "kept"

    @property
    def words(self) -> str:
        """The limit in words, such as "goodput at least 90 Gb/s"."""
        return f"{name_of(self.figure)} {self.side.replace('_', ' ')} {self.written}"

    @property
    def written(self) -> str:
        """The value with its unit."""
        return readable(described(self.figure).kind, self.value)


def objective_of(written: Any, where: str, transports: Collection[str]) -> Objective:
    """Read the objective; `where` names it in messages, `transports` are those of the scenario."""
    if not isinstance(written, Mapping) or not written:
        raise ClearwayError(
            f"{where}: expected a figure with the direction that is better",
            'for example objective = { rtt_p99_us = "lower" }',
        )
    if len(written) > 1:
        raise ClearwayError(
            f"{where}: found {len(written)} figures, expected one",
            "put the others under limits: { goodput_gbps = { at_least = ... } }",
        )
    ((figure, better),) = _flat(written)
    _check_figure(figure, where, transports)
    if better not in ("lower", "higher"):
        raise ClearwayError(f'{where}: {figure}: found {better!r}, expected "lower" or "higher"')
    return Objective(figure, str(better))


def limits_of(written: Any, where: str, transports: Collection[str]) -> list[Limit]:
    """Read the limits, none if there are none."""
    if written is None:
        return []
    if not isinstance(written, Mapping):
        raise ClearwayError(
            f"{where}: expected figures with their limits",
            'such as { goodput_gbps = { at_least = "90Gbps" } }',
        )
    limits = []
    for figure, sides in _flat(written):
        _check_figure(figure, where, transports)
        if not isinstance(sides, Mapping) or not sides or not set(sides) <= SIDES:
            raise ClearwayError(
                f"{where}: {figure}: expected at_least, at_most, or both",
                f"for example {{ at_least = {_example(described(figure).kind)} }}",
            )
        limits += [
            Limit(figure, side, _amount(sides[side], figure, where)) for side in _SIDES if side in sides
        ]
    return limits


def _flat(written: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """List figures and what is said of them: TOML reads a dotted key without quotes as nested tables."""
    found: list[tuple[str, Any]] = []
    for key, value in written.items():
        path = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(value, Mapping) and value and not set(value) & SIDES and key not in _KEYS:
            found += _flat(value, path)
        else:
            found.append((path, value))
    return found


_KEYS = {figure.key for figure in FIGURES}


def _check_figure(name: str, where: str, transports: Collection[str]) -> None:
    """Raise if no run of the scenario can have this figure."""
    transport, _, key = name.rpartition(".")
    if transport and transport not in transports:
        raise ClearwayError(
            f"{where}: {name}: no transport is called {transport}", nearest(transport, transports)
        )
    if key not in _KEYS:
        labelled = next((figure.key for figure in FIGURES if figure.label.lower() == key.lower()), None)
        meant = f"did you mean {labelled}?" if labelled else nearest(key, _KEYS)
        raise ClearwayError(f"{where}: {name}: no figure has this key", meant)
    if transport and len(transports) == 1:
        raise ClearwayError(
            f"{where}: {name}: the scenario has one transport, whose figures are those of the run",
            f"write {key}",
        )


def _amount(written: Any, figure: str, where: str) -> float:
    """Read a value of a figure: a number in the figure's own unit, or with its unit as in a scenario."""
    kind = described(figure).kind
    if kind == "share" and isinstance(written, str) and written.rstrip().endswith("%"):
        found = quantity(written.rstrip().removesuffix("%") + "us")  # a number, with any unit
        if found is not None:
            return found.value / 100
    found = quantity(written)
    if found is None or found.unit not in ("", _UNITS.get(kind, ("",))[0]):
        a = f"{_UNITS[kind][1]} such as" if kind in _UNITS else "a number such as"
        own = f", or a number in {_PLAIN[kind]}" if kind in _UNITS else ""
        raise ClearwayError(f"{where}: {figure}: found {written!r}, expected {a} {_example(kind)}{own}")
    return found.value


def _example(kind: Kind) -> str:
    if kind in _UNITS:
        return f'"{_UNITS[kind][2]}"'
    return '"1%"' if kind == "share" else "0.9"
