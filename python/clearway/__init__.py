"""Datacenter transports in a deterministic, very fast packet simulator.

>>> import clearway as cw
>>> run = cw.run("scenarios/incast.toml", {"transport.bulk.base_target": "30us"})  # doctest: +SKIP
>>> run.summary["goodput_gbps"], run.flows["fct_us"]  # doctest: +SKIP
"""

from clearway._clearway import VERSION, Interrupted, LosslessDrop, ScenarioError
from clearway.api import compare, load_run, run, schema
from clearway.comparison import Comparison
from clearway.errors import ClearwayError
from clearway.planning import dci_buffer
from clearway.runs import Run, Seeds

__version__ = VERSION

__all__ = [
    "ClearwayError",
    "Comparison",
    "Interrupted",
    "LosslessDrop",
    "Run",
    "ScenarioError",
    "Seeds",
    "__version__",
    "compare",
    "dci_buffer",
    "load_run",
    "run",
    "schema",
]
