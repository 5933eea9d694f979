"""Claims of a paper: what a file may say of one, and its verdict given the runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.figures import Kind, readable
from clearway.machine import machine
from clearway.paper import verdicts
from clearway.paper.checker import Checker, Table
from clearway.paper.evaluation import SEED, Runs, evaluate, lower_bounds_in, swapped
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.expressions import check_expression
from clearway.paper.measures import POOLED, Series
from clearway.paper.sampling import Estimate, estimate, is_pooled, runs_in, samples, seeds_in
from clearway.paper.verdicts import Position

_CLAIM = {
    "text": str,
    "paper": object,
    "origin": str,
    "kind": str,
    "ours": object,
    "names": list,
    "holds": dict,
    "bar": str,
    "shape": dict,
    "shape_of": object,
    "draws": int,
    "fitted": bool,
    "after_seeing": bool,
    "stand_in": bool,
    "control": object,
    "reason": str,
}
_ORIGINS = ("paper", "extension")
_BARS = ("paper", "ours")
_KINDS = ("time", "bytes", "rate", "share", "count", "plain")


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


def check_claim(claim: Any, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a claim of a file can be judged: its keys, expressions, predicates, seeds and control."""
    check.keys(claim, _CLAIM, where, required=("text", "paper", "ours", "holds"))
    check.one_of(claim.get("kind", "plain"), _KINDS, f"{where}.kind")
    check.one_of(claim.get("origin", "paper"), _ORIGINS, f"{where}.origin")
    check.one_of(claim.get("bar", "paper"), _BARS, f"{where}.bar")
    if _is_extension(claim):
        for key in ("shape", "shape_of", "stand_in"):
            if key in claim:
                raise check.error(
                    f"{where}.{key}",
                    "an extension holds or fails: no paper has a weaker one",
                    f"leave out {key}",
                )
    for key in ("ours", "shape_of", "paper"):
        if key in claim:
            check_expression(claim[key], f"{where}.{key}", runs, check)
    for key in ("holds", "shape"):
        if key in claim:
            if not claim[key]:
                raise check.error(f"{where}.{key}", "is empty", f"one of {', '.join(verdicts.PREDICATES)}")
            for predicate in claim[key]:
                check.one_of(predicate, verdicts.PREDICATES, f"{where}.{key}.{predicate}")
                _check_asked(predicate, claim[key][predicate], f"{where}.{key}.{predicate}", check)
    if claim.get("stand_in") and "control" not in claim:
        raise check.error(f"{where}.control", "missing: a stand-in needs a negative control")
    _check_pooled(claim, where, check)
    _check_seeds(claim, where, runs, check)
    if "control" in claim:
        _check_control(claim, f"{where}.control", runs, check)


def _is_extension(claim: Table) -> bool:
    """Tell whether a claim is ours: the paper does not make it."""
    return bool(claim.get("origin") == "extension")


def _check_pooled(claim: Table, where: str, check: Checker) -> None:
    """Raise unless pooled measures stand at the top of a claim, and are asked what they can answer."""
    for key in ("ours", "shape_of"):
        pooled = _pooled_in(claim.get(key))
        if pooled and not is_pooled(claim[key]):
            message = f"{pooled} brings its own interval, so nothing can be made of it"
            raise check.error(
                f"{where}.{key}", message, "let it be the value that is claimed, or a list of such"
            )
    if not is_pooled(claim["ours"]):
        return
    if "draws" in claim:
        raise check.error(f"{where}.draws", "a pooled measure takes all seeds together", "leave out draws")
    for key in ("holds", "shape"):
        for predicate in claim.get(key, {}):
            if predicate not in verdicts.OF_VALUES:
                raise check.error(
                    f"{where}.{key}.{predicate}",
                    "asks how values stand to each other; those of a pooled measure each have an interval",
                    f"one of {', '.join(sorted(verdicts.OF_VALUES))}",
                )


def _pooled_in(expression: Any) -> str | None:
    """Name a pooled measure in an expression, if there is one."""
    if isinstance(expression, list):
        return next((found for entry in expression if (found := _pooled_in(entry))), None)
    if not isinstance(expression, Mapping):
        return None
    if expression.get("measure") in POOLED:
        return str(expression["measure"])
    return next((found for entry in expression.values() if (found := _pooled_in(entry))), None)


def _check_seeds(claim: Table, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless the runs of a claim have the seeds for two samples: one has no interval."""
    draws = claim.get("draws", 1)
    if draws < 1:
        raise check.error(f"{where}.draws", f"found {draws}, expected a whole number of at least 1")
    for name in sorted(runs_in([claim["ours"], claim.get("shape_of")])):
        seeds = len({variant[SEED] for variant in runs[name].variants})
        if seeds < 2 * draws:
            few = f"run {name} has {seeds} seeds, and an interval needs two samples of {draws}"
            raise check.error(where, few, f"give it seeds = {5 * draws}")


def _check_control(claim: Table, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a control names runs, differs from the claim, and could show the effect."""
    swaps = claim["control"]
    pairs = swaps.items() if isinstance(swaps, Mapping) else [("", swaps)]
    for original, other in pairs:
        for name in (original, other):
            if name:
                check.one_of(name, runs, where)
    for expression in (claim["ours"], claim.get("shape_of", claim["ours"])):
        control = _with_runs(expression, swaps)
        if control == expression:
            raise check.error(where, "changes none of the runs that the claim measures")
        if _compares_with_itself(control):
            raise check.error(
                where,
                "compares a run with itself, whatever the mechanism does: it cannot fail",
            )


def _with_runs(expression: Any, swaps: Mapping[str, str] | str) -> Any:
    """Return an expression with the runs of its control."""
    if isinstance(expression, list):
        return [_with_runs(entry, swaps) for entry in expression]
    if not isinstance(expression, Mapping):
        return expression
    changed = {key: _with_runs(entry, swaps) for key, entry in expression.items()}
    return {**changed, "run": swapped(changed["run"], swaps)} if "run" in changed else changed


def _compares_with_itself(expression: Any) -> bool:
    """Tell whether any two things that are compared in an expression are one."""
    if isinstance(expression, list):
        return any(_compares_with_itself(entry) for entry in expression)
    if not isinstance(expression, Mapping):
        return False
    sides = [expression[key] for key in ("of", "to", "less", "law") if key in expression]
    same = len(sides) == 2 and sides[0] == sides[1] and bool(runs_in(sides[0]))
    return same or any(_compares_with_itself(entry) for entry in expression.values())


def _check_asked(predicate: str, wanted: Any, where: str, check: Checker) -> None:
    """Raise unless a predicate is given what it compares with."""
    if predicate == "order":
        check.one_of(wanted, ("rising", "falling"), where)
        return
    several = predicate in {"at_least", "at_most"} and isinstance(wanted, list) and wanted
    numbers = wanted if predicate == "between" or several else [wanted]
    if (
        not isinstance(numbers, list)
        or (predicate == "between" and len(numbers) != 2)
        or not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers)
    ):
        what = "two numbers" if predicate == "between" else "a number"
        raise check.error(where, f"found {wanted!r}, expected {what}")


def judge(experiment: Experiment, runs: Runs) -> list[Judged]:
    """Judge all claims of an experiment."""
    return [_judge(experiment, claim, runs) for claim in experiment.claims]


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
        fitted=claim.get("fitted", False) or claim.get("after_seeing", False),
        stand_in=claim.get("stand_in", False),
        control=control,
        control_shape=control_shape,
        extension=_is_extension(claim),
    )
    remark = _of_interval(verdict, value, control, unmeasured=bool(found) and not verdicts.measured(found))
    reason = "" if verdict in {verdicts.REPRODUCED, verdicts.EXTENSION} else _reason(claim, verdict)
    if bounds := dict.fromkeys(lower_bounds_in(claim["ours"], runs)):
        reason = f"{reason} At least so much, as something was unfinished: {', '.join(bounds)}.".strip()
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
        bar=claim.get("bar", "ours" if _is_extension(claim) else "paper"),
        verdict=verdict,
        reason=f"{remark} {reason}".strip(),
        extension=_is_extension(claim),
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
