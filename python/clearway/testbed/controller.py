"""A run of `clearwayd testbed`, from its start to its last line."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from clearway import console, stops
from clearway.errors import ClearwayError, reason
from clearway.testbed.reading import Measured, SenselessLineError

_PATIENCE_S = 10.0  # for what was measured, after an order to end


class FailedRunError(ClearwayError):
    """The run failed before anything was measured, for a reason that is no one's input: exit status 1."""


@dataclass(frozen=True)
class Ended:
    """What a run came to."""

    measured: Measured
    interrupted: bool
    """Whether a signal to this process ended it."""


def dies_with_us(command: Sequence[str]) -> list[str]:
    """Return the command so that it ends when this process does, however that ends; needs setpriv and sh.

    A parent that has died before the signal was asked for gives none, so the command starts only if this
    process is its parent still.
    """
    setpriv, shell = shutil.which("setpriv"), shutil.which("sh")
    if setpriv is None or shell is None:
        return list(command)
    still_ours = f'[ "$PPID" = {os.getpid()} ] && exec "$@"'
    return [setpriv, "--pdeathsig", "KILL", shell, "-c", still_ours, shell, *command]


def conduct(command: Sequence[str]) -> Ended:
    """Run a controller and read what it prints. An interruption ends the run, and what was measured comes.

    Raises `ClearwayError` for what it says of its input, `FailedRunError` if nothing was measured, and
    KeyboardInterrupt if that was for an interruption.
    """
    with tempfile.TemporaryFile() as errors:
        measured = Measured()
        interrupted = False
        process: _Process | None = None
        try:
            try:
                with stops.put_off():
                    process = _Process(command, errors, measured)
                process.await_lines()
            except KeyboardInterrupt:
                if process is None:
                    raise
                interrupted = True
                process.interrupt()
                with suppress(KeyboardInterrupt):  # a second one: no more patience
                    process.await_lines(_PATIENCE_S)
            status = process.status()
        except SenselessLineError as error:
            raise FailedRunError(
                f"clearwayd printed {error}", "are clearway and clearwayd of the same version? make build"
            ) from error
        finally:
            if process is not None:
                process.end()
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    return _judged(measured, status, said, interrupted=interrupted)


def _judged(measured: Measured, status: int, said: str, *, interrupted: bool) -> Ended:
    """Return what the run came to, or raise why there is nothing of it."""
    message, remedy = _split(said)
    if not measured.has_started:
        if interrupted:
            raise KeyboardInterrupt("interrupted before the run started, nothing written")
        kind = ClearwayError if status == 2 else FailedRunError
        raise kind(message or f"clearwayd testbed ended with status {status}", remedy)
    if measured.is_complete is None:
        measured.is_complete = False
        measured.reason = "interrupted" if interrupted else f"the controller ended with status {status}"
    elif said and not interrupted:
        console.show_warning("\n  ".join(filter(None, (message, remedy))))
    return Ended(measured, interrupted)


def _split(said: str) -> tuple[str, str | None]:
    """Take the first error of what the controller says, and what stands below, its remedy first."""
    first, _, rest = said.strip().partition("\n")
    return first.removeprefix("error: "), rest.removeprefix("  ") or None


class _Process:
    """A controller in a session of its own. A thread takes its lines: an interruption of ours loses none."""

    def __init__(self, command: Sequence[str], errors: IO[bytes], measured: Measured) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise ClearwayError(f"{command[0]}: {reason(error)}", "is Clearway installed whole?") from error
        self._measured = measured
        self._failure: Exception | None = None
        self._is_over = False
        self._taking = threading.Lock()
        self._all_taken = threading.Event()
        threading.Thread(target=self._take_lines, daemon=True).start()

    def interrupt(self) -> None:
        """Tell it to end the run in order."""
        self._process.send_signal(signal.SIGINT)

    def status(self) -> int:
        """Return the status that it ends with; one that does not end is killed."""
        try:
            return self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    def end(self) -> None:
        """See that it has ended, and that no line is taken any more."""
        if self._process.poll() is None:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        with self._taking:
            self._is_over = True

    def await_lines(self, patience_s: float | None = None) -> None:
        """Wait until all lines are taken, or patience is over. Raises what taking one of them has raised."""
        self._all_taken.wait(patience_s)
        if self._failure is not None:
            raise self._failure

    def _take_lines(self) -> None:
        assert self._process.stdout is not None
        try:
            with suppress(OSError):
                for line in self._process.stdout:
                    with self._taking:
                        if self._is_over:
                            return
                        self._measured.take(line.decode("utf-8", "replace"))
        except Exception as error:
            self._failure = error
        finally:
            self._all_taken.set()
