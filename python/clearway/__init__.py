"""Datacenter transports in a deterministic, very fast packet simulator.

>>> import clearway as cw
>>> run = cw.run("scenarios/incast.toml", {"transport.bulk.base_target": "30us"})  # doctest: +SKIP
>>> run.summary["goodput_gbps"], run.flows["fct_us"]  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearway._clearway import VERSION, Interrupted, LosslessDrop, ScenarioError, Standstill
    from clearway.api import compare, load_run, run, schema
    from clearway.arbiter_planning import plan_arbiter
    from clearway.comparison import Comparison
    from clearway.errors import ClearwayError
    from clearway.planning import dci_buffer
    from clearway.preview.description import show
    from clearway.runs import Run
    from clearway.seeds import Seeds
    from clearway.sweeping import sweep
    from clearway.sweeps.sweep import Sweep
    from clearway.target_planning import plan_target_delay
    from clearway.tuning.api import tune
    from clearway.tuning.tuning import Tuning

    __version__ = VERSION
else:

    def __getattr__(name: str) -> object:
        """Import what Python code calls when it first asks for some of it; `clearway --help` never does."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        for module, names in _EXPORTS.items():
            found = import_module(module)
            globals().update({each: getattr(found, each) for each in names})
        globals()["__version__"] = globals()["VERSION"]
        return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


_EXPORTS = {
    "clearway._clearway": ["VERSION", "Interrupted", "LosslessDrop", "ScenarioError", "Standstill"],
    "clearway.api": ["compare", "load_run", "run", "schema"],
    "clearway.arbiter_planning": ["plan_arbiter"],
    "clearway.comparison": ["Comparison"],
    "clearway.errors": ["ClearwayError"],
    "clearway.planning": ["dci_buffer"],
    "clearway.preview.description": ["show"],
    "clearway.runs": ["Run"],
    "clearway.seeds": ["Seeds"],
    "clearway.sweeping": ["sweep"],
    "clearway.sweeps.sweep": ["Sweep"],
    "clearway.target_planning": ["plan_target_delay"],
    "clearway.tuning.api": ["tune"],
    "clearway.tuning.tuning": ["Tuning"],
}

__all__ = [
    "ClearwayError",
    "Comparison",
    "Interrupted",
    "LosslessDrop",
    "Run",
    "ScenarioError",
    "Seeds",
    "Standstill",
    "Sweep",
    "Tuning",
    "__version__",
    "compare",
    "dci_buffer",
    "load_run",
    "plan_arbiter",
    "plan_target_delay",
    "run",
    "schema",
    "show",
    "sweep",
    "tune",
]
