"""The files of a Rust crate as modules: the names that each declares and imports, and the paths that it uses.

tree-sitter says where declarations, blocks, comments, texts and attributes are in a file. What is under
`#[cfg(test)]` is left out. So are the names that a macro declares, as they are declared where the macro is
used; a path to one of them ends at the module, which is its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tree_sitter_rust
from tree_sitter import Language, Node, Parser, Query, QueryCursor

_RUST = Language(tree_sitter_rust.language())
_PARSER = Parser(_RUST)
_WANTED = Query(
    _RUST,
    """
    [(ERROR) (MISSING)] @error
    [(line_comment) (block_comment) (string_literal) (raw_string_literal) (char_literal)] @no_code
    [(attribute_item) (inner_attribute_item)] @no_code
    [(struct_item) (enum_item) (union_item) (trait_item) (type_item)] @item
    [(function_item) (const_item) (static_item) (macro_definition)] @item
    [(block) @block (impl_item body: (_) @block) (trait_item body: (_) @block)]
    (mod_item) @module
    """,
)
# What is handed to a macro has no structure: paths and imports are found by their words, there as elsewhere.
_USED = re.compile(rb"(?P<use>\buse\s[^;]+;)|(?:r#)?[A-Za-z_]\w*(?:\s*::\s*(?:r#)?[A-Za-z_]\w*)+")
_NAME = re.compile(r"(?:r#)?([A-Za-z_]\w*|\*)")
_FOR_TESTS = re.compile(rb"#!?\[cfg\((?:\s*all\(|[^(),]+(?:\([^()]*\))?,)*\s*test\s*[,)]")
# Nodes that hold the attributes of what they are; of others, attributes stand before the node.
_WITH_ATTRIBUTES = ("match_arm", "field_initializer")
_BEFORE_ITEM = ("attribute_item", "line_comment", "block_comment")


@dataclass(frozen=True, eq=False)
class UsedPath:
    """A path that a file uses, in a `use` or in code."""

    scope: Scope
    names: tuple[str, ...]
    """What stands between its colons; the last is `*` for a glob."""
    line: int
    alias: str = ""
    """The name under which a `use` imports what is at its end, `*` for a glob; nothing for a path in code."""

    def __str__(self) -> str:
        """Write it as the file does."""
        return "::".join(self.names)


@dataclass(eq=False)
class Scope:
    """A module, or a block in which names are declared and imported as in a module."""

    file: str
    """The path of its file, relative to the root of the source tree."""
    folder: Path
    """Where the files of its modules are."""
    around: Scope | None = None
    """The scope around a block; None for a module."""
    parent: Scope | None = None
    """The parent of a module; None for the root of a crate, and for a block."""
    names: dict[str, list[Scope | UsedPath | str]] = field(default_factory=dict)
    """What a name stands for here: a module, what is imported under it, or an item, given by its file."""

    @property
    def module(self) -> Scope:
        """The module that this is, or in which it is."""
        return self if self.around is None else self.around.module

    @property
    def root(self) -> Scope:
        """The root of the crate."""
        module = self.module
        return module if module.parent is None else module.parent.root

    def declare(self, name: str, what: Scope | UsedPath | str) -> None:
        """Let a name stand for one thing more: a type and a function may share it."""
        self.names.setdefault(name, []).append(what)


def read_module(tree_root: Path, module: Scope) -> Iterator[UsedPath]:
    """Yield every path that a module's file and the files of its modules use; declare what they declare."""
    source = (tree_root / module.file).read_bytes()
    found = QueryCursor(_WANTED).captures(_PARSER.parse(source).root_node)
    for error in found.pop("error", ()):
        raise ValueError(f"{module.file}:{error.start_point.row + 1}: tree-sitter cannot read this as Rust")
    code = bytearray(source)
    for node in found.pop("no_code", ()):
        _blank(code, node)
    scopes = [module] * len(code)  # of each byte
    nodes = ((node, kind) for kind in found for node in found[kind])
    for node, kind in sorted(nodes, key=lambda pair: pair[0].start_byte):
        if code.startswith(b" ", node.start_byte):
            continue
        scope, name = scopes[node.start_byte], _text(node, "name")
        body = node if kind == "block" else node.child_by_field_name("body")
        if kind == "item":
            scope.declare(name, module.file)
            continue
        if kind == "block":
            inner = Scope(module.file, scope.folder, around=scope)
        else:
            file = module.file if body else _file_of(tree_root, scope, name)
            inner = Scope(file, scope.folder / name, parent=scope.module)
            scope.declare(name, inner)
        if body:
            scopes[body.start_byte : body.end_byte] = [inner] * (body.end_byte - body.start_byte)
        else:
            yield from read_module(tree_root, inner)
    yield from _used(bytes(code), scopes)


def _blank(code: bytearray, node: Node) -> None:
    """Put spaces in place of what is no code; if it is an attribute for tests, in place of its item, too."""
    place = slice(node.start_byte, node.end_byte)
    code[place] = re.sub(rb"[^\n]", b" ", code[place])
    if _FOR_TESTS.match(node.text or b""):
        item = node.next_named_sibling
        if node.parent and (node.type == "inner_attribute_item" or node.parent.type in _WITH_ATTRIBUTES):
            item = node.parent
        while item and item.type in _BEFORE_ITEM:
            item = item.next_named_sibling
        if item:
            _blank(code, item)


def _used(code: bytes, scopes: Sequence[Scope]) -> Iterator[UsedPath]:
    """Yield the paths that a file uses; declare what it imports."""
    for match in _USED.finditer(code):
        scope, line = scopes[match.start()], code.count(b"\n", 0, match.start()) + 1
        if match["use"] is None:
            yield UsedPath(scope, tuple(_NAME.findall(match[0].decode())), line)
        elif not (tree := _PARSER.parse(match[0]).root_node).has_error:
            for path in _imported(tree.children[0], (), scope, line):
                scope.declare(path.alias, path)
                yield path


def _imported(tree: Node, before: tuple[str, ...], scope: Scope, line: int) -> Iterator[UsedPath]:
    """Yield the paths of a tree of imports, of which the first is in this line."""
    before = (*before, *_NAME.findall(_text(tree, "path"))) if tree.type == "scoped_use_list" else before
    if tree.type in ("use_declaration", "scoped_use_list", "use_list"):
        for part in (tree.child_by_field_name("list") or tree).named_children:
            yield from _imported(part, before, scope, line)
    else:
        written, _, alias = _text(tree).partition(" as ")
        names = (*before, *_NAME.findall(written))
        names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
        yield UsedPath(scope, names, line + tree.end_point.row, alias or names[-1])


def _file_of(tree_root: Path, scope: Scope, name: str) -> str:
    """Return the file of a module that a scope names."""
    for file in (scope.folder / f"{name}.rs", scope.folder / name / "mod.rs"):
        if file.is_file():
            return file.relative_to(tree_root).as_posix()
    raise ValueError(f"{scope.file}: there is no file of the module {name}")


def _text(node: Node, part: str = "") -> str:
    """Return the text of a node, or of a part of it; nothing if it has no such part."""
    found = node.child_by_field_name(part) if part else node
    return (found.text or b"").decode() if found else ""
