"""What ends a command before its time: SIGTERM and SIGHUP clean up as Ctrl-C does.

Before a command runs and after it has, there is nothing to clean up, and the process ends at once. In between
they raise KeyboardInterrupt. What was ignored before (`nohup`) still is.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

_STOPS = [signal.SIGINT, *(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))]
_SAME_S = 1.0  # in which a second one is taken for the first: it would disturb the cleaning up
_SOON_S = 0.01
_heard: list[tuple[int, float]] = []  # those that were acted on, and when
_written: list[Path] = []


def begin() -> None:
    """End the process at each of them from here on, and say so: nothing was begun."""
    for number in _not_ignored():
        signal.signal(number, _end)


def listen() -> None:
    """Raise KeyboardInterrupt at each of them from here on, if `begin` was called: else they are not ours."""
    if _replace(_end, _raise):
        sys.unraisablehook = _send_again


def finish() -> None:
    """End the process at each of them from here on, without a word: all is said."""
    _replace(_raise, _end_quietly)


def wrote(path: Path) -> None:
    """Note that a command has written this: one that is interrupted says so."""
    _written.append(path)


def outcome() -> str:
    """Say what an interrupted command leaves."""
    return f"interrupted; {_written[-1]} is written" if _written else "interrupted, nothing written"


def were_heard() -> bool:
    """Tell whether one of them has ended the command."""
    return bool(_heard)


def forget() -> None:
    """Forget those that came when the command had done all that it was to do: they ended nothing."""
    _heard.clear()


def caused(error: BaseException) -> bool:
    """Tell whether an error is there because the command was stopped.

    KeyboardInterrupt need not arrive as itself: out of `__set_name__`, for one, Python raises RuntimeError.
    """
    return isinstance(error, KeyboardInterrupt) or were_heard()


def status() -> int:
    """Return the exit status after the one that came first, as shells have it: 128 and its number."""
    return 128 + (_heard[0][0] if _heard else signal.SIGINT)


@contextmanager
def put_off() -> Iterator[None]:
    """Put them off while the body runs, which is short: they would leave half a directory, and lose a run.

    Afterwards the first that came does what it otherwise does: anything, in a process that is not ours.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    previous = {
        number: signal.signal(number, lambda number, _: came.append(number)) for number in _not_ignored()
    }
    try:
        yield
    finally:
        # SIGINT last: in a process that is not ours it alone raises, which would leave others as they are.
        for number, handler in reversed(previous.items()):
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    if came:
        signal.raise_signal(came[0])


def _not_ignored() -> list[int]:
    return [number for number in _STOPS if signal.getsignal(number) not in (signal.SIG_IGN, None)]


_Handler = Callable[[int, FrameType | None], None]


def _replace(old: _Handler, new: _Handler) -> bool:
    """Put one handler in the place of another; tell whether that was anywhere."""
    replaced = [number for number in _STOPS if signal.getsignal(number) is old]
    for number in replaced:
        signal.signal(number, new)
    return bool(replaced)


def _end(number: int, _frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(2, b"error: interrupted, nothing written\n")
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> None:
    now = time.monotonic()
    if not _heard or now - _heard[-1][1] > _SAME_S:
        _heard.append((number, now))
        raise KeyboardInterrupt


def _end_quietly(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


def _send_last() -> None:
    """Send the last signal anew. Until then others count as it: raised in the hook, they would be lost."""
    if _heard:  # else it was forgotten meanwhile
        number, _ = _heard.pop()
        os.kill(os.getpid(), number)


def _send_again(lost: sys.UnraisableHookArgs) -> None:
    """Send the signal again if what it raised was lost, as in a destructor, which cannot raise."""
    if isinstance(lost.exc_value, KeyboardInterrupt) and _heard:
        threading.Timer(_SOON_S, _send_last).start()
    else:
        sys.__unraisablehook__(lost)
