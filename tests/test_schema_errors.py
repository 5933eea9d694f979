"""What an editor or any other checker of JSON Schema says of a scenario: it names the key."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import documents
from jsonschema import Draft202012Validator

from tests.test_schema_keys import EXAMPLES, scenario_with, table_in

CHECKER = Draft202012Validator(cw.schema())
SCENARIOS = sorted(
    file
    for file in (Path(__file__).parent.parent / "scenarios").rglob("*.toml")
    if file.parent.name != "topologies"
)
# Any key of the table host is the name of hosts.
CASES = [(table, example) for table, examples in EXAMPLES.items() if table != "host" for example in examples]


def errors_of(scenario: Any) -> list[tuple[str, str]]:
    """Return what is said of a scenario: the dotted place of each error, and the message."""
    return [
        (".".join(map(str, error.absolute_path)), error.message) for error in CHECKER.iter_errors(scenario)
    ]


def place(table: str) -> str:
    return table.replace("[0]", ".0")


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.name)
def test_what_runs_is_valid(file: Path) -> None:
    assert errors_of(documents.parse(file.read_text(encoding="utf-8"), file.name)) == []


@pytest.mark.parametrize(("table", "example"), CASES)
def test_an_unknown_key_is_named_where_it_stands(table: str, example: dict[str, Any]) -> None:
    scenario = scenario_with(table, example)
    if "link" in example:
        table_in(scenario, table)["link"] = "h0-tor0"
    assert errors_of(scenario) == []
    table_in(scenario, table)["nonsense"] = {}
    assert {where for where, _ in errors_of(scenario)} <= {place(table), place(f"{table}.nonsense")}
    assert any("nonsense" in message for _, message in errors_of(scenario))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("network.topology", "ring", ["network.topology: 'ring' is not one of ['star', 'dumbbell',"]),
        ("network.k", "four", ["network.k: 'four' is not of type 'integer'"]),
        ("transport.bulk.protocol", "swft", ["transport.bulk.protocol: 'swft' is not one of ['swift',"]),
        ("transport.bulk.base_target", 25, ["transport.bulk.base_target: 25 is not of type 'string'"]),
        ("traffic.0.pattern", "incasts", ["traffic.0.pattern: 'incasts' is not one of ['incast',"]),
        ("traffic.0.load", 0.5, ["traffic.0: Additional properties are not allowed ('load' was unexpected)"]),
        ("switch.default", {"pfc": "dynamic"}, ["switch.default.pfc: 'dynamic' is not one of"]),
        ("host.default", {"model": "snp"}, ["host.default.model: 'snp' is not one of ['ideal', 'snap',"]),
    ],
)
def test_a_mistake_is_one_error_at_its_key(key: str, value: Any, said: list[str]) -> None:
    scenario = copy.deepcopy(EXAMPLES[""][0])
    table, name = key.rsplit(".", 1)
    at: Any = scenario
    for part in table.split("."):
        at = at[int(part)] if part.isdigit() else at.setdefault(part, {})
    at[name] = value
    found = [f"{where}: {message}" for where, message in errors_of(scenario)]
    assert [error[: len(words)] for error, words in zip(found, said, strict=True)] == said


def test_keys_that_depend_on_a_choice_stand_beside_the_conditions() -> None:
    """Editors that look at no conditions still know each key, what it means, and nothing else of it."""
    transport = cw.schema()["properties"]["transport"]["additionalProperties"]
    swift = transport["then"]["properties"]
    assert transport["properties"]["protocol"]["enum"][0] == "swift"
    assert transport["properties"].keys() >= swift.keys()
    assert transport["properties"]["base_target"] == {"description": swift["base_target"]["description"]}
