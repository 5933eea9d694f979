"""What a file may say of a claim: keys, expressions, predicates, seeds, control; checked before any run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clearway.paper import verdicts
from clearway.paper.checker import Checker, Table
from clearway.paper.evaluation import SEED, swapped
from clearway.paper.experiment import PlannedRun
from clearway.paper.expressions import check_expression
from clearway.paper.measures import POOLED
from clearway.paper.sampling import is_pooled, runs_in

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


def check_claim(claim: Any, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a claim of a file can be judged: its keys, expressions, predicates, seeds and control."""
    check.keys(claim, _CLAIM, where, required=("text", "paper", "ours", "holds"))
    check.one_of(claim.get("kind", "plain"), _KINDS, f"{where}.kind")
    check.one_of(claim.get("origin", "paper"), _ORIGINS, f"{where}.origin")
    check.one_of(claim.get("bar", "paper"), _BARS, f"{where}.bar")
    if is_extension(claim):
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


def is_extension(claim: Table) -> bool:
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
