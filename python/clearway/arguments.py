"""What Python code may pass to Clearway: each argument is checked here, and an error names it.

A value that is taken is returned in the type that everything behind it expects: NumPy's whole numbers become
Python's, and what names a file becomes a path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clearway.errors import ClearwayError

MOST_THREADS = 64
"""The most threads that one run may have."""
MOST_SEEDS = 10_000
"""The most seeds that a scenario may be run with at once."""
MOST_JOBS = 1024
"""The most runs at once that one may ask for."""
LARGEST_SEED = 2**53
"""The largest seed, as a scenario's: what a JSON number holds exactly."""

Source = str | os.PathLike[str] | Mapping[str, Any]
"""A scenario: the path of a file, TOML text (which has a line break), or a dict as TOML is read."""

_SHOWN = 60  # characters of a value that is shown in a message


def source(found: object, name: str = "scenario", others: str = "") -> Path | str | Mapping[str, Any]:
    """Tell the three kinds of scenario apart: a path is returned as one, text as `str`, a dict as it is.

    `others` says what else may stand in the same place, for the message.
    """
    if isinstance(found, Mapping):
        return found
    if isinstance(found, str) and "\n" in found:
        return text(name, found)
    if isinstance(found, (str, os.PathLike)) and not isinstance(os.fspath(found), bytes):
        return path(name, found)
    raise _wrong(name, found, f"{others}a path, TOML text (with a line break), or a dict as TOML is read")


def path(name: str, found: object) -> Path:
    """Take the path of a file or of a directory."""
    if isinstance(found, (str, os.PathLike)):
        written = os.fspath(found)
        if isinstance(written, str) and written and "\0" not in written and _can_be_encoded(written):
            return Path(written)
    raise _wrong(name, found, "a path, as text or as a Path")


def text(name: str, found: object) -> str:
    """Take text."""
    if not isinstance(found, str):
        raise _wrong(name, found, "text")
    try:
        found.encode()
    except UnicodeEncodeError as error:
        raise ClearwayError(f"{name}: no text: character {error.start} is half a character") from None
    return found


def names(name: str, found: object) -> tuple[str, ...]:
    """Take a name or several; none if it is None."""
    if found is None:
        return ()
    several = [found] if isinstance(found, str) else found
    if not isinstance(several, (list, tuple)) or not all(isinstance(each, str) and each for each in several):
        raise _wrong(name, found, "a name, or a list of names")
    return tuple(text(name, each) for each in several)


def sets(found: object) -> Mapping[str, Any]:
    """Take values that override a scenario's, by dotted key; none if it is None."""
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _wrong("sets", found, 'a dict of dotted keys and values, such as {"network.hosts": 10}')
    for key in found:
        if not isinstance(key, str) or not key.strip():
            raise _wrong("sets", key, 'dotted keys, such as "network.hosts"', "the key ")
        text("sets", key)
    return found


def seed(found: object) -> int | None:
    """Take the root of all randomness; None is that of the scenario."""
    return None if found is None else whole("seed", found, 0, LARGEST_SEED, "that of the scenario")


def seeds(found: object) -> int:
    """Take the number of seeds that a scenario is run with."""
    return whole("seeds", found, 1, MOST_SEEDS, "one run with the seed of the scenario")


def threads(found: object) -> int | None:
    """Take the number of threads of a run; None is as many as it is worth."""
    return None if found is None else whole("threads", found, 1, MOST_THREADS, "as many as the run is worth")


def jobs(found: object) -> int | None:
    """Take the number of runs at once; None is one a core."""
    return None if found is None else whole("jobs", found, 1, MOST_JOBS, "one a core")


def flag(name: str, found: object) -> bool:
    """Take True or False."""
    if not isinstance(found, bool) and not _is_of_numpy(found, "bool_"):
        raise _wrong(name, found, "True or False")
    return bool(found)


def progress(found: object) -> Callable[[float, float, int], bool | None] | None:
    """Take a function that is told how far a run is, or None."""
    if found is not None and not callable(found):
        raise _wrong(
            "progress", found, "a function of simulated microseconds, those at the end, and packet-hops"
        )
    return found


def address(name: str, found: object) -> str | None:
    """Take the address of a scheduler, or None."""
    return None if found is None else text(name, found)


def whole(name: str, found: Any, least: int, most: int, without: str) -> int:
    """Take a whole number within bounds; `without` says what it is where the argument is left out."""
    is_whole = isinstance(found, int) or _is_of_numpy(found, "integer")
    if isinstance(found, bool) or not is_whole or not least <= found <= most:
        expected = f"a whole number from {least} to {most:,}"
        raise ClearwayError(
            f"{name}: found {_shown(found)}, expected {expected}", f"leave it out for {without}"
        )
    return int(found)


def _can_be_encoded(written: str) -> bool:
    try:
        os.fsencode(written)
    except UnicodeEncodeError:
        return False
    return True


def _wrong(name: str, found: object, expected: str, what: str = "") -> ClearwayError:
    return ClearwayError(f"{name}: found {what}{_shown(found)}, expected {expected}")


def _shown(found: object) -> str:
    """Write a value in a line, not all of it where it is long."""
    try:
        written = ascii(found)
    except Exception:  # of a type that is not ours, or a number with thousands of digits
        written = f"a value of type {type(found).__name__}"
    return written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."


def _is_of_numpy(found: object, kind: str) -> bool:
    """Tell whether a value is of one of NumPy's types. Nothing is if nobody has imported NumPy yet."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(found, getattr(numpy, kind))
