"""What Python code calls: run a scenario, read a run directory, compare."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from clearway import _clearway, arguments, comparison, documents, files
from clearway.arguments import Source
from clearway.errors import ClearwayError, reason
from clearway.execution import execute, fitting, watching
from clearway.runs import Run
from clearway.scenario_schema import schema
from clearway.seeds import Seeds, load_directory
from clearway.selection import Selection

Sets = Mapping[str, Any]
"""Values that override a scenario's, by dotted key: `{"transport.bulk.base_target": "30us"}`.

None removes the key."""

Override = tuple[str, str | None]
"""A dotted key, and its value as TOML or None to remove it."""

Progress = Callable[[float, float, int], bool | None]
"""Called with simulated microseconds, those at the end, and packet-hops. To stop the run it returns False."""

__all__ = ["compare", "load_run", "run", "schema"]

_LINE = re.compile(r"^(\s*)scenario:\d+: ", re.MULTILINE)
_MANY = ("sweep", "tune")
"""The tables that make many runs of a scenario, as the commands that take them are called."""
_ITEMS = "a Run, Seeds, a run directory, or a scenario: "


@overload
def run(
    scenario: Source,
    sets: Sets | None = None,
    *,
    seed: int | None = None,
    seeds: None = None,
    progress: Progress | None = None,
    threads: int | None = None,
    keep_partial: bool = False,
) -> Run: ...


@overload
def run(
    scenario: Source,
    sets: Sets | None = None,
    *,
    seeds: int,
    progress: Progress | None = None,
    threads: int | None = None,
    keep_partial: bool = False,
) -> Seeds: ...


def run(
    scenario: Source,
    sets: Sets | None = None,
    *,
    seed: int | None = None,
    seeds: int | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
    keep_partial: bool = False,
) -> Run | Seeds:
    """Run a scenario: a path, TOML text (which has a line break), or a dict as TOML is read.

    Files that a text or a dict names are sought in the current directory. `sets` are values that override the
    scenario's by dotted key, such as `{"network.hosts": 10}`; None removes the key. `seed` is one from 0 to
    2^53. With `seeds` it is run with that many (1 to 10,000), from its own on. What is returned then has the
    runs, and mean and 95 % interval of each figure (`intervals()`); `progress` is called with sums over all.

    It runs on `threads` threads (1 to 64): by default one for a small run, and all cores for a large one. Its
    results are the same on any number.

    `progress` is called some 20 times a second with the simulated microseconds, those at the end, and the
    packet-hops; it stops the run by returning False, as Ctrl-C does. With `keep_partial` what there is by
    then is returned: a `Run` whose `interrupted_at_us` says how far it came, or the `Seeds` that are
    finished, whose `missing` lists the others.

    Raises `ClearwayError` for an argument that will not do, `ScenarioError` for a scenario that cannot be
    run, `LosslessDrop` if a lossless class lost a frame, `Standstill` if a job can never end, and
    `Interrupted` if `progress` returned False.
    """
    seed, threads, progress = arguments.seed(seed), arguments.threads(threads), arguments.progress(progress)
    keep_partial = arguments.flag("keep_partial", keep_partial)
    if seeds is not None:
        if seed is not None:
            raise ClearwayError("seed and seeds exclude each other", 'set the first of several: {"seed": 7}')
        scenarios = with_seeds(arguments.source(scenario), sets_of(sets), None, arguments.seeds(seeds))
        done = execute(scenarios, watching(progress), threads, keep_partial=keep_partial)
        return seeds_of(scenarios, done)
    loaded = load_scenario(arguments.source(scenario), sets_of(sets), seed)
    fitting([loaded])
    return Run.of(loaded, loaded.run(progress, threads, keep_partial))


def load_run(path: str | os.PathLike[str]) -> Run | Seeds:
    """Read a run directory, or the directory of several seeds.

    Raises `ClearwayError` for what is none, and for files in it that are damaged.
    """
    return load_directory(arguments.path("path", path))


def compare(
    *items: Source | Run | Seeds,
    seeds: int = 1,
    sets: Sets | None = None,
    threads: int | None = None,
    figures: str | Sequence[str] | None = None,
    transports: str | Sequence[str] | None = None,
    classes: str | Sequence[str] | None = None,
) -> comparison.Comparison:
    """Compare runs: those given, those in the directories given, and those of the scenarios given.

    A scenario is a path, TOML text or a dict, as for `run`; `seeds`, `sets` and `threads` are those of
    scenarios. `threads` are those of each run: by default one where several run at once, and else as for
    `run`.

    `figures`, `transports` and `classes` choose rows: figures by key or label, `*` for any letters;
    transports by name, whose rows are then shown without those of the whole run; and the transports whose
    data is in a traffic class. Rows are chosen after all have been tested: no choice makes a difference
    significant. Raises what `run` raises, and `ClearwayError` for a name that is not there.
    """
    threads, seeds = arguments.threads(threads), arguments.seeds(seeds)
    selection = Selection(
        arguments.names("figures", figures),
        arguments.names("transports", transports),
        arguments.names("classes", classes),
    )
    if not items:
        raise ClearwayError(
            "items: found none, expected at least one", "give runs, run directories or scenarios"
        )

    def run_all(scenarios: Sequence[_clearway.Scenario]) -> list[Run]:
        selection.check_figures()
        return execute(scenarios, threads=threads)

    return comparison.compare(gather(items, seeds, sets_of(sets), run_all), selection=selection)


def load_scenario(
    source: Path | str | Mapping[str, Any], sets: Sequence[Override], seed: int | None
) -> _clearway.Scenario:
    """Read and check a scenario, given as `arguments.source` tells its kinds apart."""
    if isinstance(source, str):
        return _clearway.load_text(source, "scenario", ".", sets, seed)
    if not isinstance(source, Path):
        return _load_document(source, sets, seed)
    check_readable(source)
    try:
        return _clearway.load(source, sets, seed)
    except _clearway.ScenarioError:
        _refuse_many(source)
        raise


def _load_document(
    document: Mapping[str, Any], sets: Sequence[Override], seed: int | None
) -> _clearway.Scenario:
    """Read and check a dict; errors name keys as those of a file do, without the lines, as it has none."""
    try:
        return _clearway.load_text(documents.text_of(document), "scenario", ".", sets, seed)
    except _clearway.ScenarioError as error:
        raise _clearway.ScenarioError(_LINE.sub(r"\1scenario: ", str(error))) from None


def check_readable(path: Path) -> None:
    """Raise what a person can act on if this is no file that can be read."""
    if path.is_dir():
        is_run = (path / "manifest.json").exists()
        hint = "a run directory goes to: clearway compare or clearway report"
        raise ClearwayError(
            f"{path}: is a directory, expected a scenario file",
            hint if is_run else "name the TOML file in it",
        )
    try:
        with files.opened(path, files.LARGEST_NAMED):
            pass
    except (FileNotFoundError, ValueError) as error:  # a name with a zero byte is none
        raise ClearwayError(f"{path}: no such file", _nearest_file(path)) from error
    except OSError as error:
        raise ClearwayError(f"{path}: cannot be read: {reason(error)}", "check its permissions") from error


def _refuse_many(path: Path) -> None:
    """Raise what a person can act on if this is a file for `clearway sweep` or `clearway tune`."""
    try:
        text = documents.read_text(path)
        document = documents.parse(text, str(path)) if any(name in text for name in _MANY) else {}
    except ClearwayError:
        return  # what the simulator said of it is as good
    for name in _MANY:
        if name in document:
            header = documents.without_table(text, name)[1] or documents.line_of(text, name)
            raise ClearwayError(
                f"{path}:{header}: {name}: is many runs, expected a scenario of one",
                f"clearway {name} {path}",
            )


def sets_of(sets: Sets | None) -> list[Override]:
    """Write values as TOML, as `--set` has them; None removes the key, as `--unset` does."""
    return [
        (
            key,
            None
            if value is None
            else arguments.text(key, value if isinstance(value, str) else documents.value_of(value, key)),
        )
        for key, value in arguments.sets(sets).items()
    ]


def gather(
    items: Sequence[Source | Run | Seeds],
    seeds: int,
    sets: Sequence[Override],
    run_all: Callable[[Sequence[_clearway.Scenario]], list[Run]],
) -> list[tuple[str, Seeds]]:
    """Read the run directories and run the scenarios among the items; a label with each."""
    gathered: dict[int, tuple[str, Seeds]] = {}
    scenarios: list[_clearway.Scenario] = []
    owners: list[tuple[int, str]] = []
    for index, item in enumerate(items):
        if isinstance(item, (Run, Seeds)):
            group = item if isinstance(item, Seeds) else Seeds([item])
            gathered[index] = (str(group.path or ""), group)
            continue
        source = arguments.source(item, f"item {index + 1}", _ITEMS)
        if isinstance(source, Path) and source.is_dir():
            found = load_directory(source)
            gathered[index] = (str(source), found if isinstance(found, Seeds) else Seeds([found]))
        else:
            scenarios.extend(with_seeds(source, sets, None, seeds))
            owners.extend([(index, str(source) if isinstance(source, Path) else "")] * seeds)
    for (index, label), run in zip(owners, run_all(scenarios) if scenarios else [], strict=True):
        known = gathered[index][1].runs if index in gathered else ()
        gathered[index] = (label, Seeds([*known, run]))
    return [gathered[index] for index in range(len(items))]


def with_seeds(
    source: Path | str | Mapping[str, Any], sets: Sequence[Override], seed: int | None, count: int
) -> list[_clearway.Scenario]:
    """Load a scenario with `count` seeds, from its own (or the given one) on."""
    first = load_scenario(source, sets, seed)
    return [first, *(load_scenario(source, sets, first.seed + further) for further in range(1, count))]


def seeds_of(scenarios: Sequence[_clearway.Scenario], done: Sequence[Run]) -> Seeds:
    """Put together the runs of several seeds; what was to be run and is not among them is missing."""
    finished = {run.seed for run in done}
    return Seeds(done, missing=[one.seed for one in scenarios if one.seed not in finished])


def _nearest_file(path: Path) -> str:
    """Suggest what may have been meant."""
    folder = path.parent
    if not folder.is_dir():
        return f"there is no directory {folder} either"
    names = sorted(entry.name for entry in folder.glob("*.toml"))
    # What comes before the dot: the rest is alike anyway.
    near = difflib.get_close_matches(path.stem, [Path(name).stem for name in names], n=1)
    if near:
        return f"did you mean {folder / near[0]}.toml?"
    return f"the scenarios there: {', '.join(names[:5])}" if names else "check the path"
