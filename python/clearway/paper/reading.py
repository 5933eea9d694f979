"""Reading an experiment: its runs, claims, plots and frontier, all checked before anything is run.

A file gives a scenario, named runs of it with overrides and axes, claims, and plots; docs/PAPERS.md says how
one is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clearway import documents
from clearway.errors import ClearwayError
from clearway.paper import frontier, plots
from clearway.paper.checker import Checker, Table, nearest
from clearway.paper.claim_rules import check_claim
from clearway.paper.evaluation import SEED
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.papers import Paper
from clearway.paper.parameters import with_parameters
from clearway.sweeps.axes import axes_of, variants

_EXPERIMENT = {
    "figure": str,
    "title": str,
    "setup": str,
    "model": str,
    "seeds": int,
    "scenario": dict,
    "scenarios": dict,
    "quick": dict,
    "full": dict,
    "runs": dict,
    "claim": list,
    "plot": list,
    "frontier": dict,
}
_RUN = {
    "label": str,
    "keep": list,
    "scenario": str,
    "measure": str,
    "arguments": dict,
    "seeds": int,
    "set": dict,
    "sweep": dict,
    "quick": dict,
    "full": dict,
}
_SCALED = {"seeds": int, "set": dict, "sweep": dict}
SEEDS = 5
"""How many seeds a run has unless its file says otherwise."""


def experiments(paper: Paper, ids: Sequence[str], *, full: bool) -> list[Experiment]:
    """Read these experiments, or all, with the scale to run them at."""
    known = paper.ids
    for name in ids:
        if name not in known:
            raise ClearwayError(f"{name}: no such experiment of the paper {paper.name}", nearest(name, known))
    return [read(paper, name, full=full) for name in known if not ids or name in ids]


def read(paper: Paper, name: str, *, full: bool) -> Experiment:
    """Read one experiment of a paper, at the paper's scale or the reduced one."""
    path = paper.folder / f"{name}.toml"
    text = documents.read_text(path)
    table = documents.parse(text, str(path))
    check = Checker(path, text)
    check.keys(table, _EXPERIMENT, "", required=("figure", "title"))
    runs = {
        key: _planned(paper, table, key, run, check, "full" if full else "quick")
        for key, run in check.tables(table.get("runs", {}), "runs")
    }
    for index, claim in enumerate(table.get("claim", [])):
        check_claim(claim, f"claim[{index}]", runs, check)
    for index, plot in enumerate(table.get("plot", [])):
        plots.check_plot(plot, f"plot[{index}]", runs, check)
    if "frontier" in table:
        frontier.check_frontier(table["frontier"], runs, check)
    return Experiment(
        name,
        path,
        table["figure"],
        table["title"],
        table.get("setup", ""),
        table.get("model", ""),
        list(runs.values()),
        table.get("claim", []),
        table.get("plot", []),
        table.get("frontier"),
    )


def _planned(paper: Paper, table: Table, name: str, run: Table, check: Checker, scale: str) -> PlannedRun:
    """Put a run together: its document with the shared parameters, and the overrides of each point."""
    where = f"runs.{name}"
    check.keys(run, _RUN, where)
    scaled = run.get(scale, {})
    check.keys(scaled, _SCALED, f"{where}.{scale}")
    label = run.get("label", name)
    return PlannedRun(
        name,
        label,
        _arguments(run, where, check)
        if "measure" in run
        else with_parameters(_document(table, run, where, check), paper.parameters, label),
        {
            **({} if "measure" in run else _dotted(table.get(scale, {}))),
            **_dotted(run.get("set", {})),
            **_dotted(scaled.get("set", {})),
        },
        _variants(
            scaled.get("sweep", run.get("sweep", {})),
            scaled.get("seeds", run.get("seeds", table.get("seeds", SEEDS))),
            where,
            check,
        ),
        tuple(run["keep"]) if "keep" in run else None,
        run.get("measure"),
    )


def _arguments(run: Table, where: str, check: Checker) -> Table:
    """Return the arguments of what a run measures on this machine."""
    if "scenario" in run:
        raise check.error(f"{where}.scenario", "a run has a scenario or a measure, not both", "leave out one")
    given: Table = run.get("arguments", {})
    return given


def _document(table: Table, run: Table, where: str, check: Checker) -> Table:
    """Return the scenario of a run: the one it names, or else that of the experiment."""
    if "arguments" in run:
        raise check.error(
            f"{where}.arguments", "a run without measure has none", 'give measure = "allocation"'
        )
    if "scenario" in run:
        check.one_of(run["scenario"], table.get("scenarios", {}), f"{where}.scenario")
        named: Table = table["scenarios"][run["scenario"]]
        return named
    document: Table | None = table.get("scenario")
    if document is None:
        raise check.error("scenario", "missing: the document that is run")
    return document


def _variants(sweep: Table, seeds: int, where: str, check: Checker) -> Sequence[Table]:
    """Return the values of the axes at each point, each combination with every seed."""
    if seeds < 1:
        raise check.error(f"{where}.seeds", f"found {seeds}, expected a whole number of at least 1")
    combinations: Sequence[Table] = [{}]
    if sweep:
        axes = axes_of(sweep, lambda key: f"{check.path}: {where}.sweep {key}")
        if any(SEED in axis.keys for axis in axes):
            raise check.error(f"{where}.sweep.{SEED}", "is no axis of an experiment", "give seeds = 5")
        combinations = list(variants(axes))
    return [{**combination, SEED: seed} for combination in combinations for seed in range(1, seeds + 1)]


def _dotted(table: Table, prefix: str = "") -> dict[str, Any]:
    """Return values by dotted key: TOML reads a dotted key without quotes as nested tables."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        path = f"{prefix}.{key}" if prefix else key
        flat.update(_dotted(value, path) if isinstance(value, Mapping) else {path: value})
    return flat
