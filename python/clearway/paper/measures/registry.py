"""The measures that experiment files may name, and how a function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from clearway.paper.measures.values import Value

Function = TypeVar("Function", bound=Callable[..., Any])

OF_RUN: dict[str, Callable[..., Value]] = {}
"""Measures of one run, by name: the run comes first."""
OF_VALUES: dict[str, Callable[..., Value]] = {}
"""Measures of values, and closed forms, by name."""
POOLED: set[str] = set()
"""Those measures of values that are taken of all seeds together, and have an interval of their own."""


def of_run(function: Function) -> Function:
    """Make a measure of one run known."""
    OF_RUN[function.__name__] = function
    return function


def of_rows(choice: type[Any]) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Make a measure of chosen rows known: its arguments are the fields of the choice, and its own.

    The choice is a dataclass whose first field is the run.
    """

    def register(function: Callable[..., Value]) -> Callable[..., Value]:
        own = list(signature(function).parameters.values())[1:]
        every = [*signature(choice).parameters.values(), *own]
        ordered = sorted(every, key=lambda argument: argument.default is not Parameter.empty)
        takes = Signature(ordered, return_annotation=signature(function).return_annotation)

        @wraps(function)
        def measure(*positional: Any, **named: Any) -> Value:
            given = takes.bind(*positional, **named).arguments
            chosen = {field.name: given.pop(field.name) for field in fields(choice) if field.name in given}
            return function(choice(**chosen), **given)

        measure.__signature__ = takes  # type: ignore[attr-defined]
        return of_run(measure)

    return register


def of_values(function: Function) -> Function:
    """Make a measure of values known."""
    OF_VALUES[function.__name__] = function
    return function


def of_pooled(function: Function) -> Function:
    """Make a measure of values known that is taken of all seeds together: it returns `Between`."""
    POOLED.add(function.__name__)
    return of_values(function)
