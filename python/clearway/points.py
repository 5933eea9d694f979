"""Points: runs that are known by what they are, so that none is ever made twice.

A point is a scenario as resolved, seed included. Its key is a hash over that, over the files it names, and
over the simulator that runs it: another build may give another result. What a point leaves is an ordinary run
directory of that name in a store, written whole or not at all, so several processes can share a store: at
worst two of them make the same point, and the second finds it there.

Runs are in threads with the interpreter released, as everywhere here: they are as parallel as processes would
be, and Ctrl-C stops them at once.
"""

from __future__ import annotations

import hashlib
import json
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from clearway import _clearway, directory
from clearway.errors import ClearwayError
from clearway.execution import Watch, execute_each
from clearway.runs import Run

STORE = Path(".clearway") / "runs"
"""Where finished points are, under the current directory."""

_KEY_DIGITS = 32


class PointsInterrupted(KeyboardInterrupt):
    """Ctrl-C while points were made; says what is finished and how to go on."""


@dataclass(frozen=True)
class Point:
    """One scenario to run."""

    scenario: _clearway.Scenario
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """What sets it apart from its neighbours: for people, and for the axes of a figure."""
    base_dir: Path = Path()
    """Where the files are that the scenario names."""
    keep: tuple[str, ...] | None = None
    """The tables to keep; None for all. A point with fewer tables is another point."""

    @property
    def key(self) -> str:
        """What it is known by: the same for the same scenario, whatever it is called."""
        resolved = json.loads(self.scenario.resolved)
        del resolved["name"]
        named = {text: _digest_of(self.base_dir / text) for text in _texts(resolved)}
        identity = {
            "scenario": resolved,
            "files": {text: digest for text, digest in named.items() if digest is not None},
            "build": build(),
            "keep": self.keep,
        }
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:_KEY_DIGITS]

    @property
    def label(self) -> str:
        """What it is called in a message."""
        return ", ".join(f"{key} = {value}" for key, value in self.overrides.items()) or self.scenario.name


class Store:
    """A directory with a run directory for each finished point."""

    def __init__(self, path: Path = STORE) -> None:
        """Nothing is made before the first point is saved."""
        self.path = path

    def find(self, key: str) -> Run | None:
        """Return a finished point; its tables are read when they are first used."""
        path = self.path / key
        if not path.exists():
            return None
        try:
            return Run.load(path)
        except ClearwayError as error:
            raise ClearwayError(error.message, f"remove {path}: it is then run again") from error

    def save(self, key: str, run: Run, keep: Sequence[str] | None = None) -> Run:
        """Keep a point, unless another process was faster; return it as it is in the store."""
        if keep is not None:
            run = replace(run, tables={name: run.tables[name] for name in keep if name in run.tables})
        try:
            run.save(self.path / key)
        except ClearwayError:
            if not (self.path / key / directory.MANIFEST).exists():
                raise
        return Run.load(self.path / key)


@dataclass(frozen=True)
class Made:
    """What `run_points` did."""

    runs: Sequence[Run]
    """In the order of the points."""
    found: int
    """How many different points were there already."""
    run: int
    """How many were run."""


def run_points(
    points: Sequence[Point], store: Store, *, jobs: int | None = None, watch: Watch | None = None
) -> Made:
    """Run the points that the store does not have, in any order, and return all in theirs.

    A point that fails stops none of the others; they are all in the store when the error is raised that names
    it. (Bad input fails earlier, where the scenario is loaded.) Raises `PointsInterrupted` on Ctrl-C.
    """
    keys = [point.key for point in points]
    by_key: dict[str, Run] = {}
    missing: dict[str, Point] = {}
    for key, point in zip(keys, points, strict=True):
        if key in by_key or key in missing:
            continue
        if (run := store.find(key)) is not None:
            by_key[key] = run
        else:
            missing[key] = point
    found = len(by_key)
    if missing:
        directory.check_writable(store.path / next(iter(missing)), exact=False, option="--store")
        _run_missing(missing, by_key, store, jobs, watch)
    return Made([by_key[key] for key in keys], found, len(missing))


@cache
def build() -> str:
    """Tell simulators apart: the version, and a hash of the compiled engine."""
    digest = _digest_of(Path(_clearway.__file__))
    return f"{_clearway.VERSION} {digest}"


def _run_missing(
    missing: Mapping[str, Point], by_key: dict[str, Run], store: Store, jobs: int | None, watch: Watch | None
) -> None:
    keys = list(missing)
    failures: list[tuple[Point, BaseException]] = []

    def keep(index: int, outcome: Run | BaseException) -> None:
        if isinstance(outcome, BaseException):
            failures.append((missing[keys[index]], outcome))
        else:
            with _uninterrupted():
                by_key[keys[index]] = store.save(keys[index], outcome, missing[keys[index]].keep)

    try:
        execute_each([missing[key].scenario for key in keys], keep, watch, jobs)
    except (KeyboardInterrupt, _clearway.Interrupted) as error:
        left = sum(key not in by_key for key in keys)
        raise PointsInterrupted(
            f"interrupted: {len(by_key)} of {len(by_key) + left} runs are finished and kept in {store.path}; "
            "the same command goes on from there"
        ) from error
    if failures:
        point, first = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        what = "out of memory" if isinstance(first, MemoryError) else str(first) or type(first).__name__
        raise ClearwayError(
            f"{point.label}: failed: {what}{more}",
            f"the other runs are finished and kept in {store.path}",
        ) from first


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off while the body runs, which is short: it would leave half a directory, and lose a run."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous or signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(entry)


def _digest_of(path: Path) -> str | None:
    """Hash a file, if it is one."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:_KEY_DIGITS] if path.is_file() else None
    except (OSError, ValueError):  # a text need not be anything that a path can be
        return None
