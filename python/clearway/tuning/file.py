"""A scenario with a `[tune]` table, as read: the scenario, what is to be good, and what may change."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clearway import _clearway, api, arguments, documents
from clearway.errors import ClearwayError
from clearway.selection import nearest
from clearway.sweeps.axes import dotted
from clearway.sweeps.overrides import expanded
from clearway.sweeps.parting import Parted, parted
from clearway.tuning import space
from clearway.tuning.goals import Limit, Objective, limits_of, objective_of
from clearway.tuning.space import Parameter

LEAST_TRIALS = 2
"""The least trials: the scenario's own values, and others."""
MOST_TRIALS = 10_000
"""The most trials, as the most points of a sweep."""
MOST_BATCH = 256
"""The most trials that are chosen at a time."""

_EXAMPLE = (
    '{"tune": {"objective": {"rtt_p99_us": "lower"}, "range": {"transport.bulk.ai": {"from": 0.5, "to": 2}}}}'
)
_NUMBERS = {
    "trials": (40, LEAST_TRIALS, MOST_TRIALS),
    "seeds": (3, 1, arguments.MOST_SEEDS),
    "confirm": (10, 2, arguments.MOST_SEEDS),
    "batch": (4, 1, MOST_BATCH),
}
"""The default of each number, the least and the most."""
_KEYS = ("objective", "limits", "range", *_NUMBERS)
_NEVER_ALLOWED = re.compile(r": (unknown key|found .*, expected )")
"""The simulator's messages about values that a key never takes, whatever the other keys are."""


@dataclass(frozen=True)
class TuneFile:
    """A file, text or document, as read."""

    parts: Parted
    objective: Objective
    limits: Sequence[Limit]
    parameters: Sequence[Parameter]
    trials: int
    """The number of values that are tried, those of the scenario among them."""
    seeds: int
    """The number of seeds that are simulated for each trial."""
    confirm: int
    """The number of seeds on which the best is tested, none of which the search has seen."""
    batch: int
    """The number of trials that are chosen before the first of them is known."""
    own: Mapping[str, Any]
    """The scenario's own value of each key; None if it has none, or several, which a star means."""
    places: Mapping[str, str]
    """The place of each key of the range: file, line and table."""
    sets: Sequence[api.Override]
    """The overrides of keys of the scenario in every trial."""

    @property
    def keys(self) -> list[str]:
        """The keys that may change."""
        return [each.key for each in self.parameters]

    @property
    def figures(self) -> list[str]:
        """The figures that are asked for: the objective, and those with limits."""
        return list(dict.fromkeys([self.objective.figure, *(limit.figure for limit in self.limits)]))

    def scenario(self, overrides: Mapping[str, Any], seed: int | None = None) -> _clearway.Scenario:
        """Read and check the scenario with some of its keys set; raise what the simulator says of them."""
        parts = self.parts
        sets = api.sets_of(expanded(overrides, parts.document))
        try:
            return _clearway.load_text(parts.scenario, parts.name, parts.folder, [*self.sets, *sets], seed)
        except _clearway.ScenarioError as error:
            raise _clearway.ScenarioError(parts.placed(str(error), sets, self.places)) from None


def read(source: arguments.Source, sets: Sequence[api.Override] = (), trials: int | None = None) -> TuneFile:
    """Read a scenario with a `[tune]` table; `sets` override its keys, `trials` the number in the table."""
    parts = parted(source, "tune", _EXAMPLE)
    table = parts.table
    unknown = next((key for key in table if key not in _KEYS), None)
    if unknown is not None:
        raise ClearwayError(f"{parts.where(unknown)}: unknown key", nearest(unknown, _KEYS))
    numbers = {name: _number(parts, name) for name in _NUMBERS}
    if trials is not None:
        numbers["trials"] = trials
    parameters, places = _parameters(parts)
    parts.refuse_sets(sets, [each.key for each in parameters], "what is tuned, which each trial sets")
    resolved = json.loads(_clearway.load_text(parts.scenario, parts.name, parts.folder, sets).resolved)
    transports = list(resolved.get("transport") or {})
    if "objective" not in table:
        raise ClearwayError(
            f"{parts.where('')}: has no objective", 'such as objective = { rtt_p99_us = "lower" }'
        )
    found = TuneFile(
        parts,
        objective_of(table["objective"], parts.where("objective"), transports),
        limits_of(table.get("limits"), parts.where("limits"), transports),
        parameters,
        own={each.key: _own(parts, resolved, each.key) for each in parameters},
        places=places,
        sets=sets,
        **numbers,
    )
    return replace(found, parameters=[_checked(found, each) for each in parameters])


def check_trials(name: str, found: object) -> int | None:
    """Take a number of trials as an argument; None is what the file says."""
    if found is None:
        return None
    return arguments.whole(name, found, LEAST_TRIALS, MOST_TRIALS, "what the file says")


def _own(parts: Parted, resolved: Mapping[str, Any], key: str) -> Any:
    """Return the value that the scenario has of a key, or of all keys that it stands for."""
    values = [documents.value_at(resolved, each) for each in expanded({key: None}, parts.document)]
    return values[0] if values and all(value == values[0] for value in values) else None


def _number(parts: Parted, name: str) -> int:
    default, least, most = _NUMBERS[name]
    value = parts.table.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ClearwayError(
            f"{parts.where(name)}: found {value!r}, expected a whole number from {least} to {most:,}"
        )
    return value


def _parameters(parts: Parted) -> tuple[list[Parameter], dict[str, str]]:
    table = parts.table.get("range")
    if not isinstance(table, Mapping) or not table:
        raise ClearwayError(
            f"{parts.where('')}: has no [tune.range] table with the keys that may change",
            'for example "transport.bulk.base_target" = { from = "5us", to = "50us", scale = "log" }',
        )
    parameters, places = [], {}
    for key, written in dotted(table, space.KEYS):
        place = f"{parts.place(key)}: [tune.range]"
        if key == "seed":
            raise ClearwayError(
                f"{place} seed: is no parameter", "seeds = 3 under [tune] says how many are simulated"
            )
        parameters.append(space.parameter(key, written, f"{place} {key}"))
        places[key] = place
    of = [concrete for each in parameters for concrete in expanded({each.key: None}, parts.document)]
    twice = next((key for key in of if of.count(key) > 1), None)
    if twice is not None:
        raise ClearwayError(f"{parts.where('range')}: sets {twice} twice", "leave one of them out")
    return parameters, places


def _checked(file: TuneFile, parameter: Parameter) -> Parameter:
    """Raise if the simulator never takes an end of a range; find out whether it takes whole numbers alone.

    A value that it refuses for what other keys are is none of our business here: a trial with it fails, and
    is counted among those that break the limits.
    """
    written = dict(dotted(file.parts.table["range"], space.KEYS))[parameter.key]
    if not parameter.values and space.is_of_whole_numbers(written):
        parameter = replace(parameter, whole=bool(_refused(file, parameter, parameter.middle)))
    for value in parameter.ends:
        if (refused := _refused(file, parameter, value)) and _NEVER_ALLOWED.search(refused):
            raise ClearwayError(refused, "nothing was run")
    return parameter


def _refused(file: TuneFile, parameter: Parameter, value: Any) -> str:
    """Return what the simulator says against a value; nothing if it takes it."""
    try:
        file.scenario({parameter.key: value})
    except _clearway.ScenarioError as error:
        return str(error)
    return ""
