"""`clearway tune`: what it finds, the same however it is run, what it calls a difference, and refusals."""

import json
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import documents
from clearway.errors import ClearwayError
from clearway.figures import AtLeast
from clearway.tuning.file import read
from clearway.tuning.goals import Limit, Objective
from clearway.tuning.measuring import Measured
from clearway.tuning.space import parameter
from clearway.tuning.trials import best_of, nearest_of, trial

from tests.conftest import SMALL, Clearway, child, finished

pytest.importorskip("optuna")

WINDOW: dict[str, Any] = {
    "format": 1,
    "name": "two senders with fixed windows",
    "duration": "5ms",
    "warmup": "2ms",
    "network": {"topology": "star", "hosts": 3, "rate": "10Gbps", "delay": "5us", "mtu": "1500B"},
    "transport": {"bulk": {"protocol": "none", "window": 30, "rto": "10ms"}},
    "traffic": [{"pattern": "incast", "from": "0..2", "to": 2}],
    "record": {},
    "tune": {
        "objective": {"rtt_mean_us": "lower"},
        "limits": {"goodput_gbps": {"at_least": "9Gbps"}},
        "trials": 30,
        "range": {"transport.bulk.window": {"from": 1, "to": 40}},
    },
}
"""Nothing is left to chance here, so a trial is one short run."""
NOISY: dict[str, Any] = {
    **SMALL,
    "record": {},
    "tune": {
        "objective": {"fct_mean_us": "lower"},
        "trials": 6,
        "seeds": 2,
        "confirm": 3,
        "range": {"transport.bulk.base_target": {"from": "10us", "to": "60us", "scale": "log"}},
    },
}


def tuned(scenario: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """Return a scenario whose `[tune]` has changes; None takes a key out."""
    table = {key: value for key, value in {**scenario["tune"], **changes}.items() if value is not None}
    return {**scenario, "tune": table}


def saved(workspace: Path, scenario: Mapping[str, Any], name: str = "tune.toml") -> Path:
    path = workspace / name
    path.write_text(documents.tables_of(scenario), encoding="utf-8")
    return path.relative_to(Path.cwd())


def told(done: cw.Tuning) -> list[tuple[dict[str, Any], Any, str]]:
    """What is said of each trial."""
    return [(dict(each.measured.overrides), each.objective, each.complaint) for each in done.trials]


def without_tune(scenario: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in scenario.items() if key != "tune"}


# What is found


def test_the_smallest_window_that_fills_the_link_is_found() -> None:
    """Two windows of w packets of 1500 bytes in each round trip, which is shortest while no queue stands."""
    empty = cw.run(without_tune(WINDOW), {"transport.bulk.window": 1})
    trip_ns = empty.summary["rtt_mean_us"] * 1e3
    least = next(w for w in range(1, 41) if 2 * w * 1500 * 8 / trip_ns >= 9)
    done = cw.tune(WINDOW)
    assert done.values == {"transport.bulk.window": least} == {"transport.bulk.window": 9}
    for each in done.trials:
        assert each.eligible == (each.measured.overrides.get("transport.bulk.window", 30) >= least)
        assert each.eligible or each.complaint == "not goodput at least 9 Gb/s"
    assert {each.eligible for each in done.trials} == {True, False}
    assert done.confirmation is not None
    assert done.confirmation.better(done.file)
    assert done.options == ["--set transport.bulk.window=9"]
    assert "goodput at least 9 Gb/s: kept" in repr(done)


def test_what_has_no_effect_is_not_said_to_have_one() -> None:
    ranges = {**WINDOW["tune"]["range"], "transport.bulk.rto": {"from": "5ms", "to": "20ms"}}
    done = cw.tune(tuned(WINDOW, range=ranges, trials=24))
    assert done.confirmation is not None
    window, timeout = done.confirmation.set_back
    assert (window.key, timeout.key) == ("transport.bulk.window", "transport.bulk.rto")
    assert window.difference is not None
    assert window.difference.significant
    assert timeout.difference is not None
    assert not timeout.difference.significant
    assert "transport.bulk.rto back at 10ms: no difference at all: its own value will do." in done.sentences
    assert next(iter(done.importances)) == "transport.bulk.window"
    assert sum(done.importances.values()) == pytest.approx(1)


def test_a_key_that_holds_a_limit_is_told_when_it_is_set_back() -> None:
    """Back at 5, windows do not fill the link; the key beside it has no effect."""
    small = {**WINDOW, "transport": {"bulk": {**WINDOW["transport"]["bulk"], "window": 5}}}
    ranges = {**WINDOW["tune"]["range"], "transport.bulk.rto": {"from": "5ms", "to": "20ms"}}
    done = cw.tune(tuned(small, range=ranges, trials=24))
    assert done.trials[0].complaint == "not goodput at least 9 Gb/s"
    assert done.confirmation is not None
    assert [limit.figure for limit in done.confirmation.set_back[0].broken] == ["goodput_gbps"]
    assert any("breaks the limit of goodput at least 9 Gb/s" in each for each in done.sentences)


def test_none_is_recommended_where_none_keeps_the_limits(clearway: Clearway, workspace: Path) -> None:
    limits = {"goodput_gbps": {"at_least": "11Gbps"}}
    answer = clearway("tune", saved(workspace, tuned(WINDOW, limits=limits, trials=6)), "--out", "out")
    assert answer.status == 0
    assert "None of 6 trials is recommended: none keeps every limit. Nearest is trial" in answer.out
    assert not (workspace / "out" / "best.toml").exists()
    assert json.loads((workspace / "out" / "tune.json").read_text())["best"] is None


def test_nothing_better_than_what_is_there_is_said() -> None:
    own = {**WINDOW, "transport": {"bulk": {**WINDOW["transport"]["bulk"], "window": 9}}}
    done = cw.tune(tuned(own, trials=10))
    assert done.best is not None
    assert done.best.number == 0
    assert (done.values, done.confirmation) == ({}, None)
    assert "None of 10 trials is better than the scenario's own values" in done.sentences[0]


# The same however it is run


def test_it_is_the_same_on_one_worker_and_on_two() -> None:
    one = cw.tune(NOISY, jobs=1, store="one", trials=16)  # the first ten are drawn at random
    two = cw.tune(NOISY, jobs=2, store="two", trials=16)
    assert told(one) == told(two)
    assert one.sentences == two.sentences
    assert two.counts.found == 0
    assert len({repr(overrides) for overrides, *_ in told(one)}) == 16


def test_a_batch_is_chosen_before_any_of_it_is_known() -> None:
    """So the first of many are those of few, also where few end in the middle of a batch."""
    few, many = cw.tune(NOISY, trials=14), cw.tune(NOISY, trials=18)
    assert told(many)[:14] == told(few)
    assert many.counts.found >= 2 * 14
    others = told(cw.tune(tuned(NOISY, batch=6), trials=18))
    assert others[:10] == told(many)[:10]  # drawn at random
    assert others[10:] != told(many)[10:]


def test_stopped_and_begun_again_it_is_as_if_it_had_not_been(workspace: Path, clearway: Clearway) -> None:
    longer = {**NOISY, "duration": "60ms", "traffic": [{**NOISY["traffic"][0], "bytes": "20MB"}]}
    path = saved(workspace, tuned(longer, trials=8))
    for number in (signal.SIGINT, signal.SIGKILL):
        before = len(kept(workspace))
        process = child("tune", path, "--jobs", 1)
        deadline = time.monotonic() + 60
        while len(kept(workspace)) < before + 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        answer = finished(process)
        assert answer.status in (130, -signal.SIGKILL)
        assert not (workspace / "runs").exists()
        if number == signal.SIGINT:
            assert "the same command goes on from there; 0 of 8 trials were known" in answer.err
    there = len(kept(workspace))
    assert there >= 6
    resumed = clearway("tune", path, "--json").json
    whole = clearway("tune", path, "--store", "another", "--json").json
    assert (resumed["found"], whole["found"]) == (there, 0)
    for answer in (resumed, whole):
        for trial_of in answer["trials"]:
            del trial_of["paths"]
        for key in ("run", "found", "out"):
            del answer[key]
    assert resumed == whole


def kept(workspace: Path) -> list[Path]:
    seals = (workspace / ".clearway" / "runs").glob("*/seal.json")
    return [path for path in seals if not path.parent.name.startswith(".")]  # that a killed process left


def test_the_api_does_what_the_command_does(clearway: Clearway, workspace: Path) -> None:
    done = cw.tune(NOISY)
    answer = clearway("tune", saved(workspace, NOISY), "--json").json
    assert answer["sentences"] == done.sentences
    assert answer["values"] == done.values
    assert (answer["run"], answer["found"]) == (0, done.counts.run)
    done.save("there")
    assert {path.name.partition(".")[0] for path in (workspace / "there").iterdir()} == {
        "best",
        "report",
        "trials",
        "tune",
    }
    pytest.importorskip("pandas")
    frame = done.to_pandas()
    assert frame["trial"].tolist() == list(range(6))
    assert frame.attrs["units"]["transport.bulk.base_target_us"] == "us"
    with pytest.raises(ClearwayError, match="trials: found 1, expected a whole number from 2 to 10,000"):
        cw.tune(NOISY, trials=1)


# Limits


OBJECTIVE = Objective("fct_mean_us", "lower")


def measured(**figures: float) -> Measured:
    return Measured({}, samples={key: [value] for key, value in figures.items()})


def test_trials_are_ranked_by_limits_and_then_by_the_objective() -> None:
    limits = [Limit("goodput_gbps", "at_least", 9.0), Limit("rtt_mean_us", "at_most", 50.0)]
    trials = [
        trial(number, each, OBJECTIVE, limits, None)
        for number, each in enumerate(
            [
                measured(fct_mean_us=100.0, goodput_gbps=9.0, rtt_mean_us=50.0),
                measured(fct_mean_us=90.0, goodput_gbps=9.5, rtt_mean_us=10.0),
                measured(fct_mean_us=10.0, goodput_gbps=8.9, rtt_mean_us=10.0),
                measured(fct_mean_us=5.0, goodput_gbps=8.9, rtt_mean_us=60.0),
                measured(fct_mean_us=AtLeast(1.0), goodput_gbps=10.0, rtt_mean_us=10.0),
                measured(fct_mean_us=50.0, goodput_gbps=10.0, rtt_mean_us=AtLeast(10.0)),
                measured(fct_mean_us=1.0, rtt_mean_us=1.0),
                Measured({}, failure="refused"),
            ]
        )
    ]
    assert [each.eligible for each in trials] == [True, True, *[False] * 6]
    best, near = best_of(trials, OBJECTIVE), nearest_of(trials[2:], OBJECTIVE)
    assert (best and best.number, near and near.number) == (1, 2)
    ranks = [each.rank(OBJECTIVE) for each in trials]
    assert ranks[1] < ranks[0] < ranks[2] < ranks[3] < ranks[4] == ranks[5] < ranks[6] == ranks[7]
    assert trials[4].complaint == "fct_mean_us is a lower bound, as something was unfinished"
    assert trials[7].complaint == "refused"


# What a range may be


@pytest.mark.parametrize(
    ("written", "drawn", "value"),
    [
        ({"from": "5us", "to": "50us"}, 12.34567, "12.35us"),
        ({"from": "5us", "to": "50us"}, 50.0, "50us"),
        ({"from": "5.00001us", "to": "50us"}, 5.00001, "5.00001us"),
        ({"from": 0.2, "to": 0.9}, 0.55567, 0.5557),
        ({"from": 1, "to": 16, "factor": 2}, 3, 8),
        ({"from": "10us", "to": "30us", "step": "10us"}, 1, "20us"),
        (["drop", "trim"], 1, "trim"),
        (["drop", "trim"], None, "block"),
        ({"from": "5us", "to": "50us"}, None, "60us"),
    ],
)
def test_what_is_drawn_is_written_and_read_back(written: Any, drawn: Any, value: Any) -> None:
    of = parameter("key", written, "here")
    if drawn is not None:
        assert of.written(drawn) == value
    back = of.drawn(value)
    assert back == (drawn if isinstance(drawn, int) or drawn is None else pytest.approx(drawn, rel=1e-3))


def test_keys_of_whole_numbers_are_given_none_else() -> None:
    ranges = {
        "transport.bulk.window": {"from": 1, "to": 4},
        "transport.bulk.rto": {"from": "1ms", "to": "9ms"},
    }
    window, timeout = read(tuned(WINDOW, range=ranges)).parameters
    assert (window.whole, timeout.whole) == (True, False)
    fraction = {"transport.bulk.beta": {"from": 0, "to": 1}}
    assert not read(tuned(NOISY, range=fraction)).parameters[0].whole


def test_a_star_sets_every_entry_and_so_does_best(clearway: Clearway, workspace: Path) -> None:
    both = {
        **NOISY,
        "transport": {"one": {"protocol": "swift"}, "two": {"protocol": "swift"}},
        "traffic": [{**NOISY["traffic"][0], "transport": name} for name in ("one", "two")],
    }
    ranges = {
        "transport.*.base_target": {"from": "10us", "to": "60us"},
        "switch.default.overflow": ["drop", "trim"],
    }
    path = saved(workspace, tuned(both, objective={"two.fct_mean_us": "lower"}, range=ranges))
    answer = clearway("tune", path, "--set", "duration=1900us", "--json", "--out", "out")
    assert answer.status == 0, answer.err
    assert answer.json["best"] > 0
    values = answer.json["values"]
    best = cw.run("out/best.toml", seed=SMALL["seed"])
    assert [best.scenario["transport"][name]["base_target"] for name in ("one", "two")] == (
        [values["transport.*.base_target"]] * 2
    )
    assert best.digest == answer.json["trials"][answer.json["best"]]["digests"][0]
    assert {each.partition("=")[0] for each in answer.json["options"]} == {
        "--set transport.one.base_target",
        "--set transport.two.base_target",
        "--set switch.default.overflow",
    }


def test_the_best_scenario_finds_the_files_it_names(clearway: Clearway, workspace: Path) -> None:
    (workspace / "in").mkdir()
    (workspace / "in" / "trace.csv").write_text("start,from,to,bytes\n0us,0,4,100kB\n5us,1,4,100kB\n")
    traffic = [{"pattern": "trace", "transport": "bulk", "file": "trace.csv"}]
    path = saved(
        workspace / "in", tuned({**NOISY, "traffic": traffic}, trials=4, objective={"fct_mean_us": "higher"})
    )
    answer = clearway("tune", path, "--json", "--out", "a/b")
    assert answer.status == 0, answer.err
    best = answer.json["trials"][answer.json["best"]]
    assert best["trial"] > 0
    assert cw.run("a/b/best.toml").digest == best["digests"][0]


def test_the_page_has_all_trials_and_needs_no_network(clearway: Clearway, workspace: Path) -> None:
    ranges = {**WINDOW["tune"]["range"], "transport.bulk.rto": {"from": "5ms", "to": "20ms"}}
    clearway("tune", saved(workspace, tuned(WINDOW, trials=16, range=ranges)), "--out", "out")
    page = (workspace / "out" / "report.html").read_text()
    for words in (
        "Mean RTT by trial",
        "Mean RTT over transport.bulk.window",
        "What sets the best trials apart",
        "breaks a limit",
        "best so far",
        "On other seeds",
        "not goodput at least 9 Gb/s",
    ):
        assert words in page
    assert page.count('<th scope="row">') == 16 + 4
    assert "http://" not in page.replace("http://www.w3.org", "")


# What fails


def test_a_trial_that_is_refused_is_told_and_stops_none(clearway: Clearway, workspace: Path) -> None:
    """A largest window below the smallest is refused, whatever the range says of each."""
    swift = {"bulk": {"protocol": "swift", "min_cwnd": 8, "initial_cwnd": 8}}
    ranges = {"transport.bulk.max_cwnd": {"from": 1, "to": 32}}
    answer = clearway("tune", saved(workspace, tuned({**NOISY, "transport": swift}, range=ranges, trials=12)))
    assert answer.status == 0, answer.err
    assert "of 12 trials failed, and count as breaking the limits: trial" in answer.out
    assert "is above max_cwnd" in answer.out


def test_all_trials_failing_is_an_error(clearway: Clearway, workspace: Path) -> None:
    lossless = {
        **NOISY,
        "switch": {"default": {"buffer": "30kB", "pfc": "static", "pfc_xoff": "25kB", "pfc_headroom": "1kB"}},
        "class": {"first": {"priority": 0, "lossless": True}},
        "transport": {"bulk": {"protocol": "none", "window": 1000, "class": "first"}},
    }
    ranges = {"transport.bulk.window": {"from": 900, "to": 1000}}
    answer = clearway("tune", saved(workspace, tuned(lossless, range=ranges, trials=3)))
    assert answer.status == 2
    assert "tune.toml: all 3 trials failed: seed 7: at " in answer.err
    assert "of a lossless class" in answer.err
    assert {each.name for each in workspace.iterdir()} <= {"tune.toml", ".clearway"}
