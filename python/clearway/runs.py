"""A run and what it left, in memory or in its directory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import _clearway, arguments, columns, directory, drawing, frames, happened, units
from clearway.across_seeds import main_figures
from clearway.columns import Columns
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.figures import measured_in, readable
from clearway.measurement import Measurement
from clearway.outcome import Outcome
from clearway.overview import listed
from clearway.records import Record
from clearway.saved import SavedTables, described_in, figures_in_record, read_manifest, scenario_in

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.figure import Figure

HOW_TO_RECORD: Mapping[str, str] = {
    "queues": 'add queues = "10us" under [record]',
    "windows": 'add windows = "10us" under [record]',
    "rtt_series": 'add rtt = "10us" under [record]',
    "throughput": 'add throughput = "10us" under [record]',
    "operations": "add operations = true under [record]",
    "timeline": "add timeline = true under [record]",
    "packets": "add packets = {} under [record]",
    "control_packets": "add packets = {} under [record] of a scenario with an [arbiter]",
    "links_series": 'add links = "1ms" under [record]',
    "flows_series": 'add flows = { every = "10us", slowest = 8 } under [record]',
    "classes_series": 'add classes = "10us" under [record]',
    "replay": 'add replay = "10us" under [record]',
    "link_classes": "add [class.NAME] tables",
}
"""What makes the simulator record a table that it leaves out by default."""

INTERRUPTED = "interrupted_at_us"
"""The figure that the summary of a run has only if it was cut short: the simulated time at which that was."""


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
    testbed: Mapping[str, Any] | None = None
    """Of a run on real hosts the carrier, agents and hosts; None of a simulated one."""

    def __repr__(self) -> str:
        """Write the main figures, a line each."""
        return main_figures([self.summary]).text(self._title)

    def _repr_html_(self) -> str:
        """Write the main figures as a table and what happened as a list, for notebooks."""
        return main_figures([self.summary]).html(self._title) + listed(self.what_happened())

    @property
    def _title(self) -> str:
        title = f"{self.name} (seed {self.seed}){self.origin}"
        return title + (f": {self.interruption}" if self.interruption else "")

    @property
    def origin(self) -> str:
        """Say over what a run on real hosts was measured; nothing of a simulated one."""
        return "" if self.testbed is None else f", measured over {self.testbed.get('carrier', 'real hosts')}"

    @classmethod
    def of(cls, scenario: _clearway.Scenario | Measurement, result: _clearway.Result | Outcome) -> Run:
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
            summary=figures_in_record(Record.read(path / directory.SUMMARY)),
            scenario=scenario_in(manifest),
            tables=SavedTables(path, {name: described_in(described.record(name)) for name in described}),
            warnings=manifest.texts("warnings"),
            path=path,
            threads=manifest.whole("threads", 1, default=1),
            without_chance=manifest.flag("without_chance", default=False),
            testbed=manifest.anything("testbed") if "testbed" in manifest else None,
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

    def what_happened(self) -> list[str]:
        """Say in some ten sentences what came of the run: completions, losses, queues, faults, warnings."""
        return happened.what_happened(self.summary, self.tables, self.warnings, self.interruption)

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
    def flows_series(self) -> Columns:
        """Return what each flow that `[record.flows]` chooses did in each interval in which it ran."""
        return self.table("flows_series")

    @property
    def classes_series(self) -> Columns:
        """Return goodput, bytes sent and round-trip times of each traffic class in each interval."""
        return self.table("classes_series")

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
        """Return a table as a pandas frame.

        `attrs["units"]` has the unit of each column, nothing for a number, a name or a ratio, and
        `attrs["meanings"]` what it is.
        """
        rows = self.table(table)
        return frames.to_pandas(rows, units.described(table, rows))

    def to_polars(self, table: str) -> polars.DataFrame:
        """Return a table as a Polars frame."""
        return frames.to_polars(self.table(table))

    def plot(self, kind: str, path: str | os.PathLike[str] | None = None, *, columns: int = 1) -> Figure:
        """Draw a figure for a paper, and write it as PDF, SVG or PNG if a file is named.

        The kinds, and what must be recorded for each, are in `clearway.plotting.kinds.SHOWN`; `clearway plot
        --kind list` prints them. `columns` is 1 or 2, the columns of a paper that it is as wide as. Fonts are
        embedded in what is written here, and not in what the figure's own `savefig` writes. Raises
        `ClearwayError` without matplotlib, and for what was not recorded.
        """
        return drawing.plot_runs([(self.name, self)], kind, path, columns)

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
        if self.testbed is not None:
            manifest["testbed"] = dict(self.testbed)
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
