"""The command line of the checks: `python -m tools.structure [ROOT]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.structure import python_imports, rust_imports
from tools.structure.circles import circles, described
from tools.structure.floors import arrows_up
from tools.structure.functions import MOST_LINES, long_functions
from tools.structure.unnamed import unnamed_files

_PACKAGE = "python/clearway"
_CHECKED_FOR_LENGTH = (_PACKAGE, "tests", "tools")


def problems(root: Path) -> list[str]:
    """Return what is wrong with the tree: circles, imports that go up, long functions, unnamed files."""
    packages = sorted(path.parent for path in root.glob("crates/*/Cargo.toml"))
    imports = [*rust_imports.imports_of(root, packages), *python_imports.imports_of(root, root / _PACKAGE)]
    found = [described(circle, imports) for circle in circles(imports)]
    found.extend(arrows_up(imports))
    for folder in _CHECKED_FOR_LENGTH:
        found.extend(
            f"{function.place}: {function.name} has {function.lines} lines, at most {MOST_LINES} are allowed"
            for function in long_functions(root, folder)
        )
    for package in packages:
        found.extend(
            f"{file.relative_to(root).as_posix()}: no file of its crate names it with `mod`: not compiled"
            for file in unnamed_files(package)
        )
    return found


def main() -> int:
    """Print what is wrong; return the status that the process ends with."""
    found = problems(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
