"""What this machine can do: commands that run, and a reason where something is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path


class UnavailableError(Exception):
    """This machine or kernel cannot do what is asked; the message is the reason."""


def run(command: Sequence[str], patience_s: float = 20.0) -> str:
    """Run a command and return what it prints; raise `UnavailableError` with what it says if it fails."""
    # In a session of its own: Ctrl-C is for who waits for it, and what cleans up must not be interrupted.
    words = f"{Path(command[0]).name} {' '.join(command[1:4])}"
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, text=True, timeout=patience_s, start_new_session=True, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"{words}: was not done after {patience_s:g} s") from error
    if done.returncode != 0:
        lines = (done.stderr or done.stdout or f"exit status {done.returncode}").splitlines()
        said = "; ".join(line.strip().removeprefix("error: ") for line in lines if line.strip())
        raise UnavailableError(f"{words}: {said}")
    return done.stdout


def demand(*programs: str) -> None:
    """Raise `UnavailableError` unless this is root and has these programs."""
    if os.geteuid() != 0:
        raise UnavailableError("it needs root")
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise UnavailableError(f"missing: {', '.join(missing)}")
