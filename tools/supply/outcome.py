"""How a check ended: passed, failed, or not made at all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class State(Enum):
    """The three ends of a check, as they are printed."""

    PASSED = "passed"
    FAILED = "FAILED"
    NOT_CHECKED = "NOT CHECKED"


@dataclass(frozen=True)
class Outcome:
    """The end of one check; of one that has not passed, the reason."""

    check: str
    state: State
    reason: str = ""

    def __str__(self) -> str:
        """Say it in a line, with further lines of the reason below."""
        reason = self.reason.strip().replace("\n", "\n    ")
        return f"{self.state.value}: {self.check}" + (f"\n    {reason}" if reason else "")


@dataclass(frozen=True)
class Answer:
    """What a program printed, and whether it ended with status 0."""

    succeeded: bool
    out: str
    err: str

    def last_words(self, lines: int = 40) -> str:
        """Return the end of what it printed, where programs say what went wrong."""
        return "\n".join((self.out + self.err).strip().splitlines()[-lines:])


def ask(
    command: Sequence[str | Path], environment: dict[str, str] | None = None, place: Path = ROOT
) -> Answer:
    """Run a program and keep what it prints; one that is not there has failed."""
    try:
        done = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
    except OSError as error:
        return Answer(succeeded=False, out="", err=str(error))
    return Answer(done.returncode == 0, done.stdout, done.stderr)


def report(outcomes: Sequence[Outcome], *, strict: bool) -> int:
    """Print all outcomes; return status 1 if one has failed, and if strict, if one was not made."""
    for outcome in outcomes:
        print(outcome, file=sys.stderr if outcome.state is State.FAILED else sys.stdout)
    bad = {State.FAILED, State.NOT_CHECKED} if strict else {State.FAILED}
    return 1 if any(outcome.state in bad for outcome in outcomes) else 0
