"""A run and what it left, in memory or in its directory; and the same scenario under several seeds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import _clearway, arguments, columns, directory, frames
from clearway.columns import Columns, Described
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.figures import ABSENT, LOWER_BOUNDS, AtLeast, figures_in, measured_in, readable, value_of
from clearway.overview import MAIN, Overview
from clearway.records import Record
from clearway.statistics import Interval, interval

if TYPE_CHECKING:
    import pandas
    import polars

HOW_TO_RECORD: Mapping[str, str] = {
    "queues": 'add queues = "10us" under [record]',
    "windows": 'add windows = "10us" under [record]',
    "rtt_series": 'add rtt = "10us" under [record]',
    "throughput": 'add throughput = "10us" under [record]',
    "operations": "add operations = true under [record]",
    "links_series": 'add links = "1ms" under [record]',
    "link_classes": "add [class.NAME] tables",
}
"""What makes the simulator record a table that it leaves out by default."""

INTERRUPTED = "interrupted_at_us"
"""The figure that the summary of a run has only if it was cut short: the simulated time at which that was."""

_TEXTS = frozenset({"transport", "carries", "link", "class", "part", "node", "role", "failed_links"})
"""The columns of a run's tables that are text; all others are numbers."""
_NODES = frozenset({"from", "to"})
"""Those that are text in one table and numbers in another."""


@dataclass(frozen=True)
class Outcome:
    """What the simulator left on another machine: the same as `_clearway.Result` here."""

    digest: str
    packet_hops: int
    wall_s: float
    threads: int
    summary: str
    tables: dict[str, Columns]
    interrupted: bool = False


@dataclass(frozen=True)
class Run:
    """One run of a scenario."""

    name: str
    seed: int
    version: str
    digest: str
    """Over every flow's completion and every counter; the same on every machine."""
    packet_hops: int
    wall_s: float
    summary: dict[str, Any]
    """Figures by name, each with its unit in the name; None where nothing was measured, of which `absent`
    has the reasons by name. Those that `lower_bounds` names may be larger: some flows or operations
    were unfinished at the end."""
    scenario: dict[str, Any]
    """The scenario as resolved, with every default filled in."""
    tables: Mapping[str, Columns]
    """NumPy columns by table and name."""
    warnings: tuple[str, ...] = ()
    """A sentence for each thing that can be run but is unlikely to be meant."""
    path: Path | None = None
    """The run directory, if it has one."""
    threads: int = 1
    """How many it ran on. Nothing but the time it took depends on them."""
    without_chance: bool = False
    """Whether every seed gives this result for certain; if not, another may or may not."""

    def __repr__(self) -> str:
        """Write the main figures, a line each."""
        return repr(Seeds([self]))

    def _repr_html_(self) -> str:
        """Write the main figures as a table, for notebooks."""
        return Seeds([self])._repr_html_()

    @classmethod
    def of(
        cls, scenario: _clearway.Scenario | _clearway.Measurement, result: _clearway.Result | Outcome
    ) -> Run:
        """Take what the simulator left."""
        summary = json.loads(result.summary)
        if result.interrupted:
            summary[INTERRUPTED] = summary["simulated_us"]
        return cls(
            name=scenario.name,
            seed=scenario.seed,
            version=_clearway.VERSION,
            digest=result.digest,
            packet_hops=result.packet_hops,
            wall_s=result.wall_s,
            summary=summary,
            scenario=json.loads(scenario.resolved),
            tables=result.tables,
            warnings=tuple(scenario.warnings),
            threads=result.threads,
            without_chance=isinstance(scenario, _clearway.Scenario) and scenario.leaves_nothing_to_chance,
        )

    @classmethod
    def load(cls, path: Path) -> Run:
        """Read a run directory; its tables are read when they are first used."""
        manifest = read_manifest(path)
        described = manifest.record("tables")
        return cls(
            name=manifest.text("name"),
            seed=manifest.whole("seed"),
            version=manifest.text("version"),
            digest=manifest.text("digest"),
            packet_hops=manifest.whole("packet_hops"),
            wall_s=manifest.number("wall_s"),
            summary=_figures_in(Record.read(path / directory.SUMMARY)),
            scenario=_scenario_in(manifest),
            tables=_SavedTables(path, {name: _described(described.record(name)) for name in described}),
            warnings=manifest.texts("warnings"),
            path=path,
            threads=manifest.whole("threads", 1, default=1),
            without_chance=manifest.flag("without_chance", default=False),
        )

    @property
    def interrupted_at_us(self) -> float | None:
        """Return the simulated time at which the run was interrupted; None if it is whole."""
        return self.summary.get(INTERRUPTED)

    @property
    def interruption(self) -> str:
        """Say where the run was interrupted; nothing if it is whole."""
        if self.interrupted_at_us is None:
            return ""
        duration, warmup = (quantity(self.scenario.get(key)) for key in ("duration", "warmup"))
        of = f" of {readable('time', duration.value)}" if duration else ""
        early = warmup is not None and self.interrupted_at_us <= warmup.value
        return f"interrupted at {readable('time', self.interrupted_at_us)}{of}" + (
            ", still warming up: no figure is of the steady state" if early else ""
        )

    def table(self, name: str) -> Columns:
        """Return the table with this name; an error says how to record one that is not there."""
        if name in self.tables:
            return self.tables[name]
        raise ClearwayError(
            f"{self.name}: recorded no table {name}",
            HOW_TO_RECORD.get(name, f"there is {', '.join(self.tables)}"),
        )

    @property
    def flows(self) -> Columns:
        """Return the table of flows, a row for each."""
        return self.table("flows")

    @property
    def links(self) -> Columns:
        """Return the table of links, a row for each direction."""
        return self.table("links")

    @property
    def rtt(self) -> Columns:
        """Return the histogram of round-trip times, by transport."""
        return self.table("rtt")

    @property
    def operations(self) -> Columns:
        """Return the table of operations, a row for each read or write of a loop."""
        return self.table("operations")

    @property
    def queues(self) -> Columns:
        """Return the samples of the bytes waiting at switch ports, zeros included.

        A port at which nothing ever waited is not among them.
        """
        return self.table("queues")

    @property
    def windows(self) -> Columns:
        """Return the samples of every flow's windows, from its start until it is complete."""
        return self.table("windows")

    @property
    def rtt_series(self) -> Columns:
        """Return the mean and the largest round-trip time in each interval, and their count, by transport.

        Mean and largest are NaN in an interval without any, whose count is 0.
        """
        return self.table("rtt_series")

    @property
    def throughput(self) -> Columns:
        """Return the payload delivered in each interval, by transport."""
        return self.table("throughput")

    @property
    def link_classes(self) -> Columns:
        """Return the table of classes at links, a row for each direction and traffic class."""
        return self.table("link_classes")

    @property
    def links_series(self) -> Columns:
        """Return what each switch port and traffic class sent and dropped in each interval, zeros included.

        A port that never sent or dropped anything is not among them.
        """
        return self.table("links_series")

    def to_pandas(self, table: str) -> pandas.DataFrame:
        """Return a table as a pandas frame."""
        return frames.to_pandas(self.table(table))

    def to_polars(self, table: str) -> polars.DataFrame:
        """Return a table as a Polars frame."""
        return frames.to_polars(self.table(table))

    def save(self, path: str | Path) -> Path:
        """Write a run directory, whole or not at all; `path` must not exist or be empty."""
        target = arguments.path("path", path)
        directory.check_writable(target, exact=True)
        with directory.Staging(target, exact=True) as staging:
            self.write_into(staging.path)
            return staging.commit()

    def write_into(self, path: Path) -> None:
        """Write the files of a run directory into one that is there."""
        described = {name: columns.write_table(path, name, table) for name, table in self.tables.items()}
        directory.write_json(path / directory.SUMMARY, self.summary)
        manifest = {
            "format": directory.FORMAT,
            "name": self.name,
            "seed": self.seed,
            "version": self.version,
            "digest": self.digest,
            "packet_hops": self.packet_hops,
            "wall_s": self.wall_s,
            "threads": self.threads,
            "without_chance": self.without_chance,
            "warnings": list(self.warnings),
            "interrupted_at_us": self.interrupted_at_us,
            "tables": described,
            "measured": measured_in(self.summary),
            "scenario": self.scenario,
        }
        directory.write_json(path / directory.MANIFEST, manifest)

    def as_json(self, out: Path | None) -> dict[str, Any]:
        """Return what `--json` prints of a run."""
        return {
            "name": self.name,
            "seed": self.seed,
            "digest": self.digest,
            "packet_hops": self.packet_hops,
            "wall_s": self.wall_s,
            "measured": measured_in(self.summary),
            "interrupted_at_us": self.interrupted_at_us,
            "summary": self.summary,
            "out": None if out is None else str(out),
        }


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
        return f"{self.name} ({seeds})" + (f": {self.interruption}" if self.interruption else "")

    @property
    def interruption(self) -> str:
        """Say what is missing as runs were interrupted; nothing if all are whole."""
        parts = [run.interruption for run in self.runs if run.interruption]
        if self.missing:
            parts.append(f"interrupted before {seeds_in_words(self.missing)} finished")
        return "; ".join(parts)

    def __repr__(self) -> str:
        """Write the main figures, a line each."""
        return self._main_figures().text(self.title)

    def _repr_html_(self) -> str:
        """Write the main figures as a table, for notebooks."""
        return self._main_figures().html(self.title)

    def _main_figures(self) -> Overview:
        return Overview.of(
            [
                (heading, {key: of for key, of in column.items() if key in MAIN})
                for heading, column in self.columns()
            ]
        )

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
        return _intervals(self._summaries(transport))

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
        if transport is None:
            return [run.summary for run in self.runs]
        return [(run.summary.get("transports") or {}).get(transport) or {} for run in self.runs]

    def transports(self) -> list[str]:
        """List the names of the scenario's transports."""
        return list(dict.fromkeys(name for run in self.runs for name in run.summary.get("transports") or {}))

    def columns(self) -> list[tuple[str, dict[str, Interval]]]:
        """Return a heading and the intervals for the whole run, and for each transport if it has several."""
        names = self.transports()
        several = names if len(names) > 1 else []
        whole = ("all" if several else "", self.intervals())
        return [whole, *((name, self.intervals(name)) for name in several)]

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


def load(path: Path) -> Run | Seeds:
    """Read the directory of a run or of several seeds."""
    manifest = read_manifest(path)
    if "seeds" not in manifest:
        return Run.load(path)
    names = manifest.record("seeds").names()
    if not names:
        manifest.refuse("seeds", "expected at least one")
    return Seeds([Run.load(path / name) for name in names], path, manifest.wholes("missing_seeds"))


def read_manifest(path: Path) -> Record:
    """Read the manifest of a run directory, after checking that it is one that this version understands."""
    if not path.is_dir():
        what = "is a file, not a run directory" if path.exists() else "no such run directory"
        raise ClearwayError(f"{path}: {what}", "clearway run FILE --out DIR writes one")
    if not (path / directory.MANIFEST).exists():
        raise ClearwayError(
            f"{path}: not a run directory: it has no {directory.MANIFEST}",
            "clearway run FILE --out DIR writes one",
        )
    manifest = Record.read(path / directory.MANIFEST)
    if manifest.whole("format") != directory.FORMAT:
        raise ClearwayError(
            f"{path}: format {manifest.whole('format')}, this version reads {directory.FORMAT}",
            "run the scenario again with this version",
        )
    return manifest


def _scenario_in(manifest: Record) -> dict[str, Any]:
    """Take the scenario as resolved, in which what is a table in every scenario is one."""
    scenario = manifest.record("scenario")
    for key in ("network", "switch", "host", "transport", "class", "record"):
        if key in scenario:
            scenario.record(key)
    return manifest.anything("scenario")


def _figures_in(record: Record) -> dict[str, Any]:
    """Take the figures of a summary, or of one of its transports."""
    figures: dict[str, Any] = {}
    for key in record:
        if key == LOWER_BOUNDS:
            figures[key] = list(record.texts(key))
        elif key == ABSENT:
            reasons = record.record(key)
            figures[key] = {name: reasons.text(name) for name in reasons}
        elif key == "transports":
            by_name = record.record(key)
            figures[key] = {name: _figures_in(by_name.record(name)) for name in by_name}
        else:
            figures[key] = record.number_or_none(key)
    return figures


def _described(entry: Record) -> Described:
    """Take what a manifest says of a table."""
    described = entry.record("columns")
    kinds = {column: described.one_of(column, list(columns.KINDS)) for column in described}
    for column, kind in kinds.items():
        if column not in _NODES and (kind == "text") != (column in _TEXTS):
            described.refuse(column, "expected text" if column in _TEXTS else "expected integer or float")
    return Described(entry.name("file"), entry.whole("rows"), kinds)


def _interval_as_json(of: Interval) -> dict[str, Any]:
    return {
        "mean": of.mean,
        "half_width_95": of.half_width,
        "seeds": of.count,
        "lower_bound": isinstance(of.mean, AtLeast),
    }


def _intervals(summaries: Sequence[Mapping[str, Any]]) -> dict[str, Interval]:
    """Return mean and 95 % interval of every figure, over the summaries that have it."""
    found = {}
    for figure in figures_in(summaries, rare=True):
        values = [value_of(summary, figure.key) for summary in summaries]
        found[figure.key] = interval([value for value in values if value is not None])
    return found


class _SavedTables(Mapping[str, Columns]):
    """The tables of a run directory, each read when it is first asked for."""

    def __init__(self, path: Path, described: Mapping[str, Described]) -> None:
        self._path = path
        self._described = described
        self._read: dict[str, Columns] = {}

    def __getitem__(self, name: str) -> Columns:
        if name not in self._read:
            self._read[name] = columns.read_table(self._path, self._described[name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._described

    def __iter__(self) -> Iterator[str]:
        return iter(self._described)

    def __len__(self) -> int:
        return len(self._described)
