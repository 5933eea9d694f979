"""Enough of TOML to write a scenario from Python values."""

import json
from collections.abc import Mapping
from typing import Any


def document(scenario: Mapping[str, Any]) -> str:
    """One key a line, tables inline: messages must find keys there too."""
    return "".join(f"{_key(key)} = {value_of(value)}\n" for key, value in scenario.items())


def value_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {value_of(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_of(entry) for entry in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)
