"""Claims of a paper, judged: the verdict on each, given the runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.figures import Kind, readable
from clearway.machine import machine
from clearway.paper import verdicts
from clearway.paper.checker import Table
from clearway.paper.claim_rules import is_extension
from clearway.paper.evaluation import Runs, evaluate, lower_bounds_in
from clearway.paper.experiment import Experiment
from clearway.paper.measures import Series
from clearway.paper.sampling import Estimate, estimate, is_pooled, runs_in, samples, seeds_in
from clearway.paper.verdicts import Position

BUSY = 0.02
"""How long, over its time, what is timed by the clock may wait for a processor before a claim says so."""


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    figure: str
    experiment: str
    text: str
    paper: Any
    ours: Estimate
    control: Estimate | None
    """What the control gave; None where there is none."""
    draws: int
    """How many seeds make a sample."""
    kind: Kind
    names: Sequence[str]
    asked: str
    """The predicate in words, and that its bar is ours where it is."""
    bar: str
    """Whose bar it is: "paper", or "ours" where the paper states no such number."""
    verdict: str
    reason: str
    extension: bool = False
    """Whether the claim is ours: the paper does not make it."""
    machine: str | None = None
    """The machine whose times decided; None where nothing was timed: then it is the same on every machine."""

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints of a claim."""
        answer = {
            "figure": self.figure,
            "claim": self.text,
            "paper": _json(self.paper),
            "ours": _json(self.ours.mean),
            "half_widths": _json(list(self.ours.half_widths)),
            "samples": self.ours.count,
            "seeds_in_a_sample": self.draws,
            "deterministic": self.ours.deterministic,
            "verdict": self.verdict,
            "origin": "extension" if self.extension else "paper",
            "experiment": self.experiment,
            "tolerance": self.asked,
            "bar": self.bar,
            "reason": self.reason,
        }
        if self.ours.ends:
            answer["interval"] = _json([list(ends) for ends in self.ours.ends])
        if self.machine is not None:
            answer["machine"] = self.machine
        if self.control is not None:
            answer["control"] = _json(self.control.mean)
            answer["control_half_widths"] = _json(list(self.control.half_widths))
            if self.control.ends:
                answer["control_interval"] = _json([list(ends) for ends in self.control.ends])
        return answer

    @property
    def verdict_in_words(self) -> str:
        """The verdict, and of which machine it holds."""
        return self.verdict if self.machine is None else f"{self.verdict}, on this machine"

    @property
    def seeds(self) -> str:
        """How many seeds decided, in words."""
        if self.ours.ends:
            return f"{self.draws} pooled"
        if self.ours.count <= 1:
            return "none"
        words = f"{self.ours.count}" if self.draws == 1 else f"{self.ours.count} x {self.draws}"
        return f"{words}, all alike" if self.ours.deterministic else words

    def readable(self, value: Any) -> str:
        """Write a value as a person reads it, an estimate with its interval."""
        halves: Sequence[float | None] = []
        if isinstance(value, Estimate) and value.ends:
            return self._pooled(value)
        if isinstance(value, Estimate):
            value, halves = value.mean, value.half_widths
        if isinstance(value, str):
            return value
        if isinstance(value, Series):
            value = value.y.tolist()
        if not isinstance(value, (list, tuple)):
            return self._number(value, *halves)
        names = self.names if len(self.names) == len(value) else [""] * len(value)
        halves = halves if len(halves) == len(value) else [None] * len(value)
        return ", ".join(
            f"{name} {self.readable(entry) if half is None else self._number(entry, half)}".strip()
            for name, entry, half in zip(names, value, halves, strict=True)
        )

    def _pooled(self, value: Estimate) -> str:
        """Write the values of a pooled measure, each with the ends of its interval in two digits."""
        entries = value.mean if isinstance(value.mean, list) else [value.mean]
        names = self.names if len(self.names) == len(entries) else [""] * len(entries)
        written = [[self._number(float(f"{end:.2g}")) for end in ends] for ends in value.ends]
        return ", ".join(
            f"{name} {self._number(entry)} ({low} to {high})".strip()
            for name, entry, (low, high) in zip(names, entries, written, strict=True)
        )

    def _number(self, value: float | None, half: float | None = None) -> str:
        if value is None or math.isnan(value):
            return "-"
        return readable(self.kind, float(value), half or None)


def judge(experiment: Experiment, runs: Runs) -> list[Judged]:
    """Judge all claims of an experiment."""
    return [_judge(experiment, claim, runs) for claim in experiment.claims]


def best(claim: Table) -> str:
    """Return the verdict that a claim has if all is as it says: the best that it can have."""
    return verdicts.verdict(
        value=Position.WITHIN,
        control=Position.OUTSIDE if "control" in claim else None,
        fitted=_is_fitted(claim),
        stand_in=claim.get("stand_in", False),
        extension=is_extension(claim),
        arithmetic=not runs_in(claim["ours"]),
    )


def _is_fitted(claim: Table) -> bool:
    """Tell whether a claim is no test, as a parameter or its bar was chosen on it."""
    return bool(claim.get("fitted") or claim.get("after_seeing"))


def _judge(experiment: Experiment, claim: Table, runs: Runs) -> Judged:
    paper = evaluate(claim["paper"], runs)
    shape, shape_of = claim.get("shape"), claim.get("shape_of", claim["ours"])
    swaps, draws = claim.get("control"), claim.get("draws", 1)

    def taken(expression: Any, *, control: bool = False, unbounded: bool = False) -> list[Any]:
        return samples(expression, runs, draws, swaps if control else None, unbounded=unbounded)

    def placed(predicates: Table, expression: Any, *, control: bool = False) -> Position:
        found = taken(expression, control=control)
        if control and not verdicts.measured(found):
            return Position.WITHIN  # it shows nothing, and counts as the effect
        farthest = taken(expression, control=control, unbounded=True)
        return verdicts.position(predicates, found, paper, farthest)

    ours = taken(claim["ours"])
    value = placed(claim["holds"], claim["ours"])
    weaker = Position.OUTSIDE if shape is None else placed(shape, shape_of)
    control = control_shape = None
    found: list[Any] = []
    if swaps is not None:
        found = taken(claim["ours"], control=True)
        control = placed(claim["holds"], claim["ours"], control=True)
        control_shape = control if shape is None else placed(shape, shape_of, control=True)
    verdict = verdicts.verdict(
        value=value,
        shape=weaker,
        fitted=_is_fitted(claim),
        stand_in=claim.get("stand_in", False),
        control=control,
        control_shape=control_shape,
        extension=is_extension(claim),
        arithmetic=not runs_in(claim["ours"]),
    )
    remark = _of_interval(verdict, value, control, unmeasured=bool(found) and not verdicts.measured(found))
    reason = (
        ""
        if verdict in {verdicts.REPRODUCED, verdicts.ARITHMETIC, verdicts.EXTENSION}
        else _reason(claim, verdict)
    )
    if bounds := dict.fromkeys(lower_bounds_in(claim["ours"], runs)):
        reason = f"{reason} A lower bound, as something was unfinished: {', '.join(bounds)}.".strip()
    if waited := _waited(runs_in(claim["ours"]), runs):
        reason = f"{reason} {waited}".strip()
    kind: Kind = claim.get("kind", "plain")
    return Judged(
        figure=experiment.figure,
        experiment=experiment.id,
        text=claim["text"],
        paper=paper,
        ours=estimate(ours),
        control=estimate(found) if found else None,
        draws=seeds_in(claim["ours"], runs) if is_pooled(claim["ours"]) else draws,
        kind=kind,
        names=claim.get("names", []),
        asked=verdicts.in_words(claim["holds"], kind) + (" (our bar)" if claim.get("bar") == "ours" else ""),
        bar=claim.get("bar", "ours" if is_extension(claim) else "paper"),
        verdict=verdict,
        reason=f"{remark} {reason}".strip(),
        extension=is_extension(claim),
        machine=machine() if runs_in(claim["ours"]) & experiment.timed else None,
    )


def _of_interval(verdict: str, value: Position, control: Position | None, *, unmeasured: bool) -> str:
    """Say what the intervals have to do with the verdict, where a reader would not guess it."""
    if unmeasured:
        return "The control could not be measured, so that it shows nothing."
    if verdict in {verdicts.NOT_REPRODUCED, verdicts.EXTENSION_FAILED} and control is Position.WITHIN:
        return "It holds of the control as well, which is without the mechanism."
    open_ = {verdicts.STRADDLES, verdicts.EXTENSION_FAILED}
    if verdict in open_ and value is Position.WITHIN:
        return "The interval of the control reaches over the bar."
    if verdict in open_ and value is Position.OVER:
        return "The interval reaches over the bar."
    if verdict == verdicts.STRADDLES:
        return "The interval is outside, and reaches over the weaker bar of the shape."
    return ""


def _waited(names: Collection[str], runs: Runs) -> str:
    """Say that the machine was busy while something was timed by the clock, if it was."""
    shares = [run.summary.get("waited_share") or 0.0 for name in names for _, run in runs[name].points]
    most = max(shares, default=0.0)
    if most < BUSY:
        return ""
    return f"Its threads together waited up to {most:.2f} s a second for a processor that had other work."


def _reason(claim: Table, verdict: str) -> str:
    if "reason" in claim:
        return str(claim["reason"])
    if verdict == verdicts.CALIBRATED and claim.get("after_seeing"):
        return "The claim or its bar was written after the first results were seen."
    if verdict == verdicts.CALIBRATED:
        return "A parameter was fitted on this figure."
    if verdict == verdicts.STAND_IN:
        return "The paper measured production; a synthetic workload shows it, and its control does not."
    return "" if verdict == verdicts.STRADDLES else "No reason has been found yet."


def _json(value: Any) -> Any:
    if isinstance(value, Series):
        return {"x": _json(value.x.tolist()), "y": _json(value.y.tolist())}
    if isinstance(value, (list, tuple)):
        return [_json(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
