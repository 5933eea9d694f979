"""The JSON Schema of a scenario: a module by itself, as no array is needed for it."""

from __future__ import annotations

import json
from typing import Any

from clearway import _clearway


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario, with the table of axes that `clearway sweep` reads beside it."""
    value = json.loads(_clearway.schema())
    assert isinstance(value, dict)
    value["properties"]["sweep"] = {
        "description": "Axes for clearway sweep: keys of the scenario, dotted, and the values they take.",
        "type": "object",
        "x-unit": "axes",
    }
    return value
