"""What Python code calls: run a scenario, read a run directory, compare."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from clearway import _clearway, comparison, documents, runs
from clearway.errors import ClearwayError, reason
from clearway.execution import check_seeds, check_threads, execute, fitting, watching
from clearway.runs import Run, Seeds

Sets = Mapping[str, Any]
"""Values that override a scenario's, by dotted key: `{"transport.bulk.base_target": "30us"}`.

None removes the key."""

Override = tuple[str, str | None]
"""A dotted key, and its value as TOML or None to remove it."""

Progress = Callable[[float, float, int], bool | None]
"""Called with simulated microseconds, those at the end, and packet-hops. To stop the run it returns False."""


@overload
def run(
    scenario: str | Path,
    sets: Sets | None = None,
    *,
    seed: int | None = None,
    seeds: None = None,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Run: ...


@overload
def run(
    scenario: str | Path,
    sets: Sets | None = None,
    *,
    seeds: int,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Seeds: ...


def run(
    scenario: str | Path,
    sets: Sets | None = None,
    *,
    seed: int | None = None,
    seeds: int | None = None,
    progress: Progress | None = None,
    threads: int | None = None,
) -> Run | Seeds:
    """Run a scenario, given as a path or as TOML text (which has a line break).

    With `seeds` it is run with so many seeds, from its own on. What is returned then has the runs, and mean
    and 95 % interval of each figure (`intervals()`); `progress` is called with sums over all runs.

    It runs on so many `threads` (1 to 64): by default one for a small run, and all cores for a large one. Its
    results are the same on any number. Raises `ScenarioError` for a scenario that cannot be run,
    `LosslessDrop` if a lossless class lost a frame, and `Interrupted` if `progress` returned False.
    """
    check_threads(threads)
    if seeds is not None:
        if seed is not None:
            raise ClearwayError("seed and seeds exclude each other", 'set the first of several: {"seed": 7}')
        scenarios = with_seeds(scenario, sets_of(sets), None, seeds)
        return Seeds(execute(scenarios, watching(progress), threads))
    loaded = load_scenario(scenario, sets_of(sets), seed)
    fitting([loaded])
    return Run.of(loaded, loaded.run(progress, threads))


def load_run(path: str | Path) -> Run | Seeds:
    """Read a run directory, or the directory of several seeds."""
    return runs.load(path)


def compare(
    *items: str | Path | Run | Seeds,
    seeds: int = 1,
    sets: Sets | None = None,
    threads: int | None = None,
) -> comparison.Comparison:
    """Compare runs: those given, those in the directories given, and those of the scenario files given.

    `threads` are those of each run: by default one where several run at once, and else as for `run`.
    """
    check_threads(threads)
    check_seeds(seeds)
    return comparison.compare(
        gather(items, seeds, sets_of(sets), lambda scenarios: execute(scenarios, threads=threads))
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario, with the table of axes that `clearway sweep` reads beside it."""
    value = json.loads(_clearway.schema())
    assert isinstance(value, dict)
    value["properties"]["sweep"] = {
        "description": "Axes for clearway sweep: keys of the scenario, dotted, and the values they take.",
        "type": "object",
        "x-unit": "axes",
    }
    return value


def load_scenario(scenario: str | Path, sets: Sequence[Override], seed: int | None) -> _clearway.Scenario:
    """Read and check a scenario, given as a path or as text with a line break."""
    if isinstance(scenario, str) and "\n" in scenario:
        return _clearway.load_text(scenario, "scenario", ".", sets, seed)
    path = Path(scenario)
    check_readable(path)
    try:
        return _clearway.load(path, sets, seed)
    except _clearway.ScenarioError:
        _refuse_sweep(path)
        raise


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
        documents.check_kind(path)
        path.open("rb").close()
    except (FileNotFoundError, ValueError) as error:  # a name with a zero byte is none
        raise ClearwayError(f"{path}: no such file", _nearest_file(path)) from error
    except OSError as error:
        raise ClearwayError(f"{path}: cannot be read: {reason(error)}", "check its permissions") from error


def _refuse_sweep(path: Path) -> None:
    """Raise what a person can act on if this is a file for `clearway sweep`."""
    try:
        text = documents.read_text(path)
        is_sweep = "sweep" in documents.parse(text, str(path))
    except ClearwayError:
        return  # what the simulator said of it is as good
    if is_sweep:
        header = documents.without_table(text, "sweep")[1] or documents.line_of(text, "sweep")
        raise ClearwayError(
            f"{path}:{header}: sweep: is many runs, expected a scenario of one", f"clearway sweep {path}"
        )


def sets_of(sets: Sets | None) -> list[Override]:
    """Write values as TOML, as `--set` has them; None removes the key, as `--unset` does."""
    return [
        (key, value if value is None or isinstance(value, str) else documents.value_of(value))
        for key, value in (sets or {}).items()
    ]


def gather(
    items: Sequence[str | Path | Run | Seeds],
    seeds: int,
    sets: Sequence[Override],
    run_all: Callable[[Sequence[_clearway.Scenario]], list[Run]],
) -> list[tuple[str, Seeds]]:
    """Read the run directories and run the scenario files among the items; a label with each."""
    gathered: dict[int, tuple[str, Seeds]] = {}
    scenarios: list[_clearway.Scenario] = []
    owners: list[tuple[int, str]] = []
    for index, item in enumerate(items):
        if isinstance(item, (Run, Seeds)):
            group = item if isinstance(item, Seeds) else Seeds([item])
            gathered[index] = (str(group.path or ""), group)
        elif Path(item).is_dir():
            found = runs.load(item)
            gathered[index] = (str(item), found if isinstance(found, Seeds) else Seeds([found]))
        else:
            scenarios.extend(with_seeds(item, sets, None, seeds))
            owners.extend([(index, str(item))] * seeds)
    for (index, label), run in zip(owners, run_all(scenarios) if scenarios else [], strict=True):
        known = gathered[index][1].runs if index in gathered else ()
        gathered[index] = (label, Seeds([*known, run]))
    return [gathered[index] for index in range(len(items))]


def with_seeds(
    scenario: str | Path, sets: Sequence[Override], seed: int | None, count: int
) -> list[_clearway.Scenario]:
    """Load a scenario with `count` seeds, from its own (or the given one) on."""
    check_seeds(count)
    first = load_scenario(scenario, sets, seed)
    return [first, *(load_scenario(scenario, sets, first.seed + further) for further in range(1, count))]


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
