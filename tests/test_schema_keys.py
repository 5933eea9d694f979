"""Every key that `clearway schema` lists, set wrong in every way that its kind allows.

Each mistake is put into a scenario that is right otherwise. It must be answered with status 2, the place,
the key and what was expected, and must leave nothing. A table or variant that is added to the schema without
an example here fails `test_every_variant_has_an_example`; protocols need none.
"""

import copy
import itertools
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import clearway as cw
import pytest
from clearway.api import load_scenario

from tests.conftest import SMALL, Clearway, nothing_but, written

pytestmark = pytest.mark.slow

Schema = dict[str, Any]


def variants_of(schema: Schema) -> list[Schema]:
    """Return the objects of which conditions choose one."""
    if "then" not in schema:
        return [schema]
    return [variant for word in ("then", "else") if word in schema for variant in variants_of(schema[word])]


def tables(schema: Schema, path: str = "") -> Iterator[tuple[str, list[Schema]]]:
    """Yield every table of the schema: its path in a scenario, and its variants."""
    variants = variants_of(schema)
    yield path, variants
    for key, inner in variants[0].get("properties", {}).items():
        at = f"{path}.{key}" if path else key
        if inner.get("x-unit") == "tables":
            yield from tables(inner["items"], f"{at}[0]")
        elif inner.get("x-unit") == "table" and isinstance(named := inner.get("additionalProperties"), dict):
            if named.get("x-unit") == "table":
                yield from tables(named, f"{at}.bulk")
            if "properties" in inner:
                yield from tables(inner, at)
        elif inner.get("x-unit") == "table":
            yield from tables(inner, at)


# The simulator's own; the axes of a sweep have tests of their own.
TABLES = dict(tables(json.loads(cw._clearway.schema())))

BASE: dict[str, Any] = {
    **SMALL,
    "network": {"topology": "fat_tree", "k": 4},
    "switch": {},
    "traffic": [{"pattern": "incast", "transport": "bulk", "from": 0, "to": 1, "bytes": "10kB"}],
    "record": {},
}
"""Has switches of all roles but those of several datacenters; its traffic fits every network below."""

ECN: list[dict[str, Any]] = [
    {},
    {"ecn": "step", "ecn_threshold": "50kB"},
    {"ecn": "red", "ecn_min": "20kB", "ecn_max": "80kB", "ecn_pmax": 0.1},
]
PFC: list[dict[str, Any]] = [{}, {"pfc": "static", "pfc_xoff": "20kB"}, {"pfc": "dynamic"}]
MODELS = ("gpt3_175b", "llama2_70b", "mixtral_8x7b", "resnet50")
STORAGE = {"kind": "storage", "clients": 1, "servers": 4, "requests": 3, "bytes": "10kB"}
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "": [BASE],
    "network": [
        {"topology": "star", "hosts": 2},
        {"topology": "dumbbell", "left": 2, "right": 2},
        {"topology": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 2},
        {"topology": "fat_tree", "k": 4},
        {"topology": "datacenters", "k": 4, "long_km": 80.0},
        {"topology": "file", "file": "network.toml"},
    ],
    "switch": [{}],
    "switch.default": [
        *({**ecn, **pfc} for ecn in ECN for pfc in PFC[:2]),
        *({"overflow": "trim", **ecn} for ecn in ECN),
        *({"sharing": "shared", **ecn, **pfc} for ecn in ECN for pfc in PFC),
    ],
    **{f"switch.{role}": [{}] for role in ("tor", "aggregation", "spine", "dci", "long", "relay", "nic")},
    "class.bulk": [{}, {"ecn": "off"}, *ECN[1:]],
    "host": [{}],
    "host.default": [{}, {"model": "snap"}, {"model": "interrupts"}],
    "host.bulk": [{"hosts": "0..1"}],
    "transport.bulk": [
        {"protocol": variant["properties"]["protocol"]["const"]} for variant in TABLES["transport.bulk"]
    ],
    "traffic[0]": [
        {"pattern": "incast", "from": 0, "to": 1},
        {"pattern": "permutation"},
        {"pattern": "all_to_all"},
        {"pattern": "poisson", "load": 0.1, "sizes": "fixed:1kB"},
        *(
            {**loop, "from": 0, "to": 1, "operation": operation, "bytes": "1kB"}
            for loop in ({"pattern": "closed_loop"}, {"pattern": "open_loop", "rate": "50k/s"})
            for operation in ("write", "read")
        ),
        {"pattern": "trace", "file": "flows.csv"},
    ],
    "job[0]": [
        {"file": "job.goal"},
        *(
            {"kind": "collective", "collective": collective, "bytes": "10kB"}
            for collective in (
                "all_reduce",
                "reduce_scatter",
                "all_gather",
                "all_to_all",
                "broadcast",
                "reduce",
            )
        ),
        {"kind": "collective", "collective": "barrier"},
        {"kind": "training", "layer": [{"forward": "10us"}]},
        *({"kind": "training", "model": model} for model in MODELS),
        STORAGE,
        {**STORAGE, "redundancy": "erasure", "data": 2, "parity": 1},
    ],
    "probe[0]": [{"from": 0, "to": 1, "interval": "10us"}],
    "fault[0]": [
        {"kind": "loss", "link": "{link}", "probability": 0.1},
        {"kind": "corruption", "link": "{link}", "bit_error_rate": 1e-6},
        {"kind": "slow", "link": "{link}", "rate": "1Gbps"},
        {"kind": "down", "link": "{link}"},
        {"kind": "dead", "node": 0},
        {"kind": "crash", "arbiter": 0},
        {"kind": "bypass", "relay": "relay0"},
    ],
    "arbiter": [{"at": "tor0"}],
    "routing": [{"detect": "10us", "converge": "1ms"}],
    "record": [{}],
    "record.flows": [{"every": "10us", "first": 1}],
    "record.packets": [{}],
}
CONDITIONS: dict[str, dict[str, Any]] = {
    "alpha": {"sharing": "shared"},
    **{key: {"overflow": "trim"} for key in ("trim_size", "trim_room", "trim_tail", "trim_headers_first")},
    "ecn_threshold": ECN[1],
    "ecn_mark_at": ECN[1],
    "ecn_min": ECN[2],
    "ecn_max": ECN[2],
    "ecn_pmax": ECN[2],
    **dict.fromkeys(
        ("pfc_xoff", "pfc_xon", "pfc_headroom", "pfc_quanta", "pfc_response", "pfc_unsent"), PFC[1]
    ),
    **{key: {"sharing": "shared", **PFC[2]} for key in ("pfc_alpha", "pfc_hysteresis")},
    "relay_virtual_queue_above": {"relay_virtual_queue": "1MB"},
}
"""What must stand beside a key in a table whose variants are one."""
FILES = {
    "job.goal": "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
    "network.toml": """
[[node]]
name = "a"
role = "host"
[[node]]
name = "b"
role = "host"
[[node]]
name = "s"
role = "tor"
[[link]]
ends = ["a", "s"]
[[link]]
ends = ["b", "s"]
""",
    "cards.toml": """
node = [
    { name = "a", role = "host" },
    { name = "b", role = "host" },
    { name = "s", role = "tor" },
    { name = "t", role = "tor" },
]
link = [{ ends = ["a", "s"] }, { ends = ["a", "t"] }, { ends = ["b", "s"] }, { ends = ["b", "t"] }]
""",
    "flows.csv": "start,from,to,bytes\n0us,0,1,1kB\n",
}
SCALES: dict[str, dict[str, int]] = {
    "time": {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12},
    "bytes": {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12},
    "rate": {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12},
    "frequency": {"/s": 1, "k/s": 10**3, "M/s": 10**6, "G/s": 10**9},
    "parts": {"ppb": 1, "ppm": 10**3},
}
OTHER_UNIT = {"time": "5Gbps", "bytes": "5us", "rate": "5MB", "frequency": "5Gbps", "parts": "5us"}
WRONG_TYPES: dict[str, list[Any]] = {
    "integer": ["five", 1.5, True, {}],
    "number": ["five", True, []],
    "fraction": ["half", True, []],
    "boolean": ["yes", 1],
    "choice": [7, True, []],
    "text": [7, True],
    "name": [7, True],
    "file": [7, True],
    "link": [7, True],
    "sizes": [7, True],
    "times": [7, True],
    "host": [True, {}],
    "hosts": [True, {}],
    "flows": [True, 1.5, [], {}],
    "links": [7, True, [], {}],
    "node": [True, 1.5, []],
    "nodes": [True, 1.5, [], {}],
    "placement": [True, 1.5, [], {}],
    "servers": [True, 1.5, {}],
    "table": [5, "five", [1]],
    "tables": [5, "five", [1]],
    **{unit: [5, 1.5, True, []] for unit in SCALES},
}
WRONG_WORDS: dict[str, list[str]] = {
    "choice": ["nonsense"],
    "name": ["nonsense"],
    "file": ["nowhere.toml"],
    "link": ["nonsense", "->"],
    "links": ["nonsense", "->"],
    "sizes": ["nonsense", "fixed:", "fixed:5us", "exponential:0B"],
    "times": ["nonsense", "5", "5us..", "9us..3us"],
    "host": ["nonsense"],
    "flows": ["nonsense", "5..2"],
    "node": ["nonsense", "0..1"],
    "nodes": ["nonsense", "0..1"],
    "placement": ["nonsense", "0..2"],
    "hosts": ["nonsense", "5..2", "0..99999999"],
    "servers": ["nonsense", "5..2", "0..99999999"],
}


class Slot(NamedTuple):
    """A key in a table of the schema, and an example of that table."""

    table: str
    variant: int
    key: str
    schema: Schema

    @property
    def path(self) -> str:
        return f"{self.table}.{self.key}" if self.table else self.key


SLOTS = [
    Slot(path, number, key, schema)
    for path, variants in TABLES.items()
    for number, variant in enumerate(variants)
    for key, schema in variant["properties"].items()
]


def scenario_with(table: str, example: dict[str, Any]) -> dict[str, Any]:
    """Put an example in its place of the base."""
    scenario = copy.deepcopy(BASE)
    if not table:
        return copy.deepcopy(example)
    parts = re.findall(r"[^.\[\]]+", table)
    at: Any = scenario
    for part, following in itertools.pairwise(parts):
        if following == "0":
            at[part] = [{}]
            at = at[part]
        else:
            at = at.setdefault(part, {})
    at[int(parts[-1]) if parts[-1] == "0" else parts[-1]] = copy.deepcopy(example)
    if table in ("switch.dci", "switch.long", "switch.relay") or example.get("kind") == "bypass":
        relays = table not in ("switch.dci", "switch.long")
        scenario["network"] = {"topology": "datacenters", "k": 2, "long_km": 1.0, "relays": relays}
        if relays:
            scenario.setdefault("switch", {})["default"] = PFC[1]
    if table == "switch.nic":
        scenario["network"] = {"topology": "file", "file": "cards.toml"}
    if table == "arbiter" or example.get("kind") == "crash":
        scenario["transport"]["bulk"] = {"protocol": "fastpass"}
    if example.get("kind") == "dead":
        scenario["routing"] = {"detect": "10us", "converge": "1ms"}
    if example.get("protocol") == "fastpass" or example.get("kind") == "crash":
        scenario["arbiter"] = {"at": "tor0"}
    return scenario


def table_in(scenario: dict[str, Any], table: str) -> dict[str, Any]:
    at: Any = scenario
    for part in re.findall(r"[^.\[\]]+", table):
        at = at[int(part) if part == "0" else part]
    assert isinstance(at, dict)
    return at


def just_outside(schema: Schema) -> Iterator[Any]:
    """The values next to the limits, on the wrong side."""
    unit, low, high = schema["x-unit"], schema.get("x-min"), schema.get("x-max")
    if low is None or high is None:
        return
    if unit in SCALES:
        smallest = next(iter(SCALES[unit]))
        yield f"{quantity(low, unit) - 1}{smallest}"
        yield f"{quantity(high, unit) + 1}{smallest}"
        yield f"{10**30}{smallest}"
    elif unit == "integer":
        yield low - 1
        yield high + 1
    else:
        yield low - 1e-7
        yield high * 1.001
        yield -1e300


def quantity(text: str, unit: str) -> int:
    found = re.fullmatch(r"([0-9.]+)([A-Za-z/]+)", text)
    assert found is not None, text
    return int(Decimal(found.group(1)) * SCALES[unit][found.group(2)])


def mistakes(slot: Slot) -> Iterator[tuple[str, Any]]:
    unit = slot.schema["x-unit"]
    for value in WRONG_TYPES[unit]:
        yield "type", value
    for word in WRONG_WORDS.get(unit, []):
        yield "word", word
    if unit in SCALES:
        for text in (OTHER_UNIT[unit], "5", "5 parsecs", "", "one", "1e99", "--1"):
            yield "unit", text
    for value in just_outside(slot.schema):
        yield "range", value


@pytest.fixture(autouse=True)
def files(workspace: Path) -> None:
    for name, text in FILES.items():
        (workspace / name).write_text(text)


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A link of the base, as the simulator names it."""
    file = written(tmp_path_factory.mktemp("link") / "base.toml", BASE)
    return str(cw.run(file).links["link"][0])


def filled(example: dict[str, Any], link: str) -> dict[str, Any]:
    return {key: link if value == "{link}" else value for key, value in example.items()}


def model_with(key: str) -> str:
    """Return the first model of hosts that has the key, or whose tables have it at all."""
    models = [variant["properties"] for variant in TABLES["host.default"]]
    return str(next((model for model in models if key in model), models[0])["model"]["const"])


def scenario_for(slot: Slot, link: str) -> dict[str, Any]:
    """Return a scenario that is right and to which the slot's key may be added."""
    example = filled(EXAMPLES[slot.table][slot.variant], link)
    conditions: dict[str, Any] = CONDITIONS.get(slot.key, {}) if slot.table.startswith("switch.") else {}
    if slot.table == "switch.long" and slot.key.startswith("relay_"):
        conditions = {"pfc": "relay", **conditions}
    if slot.table == "host.bulk":
        conditions = {"model": model_with(slot.key)}
    return scenario_with(slot.table, {**conditions, **example})


def test_every_variant_has_an_example() -> None:
    assert {path: len(examples) for path, examples in EXAMPLES.items()} == {
        path: len(variants) for path, variants in TABLES.items()
    }


@pytest.mark.parametrize("table", EXAMPLES)
def test_every_example_is_right(table: str, link: str, clearway: Clearway, workspace: Path) -> None:
    """Else the mistakes below would be refused for another reason."""
    for example in EXAMPLES[table]:
        file = written(workspace / "right.toml", scenario_with(table, filled(example, link)))
        answer = clearway("run", file, "--json")
        assert answer.status == 0, answer.err


VARIANTS = {
    f"{path}-{number}": [slot for slot in SLOTS if (slot.table, slot.variant) == (path, number)]
    for path, variants in TABLES.items()
    for number in range(len(variants))
}
"""The keys of each variant of a table."""


def refused(scenario: dict[str, Any], clearway: Clearway, workspace: Path, what: str) -> str:
    """Run what is no scenario; return what is said of it."""
    answer = clearway("run", written(workspace / "wrong.toml", scenario))
    assert answer.status == 2, (what, answer)
    assert answer.out == "", (what, answer)
    assert nothing_but(workspace, "wrong.toml", *FILES), what
    return answer.err


def not_read(scenario: dict[str, Any], workspace: Path, what: str) -> str:
    """Read what is no scenario as the command does; return what it would say. It is a tenth of the work."""
    file = written(workspace / "wrong.toml", scenario)
    try:
        load_scenario(file, [], None)
    except cw.ScenarioError as error:
        return str(error)
    pytest.fail(f"{what}: is taken for right")


@pytest.mark.parametrize("variant", VARIANTS)
def test_wrong_values(variant: str, link: str, clearway: Clearway, workspace: Path) -> None:
    """The first mistake of each key goes through the command, and all others to what the command asks."""
    for slot in VARIANTS[variant]:
        for number, (kind, value) in enumerate(mistakes(slot)):
            scenario = scenario_for(slot, link)
            table_in(scenario, slot.table)[slot.key] = value
            what = f"{slot.path} = {json.dumps(value)} ({kind})"
            said = not_read(scenario, workspace, what)
            assert re.search(rf"wrong\.toml:\d+: {re.escape(slot.path)}\b", said), (what, said)
            assert re.search(
                r"expected|did you mean|cannot read|range that ends|empty range|numbered from", said
            ), (what, said)
            if number == 0:
                assert refused(scenario, clearway, workspace, what).startswith(f"error: {said}"), what


@pytest.mark.parametrize("variant", VARIANTS)
def test_misspelt_keys(variant: str, link: str, clearway: Clearway, workspace: Path) -> None:
    for slot in VARIANTS[variant]:
        scenario = scenario_for(slot, link)
        table = table_in(scenario, slot.table)
        misspelt = slot.key[:-1] + slot.key[-1] * 2
        table[misspelt] = table.pop(slot.key, slot.schema.get("default", 1))
        said = refused(scenario, clearway, workspace, f"{slot.path} as {misspelt}")
        if f"{slot.path}: missing" in said:
            continue  # a choice: which keys are known depends on it
        assert misspelt in said, slot
        # What is not like anything is not suggested, and half of a short name may be a slip.
        assert f"did you mean {slot.key}?" in said or len(slot.key) < 3, (slot, said)
        assert slot.key in said, (slot, said)


@pytest.mark.parametrize("variant", VARIANTS)
def test_required_keys_are_missed(variant: str, link: str, clearway: Clearway, workspace: Path) -> None:
    for slot in VARIANTS[variant]:
        if slot.key not in TABLES[slot.table][slot.variant].get("required", []):
            continue
        scenario = scenario_for(slot, link)
        if table_in(scenario, slot.table).pop(slot.key, None) in (
            *("off", "step", "red", "shared", "static", "dynamic", "read", "snap", "interrupts"),
            "collective",
            *("training", *MODELS),
            *("storage", "erasure"),
            "trim",
        ):
            continue  # without it, another variant
        assert slot.path in refused(scenario, clearway, workspace, f"without {slot.path}"), slot


@pytest.mark.parametrize("name", ["", "a b", "0a", "ä", "a.b"])
@pytest.mark.parametrize("table", ["transport", "groups", "class", "host"])
def test_names_that_are_none(name: str, table: str, clearway: Clearway, workspace: Path) -> None:
    given = {"transport": {"protocol": "swift"}, "groups": "0..1", "class": {}, "host": {"hosts": 0}}[table]
    scenario = {**BASE, table: {**BASE.get(table, {}), name: given}}
    answer = clearway("run", written(workspace / "wrong.toml", scenario))
    assert answer.status == 2, answer
    assert table in answer.err
    assert nothing_but(workspace, "wrong.toml", *FILES)
