"""Lengths of Python functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_LINES = 70


@dataclass(frozen=True)
class Function:
    """A function and its length, in lines from `def` to its end: documentation and blank lines count."""

    place: str
    name: str
    lines: int


def long_functions(root: Path, folder: str) -> Iterator[Function]:
    """Yield the functions below a folder of the source tree that are longer than allowed."""
    for path in sorted((root / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES:
                    place = f"{path.relative_to(root).as_posix()}:{node.lineno}"
                    yield Function(place, node.name, lines)
