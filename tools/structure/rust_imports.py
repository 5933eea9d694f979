"""Imports between the files of Rust crates: each path is followed to the file that declares what it names.

A path that passes `pub use` ends where the item is declared. One that ends at a module names no item, so it
is no import; `use module::*` is one of the module's file. `mod name;` is none either. A `use` of a name that
a module and a function share is one of the module, if the file has a path that begins with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.structure.circles import Import
from tools.structure.rust_modules import Scope, UsedPath, read_module

_PACKAGE_NAME = re.compile(r'^name = "(.+)"', re.MULTILINE)


def imports_of(root: Path, packages: Sequence[Path]) -> list[Import]:
    """Return the imports between the source files of these packages, each a folder with a Cargo.toml."""
    libraries: dict[str, Scope] = {}
    used: list[UsedPath] = []
    for package in packages:
        named = _PACKAGE_NAME.search((package / "Cargo.toml").read_text(encoding="utf-8"))
        for file in _first_files(package):
            crate = Scope(file.relative_to(root).as_posix(), file.parent)
            used.extend(read_module(root, crate))
            if named is not None and file.name == "lib.rs":
                libraries[named[1].replace("-", "_")] = crate
    names = _Names(libraries)
    begun = {(path.scope.module, path.names[0]) for path in used if path.alias in ("", "*")}
    found = []
    for path in used:
        for target in _meant(names.follow(path), is_begun=(path.scope.module, path.alias) in begun):
            imported = target.file if isinstance(target, Scope) else target
            names_item = path.alias == "*" or not isinstance(target, Scope)
            if names_item and imported != path.scope.file:
                found.append(Import(path.scope.file, imported, path.line, str(path)))
    return found


def _first_files(package: Path) -> list[Path]:
    """Return the file with which each crate of a package begins."""
    source = package / "src"
    return [
        *(path for path in (source / "lib.rs", source / "main.rs") if path.is_file()),
        *sorted((source / "bin").glob("*.rs")),
    ]


def _meant(found: Sequence[Scope | str], *, is_begun: bool) -> Sequence[Scope | str]:
    """Return what a path means: of a module and a function of one name, the module if paths begin with it."""
    modules = [target for target in found if isinstance(target, Scope)]
    return modules if is_begun and modules else found


class _Names:
    """Finds what a path names, by Rust's rules."""

    def __init__(self, libraries: Mapping[str, Scope]) -> None:
        self._libraries = libraries

    def follow(self, path: UsedPath, passed: frozenset[UsedPath] = frozenset()) -> list[Scope | str]:
        """Return what a path names: nothing if it is from elsewhere, two things if they share the name.

        `passed` are the imports on the way here: two that name each other lead nowhere.
        """
        first, *rest = [name for name in path.names if name != "*"] or ["self"]
        module = path.scope.module
        found: list[Scope | str]
        if first == "crate":
            found = [path.scope.root]
        elif first in ("self", "super"):
            found = self._member(module, first, passed)
        else:
            found = self._visible(path.scope, first, passed | {path})
        for name in rest:
            modules = [target for target in found if isinstance(target, Scope)]
            if modules:  # What is behind an item's name is part of the item.
                found = [target for module in modules for target in self._member(module, name, passed)]
        return found

    def _visible(self, scope: Scope, name: str, passed: frozenset[UsedPath]) -> list[Scope | str]:
        """Return what the first name of a path stands for, in its blocks, its module, or as a library."""
        place: Scope | None = scope
        while place is not None:
            found = self._declared(place, name, passed)
            if found or name in place.names:
                return found or []
            place = place.around
        return [self._libraries[name]] if name in self._libraries else []

    def _member(self, module: Scope, name: str, passed: frozenset[UsedPath]) -> list[Scope | str]:
        """Return what a name stands for behind the name of a module."""
        if name == "self":
            return [module]
        if name == "super":
            return [module.parent] if module.parent is not None else []
        found = self._declared(module, name, passed)
        # A name that no one declares is made by a macro of the module.
        return [module.file] if found is None else found

    def _declared(self, scope: Scope, name: str, passed: frozenset[UsedPath]) -> list[Scope | str] | None:
        """Return what a name stands for in a scope: nothing if it is from elsewhere, None if unknown."""
        if name in scope.names:
            found: list[Scope | str] = []
            for what in scope.names[name]:
                if not isinstance(what, UsedPath):
                    found.append(what)
                elif what not in passed:
                    found.extend(self.follow(what, passed | {what}))
            return found
        elsewhere = False
        for glob in scope.names.get("*", ()):
            if not isinstance(glob, UsedPath) or glob in passed:
                continue
            modules = self.follow(glob, passed | {glob})
            elsewhere = elsewhere or not modules
            for module in modules:
                if isinstance(module, Scope):
                    inner = self._declared(module, name, passed | {glob})
                    if inner is not None:
                        return inner
        return [] if elsewhere else None
