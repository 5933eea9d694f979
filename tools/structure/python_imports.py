"""Imports between the files of a Python package: at the top, in functions, and for type checkers only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools.structure.circles import Import

_SUFFIXES = (".py", ".pyi")


def imports_of(root: Path, package: Path) -> list[Import]:
    """Return the imports between the files of a package; paths are written relative to `root`.

    A name is imported from the file that the statement names: from `package/__init__.py` if that binds it,
    else from the module of that name. That importing a module runs the `__init__.py` above it is no import.
    """
    # Backwards, so that a stub, which stands for a module that is compiled, gives way to a module.
    sources = sorted((path for path in package.rglob("*.py*") if path.suffix in _SUFFIXES), reverse=True)
    paths = {_module_of(package, path): path for path in sources}
    files = {name: path.relative_to(root).as_posix() for name, path in paths.items()}
    trees = {name: ast.parse(path.read_text(encoding="utf-8"), str(path)) for name, path in paths.items()}
    packages = {name for name, path in paths.items() if path.stem == "__init__"}
    bound = {name: set(_bound(trees[name], name)) for name in packages}
    found = []
    for importer, tree in trees.items():
        for node in ast.walk(tree):
            for module, name in _named(node, importer, is_package=importer in packages):
                inner = f"{module}.{name}"
                imported = inner if inner in files and name not in bound.get(module, ()) else module
                if imported in files and imported != importer:
                    written, line = inner if name else module, getattr(node, "lineno", 0)
                    found.append(Import(files[importer], files[imported], line, written))
    return found


def _module_of(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _named(node: ast.AST, importer: str, *, is_package: bool) -> Iterator[tuple[str, str]]:
    """Yield each module that a statement imports, with the name taken from it, if it takes one."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name, ""
    elif isinstance(node, ast.ImportFrom):
        module = _from(node, importer, is_package=is_package)
        for alias in node.names:
            yield module, alias.name if alias.name != "*" else ""


def _from(node: ast.ImportFrom, importer: str, *, is_package: bool) -> str:
    """Return the module that stands behind `from`; dots are the packages above the importer."""
    parts = importer.split(".")
    base = parts[: len(parts) + is_package - node.level] if node.level else []
    return ".".join([*base, *([node.module] if node.module else [])])


def _bound(package: ast.Module, name: str) -> Iterator[str]:
    """Yield the names that a package's own file binds, other than by importing one of its modules."""
    for node in package.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom) and _from(node, name, is_package=True) != name:
            yield from (alias.asname or alias.name for alias in node.names)
