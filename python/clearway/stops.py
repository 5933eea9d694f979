"""What ends a command before its time: SIGTERM and SIGHUP clean up as Ctrl-C does."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_STOPS = [signal.SIGINT, *(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))]
_heard: list[int] = []


def listen() -> None:
    """Raise KeyboardInterrupt at each of them from here on; what was ignored before (`nohup`) still is."""
    for number in _not_ignored():
        signal.signal(number, _stop)


def status() -> int:
    """Return the exit status after the one that came first, as shells have it: 128 and its number."""
    return 128 + (_heard[0] if _heard else signal.SIGINT)


@contextmanager
def put_off() -> Iterator[None]:
    """Put them off while the body runs, which is short: they would leave half a directory, and lose a run."""
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
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    if came:
        _heard.extend(came)
        raise KeyboardInterrupt


def _not_ignored() -> list[int]:
    return [number for number in _STOPS if signal.getsignal(number) not in (signal.SIG_IGN, None)]


def _stop(number: int, _frame: FrameType | None) -> None:
    _heard.append(number)
    raise KeyboardInterrupt
