"""The keys of a scenario, read from its JSON Schema: each with the choices that it depends on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Variant:
    """A table as it is when its choices are made: their values, and the keys that it then has."""

    choices: Mapping[str, str]
    properties: Mapping[str, Schema]
    required: frozenset[str]


@dataclass(frozen=True)
class Key:
    """A key of a table, with one meaning; a key whose default depends on a choice is several of these."""

    name: str
    schema: Schema
    required: bool
    variants: frozenset[int]
    """The numbers of the table's variants that have this key."""


@dataclass(frozen=True)
class Table:
    """A table of a scenario: `path` is as a file writes it, such as `[transport.NAME]` or `[[traffic]]`."""

    path: str
    schema: Schema
    variants: Sequence[Variant]
    keys: Sequence[Key]

    @property
    def dotted(self) -> str:
        """Return the path without its brackets."""
        return self.path.strip("[]")

    @property
    def heir_of(self) -> str | None:
        """Return the sibling from which the table takes what it does not say."""
        return self.schema.get("x-inherits")

    @property
    def main_choice(self) -> str | None:
        """Return the one choice that every variant makes, if there is exactly one."""
        names = [set(variant.choices) for variant in self.variants]
        common = set.intersection(*names)
        return common.pop() if len(self.variants) > 1 and len(common) == 1 else None

    def condition(self, key: Key) -> list[dict[str, list[str]]]:
        """Say for which choices the table has the key.

        Any of the entries must hold; of an entry, each choice must have one of its values. An empty entry
        always holds.
        """
        choices = dict.fromkeys(name for variant in self.variants for name in variant.choices)
        having = [self.variants[number] for number in sorted(key.variants)]
        needed: dict[str, list[str]] = {}
        for name in choices:
            values = dict.fromkeys(variant.choices.get(name) for variant in having)
            needed[name] = [value for value in values if value is not None]
            if None in values:
                del needed[name]
        for name in list(needed):
            rest = {other: values for other, values in needed.items() if other != name}
            if self._where(rest) == key.variants:
                needed = rest
        if self._where(needed) == key.variants:
            return [needed]
        return [{name: [value] for name, value in variant.choices.items()} for variant in having]

    def _where(self, needed: Mapping[str, Sequence[str]]) -> frozenset[int]:
        """Return the numbers of the variants for which this holds."""
        return frozenset(
            number
            for number, variant in enumerate(self.variants)
            if all(variant.choices.get(name) in values for name, values in needed.items())
        )


def tables(schema: Schema) -> list[Table]:
    """Return every table of a scenario, in the order of the schema; the first one is the file's root."""
    return list(_tables("", schema))


def _tables(path: str, schema: Schema) -> Iterator[Table]:
    variants = variants_of(schema)
    yield Table(path, schema, variants, _keys(variants))
    inner = {name: below for variant in variants for name, below in variant.properties.items()}
    for name, below in inner.items():
        dotted = f"{path.strip('[]')}.{name}".lstrip(".")
        if below.get("x-unit") == "tables":
            yield from _tables(f"[[{dotted}]]", {**_described(below), **below["items"]})
        elif below.get("x-unit") == "table":
            yield from _table(dotted, below)


def _table(dotted: str, schema: Schema) -> Iterator[Table]:
    """Yield a table, or, where the file names tables of a kind, the table that each of them is."""
    named = schema.get("additionalProperties")
    if isinstance(named, Mapping) and named.get("x-unit") != "table":
        yield Table(f"[{dotted}]", schema, [Variant({}, {"NAME": named}, frozenset())], [_named(named)])
        return
    if schema.get("properties") or schema.get("oneOf"):
        found = list(_tables(f"[{dotted}]", schema))
        # A table that only holds others has no keys of its own to tell of.
        yield from (found if found[0].keys else found[1:])
    if isinstance(named, Mapping):
        yield from _tables(f"[{dotted}.NAME]", {**_described(schema), **named})


def _described(schema: Schema) -> dict[str, Any]:
    return {"description": schema.get("description", "")}


def _named(schema: Schema) -> Key:
    return Key("NAME", schema, required=False, variants=frozenset({0}))


def variants_of(schema: Schema) -> list[Variant]:
    """Return a table's variants, whether conditions choose one (`if`, `then`) or `oneOf` lists them."""
    return [
        Variant(
            {name: key["const"] for name, key in shape.get("properties", {}).items() if _is_choice(key)},
            shape.get("properties", {}),
            frozenset(shape.get("required", ())),
        )
        for shape in _shapes(schema)
    ]


def _is_choice(key: Schema) -> bool:
    return "const" in key and key.get("x-unit") == "choice"


def _shapes(schema: Schema) -> list[Schema]:
    """Return the objects of which one describes the whole table: those that depend on nothing any more."""
    below = schema.get("oneOf") or [schema[word] for word in ("then", "else") if word in schema]
    return [shape for each in below for shape in _shapes(each)] if below else [schema]


def _without(schema: Schema, word: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != word}


def _keys(variants: Sequence[Variant]) -> list[Key]:
    """Return what the variants have, each key once for each of its meanings."""
    found: dict[tuple[str, str], Key] = {}
    for number, variant in enumerate(variants):
        for name, schema in variant.properties.items():
            if schema.get("x-unit") in ("table", "tables"):
                continue
            required = name in variant.required and not _is_choice(schema)
            meaning = _without(schema, "const") if _is_choice(schema) else schema
            meaning = _without(meaning, "default") if _is_choice(schema) else meaning
            known = found.setdefault(
                (name, json.dumps([meaning, required], sort_keys=True)),
                Key(name, schema, required, frozenset()),
            )
            joined = _with_option(known.schema, schema) if _is_choice(schema) else schema
            found[name, json.dumps([meaning, required], sort_keys=True)] = Key(
                name, joined, required, known.variants | {number}
            )
    return [_settled(key) for key in found.values()]


def _with_option(known: Schema, schema: Schema) -> Schema:
    """Return the choice with this variant's value among its options, and with its default if it has one."""
    options = [*known.get("enum", []), schema["const"]]
    return {**known, **schema, "enum": list(dict.fromkeys(options))}


def _settled(key: Key) -> Key:
    """Return a choice with its options in place of one value; it must be made if it has no default."""
    if not _is_choice(key.schema):
        return key
    required = "default" not in key.schema and "x-default" not in key.schema
    return Key(key.name, _without(key.schema, "const"), required, key.variants)
