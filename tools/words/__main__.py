"""The command line of the check: `python -m tools.words [ROOT]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.words.search import found_in

_SUFFIXES = (".rs", ".py", ".md", ".toml")
_LEFT_OUT = (
    # They have the phrases to show them.
    "tools/words/phrases.py",
    "tests/test_words.py",
    # What was written of old versions stays as it was.
    "CHANGELOG.md",
    # A claim is known by its text, in which a paper may be quoted.
    "docs/DEVIATIONS.md",
    "python/clearway/papers/",
    # Of others.
    "python/clearway/report/vendor/",
)


def files_of(root: Path) -> list[Path]:
    """Return the tracked files in which phrases are looked for."""
    command = ["git", "-C", str(root), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own command
    return [
        root / name
        for name in listed.stdout.split("\0")
        if name.endswith(_SUFFIXES) and not name.startswith(_LEFT_OUT) and (root / name).is_file()
    ]


def problems(root: Path, files: list[Path]) -> list[str]:
    """Return an entry for each phrase in these files that none may have."""
    return [
        f"{path.relative_to(root).as_posix()}:{found.line}:{found.column}: {found.words!r}: "
        f"{found.phrase.reason}; write: {found.phrase.instead}"
        for path in files
        for found in found_in(path.read_text(encoding="utf-8"), path.name)
    ]


def main() -> int:
    """Print what is wrong; return the status that the process ends with."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = problems(root, files_of(root))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
