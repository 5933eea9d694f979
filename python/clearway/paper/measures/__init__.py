"""What is measured: functions that experiment files name.

Each takes the value it stands for from one run, or from other values. To add one, write it in the file of its
kind with a decorator of `registry`: its name and its arguments are then known to experiment files, which are
checked against them. A new file is imported here.
"""

from clearway.paper.measures import (
    arithmetic,
    classes,
    fairness,
    faults,
    links,
    outages,
    pooled,
    scenario,
    series,
    summary,
    swift,
    swing,
    tables,
)
from clearway.paper.measures.registry import OF_RUN, OF_VALUES, POOLED
from clearway.paper.measures.values import Between, Losses, Series, Value

__all__ = [
    "OF_RUN",
    "OF_VALUES",
    "POOLED",
    "Between",
    "Losses",
    "Series",
    "Value",
    "arithmetic",
    "classes",
    "fairness",
    "faults",
    "links",
    "outages",
    "pooled",
    "scenario",
    "series",
    "summary",
    "swift",
    "swing",
    "tables",
]
