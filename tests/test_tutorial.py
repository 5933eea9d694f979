"""The tutorials, followed word for word from an empty directory.

Its shell blocks are one session, as a reader has it. A line of three dots in an output stands for any lines;
spaces and rules of tables do not count, so that a table may be laid out anew.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TUTORIALS = [ROOT / "docs" / name for name in ("TUTORIAL.md", "TRAINING.md")]
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED_AS = re.compile(r"[Ss]ave this as `(?P<name>[\w.]+)`:\s*\Z")


@dataclass(frozen=True)
class Step:
    """A block of commands, the files to be saved before it, and the output that is shown for it."""

    line: int
    files: dict[str, str]
    commands: str
    shown: str | None


def steps(text: str, name: str) -> list[Step]:
    """Read a tutorial; a block that is neither a file, nor commands, nor their output is an error."""
    found: list[Step] = []
    files: dict[str, str] = {}
    for block in _BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        saved = _SAVED_AS.search(text[: block.start()])
        if saved:
            files[saved["name"]] = block["text"]
        elif block["language"] == "sh":
            found.append(Step(line, files, block["text"], None))
            files = {}
        elif block["language"] == "text" and found and found[-1].shown is None:
            found[-1] = Step(found[-1].line, found[-1].files, found[-1].commands, block["text"])
        else:
            raise AssertionError(f"{name}:{line}: neither a file to save, nor commands, nor an output")
    assert not files, files.keys()
    return found


def lines_of(output: str) -> list[str]:
    """Return the lines that count, each with single spaces."""
    lines = (" ".join(line.split()) for line in output.splitlines())
    return [line for line in lines if line.strip("─ ")]


def first_difference(shown: list[str], printed: list[str]) -> str | None:
    """Say which of the lines shown was not printed in its place; None if all were."""
    at = 0
    anywhere = False
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        if anywhere and line in printed[at:]:
            at = printed.index(line, at)
        if at >= len(printed) or printed[at] != line:
            return line
        at += 1
        anywhere = False
    return None if anywhere or at == len(printed) else f"(nothing more, but there is {printed[at]})"


@pytest.fixture
def session(workspace: Path) -> Path:
    """An empty directory but for the source, as if it had been cloned there."""
    to_do = subprocess.run(["make", "-n", "-C", ROOT, "package"], check=True, capture_output=True, text=True)  # noqa: S607
    assert "maturin" not in to_do.stdout, "make package first: the tutorial would do it, which takes minutes"
    (workspace / "clearway").symlink_to(ROOT)
    return workspace


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda tutorial: tutorial.name)
def test_every_command_prints_what_is_shown(session: Path, tutorial: Path) -> None:
    followed = steps(tutorial.read_text(encoding="utf-8"), tutorial.name)
    assert len(followed) > 5
    with subprocess.Popen(
        ["bash", "--noprofile", "--norc"],  # noqa: S607
        cwd=session,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "100"},
    ) as shell:
        assert shell.stdin is not None
        for step in followed:
            for name, text in step.files.items():
                (session / name).write_text(text, encoding="utf-8")
            # What a command writes is kept apart by step; the shell, and with it what it was told, goes on.
            shell.stdin.write(f"{{\n{step.commands}}} >{step.line}.out 2>{step.line}.err\n")
            shell.stdin.write(f"echo $? >{step.line}.tmp; mv {step.line}.tmp {step.line}.status; echo\n")
            shell.stdin.flush()
            assert shell.stdout is not None
            shell.stdout.readline()
            check(session, step, tutorial.name)
        shell.stdin.close()


def check(session: Path, step: Step, name: str) -> None:
    place = f"{name}:{step.line}: {step.commands}"
    printed, complaints = ((session / f"{step.line}.{kind}").read_text() for kind in ("out", "err"))
    assert complaints == "", f"{place}{complaints}"
    assert (session / f"{step.line}.status").read_text() == "0\n", place
    if step.shown is not None:
        wrong = first_difference(lines_of(step.shown), lines_of(printed))
        assert wrong is None, f"{place}shows {wrong!r}, but this is printed:\n{printed}"


# THE CHECK ITSELF


def test_outputs_are_compared_line_by_line() -> None:
    printed = ["a", "b", "c", "d"]
    assert first_difference(["a", "b", "c", "d"], printed) is None
    assert first_difference(["...", "b", "...", "d"], printed) is None
    assert first_difference(["a", "..."], printed) is None
    assert first_difference(["a", "c", "..."], printed) == "c"
    assert first_difference(["...", "c", "b", "..."], printed) == "b"
    assert first_difference(["...", "e", "..."], printed) == "e"
    assert first_difference(["a", "b", "c"], printed) == "(nothing more, but there is d)"


def test_a_block_that_nobody_checks_is_an_error() -> None:
    with pytest.raises(AssertionError, match=r"TUTORIAL\.md:3: neither"):
        steps("# A\n\n```toml\nformat = 1\n```\n", "TUTORIAL.md")
    with pytest.raises(AssertionError, match=r"TUTORIAL\.md:1: neither"):
        steps("```text\nalone\n```\n", "TUTORIAL.md")
