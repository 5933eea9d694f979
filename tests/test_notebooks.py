"""A scenario as a dict, frames that carry their units, and what a notebook displays."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import units
from clearway.figures import FIGURES

from tests.conftest import SMALL, written

ROOT = Path(__file__).parent.parent


def changed(**keys: Any) -> dict[str, Any]:
    """Return the scenario with values at dotted keys, lists by number."""
    document = deepcopy(SMALL)
    for dotted, value in keys.items():
        *path, last = dotted.split("__")
        place: Any = document
        for part in path:
            place = place[int(part) if part.isdigit() else part]
        place[last] = value
    return document


# A scenario as a dict


def test_a_dict_is_the_file(small: Path) -> None:
    before = deepcopy(SMALL)
    assert cw.run(SMALL).digest == cw.run(small).digest
    assert before == SMALL, "what is given is left as it is"
    other = changed(network__hosts=np.int64(6), transport__bulk__protocol="dctcp")
    assert cw.run(other).digest == cw.run(written(small.parent / "other.toml", other)).digest


@pytest.mark.parametrize(
    "keys",
    [
        {"network__hots": 3},
        {"network__hosts": "many"},
        {"traffic__0__byts": "1kB"},
        {"traffic__0__to": 99},
        {"duration": 5},
        {"transport__bulk__base_target": "25"},
        {"record__queues": "10parsecs"},
    ],
)
def test_an_error_names_the_key_as_that_of_a_file_does(keys: dict[str, Any], workspace: Path) -> None:
    with pytest.raises(cw.ScenarioError) as of_dict:
        cw.run(changed(**keys))
    file = written(workspace / "one.toml", changed(**keys))
    with pytest.raises(cw.ScenarioError) as of_file:
        cw.run(file)
    assert re.sub(r"^.*one\.toml:\d+: ", "scenario: ", str(of_file.value)) == str(of_dict.value)
    dotted = ".".join(part for part in next(iter(keys)).split("__") if not part.isdigit())
    assert dotted in str(of_dict.value).replace("[0]", "")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (
            {"network__hosts": None},
            "scenario: network.hosts: None: no value of a scenario\n  leave the key out",
        ),
        ({"traffic__0__to": {1}}, "scenario: traffic[0].to: {1}: no value of a scenario"),
        ({"record__queues": ["1us", object]}, "scenario: record.queues[1]: <class 'object'>: no value"),
    ],
)
def test_what_is_no_value_of_a_scenario_is_named_by_its_key(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(cw.ClearwayError, match=re.escape(words)):
        cw.run(changed(**keys))


def test_a_key_that_is_no_text_is_named_by_its_table() -> None:
    document: dict[Any, Any] = {**SMALL, "network": {"topology": "star", 5: 1}}
    with pytest.raises(cw.ClearwayError, match="scenario: network: 5: no key of a scenario"):
        cw.run(document)
    with pytest.raises(cw.ClearwayError, match=r"network\.hosts: <object"):
        cw.run(SMALL, {"network.hosts": object()})


# Frames


def test_a_frame_carries_the_units_that_the_page_of_outputs_gives() -> None:
    pytest.importorskip("pandas")
    run = cw.run(SMALL)
    page = (ROOT / "docs" / "OUTPUT.md").read_text(encoding="utf-8")
    for name in run.tables:
        frame = run.to_pandas(name)
        section = page.split(f"### `{name}`\n")[1].split("\n### ")[0]
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .*? \| (.*) \|$", section, re.MULTILINE)
        assert frame.attrs["units"].keys() == frame.attrs["meanings"].keys() == set(frame.columns)
        for column, unit, meaning in rows:
            if column in frame.columns:
                assert frame.attrs["units"][column] == unit.strip()
                assert frame.attrs["meanings"][column] == meaning
        assert set(frame.columns) <= {column for column, _, _ in rows}
    flows = run.to_pandas("flows").attrs["units"]
    assert (flows["fct_us"], flows["bytes"], flows["goodput_gbps"], flows["slowdown"]) == (
        "us",
        "bytes",
        "Gb/s",
        "",
    )


def test_a_frame_of_a_sweep_carries_units_of_axes_and_figures() -> None:
    pytest.importorskip("pandas")
    document = {
        **SMALL,
        "record": {},
        "transport": {name: {"protocol": "swift"} for name in ("one", "two")},
        "traffic": [{**SMALL["traffic"][0], "transport": name} for name in ("one", "two")],
        "sweep": {"transport.one.base_target": ["10us", "20us"]},
    }
    frame = cw.sweep(document).to_pandas()
    found = frame.attrs["units"]
    assert found.keys() == set(frame.columns)
    assert found["transport.one.base_target_us"] == "us"
    assert found["two.fct_p99_us"] == found["fct_p99_us"] == "us"
    assert found["loss_rate"] == "share"
    assert found["goodput_gbps"] == "Gb/s"
    assert found["completed"] == "count"
    assert found["digest"] == ""
    assert frame.attrs["meanings"]["two.completed"].startswith("Flows with a size")


def test_every_figure_with_a_unit_in_its_name_has_that_unit() -> None:
    for figure in FIGURES:
        if figure.key.endswith(("_us", "_bytes", "_gbps")):
            assert units.of_figure(figure) == units.of_column(figure.key)


# What a notebook shows


def test_a_run_shows_its_figures_and_what_happened() -> None:
    run = cw.run({**SMALL, "name": "a < b"})
    shown = run._repr_html_()
    assert shown.startswith("<table><caption>a &lt; b (seed 7)")
    for sentence in run.what_happened():
        assert f"<li>{sentence.replace('>', '&gt;')}</li>" in shown
    several = cw.run(SMALL, seeds=2)._repr_html_()
    assert "<p>What happened with seed 7, the first of 2:</p><ul><li>4 of 4 flows" in several


def test_a_sweep_shows_its_conclusion() -> None:
    document: dict[str, Any] = {
        **SMALL,
        "record": {},
        "sweep": {
            "transport.bulk.base_target": ["10us", "20us"],
            "frontier": {"objectives": {"fct_p99_us": "lower"}, "decide": "fct_p99_us"},
        },
    }
    sweep = cw.sweep(document)
    assert sweep.conclusion
    assert sweep._repr_html_().endswith(f"<p>{sweep.conclusion}</p>")
    plain = cw.sweep({**document, "sweep": {"transport.bulk.base_target": ["10us", "20us"]}})._repr_html_()
    assert plain.endswith("</table>")
    assert plain.count("<tr>") == 3
