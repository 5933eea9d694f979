"""The same scenario under several seeds, in memory or in a directory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import directory, drawing
from clearway.across_seeds import figure_columns, intervals_of, main_figures, of_transport, transports_in
from clearway.errors import ClearwayError
from clearway.figures import ABSENT, AtLeast, measured_in
from clearway.overview import listed
from clearway.runs import Run
from clearway.saved import read_manifest
from clearway.statistics import Interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Seeds:
    """One scenario under several seeds."""

    runs: Sequence[Run]
    """The runs, at least one, in the order of their seeds."""
    path: Path | None = None
    """The directory that has a run directory for each, if there is one."""
    missing: Sequence[int] = ()
    """The seeds that were asked for and are not here, as the command was interrupted."""

    @property
    def name(self) -> str:
        """Return the name of the scenario."""
        return self.runs[0].name

    @property
    def title(self) -> str:
        """Name and seeds in a line."""
        first, last = self.runs[0].seed, self.runs[-1].seed
        seeds = f"seed {first}" if len(self.runs) == 1 else f"seeds {first} to {last}: mean and 95 % interval"
        title = f"{self.name} ({seeds}){self.runs[0].origin}"
        return title + (f": {self.interruption}" if self.interruption else "")

    @property
    def interruption(self) -> str:
        """Say what is missing as runs were interrupted; nothing if all are whole."""
        parts = [run.interruption for run in self.runs if run.interruption]
        if self.missing:
            parts.append(f"interrupted before {seeds_in_words(self.missing)} finished")
        return "; ".join(parts)

    def what_happened(self) -> tuple[str, list[str]]:
        """Return a heading, and sentences on what came of the run: of several, of the first seed."""
        first, count = self.runs[0], len(self.runs)
        of = f" with seed {first.seed}, the first of {count}" if count > 1 else ""
        return f"What happened{of}", first.what_happened()

    def __repr__(self) -> str:
        """Write the main figures, a line each."""
        return main_figures(self._summaries(None)).text(self.title)

    def _repr_html_(self) -> str:
        """Write the main figures as a table and what happened as a list, for notebooks."""
        heading, sentences = self.what_happened()
        told = f"<p>{escape(heading)}:</p>{listed(sentences)}" if sentences else ""
        return main_figures(self._summaries(None)).html(self.title) + told

    @property
    def all_alike(self) -> bool:
        """Whether several seeds gave one result: nothing is left to chance then."""
        return len({run.seed for run in self.runs}) > 1 and len({run.digest for run in self.runs}) == 1

    @property
    def without_chance(self) -> bool:
        """Whether it is known that any seed gives this result."""
        return self.all_alike or all(run.without_chance for run in self.runs)

    @property
    def packet_hops(self) -> int:
        """Of all runs."""
        return sum(run.packet_hops for run in self.runs)

    def intervals(self, transport: str | None = None) -> dict[str, Interval]:
        """Return mean and 95 % interval of every figure (of one transport), over the seeds that have it."""
        return intervals_of(self._summaries(transport))

    def absent(self, transport: str | None = None) -> dict[str, str]:
        """Return why a figure (of one transport) has no value, in how many of several seeds if not in all."""
        summaries = self._summaries(transport)
        reasons: dict[str, list[str]] = {}
        for summary in summaries:
            for key, reason in (summary.get(ABSENT) or {}).items():
                reasons.setdefault(key, []).append(reason)
        of = len(summaries)
        return {
            key: found[0] if len(found) == of else f"in {len(found)} of {of} seeds {found[0]}"
            for key, found in reasons.items()
        }

    def all_absent(self) -> list[dict[str, str]]:
        """Return why figures have no value in each of the `columns`."""
        names = self.transports()
        return [self.absent(), *(self.absent(name) for name in (names if len(names) > 1 else []))]

    def _summaries(self, transport: str | None) -> list[Mapping[str, Any]]:
        return of_transport([run.summary for run in self.runs], transport)

    def transports(self) -> list[str]:
        """List the names of the scenario's transports."""
        return transports_in(self._summaries(None))

    def columns(self) -> list[tuple[str, dict[str, Interval]]]:
        """Return a heading and the intervals for the whole run, and for each transport if it has several."""
        return figure_columns(self._summaries(None))

    def plot(self, kind: str, path: str | os.PathLike[str] | None = None, *, columns: int = 1) -> Figure:
        """Draw a figure for a paper as `Run.plot` does: means over the seeds, with 95 % intervals."""
        return drawing.plot_runs([(self.name, self)], kind, path, columns)

    def summary(self) -> dict[str, Any]:
        """Return the intervals as they stand in `summary.json`."""
        by_transport = {name: self._as_json(name) for name in self.transports()}
        missing = {"missing_seeds": list(self.missing)} if self.missing else {}
        return {**self._as_json(), "transports": by_transport, **missing}

    def _as_json(self, transport: str | None = None) -> dict[str, Any]:
        """Return the interval of each figure, None for those that no seed has, and why they have not."""
        absent = self.absent(transport)
        return {
            **dict.fromkeys(absent),
            **{key: _interval_as_json(of) for key, of in self.intervals(transport).items()},
            ABSENT: absent,
        }

    def write_into(self, path: Path) -> None:
        """Write a run directory for each seed, the intervals, and a manifest that lists them."""
        directories = {f"seed-{run.seed}": run for run in self.runs}
        for name, run in directories.items():
            (path / name).mkdir()
            run.write_into(path / name)
        directory.write_json(path / directory.SUMMARY, self.summary())
        manifest = {
            "format": directory.FORMAT,
            "name": self.name,
            "version": self.runs[0].version,
            "seeds": {name: run.seed for name, run in directories.items()},
            "digests": [run.digest for run in self.runs],
            "packet_hops": self.packet_hops,
            "missing_seeds": list(self.missing),
        }
        directory.write_json(path / directory.MANIFEST, manifest)

    def as_json(self, out: Path | None, wall_s: float) -> dict[str, Any]:
        """Return what `--json` prints of several seeds."""
        return {
            "name": self.name,
            "seeds": [run.seed for run in self.runs],
            "digests": [run.digest for run in self.runs],
            "packet_hops": self.packet_hops,
            "wall_s": wall_s,
            "measured": measured_in(self.runs[0].summary),
            "missing_seeds": list(self.missing),
            "summary": self.summary(),
            "out": None if out is None else str(out),
        }


def seeds_in_words(seeds: Sequence[int]) -> str:
    """List seeds, of which there is at least one."""
    first, last = seeds[0], seeds[-1]
    if len(seeds) > 1 and list(seeds) == list(range(first, last + 1)):
        return f"seeds {first} to {last}"
    return ("seed " if len(seeds) == 1 else "seeds ") + ", ".join(map(str, seeds))


def load_directory(path: Path) -> Run | Seeds:
    """Read the directory of a run or of several seeds."""
    manifest = read_manifest(path)
    if "seeds" not in manifest:
        return Run.load(path)
    names = manifest.record("seeds").names()
    if not names:
        manifest.refuse("seeds", "expected at least one")
    return Seeds([Run.load(path / name) for name in names], path, manifest.wholes("missing_seeds"))


def load_one(path: Path) -> Run:
    """Read the directory of one run; raise if it is of several seeds."""
    found = load_directory(path)
    if isinstance(found, Run):
        return found
    names = " or ".join(str(each.path) for each in found.runs[:2])
    raise ClearwayError(f"{path}: has runs of several seeds, expected one run", f"name one: {names}")


def _interval_as_json(of: Interval) -> dict[str, Any]:
    return {
        "mean": of.mean,
        "half_width_95": of.half_width,
        "seeds": of.count,
        "lower_bound": isinstance(of.mean, AtLeast),
    }
