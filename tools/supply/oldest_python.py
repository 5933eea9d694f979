"""Whether Clearway works with the oldest versions of its dependencies that pyproject.toml promises.

They have wheels for Python 3.10 and 3.11 only, so one of these makes an environment of its own below
target/, in which the tests of what calls a dependency run on the package as `make build` has made it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tools.supply.outcome import ROOT, Outcome, State, ask

_PYTHONS = ("python3.10", "python3.11", sys.executable)
_HAVE_WHEELS = "import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 12))"
_FILES = (
    *(
        "api",
        "bad_input",
        "cluster",
        "commands",
        "compare",
        "plan",
        "plot",
        "report",
        "run",
        "statistics",
        "store",
    ),
    *("streams", "sweep_page", "tables", "notebooks", "first_run", "tune", "tune_chance", "tune_errors"),
)
_LEFT_OUT = {
    # No process can be called with a zero byte; the path type of older versions of typer fails on it.
    "tests/test_bad_input.py::test_names_that_no_file_has",
}


def oldest_python() -> list[Outcome]:
    """Install the oldest versions with their hashes, and run the tests."""
    check = "tests with the oldest versions of Python dependencies (locks/oldest.txt)"
    python = next((each for each in _PYTHONS if ask([each, "-c", _HAVE_WHEELS]).succeeded), None)
    if python is None:
        reason = "the oldest versions need Python 3.10 or 3.11, and neither is here"
        return [Outcome(check, State.NOT_CHECKED, reason)]
    folder = ROOT / "target" / "oldest" / "python"
    own = folder / "bin" / "python"
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT / "python")}
    lock = ROOT / "locks" / "oldest.txt"
    tests = [f"tests/test_{name}.py" for name in _FILES]
    deselected = [f"--deselect={name}" for name in sorted(_LEFT_OUT)]
    commands: list[list[str | Path]] = [
        [python, "-m", "venv", "--clear", str(folder)],
        [own, "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", lock],
        [own, "-m", "pytest", "--numprocesses=auto", "--dist=loadfile", *tests, *deselected],
    ]
    for command in commands:
        answer = ask(command, environment)
        if not answer.succeeded:
            return [Outcome(check, State.FAILED, answer.last_words())]
    return [Outcome(check, State.PASSED, answer.out.strip().splitlines()[-1])]
