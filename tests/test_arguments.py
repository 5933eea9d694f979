"""What Python code may pass: each argument that will not do is refused with its name, and nothing is run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import documents

from tests.conftest import SMALL, nothing_but, written

TEXT = documents.text_of(SMALL)
SWEEP: dict[str, Any] = {**SMALL, "record": {}, "sweep": {"seed": [1, 2]}}
TUNE: dict[str, Any] = {
    **SMALL,
    "record": {},
    "tune": {"objective": {"rtt_mean_us": "lower"}, "range": {"transport.bulk.ai": {"from": 0.5, "to": 2}}},
}


@pytest.fixture
def nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have what begins a run fail."""

    def fail(*_: object) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("clearway.execution.execute_each", fail)
    monkeypatch.setattr("clearway.sweeps.making.execute_each", fail)
    monkeypatch.setattr("clearway.api.fitting", fail)


NUMBERS: dict[str, tuple[Any, ...]] = {
    "seed": (-1, 2**53 + 1, 2**64, 10**5000, True, "1", 1.5, np.float64(1), [1]),
    "seeds": (0, -1, 10_001, True, "3", 2.5, [3]),
    "threads": (0, -1, 65, True, "2", 2.0, [2]),
    "trials": (0, 1, 10_001, True, "9", 2.5, [3]),
    "jobs": (0, 1025, True, "2", 1.5, np.bool_(True)),
}
CALLS: dict[str, tuple[Callable[..., Any], ...]] = {
    "seed": (cw.run,),
    "seeds": (cw.run, cw.compare),
    "threads": (cw.run, cw.compare),
    "trials": (cw.tune,),
    "jobs": (cw.sweep, cw.tune),
    "sets": (cw.run, cw.compare, cw.sweep, cw.tune),
    "progress": (cw.run, cw.sweep, cw.tune),
    "keep_partial": (cw.run,),
    "store": (cw.sweep, cw.tune),
    "on": (cw.sweep, cw.tune),
}
OTHERS: dict[str, tuple[Any, ...]] = {
    "sets": ([1], "duration=5ms", 5, {1: 2}, {"": 1}, {("a",): 1}, {"\ud800": 1}),
    "progress": (5, "yes", True, {}),
    "keep_partial": (1, "yes", None, []),
    "store": (5, None, b"runs", "", "a\0b", ["runs"]),
    "on": (5, True, [], b"tcp://there:1"),
}


@pytest.mark.usefixtures("nothing_is_run")
@pytest.mark.parametrize(("name", "call"), [(name, call) for name in CALLS for call in CALLS[name]])
def test_an_argument_that_will_not_do(name: str, call: Callable[..., Any], workspace: Path) -> None:
    document = {cw.sweep: SWEEP, cw.tune: TUNE}.get(call, SMALL)
    for value in (*NUMBERS.get(name, ()), *OTHERS.get(name, ())):
        with pytest.raises(cw.ClearwayError) as raised:
            call(document, **{name: value})
        said = raised.value.message
        assert said.startswith(f"{name}: ")
        assert ("found" in said and "expected" in said) or "half a character" in said
        assert len(said) < 250
        if name in NUMBERS:
            assert "a whole number from" in said
            assert "leave it out for" in str(raised.value)
    assert nothing_but(workspace)


@pytest.mark.parametrize("call", [cw.run, cw.sweep, cw.tune, cw.compare])
@pytest.mark.parametrize("value", [5, None, True, b"x.toml", ["x.toml"], object(), "", {1, 2}, "a\0b"])
def test_what_is_no_scenario(call: Callable[..., Any], value: Any) -> None:
    name = "item 1" if call is cw.compare else "scenario"
    with pytest.raises(cw.ClearwayError, match=f"^{name}: found .*, expected (.*or a scenario: )?a path"):
        call(value)


def test_each_item_of_a_comparison_is_looked_at() -> None:
    with pytest.raises(cw.ClearwayError, match=r"^items: found none, expected at least one"):
        cw.compare()
    with pytest.raises(cw.ClearwayError, match=r"^item 2: found 5, expected a Run, Seeds"):
        cw.compare(SMALL, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({**SMALL, "seed": None}, "None: no value of a scenario"),
        ({**SMALL, "seed": {1, 2}}, "no value of a scenario"),
        ({**SMALL, "record": {5: 1}}, "5: no key of a scenario"),
        ({**SMALL, "network": {"topology": "star", 5: 1}}, "5: no key of a scenario"),
        ({**SMALL, "name": "\ud800"}, "half a character"),
        ({**SMALL, "format": float("nan")}, "format"),
        ({**SMALL, "hots": 1}, "hots"),
        ({}, "network"),
    ],
)
@pytest.mark.parametrize("call", [cw.run, cw.sweep, cw.tune])
def test_documents_that_will_not_do(call: Callable[..., Any], document: dict[Any, Any], words: str) -> None:
    if call is cw.sweep:
        document = {**document, "sweep": {"network.hosts": [5, 6]}}
    if call is cw.tune:
        document = {**document, "tune": TUNE["tune"]}
    with pytest.raises((cw.ClearwayError, cw.ScenarioError), match=words):
        call(document)


def test_a_document_without_an_end() -> None:
    endless: dict[str, Any] = dict(SMALL)
    endless["network"] = endless
    for call in (cw.run, cw.sweep):
        with pytest.raises(cw.ClearwayError, match="nested too deeply"):
            call({**endless, "sweep": {"seed": [1, 2]}})


@pytest.mark.parametrize("value", [5, None, b"there", "", ["there"]])
def test_paths_of_results(value: Any) -> None:
    run = cw.Run("x", 1, "1", "v2:0", 0, 0.0, {}, {}, {})
    for call in (cw.load_run, run.save):
        with pytest.raises(cw.ClearwayError, match=r"^path: found .*, expected a path"):
            call(value)


def test_a_scenario_is_a_path_a_text_or_a_dict(workspace: Path) -> None:
    """One way for all that take one."""
    path = written(workspace / "small.toml", SMALL)
    sources: list[Any] = [SMALL, path, str(path), TEXT, {**SMALL, "network": dict(SMALL["network"])}]
    digest = cw.run(path).digest
    for source in sources:
        assert cw.run(source).digest == digest
        assert [run.seed for run in cw.run(source, seeds=2).runs] == [7, 8]
    assert [run.runs[0].digest for run in cw.compare(*sources, cw.run(path)).groups] == [digest] * 6
    axes = {"sweep": {"transport.bulk.base_target": ["15us", "25us"]}}
    swept = {**SMALL, "record": {}, **axes}
    text = documents.tables_of(swept)
    (workspace / "sweep.toml").write_text(text)
    for source in (swept, text, workspace / "sweep.toml", "sweep.toml"):
        assert len(cw.sweep(source).points) == 2


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    run = cw.run(SMALL, seed=np.int64(3), threads=np.uint8(1))  # type: ignore[call-overload]
    assert run.seed == 3
    assert cw.run(SMALL, seeds=np.int32(1)).runs[0].seed == 7  # type: ignore[call-overload]


def test_a_key_that_is_set_to_none_is_removed() -> None:
    """As `--unset` does: what is left is the default."""
    assert cw.run(SMALL, {"network.rate": None}).scenario["network"]["rate"] == "100Gbps"
