"""The pages that the documentation site is made of. `make site` builds it and refuses what leads nowhere."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import clearway as cw
import pytest
from clearway import documents
from clearway.sweeps.axes import axes_of, dotted
from clearway.sweeps.frontier import Frontier
from clearway.tuning.space import KEYS, parameter

from tools.site import commands, keys, links, scenario
from tools.site.stage import SECTIONS, BrokenLinksError, Stage

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md")), ROOT / "fuzz" / "README.md"]

# SCENARIO REFERENCE


def names_in(schema: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the dotted name of every key that the schema allows, however it says so."""
    for part in ("oneOf", "anyOf"):
        for inner in schema.get(part, []):
            yield from names_in(inner, path)
    for part in {"then", "else"} & schema.keys():
        yield from names_in(schema[part], path)
    for name, inner in schema.get("properties", {}).items():
        yield from names_in_value(inner, f"{path}.{name}".lstrip("."))


def names_in_value(schema: dict[str, Any], path: str) -> Iterator[str]:
    if schema.get("x-unit") == "tables":
        yield from names_in(schema["items"], path)
    elif schema.get("x-unit") == "table":
        yield from names_in(schema, path)
        if isinstance(named := schema.get("additionalProperties"), dict):
            yield from names_in_value(named, f"{path}.NAME")
    elif schema.keys() - {"description"}:  # what a choice decides on is only described before it
        yield path


def entries(pages: dict[str, str]) -> dict[str, str]:
    """Return the entry of each key by the name in its heading."""
    return {
        name: text
        for page in pages.values()
        for name, text in re.findall(r"^:::\{confval\} (.+?)\n(.*?)^:::$", page, re.MULTILINE | re.DOTALL)
    }


def facts(entry: str) -> str:
    return entry.strip().splitlines()[0]


def test_every_key_of_the_schema_has_an_entry() -> None:
    pages = scenario.pages(cw.schema())
    found = {name.partition(" (")[0] for name in entries(pages)}
    heirs = {table.dotted for table in keys.tables(cw.schema()) if table.heir_of}
    expected = {name for name in names_in(cw.schema()) if name.rpartition(".")[0] not in heirs}
    assert expected
    assert expected <= found
    # Of a table that takes the rest from its sibling, what the sibling does not have.
    assert {name.rpartition(".")[0] for name in found - expected} <= heirs
    assert "host.NAME.hosts" in found


def test_an_entry_has_kind_default_range_and_meaning() -> None:
    found = entries(scenario.pages(cw.schema()))
    target = found["transport.NAME.base_target (swift)"]
    assert facts(target) == "time · default `25us` · `1ns` to `1s`"
    assert "Fabric target before scaling" in target
    assert facts(found["network.k (fat_tree)"]).startswith("integer · **must be given**")
    assert facts(found["transport.NAME.topology_scaling (swift)"]) == "boolean · default `true`"
    assert facts(found["traffic.bytes (incast)"]).startswith("bytes · default: without end")
    assert "Only where `operation` is `read`." in found["traffic.request_bytes (open_loop)"]
    assert "- `dctcp`: DCTCP (RFC 8257)" in found["transport.NAME.protocol"]


CHOICE = {"type": "string", "x-unit": "choice", "description": "What it is."}
LENGTH = {"type": "integer", "x-unit": "integer", "x-min": 1, "x-max": 9, "description": "Length."}
WIDTH = {**LENGTH, "description": "Width."}
ANGLE = {**LENGTH, "description": "Angle.", "default": 3}


def variant(shape: str, required: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"shape": {**CHOICE, "const": shape}, "length": LENGTH, **more},
        "required": ["shape", *required],
        "additionalProperties": False,
    }


SHAPES = [
    variant("line", ["length"]),
    variant("box", ["length", "width"], width=WIDTH),
    variant("rhomb", ["length"], angle=ANGLE),
]
LISTED: dict[str, Any] = {"oneOf": SHAPES, "x-unit": "table"}
CONDITIONAL: dict[str, Any] = {
    "type": "object",
    "properties": {"shape": {**CHOICE, "enum": ["line", "box", "rhomb"]}, "width": {"description": "Width."}},
    "required": ["shape"],
    "if": {"properties": {"shape": {"const": "line"}}},
    "then": SHAPES[0],
    "else": {
        "if": {"properties": {"shape": {"const": "box"}}},
        "then": SHAPES[1],
        "else": {"if": {"properties": {"shape": {"const": "rhomb"}}}, "then": SHAPES[2]},
    },
    "x-unit": "table",
}
"""Two ways to say the same."""


@pytest.mark.parametrize("schema", [LISTED, CONDITIONAL], ids=["oneOf", "if"])
def test_keys_that_depend_on_a_choice(schema: dict[str, Any]) -> None:
    page = scenario.pages({"type": "object", "properties": {"thing": schema}})["scenario/thing.md"]
    sections = re.split(r"^## With ", page, flags=re.MULTILINE)
    assert [section.splitlines()[0] for section in sections[1:]] == [
        '`shape = "box"`',
        '`shape = "rhomb"`',
    ]
    assert list(entries({"": sections[0]})) == ["thing.shape", "thing.length"]
    assert "One of `line`, `box`, `rhomb`." in sections[0]
    assert list(entries({"": sections[1]})) == ["thing.width"]
    assert facts(entries({"": sections[1]})["thing.width"]) == "integer · **must be given** · `1` to `9`"
    assert list(entries({"": sections[2]})) == ["thing.angle"]


def test_choices_that_do_not_depend_on_each_other() -> None:
    """A key is told apart by the choices that matter, not by all that could be made."""
    (table,) = (table for table in keys.tables(cw.schema()) if table.dotted == "switch.default")
    conditions = {key.name: table.condition(key) for key in table.keys}
    assert conditions["buffer"] == [{}]
    assert conditions["ecn_threshold"] == [{"ecn": ["step"]}]
    assert conditions["pfc_headroom"] == [{"pfc": ["static", "dynamic"]}]


def test_sweeps_have_an_example() -> None:
    index = scenario.pages(cw.schema())["scenario/index.md"]
    example, tuned = re.findall(r"^```toml\n(.*?)^```$", index, re.MULTILINE | re.DOTALL)
    ranges = documents.parse(tuned, "example")["tune"]["range"]
    assert [parameter(key, value, key).key for key, value in dotted(ranges, KEYS)] == list(ranges)
    table = documents.parse(example, "example")["sweep"]
    assert len(axes_of(table, lambda key: key)) == 5
    assert Frontier.of(table["frontier"], "frontier").decide == "rtt_p99_us"


# OTHER REFERENCES


def test_every_command_and_option_is_described() -> None:
    page = commands.commands_page()
    for heading in ("## `clearway run`", "## `clearway plan`", "### `clearway plan dci-buffer`"):
        assert f"\n{heading}\n" in page
    assert "`--set KEY=VALUE`\n: Override a key of the scenario" in page
    assert "- [`clearway sweep`](#clearway-sweep): Run a scenario at every point of its [sweep] table" in page
    assert "`--distance LENGTH`\n: Length of the fibre" in page


def test_everything_that_the_package_exports_is_described() -> None:
    described = set(re.findall(r"^\.\. auto\w+:: clearway\.(\w+)$", commands.python_page(), re.MULTILINE))
    assert described == set(cw.__all__) - {"__version__"}


# LINKS


def test_links_of_the_documents_lead_somewhere() -> None:
    sources = [PurePosixPath(path.relative_to(ROOT)) for path in DOCUMENTS]
    assert sum(len(links.links_of(ROOT, source)) for source in sources) > 20
    assert list(links.broken_links(ROOT, sources)) == []


def test_every_document_is_in_the_contents() -> None:
    contents = [page for pages in SECTIONS.values() for page in pages]
    assert {path.stem.lower() for path in ROOT.glob("docs/*.md")} <= set(contents)


def test_links_become_those_of_the_site(workspace: Path) -> None:
    (workspace / "docs").mkdir()
    (workspace / "scenarios").mkdir()
    (workspace / "scenarios" / "one.toml").write_text("# First.\n# Second.\nformat = 1\n")
    (workspace / "CHANGELOG.md").write_text("# Changelog\n")
    (workspace / "docs" / "HOW.md").write_text(
        "# How\n\n[back](../README.md#home), [one](../scenarios/one.toml), [top](#how), [out](https://a.org/b)\n"
        "`[code](../README.md)`, `scenarios/one.toml`, `scenarios/two.toml`, [`docs/HOW.md`](#how)\n\n"
        "```\n`scenarios/one.toml` [fenced](../README.md)\n```\n"
    )
    (workspace / "README.md").write_text("# Home\n\n[how](docs/HOW.md), [all](scenarios)\n")
    Stage(workspace, workspace / "out").fill()
    how = (workspace / "out" / "how.md").read_text()
    assert "[back](/index.md#home), [one](/source/scenarios/one.toml.md), [top](#how)" in how
    assert "[out](https://a.org/b)" in how
    assert "`[code](../README.md)`" in how
    assert (
        ", [`scenarios/one.toml`](/source/scenarios/one.toml.md), `scenarios/two.toml`, [`docs/HOW.md`](#how)"
        in how
    )
    assert "\n`scenarios/one.toml` [fenced](../README.md)" in how
    home = (workspace / "out" / "index.md").read_text()
    assert "[how](/how.md), [all](/source/scenarios/index.md)" in home
    folder = (workspace / "out" / "source" / "scenarios" / "index.md").read_text()
    assert "**[one.toml](/source/scenarios/one.toml.md)**\n: First. Second." in folder
    assert "format = 1" in (workspace / "out" / "source" / "scenarios" / "one.toml.md").read_text()


def test_a_link_that_leads_nowhere_is_named(workspace: Path) -> None:
    for name in ("docs", "scenarios"):
        (workspace / name).mkdir()
    (workspace / "CHANGELOG.md").write_text("# Changelog\n")
    (workspace / "README.md").write_text("# Home\n\nSee\n[it](docs/GONE.md).\n")
    with pytest.raises(BrokenLinksError, match=r"^README\.md:4: there is no docs/GONE\.md$"):
        Stage(workspace, workspace / "out").fill()
    assert list(links.broken_links(workspace, [PurePosixPath("README.md")])) == [
        "README.md:4: there is no docs/GONE.md"
    ]


def test_blocks_of_code_can_be_copied_without_the_network() -> None:
    site = ROOT / "tools" / "site"
    assert "copy.js" in (site / "conf.py").read_text(encoding="utf-8")
    script = (site / "static" / "copy.js").read_text(encoding="utf-8")
    assert 'querySelectorAll("div.highlight")' in script
    assert not re.search(r"https?:|import|fetch", script)
