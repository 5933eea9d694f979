"""The overrides of a point: the keys that it sets apart from its neighbours, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def expanded(overrides: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Write a key with a star for every entry of its table: `transport.*.ai` sets it for all transports."""
    sets: dict[str, Any] = {}
    for key, value in overrides.items():
        table, star, rest = key.partition(".*.")
        names = document.get(table) if star else None
        if isinstance(names, Mapping):
            sets.update({f"{table}.{name}.{rest}": value for name in names})
        else:
            sets[key] = value
    return sets


def label_of(overrides: Mapping[str, Any]) -> str:
    """Write a combination in short: its keys as `short_keys` has them, and their values."""
    names = short_keys(list(overrides))
    return ", ".join(f"{name} {value}" for name, value in zip(names, overrides.values(), strict=True))


def short_keys(keys: Sequence[str]) -> list[str]:
    """Write keys in short: the last part of each, or all of it where several have the same last part."""
    names = [key.rsplit(".", 1)[-1] for key in keys]
    return [key if names.count(name) > 1 else name for key, name in zip(keys, names, strict=True)]
