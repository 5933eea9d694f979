"""The JSON Schema of a scenario: a module by itself, as no array is needed for it."""

from __future__ import annotations

import functools
import json
from typing import Any

from clearway import _clearway


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario, with the tables of `clearway sweep` and `clearway tune`."""
    value = json.loads(_of_scenarios())
    assert isinstance(value, dict)
    value["properties"]["sweep"] = {
        "description": "Axes for clearway sweep: keys of the scenario, dotted, and the values they take.",
        "type": "object",
        "x-unit": "axes",
    }
    value["properties"]["tune"] = {
        "description": "What clearway tune searches for: an objective, limits, and the keys that may change.",
        "type": "object",
        "x-unit": "axes",
    }
    return value


@functools.cache
def _of_scenarios() -> str:
    return _clearway.schema()
