"""The conclusion of a tuning, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearway.figures import readable
from clearway.seeds import seeds_in_words
from clearway.statistics import Interval
from clearway.sweeps.figures import described, name_of
from clearway.sweeps.overrides import label_of
from clearway.tuning.confirmation import Confirmation, SetBack
from clearway.tuning.file import TuneFile
from clearway.tuning.goals import Limit
from clearway.tuning.measuring import Measured
from clearway.tuning.trials import Trial, nearest_of

_MOST_FAILURES = 3  # kinds of failures that are told
_STANDING = {
    "kept": "kept",
    "near": "kept on average, but its interval reaches beyond",
    "broken": "BROKEN",
}


def sentences(
    file: TuneFile,
    trials: Sequence[Trial],
    best: Trial | None,
    confirmation: Confirmation | None,
    seeds: Sequence[int],
) -> list[str]:
    """Say which values are best, how they hold on other seeds, what of them matters, and what failed."""
    own = trials[0]
    found = []
    if best is None:
        found.append(_none(file, trials))
    elif best.number == 0:
        found.append(
            f"None of {len(trials)} trials is better than the scenario's own values: "
            f"{_objective(file, own.objective)}."
        )
    else:
        then = (
            f"the scenario's own values: {_objective(file, own.objective)}"
            if own.eligible
            else (f"the scenario's own values are not eligible: {own.complaint}")
        )
        found.append(
            f"Best of {len(trials)} trials, on {seeds_in_words(seeds)}: {label_of(best.measured.overrides)}: "
            f"{_objective(file, best.objective)}; {then}."
        )
    if confirmation is not None:
        found += _confirmed(file, confirmation)
    return found + _failures(trials)


def _none(file: TuneFile, trials: Sequence[Trial]) -> str:
    near = nearest_of(trials, file.objective)
    nearest = (
        ""
        if near is None
        else (
            f" Nearest is trial {near.number}, {_values(near)}: {_objective(file, near.objective)}, "
            f"but {near.complaint}."
        )
    )
    return f"None of {len(trials)} trials is recommended: none keeps every limit.{nearest}"


def _values(trial: Trial) -> str:
    return label_of(trial.measured.overrides) if trial.measured.overrides else "the scenario's own values"


def _confirmed(file: TuneFile, of: Confirmation) -> list[str]:
    """Say how the best stands on the seeds of the test."""
    on = f"On {seeds_in_words(of.seeds)}, which the search has not seen"
    for who, measured in (("the best fails", of.best), ("the scenario's own values fail", of.own)):
        if measured.failure:
            return [f"{on}, {who}: {measured.failure}."]
    best, own = (each.interval(file.objective.figure) for each in (of.best, of.own))
    found = [
        f"{on}: {_objective(file, best)}; the scenario's own values: {_of(file, own)}. "
        f"{_verdict(file, of, own)}"
    ]
    found += [_limit(limit, of.best, of.own) for limit in file.limits]
    if of.set_back:
        found += [_set_back(file, each) for each in of.set_back]
    return found


def _verdict(file: TuneFile, of: Confirmation, own: Interval | None) -> str:
    """Say whether the best is better."""
    if of.difference is None or own is None:
        return "The difference cannot be told, as a value is missing or a lower bound."
    interval, p = of.difference.interval, of.difference.p
    by = _signed(file, interval)
    if not of.difference.significant:
        keep = "" if of.mends(file) else ": keep what you have"
        return f"The difference, {by}, is not significant{_p(p)}{keep}."
    side = "Better" if of.better(file) else "WORSE"
    share = f" ({abs(interval.mean / own.mean) * 100:.2g} %)" if own.mean else ""
    return f"{side} by more than chance: {by}{share}, seed by seed{_p(p)}."


def _limit(limit: Limit, best: Measured, own: Measured) -> str:
    kind = described(limit.figure).kind
    of, was = best.interval(limit.figure), own.interval(limit.figure)
    held = _STANDING[limit.standing(of)]
    return (
        f"Limit, {limit.words}: {held}: {_written(kind, of)}; the scenario's own values: "
        f"{_written(kind, was)}, {_STANDING[limit.standing(was)]}."
    )


def set_back(file: TuneFile, of: SetBack) -> str:
    """Say which key is set back, and to what."""
    own = file.own[of.key]
    return f"{of.key} {'as the scenario has it' if own is None else f'back at {own}'}"


def _set_back(file: TuneFile, of: SetBack) -> str:
    """Say what becomes of the best without one of its values."""
    what = set_back(file, of)
    if of.measured.failure:
        return f"{what}: fails: {of.measured.failure}."
    breaks = (
        f", and breaks the limit of {' and '.join(each.words for each in of.broken)}" if of.broken else ""
    )
    if of.difference is None:
        return f"{what}: the difference cannot be told{breaks}."
    if of.difference.interval.mean == 0 and not of.difference.interval.half_width:
        use = breaks or ": its own value will do"
        return f"{what}: no difference at all{use}."
    by = f"{_signed(file, of.difference.interval)}{_p(of.difference.p)}"
    if not of.difference.significant:
        use = "" if of.broken else ": its own value will do"
        return f"{what}: no significant difference, {by}{breaks}{use}."
    worse = file.objective.cost(of.difference.interval.mean) > 0
    return f"{what}: significantly {'worse' if worse else 'better'}, {by}{breaks}."


def _failures(trials: Sequence[Trial]) -> list[str]:
    """Say how many trials failed, and why."""
    failed = [each for each in trials if each.measured.failure]
    if not failed:
        return []
    why: dict[str, list[int]] = {}
    for each in failed:
        why.setdefault(each.measured.failure, []).append(each.number)
    told = [f"trial {numbers[0]}: {reason}" for reason, numbers in list(why.items())[:_MOST_FAILURES]]
    more = f"; {len(why) - _MOST_FAILURES} reasons more are in the table" if len(why) > _MOST_FAILURES else ""
    return [
        f"{len(failed)} of {len(trials)} trials failed, and count as breaking the limits: "
        f"{'; '.join(told)}{more}."
    ]


def importance_in_words(importances: dict[str, float]) -> str:
    """Say what has to do with being among the best trials."""
    if not importances:
        return ""
    shares = ", ".join(f"{key} {share * 100:.0f} %" for key, share in importances.items())
    return f"What sets the best quarter of the trials apart (PED-ANOVA, a hint and no test): {shares}."


def _objective(file: TuneFile, of: Interval | None) -> str:
    return f"{name_of(file.objective.figure)} {_of(file, of)}"


def _of(file: TuneFile, of: Interval | None) -> str:
    return _written(described(file.objective.figure).kind, of)


def _written(kind: Any, of: Interval | None) -> str:
    return "-" if of is None else readable(kind, of.mean, of.half_width)


def _signed(file: TuneFile, of: Interval) -> str:
    """Write a difference with its sign."""
    text = readable(described(file.objective.figure).kind, abs(of.mean), of.half_width)
    return f"{'-' if of.mean < 0 else '+'}{text}"


def _p(p: float | None) -> str:
    if p is None or p == 0:
        return ""
    return f" (p = {p:.2g})" if p >= 1e-4 else " (p < 0.0001)"
