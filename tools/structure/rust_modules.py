"""The files of a Rust crate as modules: the names that each declares and imports, and the paths that it uses.

What is under `#[cfg(test)]` is left out. So are the names that the rules of a macro declare, as they are
declared where the macro is used; a path to one of them ends at the module, which is its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.structure.rust_tokens import Group, Token, Tree, tree_of

_TYPES = frozenset({"struct", "enum", "union", "trait", "type"})
_VALUES = frozenset({"fn", "const", "static", "macro_rules"})
_WITH_BODY = frozenset({"fn", "mod", "impl", "struct", "enum", "union", "trait"})
_UNTIL_SEMICOLON = frozenset({"use", "type", "const", "static", "let"})
_QUALIFIERS = frozenset({"pub", "unsafe", "async", "extern"})


@dataclass(frozen=True)
class Item:
    """What a file declares, other than a module."""

    file: str
    is_type: bool
    """Whether a path may go on behind it, as to the variant of an enum."""


@dataclass(frozen=True, eq=False)
class UsedPath:
    """A path that a file uses, in a `use` or in code."""

    scope: Scope
    names: tuple[str, ...]
    line: int
    alias: str = ""
    """The name under which a `use` imports what is at its end; nothing for a path in code, and for a glob."""
    is_glob: bool = False

    def __str__(self) -> str:
        """Write it as the file does."""
        return "::".join((*self.names, "*") if self.is_glob else self.names)


@dataclass(eq=False)
class Scope:
    """A module, or a block in which names are declared and imported as in a module."""

    file: str
    around: Scope | None = None
    """The scope around a block; None for a module."""
    parent: Scope | None = None
    """The parent of a module; None for the root of a crate, and for a block."""
    names: dict[str, list[Scope | Item | UsedPath]] = field(default_factory=dict)
    """What a name stands for here: a module, an item, or what is imported under this name."""
    globs: list[UsedPath] = field(default_factory=list)

    @property
    def module(self) -> Scope:
        """The module that this is, or in which it is."""
        return self if self.around is None else self.around.module

    @property
    def root(self) -> Scope:
        """The root of the crate."""
        module = self.module
        return module if module.parent is None else module.parent.root

    def declare(self, name: str, what: Scope | Item | UsedPath) -> None:
        """Let a name stand for one thing more: a type and a function may share it."""
        self.names.setdefault(name, []).append(what)


@dataclass
class Crate:
    """A crate as read."""

    root: Scope
    used: list[UsedPath]
    """Every path that its files use."""


def read_crate(tree_root: Path, file: Path) -> Crate:
    """Read a crate from its first file, such as src/lib.rs; files are named relative to `tree_root`."""
    reader = _Reader(tree_root)
    root = Scope(file.relative_to(tree_root).as_posix())
    reader.read_file(root, file, file.parent)
    return Crate(root, reader.used)


class _Reader:
    """Walks the files of a crate."""

    def __init__(self, tree_root: Path) -> None:
        self._tree_root = tree_root
        self.used: list[UsedPath] = []

    def read_file(self, scope: Scope, file: Path, folder: Path) -> None:
        """Read a module from its file; the files of its own modules are in `folder`."""
        try:
            tree = tree_of(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{scope.file}: {error}") from error
        self._read(tree, scope, folder)

    def _read(self, tree: Tree, scope: Scope, folder: Path | None) -> None:
        """Read what stands in a module, or, without a folder, in a block."""
        at = 0
        while at < len(tree):
            token = tree[at]
            if (attribute := _attribute(tree, at)) is not None:
                inner = _is(tree[at + 1], "!")
                if _only_for_tests(attribute):
                    if inner:
                        return
                    at = _behind_item(tree, at + 2)
                else:
                    at += 3 if inner else 2
            elif isinstance(token, Group):
                self._read(token.items, Scope(scope.file, scope) if token.opening == "{" else scope, None)
                at += 1
            elif token.text == "use" and not _is_symbol(tree, at + 1, "<"):
                at = self._read_use(tree, at + 1, scope)
            elif token.text == "mod" and folder is not None and _word(tree, at + 1):
                at = self._read_module(tree, at + 1, scope, folder)
            elif token.text in _TYPES | _VALUES and (declared := _declared(tree, at)):
                scope.declare(declared, Item(scope.file, token.text in _TYPES))
                at += 1
            else:
                at = self._read_path(tree, at, scope)

    def _read_module(self, tree: Tree, at: int, scope: Scope, folder: Path) -> int:
        """Read `name;` or `name { ... }` behind `mod`; return the place behind it."""
        name, line = _word(tree, at), tree[at].line
        body = tree[at + 1] if at + 1 < len(tree) else None
        if isinstance(body, Group):
            module = Scope(scope.file, parent=scope.module)
            scope.declare(name, module)
            self._read(body.items, module, folder / name)
        else:
            file = next(
                (path for path in (folder / f"{name}.rs", folder / name / "mod.rs") if path.is_file()), None
            )
            if file is None:
                raise ValueError(f"{scope.file}:{line}: there is no file of the module {name}")
            module = Scope(file.relative_to(self._tree_root).as_posix(), parent=scope.module)
            scope.declare(name, module)
            self.read_file(module, file, folder / name)
        return at + 2

    def _read_use(self, tree: Tree, at: int, scope: Scope) -> int:
        """Read what is behind `use`, up to its semicolon; return the place behind that."""
        end = next((place for place in range(at, len(tree)) if _is(tree[place], ";")), len(tree))
        for path in _leaves(tree[at:end], (), scope):
            self.used.append(path)
            if path.is_glob:
                scope.globs.append(path)
            else:
                scope.declare(path.alias, path)
        return end + 1

    def _read_path(self, tree: Tree, at: int, scope: Scope) -> int:
        """Read a path of two names or more, if one begins here; return the place behind it."""
        first = tree[at]
        names = []
        while word := _word(tree, at):
            names.append(word)
            at += 1
            if not (_is_symbol(tree, at, "::") and _word(tree, at + 1)):
                break
            at += 1
        if len(names) > 1:
            self.used.append(UsedPath(scope, tuple(names), first.line))
        return at if names else at + 1


def _leaves(tree: Tree, before: tuple[str, ...], scope: Scope) -> Iterator[UsedPath]:
    """Yield the paths of a tree of imports."""
    names, at = before, 0
    while at < len(tree):
        token = tree[at]
        if isinstance(token, Group):
            for part in _split(token.items):
                yield from _leaves(part, names, scope)
            return
        if token.text == "*":
            yield UsedPath(scope, names, token.line, is_glob=True)
            return
        if token.is_word:
            if not (token.text == "self" and names):
                names = (*names, token.text)
            if not _is_symbol(tree, at + 1, "::"):
                renamed = _word(tree, at + 2) if _word(tree, at + 1) == "as" else ""
                yield UsedPath(scope, names, token.line, renamed or names[-1])
                return
        at += 1


def _split(tree: Tree) -> Iterator[Tree]:
    """Yield the parts of a list between its commas."""
    start = 0
    for at, token in enumerate(tree):
        if _is(token, ","):
            yield tree[start:at]
            start = at + 1
    yield tree[start:]


def _attribute(tree: Tree, at: int) -> Tree | None:
    """Return what is in the attribute that begins here, if one does."""
    if not _is(tree[at], "#"):
        return None
    at += 2 if _is_symbol(tree, at + 1, "!") else 1
    following = tree[at] if at < len(tree) else None
    return following.items if isinstance(following, Group) and following.opening == "[" else None


def _only_for_tests(attribute: Tree) -> bool:
    """Whether an attribute is `cfg(test)`, or `cfg(all(...))` with `test` among others."""
    return len(attribute) > 1 and _is(attribute[0], "cfg") and _needs_test(attribute[1])


def _needs_test(condition: Token | Group) -> bool:
    if not isinstance(condition, Group):
        return False
    return any(
        (len(part) == 1 and _is(part[0], "test"))
        or (len(part) > 1 and _is(part[0], "all") and _needs_test(part[1]))
        for part in _split(condition.items)
    )


def _behind_item(tree: Tree, at: int) -> int:
    """Return the place behind the item, field or statement that begins here, its attributes included."""
    while at < len(tree) and _attribute(tree, at) is not None:
        at += 2
    keyword = _keyword(tree, at)
    ends = {";"} if keyword in _UNTIL_SEMICOLON else {";", "{"} if keyword in _WITH_BODY else {";", "{", ","}
    while at < len(tree):
        token = tree[at]
        at += 1
        if (token.opening if isinstance(token, Group) else token.text) in ends:
            break
    return at


def _keyword(tree: Tree, at: int) -> str:
    """Return the word that says what kind of item begins here, behind `pub` and the like."""
    while at < len(tree):
        following = _word(tree, at + 1)
        word = _word(tree, at)
        is_qualifier = word in _QUALIFIERS or (word == "const" and following in ("fn", *_QUALIFIERS))
        if not is_qualifier and isinstance(tree[at], Token):
            return word
        at += 1
    return ""


def _declared(tree: Tree, at: int) -> str:
    """Return the name that is declared behind a keyword; nothing if the keyword means something else here."""
    at += 2 if _is(tree[at], "macro_rules") or _word(tree, at + 1) == "mut" else 1
    name = _word(tree, at)
    return "" if name == "fn" or name in _QUALIFIERS else name


def _word(tree: Tree, at: int) -> str:
    """Return the word at a place; nothing if there is none."""
    token = tree[at] if at < len(tree) else None
    return token.text if isinstance(token, Token) and token.is_word else ""


def _is_symbol(tree: Tree, at: int, symbol: str) -> bool:
    return at < len(tree) and _is(tree[at], symbol)


def _is(token: Token | Group, text: str) -> bool:
    return isinstance(token, Token) and token.text == text
