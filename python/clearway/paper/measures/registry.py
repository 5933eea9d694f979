"""The measures that experiment files may name, and how a function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from clearway.paper.measures.values import Value

Function = TypeVar("Function", bound=Callable[..., Any])

OF_RUN: dict[str, Callable[..., Value]] = {}
"""Measures of one run, by name: the run comes first."""
OF_VALUES: dict[str, Callable[..., Value]] = {}
"""Measures of values, and closed forms, by name."""


def of_run(function: Function) -> Function:
    """Make a measure of one run known."""
    OF_RUN[function.__name__] = function
    return function


def of_values(function: Function) -> Function:
    """Make a measure of values known."""
    OF_VALUES[function.__name__] = function
    return function
