"""A tuning from file to directory: what was tried, what came out best, and how it holds on other seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearway import _clearway, arguments, columns, directory, frames, units
from clearway.errors import ClearwayError
from clearway.overview import listed
from clearway.selection import nearest
from clearway.statistics import Interval
from clearway.sweeps.figures import figures_of
from clearway.sweeps.making import PointsInterrupted
from clearway.tuning import best, page, search, table, words
from clearway.tuning.confirmation import Confirmation, Difference, confirm, seeds_of
from clearway.tuning.file import TuneFile, read
from clearway.tuning.measuring import Counts, Measured, Place, measure
from clearway.tuning.trials import Trial, best_of, nearest_of

if TYPE_CHECKING:
    import pandas
    import polars

    from clearway.api import Override

PAGE = "report.html"
TABLE = "trials"
BEST = "best.toml"
MANIFEST = "tune.json"
_PATIENCE = 10  # trials without a figure before it is taken for one that no trial will have

Tell = Callable[[int, int, Trial | None], None]
"""Called with the runs that are finished, those there will be, and the best trial so far."""


@dataclass(frozen=True, repr=False)
class Tuning:
    """A tuning that is done."""

    file: TuneFile
    name: str
    """The name of the scenario."""
    trials: Sequence[Trial]
    best: Trial | None
    """The best trial that keeps all limits; None if none does."""
    confirmation: Confirmation | None
    """The test of the best on other seeds; None if there is no best, or it is the scenario's own values."""
    importances: Mapping[str, float]
    """The share of each key in being among the best trials; nothing for one key, or few trials."""
    seeds: Sequence[int]
    """The seeds of each trial."""
    counts: Counts

    def __repr__(self) -> str:
        """Write the conclusion, a line a sentence."""
        return "\n".join([f"{self.name}: {len(self.trials)} trials", *self.sentences])

    def _repr_html_(self) -> str:
        """Write the conclusion as a list, for notebooks."""
        return f"<p>{escape(self.name)}: {len(self.trials)} trials</p>{listed(self.sentences)}"

    @property
    def sentences(self) -> list[str]:
        """The conclusion in some sentences."""
        return words.sentences(self.file, self.trials, self.best, self.confirmation, self.seeds)

    @property
    def values(self) -> dict[str, Any]:
        """The values of the best trial by key; none if no trial is the best, or if it sets none."""
        return {} if self.best is None else dict(self.best.measured.overrides)

    @property
    def options(self) -> list[str]:
        """The values of the best trial as options of a command: `--set KEY=VALUE`."""
        return best.options(self.file, self.values)

    @property
    def table(self) -> columns.Columns:
        """A row a trial: its values, how good it is, and every figure."""
        return table.columns(self.file, self.trials)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the table as a pandas frame, with units and meanings in `attrs`."""
        rows = self.table
        return frames.to_pandas(rows, units.described_points(rows))

    def to_polars(self) -> polars.DataFrame:
        """Return the table as a Polars frame."""
        return frames.to_polars(self.table)

    def as_json(self) -> dict[str, Any]:
        """Return what `clearway tune --json` prints."""
        return as_json(self, None)

    def save(self, path: str | Path) -> Path:
        """Write table, page, `tune.json` and `best.toml` into a directory that must not exist or be empty."""
        target = arguments.path("path", path)
        directory.check_writable(target, exact=True)
        with directory.Staging(target, exact=True) as staging:
            write_into(staging.path, target, self)
            return staging.commit()


def plan(source: arguments.Source, sets: Sequence[Override] = (), trials: int | None = None) -> TuneFile:
    """Read a file and check it; raise if Optuna is missing."""
    file = read(source, sets, trials)
    search.check_installed()
    return file


def run(file: TuneFile, place: Place, tell: Tell | None = None) -> Tuning:
    """Search, and test what was found. Raises `PointsInterrupted` on Ctrl-C: what is finished is kept."""
    own = file.scenario({})
    seeds, fresh = seeds_of(file, own.seed)
    total = file.trials * len(seeds) + (2 + len(file.parameters)) * len(fresh)
    known: list[Trial] = []

    def try_values(of: Sequence[Mapping[str, Any]], trials: Sequence[Trial]) -> list[Measured]:
        known[:] = trials
        if trials:
            _check_some_ran(file, trials)
        if tell is not None:
            tell(len(trials) * len(seeds), total, best_of(trials, file.objective))
        return measure(file, of, seeds, place)

    def test(of: Sequence[Mapping[str, Any]], with_seeds: Sequence[int]) -> list[Measured]:
        if tell is not None:
            # The best and the scenario's own values come first, and then each key set back.
            before = 0 if {} in of else 2
            tell(file.trials * len(seeds) + before * len(with_seeds), total, found)
        return measure(file, of, with_seeds, place)

    try:
        trials = search.search(file, own.seed, try_values)
        known[:] = trials
        _check_some_ran(file, trials)
        found = best_of(trials, file.objective)
        told = None if found is None or found.number == 0 else confirm(file, found, fresh, test)
    except KeyboardInterrupt as interrupted:
        said = str(interrupted) or f"interrupted: what is finished is kept in {place.store.path}"
        done = f"{len(known)} of {file.trials} trials were known"
        raise PointsInterrupted(f"{said}; {done}") from interrupted.__cause__
    return Tuning(
        file, own.name, trials, found, told, search.importances(file, trials), seeds, replace(place.counts)
    )


def _check_some_ran(file: TuneFile, trials: Sequence[Trial]) -> None:
    """Raise if no trial has the objective, or a limit's figure: it is not measured, or every run failed.

    A figure that a summary names without a value may get one: then some trials more are waited for.
    """
    for figure in file.figures:
        if any(figure in each.measured.samples for each in trials):
            continue
        ran = [each.measured for each in trials if each.measured.runs]
        named = any(figure in dict(figures_of(run.summary)) for each in ran for run in each.runs)
        if ran and (not named or len(trials) >= min(_PATIENCE, file.trials)):
            there = dict.fromkeys(name for each in ran for name in each.samples)
            key = "objective" if figure == file.objective.figure else "limits"
            raise ClearwayError(
                f"{file.parts.where(key)}: {ran[0].why_absent(figure)}", nearest(figure, there)
            )
        if len(trials) == file.trials:
            raise ClearwayError(
                f"{file.parts.name}: all {len(trials)} trials failed: {trials[0].complaint}",
                "see that the scenario runs as it is, and narrow the ranges",
            )


def write_into(path: Path, target: Path, done: Tuning) -> None:
    """Write table, page, manifest and the best scenario into `path`, which is to become `target`."""
    described = columns.write_table(path, TABLE, done.table)
    drawn = page.page(
        done.file, done.name, done.trials, done.best, done.confirmation, done.importances, done.sentences
    )
    (path / PAGE).write_text(drawn, encoding="utf-8")
    if done.best is not None:
        text = best.scenario(done.file, done.best.measured.overrides, target)
        heading = (
            f"# {done.name}, as clearway tune left it: trial {done.best.number} of {len(done.trials)}.\n"
        )
        (path / BEST).write_text(heading + text, encoding="utf-8")
    manifest = {
        "format": directory.FORMAT,
        "version": _clearway.VERSION,
        "optuna": search.version(),
        "tables": {TABLE: described},
        **as_json(done, None),
    }
    directory.write_json(path / MANIFEST, manifest)


def as_json(done: Tuning, out: Path | None) -> dict[str, Any]:
    """Return what `--json` prints of a tuning."""
    file = done.file
    answer: dict[str, Any] = {
        "name": done.name,
        "objective": {"figure": file.objective.figure, "better": file.objective.better},
        "limits": [{"figure": each.figure, each.side: each.value} for each in file.limits],
        "keys": file.keys,
        "seeds": list(done.seeds),
        "run": done.counts.run,
        "found": done.counts.found,
        "damaged": done.counts.damaged,
        "trials": [_trial_as_json(file, each) for each in done.trials],
        "best": None if done.best is None else done.best.number,
        "values": done.values,
        "options": done.options,
        "importances": dict(done.importances),
        "confirmation": None if done.confirmation is None else _confirmation_as_json(file, done.confirmation),
        "nearest": None,
        "sentences": done.sentences,
    }
    if done.best is None and (near := nearest_of(done.trials, file.objective)) is not None:
        answer["nearest"] = near.number
    if out is not None:
        answer["out"] = str(out)
    return answer


def _trial_as_json(file: TuneFile, of: Trial) -> dict[str, Any]:
    return {
        "trial": of.number,
        "overrides": dict(of.measured.overrides),
        "eligible": of.eligible,
        "complaint": of.complaint or None,
        "figures": {figure: _interval_as_json(of.measured.interval(figure)) for figure in file.figures},
        "digests": [run.digest for run in of.measured.runs],
        "paths": [str(run.path) for run in of.measured.runs],
    }


def _confirmation_as_json(file: TuneFile, of: Confirmation) -> dict[str, Any]:
    def measured(each: Measured) -> dict[str, Any]:
        return {
            "failure": each.failure or None,
            "figures": {figure: _interval_as_json(each.interval(figure)) for figure in file.figures},
            "limits": {limit.words: limit.standing(each.interval(limit.figure)) for limit in file.limits},
        }

    return {
        "seeds": list(of.seeds),
        "own": measured(of.own),
        "best": measured(of.best),
        "difference": _difference_as_json(of.difference),
        "better": of.better(file),
        "set_back": [
            {"key": each.key, **measured(each.measured), "difference": _difference_as_json(each.difference)}
            for each in of.set_back
        ],
    }


def _difference_as_json(of: Difference | None) -> dict[str, Any] | None:
    if of is None:
        return None
    return {**(_interval_as_json(of.interval) or {}), "p": of.p, "significant": of.significant}


def _interval_as_json(of: Interval | None) -> dict[str, Any] | None:
    return None if of is None else {"mean": float(of.mean), "half_width_95": of.half_width, "seeds": of.count}
