"""The scenario reference: a page for each table, with every key that `clearway schema` lists."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from clearway import sweeps, tuning

from tools.site.keys import Key, Schema, Table, tables

FOLDER = "scenario"
_PAGES = Path(__file__).parent / "pages"

KINDS: Mapping[str, tuple[str, str]] = {
    "time": ("time", 'a text such as `"25us"`'),
    "times": (
        "time or span of times",
        'a time, or a span such as `"0us..100us"` over which flows are spread',
    ),
    "bytes": ("bytes", 'a text such as `"64kB"`; kB is 1000 bytes, KiB 1024'),
    "rate": ("rate", 'a text such as `"100Gbps"`'),
    "frequency": ("frequency", 'a text such as `"200k/s"`'),
    "parts": ("parts", 'a text such as `"20ppm"`'),
    "integer": ("integer", "a whole number without quotes"),
    "number": ("number", "a number without quotes"),
    "fraction": ("fraction", "a number from 0 to 1 without quotes"),
    "boolean": ("boolean", "`true` or `false`"),
    "choice": ("choice", "one of the words listed, in quotes"),
    "name": ("name", "the name of a table or group of this file, in quotes"),
    "text": ("text", "any text in quotes"),
    "host": ("host", "one host: its number, counted from 0, or a group of one"),
    "hosts": (
        "hosts",
        'a number, a half-open range such as `"0..50"`, the name of a group, or a list of these',
    ),
    "node": ("node", 'one host by its number, or any node by its name, such as `"tor1"`'),
    "nodes": ("nodes", "a node, or a list of nodes"),
    "placement": (
        "placement",
        '`"packed"`, `"round_robin"`, `"random"`, or a host for each rank, such as `[0, "4..6"]`',
    ),
    "servers": (
        "servers",
        'a number, counted from 0, a half-open range such as `"0..3"`, or a list of these',
    ),
    "flows": ("flows", 'numbers of flows: `3`, `"0..10"` or a list of both'),
    "link": ("link", 'a text of two node names: `"h0-tor0"` for both ways, `"h0>tor0"` for one'),
    "links": ("links", 'a link, `"h0-tor0"` for both ways or `"h0>tor0"` for one, or a list of these'),
    "sizes": ("sizes", "the name of a distribution, or of a file that holds one"),
    "file": ("file", "a path, relative to the scenario's own folder"),
    "axes": ("axes", "a table of dotted keys and the values they take"),
}
"""What kinds of values there are (`x-unit` in the schema): the word for each, and how it is written."""


def pages(schema: Schema) -> dict[str, str]:
    """Return the Markdown of each page by its path, the page that lists the others first."""
    every = tables(schema)
    grouped: dict[str, list[Table]] = {}
    for table in every:
        grouped.setdefault(table.dotted.split(".")[0] or "root", []).append(table)
    written = {f"{FOLDER}/{name}.md": _page(name, group) for name, group in grouped.items()}
    return {f"{FOLDER}/index.md": _index(every, grouped), **written}


def _index(every: Sequence[Table], grouped: Mapping[str, Sequence[Table]]) -> str:
    lines = [(_PAGES / "scenario.md").read_text(encoding="utf-8").rstrip("\n")]
    used = {key.schema["x-unit"]: key.schema for table in every for key in table.keys}
    for unit, (word, meaning) in KINDS.items():
        if unit in used:
            units = ", ".join(f"`{suffix}`" for suffix in _suffixes(used[unit])) or "none"
            lines.append(f"| {word} | {meaning} | {units} |")
    lines += ["", "## Tables", "", "| table | what it says |", "|---|---|"]
    for name, group in grouped.items():
        for table in group:
            anchor = f"#{re.sub(r'[^a-z_]', '', table.path.lower())}" if len(group) > 1 else ""
            named = f"`{table.path}`" if table.path else "top of the file"
            lines.append(f"| [{named}]({name}.md{anchor}) | {_one_line(table)} |")
    lines += [
        "",
        *_table_of("sweep", sweeps),
        "",
        *_table_of("tune", tuning),
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *grouped,
        "```",
        "",
    ]
    return "\n".join(lines)


def _table_of(name: str, package: ModuleType) -> Iterator[str]:
    """Yield what a table of many runs says, with the example of the package that reads it."""
    first, *others = (inspect.getdoc(package) or "").split("\n\n")
    yield from [f"## `[{name}]`", "", first, "", "```toml"]
    yield "\n\n".join(part for part in others if part.startswith("["))
    yield "```"


def _one_line(table: Table) -> str:
    if not table.path:
        return "The experiment as a whole."
    return _sentence(str(table.schema.get("description", "")))


def _suffixes(schema: Schema) -> list[str]:
    """Return the units that a quantity may have, as its pattern lists them."""
    found = re.search(r"\(([^()?]*\|[^()]*)\)", schema.get("pattern", ""))
    return found.group(1).split("|") if found else []


def _page(name: str, group: Sequence[Table]) -> str:
    title = "Top of the file" if name == "root" else f"`{group[0].path}`" if len(group) == 1 else f"`{name}`"
    lines = [f"# {title}", ""]
    by_path = {table.dotted: table for table in group}
    for table in group:
        if len(group) > 1:
            lines += [f"## `{table.path}`", ""]
        lines += [*_table(table, by_path), ""]
    return "\n".join(lines)


def _table(table: Table, by_path: Mapping[str, Table]) -> Iterator[str]:
    if table.schema.get("description"):
        yield from [_sentence(str(table.schema["description"])), ""]
    keys = list(table.keys)
    if table.heir_of is not None:
        parent = by_path[f"{table.dotted.rpartition('.')[0]}.{table.heir_of}"]
        keys = [key for key in keys if not _inherited(key, parent)]
        others = "and these besides" if keys else "and no other"
        yield from [f"It has the keys of `{parent.path}`, {others}.", ""]
    main = table.main_choice
    level = "###" if len(by_path) > 1 else "##"
    if main is None:
        for key in keys:
            yield from _key(table, key, "", _condition(table, key))
        return
    always = [key for key in keys if len(key.variants) == len(table.variants)]
    for key in sorted(always, key=lambda key: key.name != main):
        yield from _key(table, key, "", "")
    for value in dict.fromkeys(variant.choices[main] for variant in table.variants):
        here = frozenset(
            number for number, variant in enumerate(table.variants) if variant.choices[main] == value
        )
        special = [key for key in keys if key not in always and key.variants & here]
        if special:
            yield from [f'{level} With `{main} = "{value}"`', ""]
        for key in special:
            seldom = Key(key.name, key.schema, key.required, key.variants & here)
            condition = _condition(table, seldom, leave_out=main)
            shared = sum(other.name == key.name for other in keys) > 1 or not key.variants <= here
            told_apart = [value] if shared else []
            if sum(other.name == key.name for other in special) > 1:
                # By what else they need.
                needed = table.condition(seldom)
                told_apart += [
                    each
                    for choices in needed
                    for name, values in choices.items()
                    if name != main
                    for each in values
                ]
            yield from _key(table, key, ", ".join(told_apart), condition)


def _inherited(key: Key, parent: Table) -> bool:
    """Tell whether the parent has a key of this name that takes the same values."""
    options = set(key.schema.get("enum", ()))
    return any(
        known.name == key.name and options <= set(known.schema.get("enum", options)) for known in parent.keys
    )


def _condition(table: Table, key: Key, leave_out: str = "") -> str:
    """Return for which choices the table has the key, in words; nothing if it always has."""
    alternatives = []
    for needed in table.condition(key):
        words = [
            f"`{name}` is {_either([f'`{value}`' for value in values])}"
            for name, values in needed.items()
            if name != leave_out
        ]
        alternatives.append(" and ".join(words))
    return ", or ".join(dict.fromkeys(alternatives))


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _key(table: Table, key: Key, told_apart_by: str, condition: str) -> Iterator[str]:
    name = f"{table.dotted}.{key.name}".lstrip(".")
    if told_apart_by:
        name += f" ({told_apart_by})"
    kind = KINDS[key.schema["x-unit"]][0]
    facts = [kind, *_default(table, key), *_range(key.schema)]
    yield f":::{{confval}} {name}"
    yield from ["", " · ".join(facts), ""]
    yield from _described(str(key.schema.get("description", "")), key.schema.get("enum", ()))
    if condition:
        yield from ["", f"Only where {condition}."]
    yield from [":::", ""]


def _default(table: Table, key: Key) -> Iterator[str]:
    if key.required:
        yield "**must be given**"
    elif "default" in key.schema:
        yield f"default `{_spelled(key.schema['default'])}`"
    elif "x-default" in key.schema:
        words = str(key.schema["x-default"])
        as_another = any(other.name == words for other in table.keys)
        yield f"default: {f'as `{words}`' if as_another else _marked(words)}"


def _range(schema: Schema) -> Iterator[str]:
    low, high = schema.get("x-min"), schema.get("x-max")
    if "const" in schema:
        yield f"always `{_spelled(schema['const'])}`"
    elif low is not None and high is not None:
        yield f"`{_spelled(low)}` to `{_spelled(high)}`"
    if examples := schema.get("examples"):
        yield "such as " + ", ".join(f"`{_spelled(example)}`" for example in examples)


def _spelled(value: Any) -> str:
    """Write a value as a scenario does, but texts without their quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _described(description: str, options: Sequence[str]) -> Iterator[str]:
    """Yield a description; where it explains the options one after the other, they become a list."""
    marks = [
        found for option in options if (found := re.search(rf"[;:,] {re.escape(option)}[:,] ", description))
    ]
    marks.sort(key=lambda found: found.start())
    if len(marks) < max(2, len(options)):
        if description:
            yield _sentence(description)
        if options:
            yield from ["", f"One of {', '.join(f'`{option}`' for option in options)}."]
        return
    yield from [_sentence(description[: marks[0].start()]), ""]
    for mark, end in zip(marks, [*(mark.start() for mark in marks[1:]), None], strict=True):
        option = re.sub(r"^[;:,] |[:,] $", "", mark.group())
        yield f"- `{option}`: {description[mark.end() : end].rstrip('.;, ')}"


def _sentence(text: str) -> str:
    """Return a sentence that ends with a full stop, as Markdown."""
    return _marked(text).rstrip(".") + "."


def _marked(text: str) -> str:
    """Return a text as Markdown, with the names of keys and tables in it as code."""
    return re.sub(r"(?<![\w`])([a-z0-9]+(?:_[a-z0-9]+)*_(?:[a-z0-9]+|\*)|\[+[^\]]+\]+)", r"`\1`", text)
