"""Rust files that no program names: what is in them is neither compiled nor tested, and nothing says so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_MODULE = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+);", re.MULTILINE)
_ROOTS = ("src/lib.rs", "src/main.rs", "src/bin/*.rs", "tests/main.rs")
_OWNERS = ("lib.rs", "main.rs", "mod.rs")


def unnamed_files(package: Path) -> Iterator[Path]:
    """Yield the files below a package's src and tests that no program or library of it names as a module.

    Only a package whose tests are one program, tests/main.rs, is looked at.
    """
    if not (package / "tests/main.rs").exists():
        return
    named: set[Path] = set()
    for pattern in _ROOTS:
        for root in package.glob(pattern):
            named.update(_modules(root, root.parent))
    for folder in ("src", "tests"):
        yield from sorted(set((package / folder).rglob("*.rs")) - named)


def _modules(file: Path, folder: Path) -> Iterator[Path]:
    """Yield a file and those of its modules, which are in `folder`."""
    yield file
    for name in _MODULE.findall(file.read_text(encoding="utf-8")):
        for module in (folder / f"{name}.rs", folder / name / "mod.rs"):
            if module.exists():
                yield from _modules(module, module.parent if module.name in _OWNERS else folder / name)
