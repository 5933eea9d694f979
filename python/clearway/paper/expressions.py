"""Expressions of an experiment's file: what may stand where a value is wanted.

An expression is a number, a text, a list of expressions, or a table with a `measure` and its arguments, which
may be expressions too. `evaluation` says what they are worth.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from clearway.paper import measures
from clearway.paper.checker import Checker, nearest
from clearway.paper.experiment import PlannedRun

SELECTORS = frozenset({"measure", "run", "where", "over", "pool"})
"""Keys of an expression that are no arguments of its measure."""


def check_expression(value: Any, where: str, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless a value is a number, a text, a list of expressions, or a measure with its arguments."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            check_expression(entry, f"{where}[{index}]", runs, check)
    if not isinstance(value, Mapping):
        return
    known: dict[str, Callable[..., measures.Value]] = {**measures.OF_RUN, **measures.OF_VALUES}
    name = value.get("measure")
    if name is None:
        raise check.error(where, "expected a measure", f"one of {', '.join(known)}")
    check.one_of(name, known, f"{where}.measure")
    arguments = inspect.signature(known[name]).parameters
    takes = [argument for argument in arguments if argument != "run"]
    for key in value:
        if key not in takes and (key not in SELECTORS or (key != "measure" and name in measures.OF_VALUES)):
            raise check.error(f"{where}.{key}", f"no argument of {name}", nearest(key, [*takes, *SELECTORS]))
    needed = [key for key in takes if arguments[key].default is inspect.Parameter.empty]
    if missing := [key for key in needed if key not in value]:
        raise check.error(where, f"{name} needs {', '.join(missing)}")
    if name in measures.OF_RUN:
        if "run" not in value:
            raise check.error(where, f"{name} needs run", f"one of {', '.join(runs)}")
        check.one_of(value["run"], runs, f"{where}.run")
    for key, argument in value.items():
        if key in takes and key != "match" and not _plain(argument):
            check_expression(argument, f"{where}.{key}", runs, check)


def _plain(argument: Any) -> bool:
    """Whether an argument has no measure in it, and is taken as it stands."""
    if isinstance(argument, Mapping):
        return "measure" not in argument
    return isinstance(argument, list) and all(_plain(entry) for entry in argument)
