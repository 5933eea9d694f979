"""What `clearway tune` refuses: each with the place that is wrong, and before anything is run."""

from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway.errors import ClearwayError
from clearway.tuning import search

from tests.conftest import Answer, Clearway
from tests.test_tune import NOISY, saved, tuned, without_tune

pytest.importorskip("optuna")

BAD: list[tuple[dict[str, Any], str]] = [
    ({"range": {"transport.bulk.betta": {"from": 0.1, "to": 0.9}}}, "unknown key; did you mean beta?"),
    ({"range": {"transport.bulk.base_target": {"from": "9us", "to": "5us"}}}, "from, 9us, is above to, 5us"),
    ({"range": {"transport.bulk.base_target": {"from": "9us", "to": "9us"}}}, "from, 9us, is to"),
    (
        {"range": {"transport.bulk.base_target": {"from": "9us", "to": "9"}}},
        "found '9', expected the unit of",
    ),
    ({"range": {"transport.bulk.base_target": {"from": 9, "to": 19}}}, "expected a time with its unit"),
    (
        {"range": {"network.hosts": {"from": 5, "to": 999999999}}},
        "network.hosts = 999999999: found 999999999",
    ),
    ({"range": {"transport.bulk.beta": {"from": 0, "to": 1, "scale": "log"}}}, "no place on a logarithmic"),
    ({"range": {"transport.bulk.beta": {"from": 0.1, "to": 1, "scale": "x"}}}, 'expected "linear" or "log"'),
    (
        {"range": {"transport.bulk.beta": {"from": 1, "to": 8, "factor": 2, "scale": "log"}}},
        "scale goes with",
    ),
    ({"range": {"transport.bulk.beta": [0.5]}}, "found 1 values, expected at least two"),
    ({"range": {"transport.bulk.beta": 0.5}}, "expected a range or a list of values"),
    ({"range": {"transport.bulk.protocol": ["swift", "swfit"]}}, 'found "swfit", expected one of'),
    ({"range": {"seed": {"from": 1, "to": 9}}}, "seed: is no parameter"),
    (
        {"range": {"transport.*.beta": [0.1, 1], "transport.bulk.beta": [0.1, 1]}},
        "sets transport.bulk.beta twice",
    ),
    ({"range": None}, "has no [tune.range] table"),
    ({"objective": None}, "has no objective"),
    ({"objective": "rtt_mean_us"}, "expected a figure with the direction that is better"),
    ({"objective": {"rtt_maen_us": "lower"}}, "rtt_maen_us: no figure has this key"),
    ({"objective": {"p99 RTT": "lower"}}, "did you mean rtt_p99_us?"),
    ({"objective": {"rtt_mean_us": "less"}}, "found 'less', expected"),
    ({"objective": {"rtt_mean_us": "lower", "jain": "higher"}}, "found 2 figures, expected one"),
    ({"objective": {"bulk.rtt_mean_us": "lower"}}, "has one transport"),
    ({"objective": {"blk.rtt_mean_us": "lower"}}, "no transport is called blk"),
    ({"objective": {"latency_p99_us": "lower"}}, "latency_p99_us"),
    ({"limits": {"goodput_gbps": {"at_least": "90%"}}}, "expected a rate such as"),
    ({"limits": {"goodput_gbps": {"at_least": "90us"}}}, "found '90us', expected a rate such as"),
    ({"limits": {"goodput_gbps": {"at_lest": 9}}}, "expected at_least, at_most, or both"),
    ({"limits": {"goodput_gbps": 9}}, "expected at_least, at_most, or both"),
    ({"limits": {"loss_rate": {"at_most": "1kB"}}}, "expected a number such as"),
    ({"trials": 0}, "trials: found 0, expected a whole number from 2 to 10,000"),
    ({"trials": 10**9}, "trials: found 1000000000, expected a whole number"),
    ({"seeds": 0}, "seeds: found 0, expected"),
    ({"confirm": 1}, "confirm: found 1, expected"),
    ({"batch": 2.5}, "batch: found 2.5, expected"),
    ({"trails": 5}, "trails: unknown key"),
]


@pytest.mark.parametrize(("changes", "words"), BAD, ids=[words for _, words in BAD])
def test_errors_name_place_and_remedy(
    changes: dict[str, Any], words: str, clearway: Clearway, workspace: Path
) -> None:
    path = saved(workspace, tuned(NOISY, **changes))
    answer = clearway("tune", path)
    assert answer.status == 2
    assert "error: tune.toml:" in answer.err
    assert words in " ".join(answer.err.split())
    assert {each.name for each in workspace.iterdir()} <= {"tune.toml", ".clearway"}
    with pytest.raises((ClearwayError, cw.ScenarioError)) as raised:
        cw.tune(tuned(NOISY, **changes), store="another")
    assert words in " ".join(str(raised.value).split())


def test_an_error_names_the_line(clearway: Clearway, workspace: Path) -> None:
    path = saved(workspace, tuned(NOISY, range={"transport.bulk.betta": [0.1, 0.9]}))
    line = next(n for n, text in enumerate(path.read_text().splitlines(), 1) if "betta" in text)
    answer = clearway("tune", path)
    assert f"error: tune.toml:{line}: [tune.range] transport.bulk.betta = 0.1: unknown key" in answer.err


def test_other_commands_say_whose_file_it_is(clearway: Clearway, workspace: Path) -> None:
    path = saved(workspace, NOISY)
    answer = clearway("run", path)
    assert answer.status == 2
    assert "tune: is many runs, expected a scenario of one" in answer.err
    assert "clearway tune tune.toml" in answer.err
    assert "its table is for clearway tune" in clearway("sweep", path).err
    plain = saved(workspace, without_tune(NOISY), "plain.toml")
    assert "plain.toml: has no [tune] table" in clearway("tune", plain).err


def test_what_is_tuned_cannot_be_set(clearway: Clearway, workspace: Path) -> None:
    path = saved(workspace, NOISY)
    answer = clearway("tune", path, "--set", "transport.bulk.base_target=5us")
    assert answer.status == 2
    assert "is what is tuned" in answer.err
    assert "[tune] is no part of the scenario" in clearway("tune", path, "--set", "tune.trials=9").err


def test_without_optuna_it_says_what_to_install(
    clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "find_spec", lambda _: None)
    answer: Answer = clearway("tune", saved(workspace, NOISY))
    assert answer.status == 2
    assert answer.err.split("\n")[:2] == ["error: tuning needs Optuna", "  pip install 'clearway[tune]'"]
