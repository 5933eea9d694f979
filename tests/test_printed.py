"""The commands in README and docs, run as they are printed.

A page is a session: its commands run one after the other in a directory that has the scenarios, and the
files that the page says to save. What stands in a block below its commands is their output: each of its lines
must have been printed. What cannot run here is marked above its block, where no reader sees it:
`<!-- not run: reason -->` for the whole block, ``<!-- not run: `make test`: reason -->`` for the lines that
begin so. The tutorial has a test of its own.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
PAGES = [path for path in PAGES if path.name not in ("TUTORIAL.md", "TRAINING.md")]
_BLOCK = re.compile(
    r"(?P<marks>(?:^<!-- not run: .*? -->\n)*)^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = re.compile(r"<!-- not run: (?:`(?P<start>[^`]+)`: )?(?P<reason>.*?) -->")
_SAVED_AS = re.compile(r"[Ss]ave this as `(?P<name>[\w.]+)`")
_COMMAND = re.compile(r"(?:\$ )?(?:\.venv/bin/)?(?:clearwayd?|python|pip|make|cargo|dask|kubectl|ip) ")


@dataclass(frozen=True)
class Step:
    """A file that a page has its reader save, or commands that run, with the lines shown as their output."""

    place: str
    file: tuple[str, str] | None
    commands: list[str]
    shown: list[str]


def spaced(text: str) -> list[str]:
    """Return the lines that are not empty, each with single spaces."""
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


def steps(name: str, text: str) -> tuple[list[Step], list[str]]:
    """Read a page: what can run, and, with its reason, what cannot. A mark that marks nothing is an error."""
    found, left_out = [], []
    for block in _BLOCK.finditer(text):
        place = f"{name}:{text.count(chr(10), 0, block.start()) + 1}"
        saved = _SAVED_AS.search(text[: block.start()].rpartition("\n\n")[0].rpartition("\n\n")[2])
        if saved and block["language"]:
            found.append(Step(place, (saved["name"], block["text"]), [], []))
            continue
        lines = re.sub(r"\\\n\s*", "", block["text"]).splitlines()
        commands = [line for line in lines if block["language"] in ("", "sh") and _COMMAND.match(line)]
        marks = list(_MARK.finditer(block["marks"]))
        for mark in marks:
            dropped = [line for line in commands if line.startswith(mark["start"] or "")]
            assert dropped, f"{place}: a mark without a command: {mark[0]}"
            commands = [line for line in commands if line not in dropped]
            left_out += [f"{place}: {line.partition('#')[0].strip()} ({mark['reason']})" for line in dropped]
        if commands:
            found.append(
                Step(
                    place,
                    None,
                    commands,
                    spaced("\n".join(line for line in lines if not _COMMAND.match(line))),
                )
            )
    return found, left_out


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "COLUMNS": "100"}


ALIKE = ("clearway plan ", "clearway schema")
"""Commands that read no file and write none: what several pages print is run for the first."""


def ran(command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", "-c", command],  # noqa: S607
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


ran_once = cache(ran)


@pytest.mark.parametrize("path", PAGES, ids=[path.name for path in PAGES])
def test_every_command_runs_as_printed(path: Path, workspace: Path) -> None:
    for name in ("scenarios", ".venv"):
        (workspace / name).symlink_to(ROOT / name)
    found, left_out = steps(path.name, path.read_text(encoding="utf-8"))
    print(*(f"not run: {line}" for line in left_out), sep="\n")
    for step in found:
        if step.file:
            (workspace / step.file[0]).write_text(step.file[1], encoding="utf-8")
        printed = []
        for command in step.commands:
            words = command.partition(" #")[0].rstrip()
            done = (ran_once if words.startswith(ALIKE) else ran)(words)
            assert done.returncode == 0, f"{step.place}: {command}\n{done.stdout}{done.stderr}"
            printed += spaced(done.stdout)
        missing = [line for line in step.shown if line not in printed]
        assert not missing, f"{step.place} shows {missing}, but this is printed:\n" + "\n".join(printed)


# THE CHECK ITSELF


def test_a_command_runs_unless_a_mark_says_why_not() -> None:
    mark = "<!-- not run: `make test`: it runs this -->\n"
    page = f"{mark}```\nmake test     # all\nclearway schema\n\nshown  so\n```\n"
    (step,), left_out = steps("A.md", page)
    assert step.commands == ["clearway schema"]
    assert step.shown == ["shown so"]
    assert left_out == ["A.md:1: make test (it runs this)"]


def test_a_mark_that_marks_nothing_is_an_error() -> None:
    with pytest.raises(AssertionError, match=r"A\.md:1: a mark without a command"):
        steps("A.md", "<!-- not run: `make bench`: hours -->\n```\nmake test\n```\n")
