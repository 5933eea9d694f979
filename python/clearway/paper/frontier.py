"""The frontier of an experiment: objectives over runs that share their axes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from clearway.figures import AtLeast
from clearway.paper.checker import Checker, Table
from clearway.paper.evaluation import Runs, evaluate, lower_bounds_in, without_seed
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.expressions import check_expression
from clearway.sweeps.frontier import Frontier

_FRONTIER = {"runs": list, "objective": list, "limits": dict, "decide": str, "reference": dict}
_OBJECTIVE = {"name": str, "run": str, "of": object, "better": str}


def check_frontier(frontier: Any, runs: Mapping[str, PlannedRun], check: Checker) -> None:
    """Raise unless the frontier of a file names runs that there are, and measures of them."""
    check.keys(frontier, _FRONTIER, "frontier", required=("runs", "objective", "decide"))
    for name in frontier["runs"]:
        check.one_of(name, runs, "frontier.runs")
    for index, objective in enumerate(frontier["objective"]):
        where = f"frontier.objective[{index}]"
        check.keys(objective, _OBJECTIVE, where, required=("name", "run", "of", "better"))
        check.one_of(objective["run"], frontier["runs"], f"{where}.run")
        check_expression({**objective["of"], "run": objective["run"]}, f"{where}.of", runs, check)
    frontier_of(frontier, "frontier")


def frontier_of(frontier: Table, where: str) -> Frontier:
    """Read what is asked of the points; `where` names the table in messages."""
    return Frontier.of(
        {
            "objectives": {entry["name"]: entry["better"] for entry in frontier["objective"]},
            "limits": frontier.get("limits", {}),
            "decide": frontier["decide"],
        },
        where,
    )


def frontier_rows(experiment: Experiment, runs: Runs) -> tuple[list[Table], list[dict[str, float]]]:
    """Return the combinations of axes that the runs of a frontier share, and the objectives at each."""
    assert experiment.frontier is not None
    first = runs[experiment.frontier["runs"][0]]
    combinations = list({repr(without_seed(axes)): without_seed(axes) for axes, _ in first.points}.values())
    rows: list[dict[str, float]] = [{} for _ in combinations]
    for objective in experiment.frontier["objective"]:
        expression = {**objective["of"], "run": objective["run"]}
        for combination, row in zip(combinations, rows, strict=True):
            located = {**expression, "where": combination}
            value = evaluate(located, runs)
            if math.isfinite(value):
                row[objective["name"]] = AtLeast(value) if lower_bounds_in(located, runs) else float(value)
    return combinations, rows
