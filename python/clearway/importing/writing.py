"""The files of an imported scenario: it, its topology and its trace, written together or not at all."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearway import _clearway, directory, documents, stops
from clearway.errors import ClearwayError, check_text, shown
from clearway.importing import units
from clearway.importing.joining import Scenario
from clearway.unfinished import beside

_WIDTH = 110
_OPTION = "-o"
_MOST_OF_A_NAME = 180  # characters of a scenario's name


@dataclass(frozen=True)
class Names:
    """The files that a scenario names, relative to its folder."""

    topology: str
    trace: str
    jobs: Sequence[str | None]
    """The file of each job that has one."""


class Destination:
    """The scenario's file and those beside it; that they can be written is checked first."""

    def __init__(self, scenario: Path, *, force: bool) -> None:
        """Take the path of the scenario; with `force` files that are there are replaced."""
        self.scenario = scenario
        self._force = force
        check_text(str(scenario), f"{_OPTION} {shown(scenario)}")
        directory.check_place(scenario, _OPTION)
        if scenario.suffix != ".toml":
            raise ClearwayError(
                f"{scenario}: is no name of a scenario", f"end it in .toml: {_OPTION} scenario.toml"
            )
        self._parent = scenario.parent
        for path in (scenario, self.topology, self.trace):
            self._check_free(path)
        directory.check_writable(self._parent / f"{scenario.stem}.imported", exact=False, option=_OPTION)

    def _check_free(self, path: Path) -> None:
        """Raise if a file may not be written because of what is there."""
        if path.is_dir():
            raise ClearwayError(f"{path}: is a directory", f"choose another {_OPTION}")
        if not self._force and (path.exists() or path.is_symlink()):
            raise ClearwayError(f"{path}: is there already", f"choose another {_OPTION}, or give --force")

    @property
    def topology(self) -> Path:
        """The file of nodes and links."""
        return self.scenario.with_suffix(".topology.toml")

    @property
    def trace(self) -> Path:
        """The file of flows."""
        return self.scenario.with_suffix(".trace.csv")

    @property
    def goal(self) -> Path:
        """The file of a job's operations, where there is one job of such a file."""
        return self.scenario.with_suffix(".goal")

    def write(self, scenario: Scenario) -> tuple[list[Path], list[str]]:
        """Write what is needed, after the simulator has read it.

        Returns the files, the scenario last, and the simulator's warnings. Raises
        `ClearwayError` if the simulator refuses the scenario, and leaves nothing then.
        """
        with directory.Staging(self.scenario, exact=True, option=_OPTION) as staging:
            names, warnings = self._stage(staging.path, scenario)
            with stops.put_off():
                self._move(staging.path, names)
                stops.wrote(self.scenario)
        return [self._parent / name for name in names], warnings

    def _stage(self, folder: Path, scenario: Scenario) -> tuple[list[str], list[str]]:
        """Write the files into a folder, and have the simulator read them; return names and warnings."""
        names = []
        if scenario.needs_topology:
            names.append(self.topology.name)
            text = "".join(topology_text(scenario))
            (folder / names[-1]).write_text(text, encoding="utf-8")
        if any(flow.size for flow in scenario.flows):
            names.append(self.trace.name)
            (folder / names[-1]).write_text("".join(trace_text(scenario)), encoding="utf-8")
        written = self._stage_jobs(folder, scenario)
        names += written.values()
        names.append(self.scenario.name)
        self._check_sources(scenario, names)
        loaded = self._load(folder / names[-1], scenario, written)
        text = scenario_text(scenario, self._names(self._parent, scenario, written))
        (folder / names[-1]).write_text(text, encoding="utf-8")
        return names, list(loaded.warnings)

    def _check_sources(self, scenario: Scenario, names: Sequence[str]) -> None:
        """Raise if a file that was read would be replaced."""
        taken = {path.resolve() for each in scenario.reads for path in (each.source.path, *each.part.files)}
        for name in names:
            if (self._parent / name).resolve() in taken:
                raise ClearwayError(
                    f"{self._parent / name}: is a file that was read", f"choose another {_OPTION}"
                )

    def _stage_jobs(self, folder: Path, scenario: Scenario) -> dict[int, str]:
        """Write the operations of jobs that have no file yet; return the names of these files by job."""
        numbers = [number for number, job in enumerate(scenario.jobs) if job.text is not None]
        names = {
            number: self.goal.name if len(numbers) == 1 else f"{self.scenario.stem}.{number}.goal"
            for number in numbers
        }
        for number, name in names.items():
            with (folder / name).open("w", encoding="utf-8") as file:
                file.writelines(scenario.jobs[number].text or ())
        return names

    def _names(self, base: Path, scenario: Scenario, written: Mapping[int, str]) -> Names:
        """Return the files that the scenario names, as it does so from the folder `base`."""
        jobs = [
            written.get(number, _relative(job.file, base) if job.file else None)
            for number, job in enumerate(scenario.jobs)
        ]
        return Names(self.topology.name, self.trace.name, jobs)

    def _load(self, path: Path, scenario: Scenario, written: Mapping[int, str]) -> _clearway.Scenario:
        """Have the simulator read the scenario where it is staged."""
        names = self._names(path.parent, scenario, written)
        path.write_text(scenario_text(scenario, names), encoding="utf-8")
        try:
            return _clearway.load(path)
        except _clearway.ScenarioError as error:
            said = str(error)
            for job, name in zip(scenario.jobs, names.jobs, strict=True):
                if job.file and said.startswith(f"{path.parent}/{name}:"):
                    raise ClearwayError(
                        f"{shown(job.file)}{said[len(f'{path.parent}/{name}') :]}",
                        "correct the file, or take the whole of it",
                    ) from error
            raise ClearwayError(
                f"{scenario.reads[0].source.name}: what was read makes no scenario:\n"
                f"{said.replace(f'{path.parent}/', '')}",
                "correct the files; the names above are those of the files that were to be written",
            ) from error

    def _move(self, folder: Path, names: list[str]) -> None:
        """Put the files in place, the scenario last; put back what was there if that fails."""
        old: dict[Path, Path] = {}
        new: list[Path] = []
        try:
            for name in names:
                target = self._parent / name
                if target.exists() or target.is_symlink():
                    self._check_free(target)
                    aside = beside(target)
                    target.rename(aside)
                    old[target] = aside
                (folder / name).rename(target)
                new.append(target)
        except BaseException:
            for path in new:
                path.unlink(missing_ok=True)
            for target, aside in old.items():
                aside.rename(target)
            raise
        for aside in old.values():
            aside.unlink(missing_ok=True)


def topology_text(scenario: Scenario) -> Iterator[str]:
    """Write a topology file: what a link does not say is as in the scenario."""
    network = scenario.network
    yield f"# Made by clearway import of {_one_line(network.source.name)}: {network.summary}.\n"
    for node in network.nodes:
        yield f"\n[[node]]\nname = {documents.value_of(node.name)}\nrole = {documents.value_of(node.role)}\n"
    usual = _usual(scenario)
    for link in network.links:
        ends = [network.nodes[end].name for end in link.ends]
        keys = {"rate": units.rate(link.rate), "delay": units.time(link.delay)}
        own = "".join(f'{key} = "{value}"\n' for key, value in keys.items() if usual[key] != value)
        yield f"\n[[link]]\nends = {documents.value_of(ends)}\n{own}"


def trace_text(scenario: Scenario) -> Iterator[str]:
    """Write the trace: the flows that have an end, in the order of the file."""
    yield "start,from,to,bytes\n"
    for flow in scenario.flows:
        if flow.size:
            yield f"{units.time(flow.start)},{flow.source},{flow.target},{flow.size}B\n"


def _relative(path: Path, base: Path) -> str:
    """Return the path from a folder to a file, whatever links lead to either."""
    return os.path.relpath(path.resolve(), base.resolve())


def scenario_text(scenario: Scenario, names: Names) -> str:
    """Write the scenario, with what there is to say at its head."""
    comments = scenario.comments
    name = _one_line(f"{shown(scenario.reads[0].source.path.name)}, imported")[-_MOST_OF_A_NAME:]
    tables = {key: value for key, value in scenario.keys.items() if isinstance(value, Mapping)}
    lists = {key: value for key, value in scenario.keys.items() if isinstance(value, list)}
    rest = {key: value for key, value in scenario.keys.items() if key not in tables and key not in lists}
    network = dict(scenario.network.shape or {})
    if scenario.needs_topology:
        network = {"topology": "file", "file": names.topology, **_usual(scenario)}
    lines = [*_head(scenario), *_pairs({"format": 1, "name": name, "seed": 1, **rest}, "", comments)]
    lines += ["", "[network]", *_pairs({**network, **scenario.network_keys}, "network.", comments)]
    for key, inner in tables.items():
        for dotted, table in ((f"{key}.{each}", table) for each, table in inner.items() if table):
            lines += ["", f"[{dotted}]", *_pairs(table, f"{dotted}.", comments)]
    for header, rows in lists.items():
        for number, row in enumerate(rows):
            own = {"file": names.trace} if row.get("pattern") == "trace" else {}
            if header == "job" and (file := names.jobs[number]) is not None:
                own = {"file": file}
            lines += ["", f"[[{header}]]", *_pairs({**row, **own}, f"{header}.", comments)]
    return "\n".join(lines) + "\n"


def _pairs(table: Mapping[str, Any], prefix: str, comments: Mapping[str, str]) -> Iterator[str]:
    for key, value in table.items():
        line = f"{key} = {documents.value_of(value)}"
        comment = comments.get(prefix + key)
        yield f"{line:<35} # {comment}" if comment else line


def remarks(scenario: Scenario) -> Iterator[tuple[str, list[str]]]:
    """Iterate over what there is to say: a heading, and its list."""
    yield (
        "Read",
        [
            f"{_one_line(each.source.name)} ({each.format.about}): {each.part.summary}"
            for each in scenario.reads
        ],
    )
    yield "Assumed", scenario.assumed
    yield "Not carried over", scenario.lost


def _head(scenario: Scenario) -> Iterator[str]:
    yield f"# Made by clearway import {_clearway.VERSION}."
    for heading, said in remarks(scenario):
        if said:
            yield f"# {heading}:"
        for each in said:
            yield from textwrap.wrap(
                _one_line(each),
                _WIDTH,
                initial_indent="# - ",
                subsequent_indent="#   ",
                break_long_words=False,
            )


def _usual(scenario: Scenario) -> dict[str, str]:
    """Return rate and delay of the first link, which stand in the scenario for all that do not differ."""
    first = scenario.network.links[0]
    return {"rate": units.rate(first.rate), "delay": units.time(first.delay)}


def _one_line(text: str) -> str:
    """Replace what no comment and no name may hold."""
    return re.sub(r"[\x00-\x1f\x7f]", "?", text)
