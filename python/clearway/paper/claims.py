"""Claims of a paper: what a file may say of one, and its verdict given the runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearway.figures import Kind, readable
from clearway.paper import verdicts
from clearway.paper.checker import Checker, Table
from clearway.paper.evaluation import Runs, evaluate, lower_bounds_in
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.expressions import check_expression
from clearway.paper.measures import Series

_CLAIM = {
    "text": str,
    "paper": object,
    "kind": str,
    "ours": object,
    "names": list,
    "holds": dict,
    "shape": dict,
    "shape_of": object,
    "fitted": bool,
    "stand_in": bool,
    "control": object,
    "reason": str,
}
_KINDS = ("time", "bytes", "rate", "share", "count", "plain")


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    figure: str
    experiment: str
    text: str
    paper: Any
    ours: Any
    control: Any
    """What the control gave; None where there is none."""
    kind: Kind
    names: Sequence[str]
    asked: str
    """The predicate in words."""
    verdict: str
    reason: str

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints of a claim."""
        answer = {
            "figure": self.figure,
            "claim": self.text,
            "paper": _json(self.paper),
            "ours": _json(self.ours),
            "verdict": self.verdict,
            "experiment": self.experiment,
            "tolerance": self.asked,
            "reason": self.reason,
        }
        if self.control is not None:
            answer["control"] = _json(self.control)
        return answer

    def readable(self, value: Any) -> str:
        """Write a value as a person reads it."""
        if isinstance(value, str):
            return value
        if isinstance(value, Series):
            value = value.y.tolist()
        if isinstance(value, (list, tuple)):
            names = self.names if len(self.names) == len(value) else [""] * len(value)
            cells = (
                f"{name} {self.readable(entry)}".strip() for name, entry in zip(names, value, strict=True)
            )
            return ", ".join(cells)
        return "-" if value is None or math.isnan(value) else readable(self.kind, float(value))


def check_claim(claim: Any, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a claim of a file can be judged: its keys, expressions, predicates and control."""
    check.keys(claim, _CLAIM, where, required=("text", "paper", "ours", "holds"))
    check.one_of(claim.get("kind", "plain"), _KINDS, f"{where}.kind")
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
    if "control" in claim:
        swaps = claim["control"]
        pairs = swaps.items() if isinstance(swaps, Mapping) else [("", swaps)]
        for original, other in pairs:
            for name in (original, other):
                if name:
                    check.one_of(name, runs, f"{where}.control")


def _check_asked(predicate: str, wanted: Any, where: str, check: Checker) -> None:
    """Raise unless a predicate is given what it compares with."""
    if predicate == "order":
        check.one_of(wanted, ("rising", "falling"), where)
        return
    numbers = wanted if predicate == "between" else [wanted]
    count = 2 if predicate == "between" else 1
    if (
        not isinstance(numbers, list)
        or len(numbers) != count
        or not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers)
    ):
        what = "two numbers" if predicate == "between" else "a number"
        raise check.error(where, f"found {wanted!r}, expected {what}")


def judge(experiment: Experiment, runs: Runs) -> list[Judged]:
    """Judge all claims of an experiment."""
    return [_judge(experiment, claim, runs) for claim in experiment.claims]


def _judge(experiment: Experiment, claim: Table, runs: Runs) -> Judged:
    paper = evaluate(claim["paper"], runs)
    ours = evaluate(claim["ours"], runs)
    shape, shape_of = claim.get("shape"), claim.get("shape_of", claim["ours"])
    swaps = claim.get("control")
    control = None if swaps is None else evaluate(claim["ours"], runs, swaps)
    verdict = verdicts.verdict(
        held=verdicts.holds(claim["holds"], ours, paper),
        shape_held=shape is not None and verdicts.holds(shape, evaluate(shape_of, runs), paper),
        fitted=claim.get("fitted", False),
        stand_in=claim.get("stand_in", False),
        control_held=None if control is None else verdicts.holds(claim["holds"], control, paper),
        control_shape_held=None
        if swaps is None or shape is None
        else verdicts.holds(shape, evaluate(shape_of, runs, swaps), paper),
    )
    kind: Kind = claim.get("kind", "plain")
    reason = "" if verdict == verdicts.REPRODUCED else _reason(claim, verdict)
    if (
        control is not None
        and verdict == verdicts.NOT_REPRODUCED
        and verdicts.holds(claim["holds"], control, paper)
    ):
        reason = f"It holds of the control as well, which is without the mechanism. {reason}"
    if bounds := dict.fromkeys(lower_bounds_in(claim["ours"], runs)):
        reason = f"{reason} At least so much, as something was unfinished: {', '.join(bounds)}.".strip()
    return Judged(
        figure=experiment.figure,
        experiment=experiment.id,
        text=claim["text"],
        paper=paper,
        ours=ours,
        control=control,
        kind=kind,
        names=claim.get("names", []),
        asked=verdicts.in_words(claim["holds"], kind),
        verdict=verdict,
        reason=reason,
    )


def _reason(claim: Table, verdict: str) -> str:
    if "reason" in claim:
        return str(claim["reason"])
    if verdict == verdicts.CALIBRATED:
        return "A parameter was fitted on this figure."
    if verdict == verdicts.STAND_IN:
        return "The paper measured production; a synthetic workload shows it, and its control does not."
    return "No reason has been found yet."


def _json(value: Any) -> Any:
    if isinstance(value, Series):
        return {"x": _json(value.x.tolist()), "y": _json(value.y.tolist())}
    if isinstance(value, (list, tuple)):
        return [_json(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
