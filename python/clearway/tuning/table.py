"""The table of trials: a row each, with its values, how good it is, and every figure that all seeds have."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearway.columns import Columns
from clearway.sweeps.table import column_of
from clearway.tuning.file import TuneFile
from clearway.tuning.trials import Trial


def columns(file: TuneFile, trials: Sequence[Trial]) -> Columns:
    """Make the table; figures are means over the seeds, with NaN where there is none."""
    table: Columns = {"trial": np.array([each.number for each in trials], dtype=np.uint64)}
    for parameter in file.parameters:
        own = file.own[parameter.key]
        values = [each.measured.overrides.get(parameter.key, own) for each in trials]
        name, numbers = column_of(parameter.key, values)
        table[name] = np.array(
            ["" if value is None else str(value) for value in values] if numbers is None else numbers
        )
    table["eligible"] = np.array([each.eligible for each in trials], dtype=np.uint64)
    table["excess"] = np.array([each.excess for each in trials])
    table["complaint"] = np.array([each.complaint for each in trials])
    names = dict.fromkeys(name for each in trials for name in each.measured.samples)
    for name in names:
        means = [each.measured.interval(name) for each in trials]
        table[name] = np.array([math.nan if of is None else float(of.mean) for of in means])
    halves = [each.objective.half_width if each.objective else None for each in trials]
    table["objective_half_width"] = np.array([math.nan if half is None else half for half in halves])
    return table
