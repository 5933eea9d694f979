"""The command line: `python -m tools.adding [--fit] [ROOT]`. Needs git, and cargo if not `--fit`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.adding.page import Chapter, chapters

MOST_CHANGED = 3
"""Files that a scheme, a topology or a pattern may change beside its own."""

_COUNTED = ("congestion control", "topology", "pattern")


def problems_of(found: list[Chapter]) -> list[str]:
    """Return a line for each example that changes more files than are allowed."""
    return [
        f"docs/ADDING.md: {chapter.title}: changes {len(chapter.changed)} files beside its own, "
        f"at most {MOST_CHANGED} are allowed: {', '.join(sorted(chapter.changed))}"
        for chapter in found
        if chapter.title.endswith(_COUNTED) and len(chapter.changed) > MOST_CHANGED
    ]


def add(chapter: Chapter, tree: Path) -> list[str]:
    """Do in a copy of the tree what a chapter says; return a line for each change that does not fit."""
    for path, text in chapter.files.items():
        (tree / path).write_text(text, encoding="utf-8")
    wrong = []
    for diff in chapter.diffs:
        # Line numbers are not kept up; what stands around a change is.
        command = ["git", "apply", "--recount", "-C1", "-"]
        done = subprocess.run(command, cwd=tree, input=diff, text=True, capture_output=True, check=False)  # noqa: S603
        if done.returncode != 0:
            place = diff.splitlines()[0].removeprefix("--- a/")
            wrong.append(f"docs/ADDING.md: {chapter.title}: {place}: {done.stderr.strip()}")
    return wrong


def copy_tracked(root: Path, tree: Path) -> None:
    """Copy the files that git knows of, as they are."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True)  # noqa: S607
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, tree / name)


def main() -> int:
    """Check the page; return the status that the process ends with."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.adding", description="Compile the examples of docs/ADDING.md."
    )
    parser.add_argument("--fit", action="store_true", help="only check that the changes fit the tree")
    parser.add_argument("root", nargs="?", default=".", help="the repository (here)")
    options = parser.parse_args()
    root = Path(options.root).resolve()
    found = chapters((root / "docs/ADDING.md").read_text(encoding="utf-8"))
    wrong = problems_of(found)
    with tempfile.TemporaryDirectory(prefix="clearway-adding-") as folder:
        tree = Path(folder)
        copy_tracked(root, tree)
        wrong.extend(line for chapter in found for line in add(chapter, tree))
        for line in wrong:
            print(line, file=sys.stderr)
        if wrong or options.fit:
            return int(bool(wrong))
        tests = [Path(path).stem for chapter in found for path in chapter.files if "/tests/" in path]
        command = ["cargo", "test", "--quiet", "-p", "clearway-sim", "--test", "all", "--", *tests]
        # These tests run for a moment, and compiling costs more than that: nothing is optimised.
        environment = os.environ | {
            "CARGO_TARGET_DIR": str(root / "target" / "adding"),
            "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
        }
        return subprocess.run(command, cwd=tree, env=environment, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
