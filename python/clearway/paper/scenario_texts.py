"""The scenarios of an experiment as files: TOML that `clearway run` or `clearway sweep` takes as it is.

What an experiment sets apart from its base is filled in, and its points are a `[sweep]` table, so that who
copies the text has the runs of the figure and needs nothing else of the experiment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from clearway import documents
from clearway.paper.checker import Table
from clearway.paper.evaluation import SEED
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.sweeps.overrides import expanded

_MOST_LISTED = 10  # seeds that are listed one by one


def text_of(experiment: Experiment, run: PlannedRun) -> str:
    """Write a run, which is a scenario and no measurement, as a file with a comment at its top."""
    document = documents.with_values(run.document, expanded(run.overrides, run.document))
    variants = [dict(variant) for variant in run.variants]
    axes: dict[str, Any] = {}
    if len(variants) == 1:
        document = documents.with_values(document, expanded(variants[0], document))
        how = "clearway run FILE"
    else:
        axes = {"sweep": _axes(variants)}
        seeds = sorted({variant[SEED] for variant in variants})
        of_seeds = f", seeds: {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else ""
        how = f"clearway sweep FILE: {len(variants)} points{of_seeds}"
    lines = [f"{experiment.figure}: {experiment.title}", f"{run.label}", how]
    if _names_files(document):
        lines.append(f"The files that it names are in clearway/papers/{experiment.path.parent.name}.")
    parts = [documents.tables_of(each) for each in (document, axes) if each]
    return "".join(f"# {' '.join(line.split())}\n" for line in lines) + "\n" + "\n".join(parts)


def _axes(variants: Sequence[Table]) -> dict[str, Any]:
    """Write points as the axes of a sweep: each key by itself if every combination is there, else in step."""
    keys = list(variants[0])
    values = {key: _distinct([variant[key] for variant in variants]) for key in keys}
    seeds = values.get(SEED, [])
    if math.prod(len(of_key) for of_key in values.values()) == len(variants):
        return {**values, SEED: _counted(seeds)} if seeds else dict(values)
    others = [key for key in keys if key != SEED]
    together = _distinct([[variant[key] for key in others] for variant in variants])
    if len(together) * len(seeds) == len(variants):
        step = {key: [row[place] for row in together] for place, key in enumerate(others)}
        return {SEED: _counted(seeds), "zip": [step]}
    return {"zip": [{key: [variant[key] for variant in variants] for key in keys}]}


def _counted(seeds: Sequence[int]) -> Any:
    """Write many seeds, if they follow each other, as a range."""
    first, last = seeds[0], seeds[-1]
    if len(seeds) > _MOST_LISTED and list(seeds) == list(range(first, last + 1)):
        return {"from": first, "to": last, "step": 1}
    return list(seeds)


def _distinct(values: Sequence[Any]) -> list[Any]:
    return list({repr(value): value for value in values}.values())


def _names_files(value: Any) -> bool:
    if isinstance(value, dict):
        return "file" in value or any(_names_files(entry) for entry in value.values())
    return isinstance(value, list) and any(_names_files(entry) for entry in value)
