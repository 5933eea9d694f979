"""`clearway sweep`: points, the store they are kept in, what is refused, and what an interrupt leaves."""

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import _clearway, columns, documents, execution
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.sweeps import file
from clearway.sweeps.axes import axes_of, variants
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.making import PointsInterrupted, run_points
from clearway.sweeps.points import Point
from clearway.sweeps.store import Store

from tests.conftest import SMALL, Clearway, child, finished, nothing_but

AXES = """
[sweep]
"transport.bulk.base_target" = ["15us", "25us"]
transport.bulk.ai = { from = 0.5, to = 2, factor = 2 }
seed = [1, 2]
"""


def swept(workspace: Path, axes: str = AXES, **changes: Any) -> Path:
    """Write the small scenario with these axes, before a table that comes after them."""
    scenario = {**SMALL, "record": {}, **changes}
    traffic = scenario.pop("traffic")[0]
    tail = "\n[[traffic]]\n" + documents.text_of(traffic)
    (workspace / "sweep.toml").write_text(documents.text_of(scenario) + axes + tail, encoding="utf-8")
    return workspace / "sweep.toml"


def stored(workspace: Path) -> list[str]:
    store = workspace / ".clearway" / "runs"
    return sorted(path.name for path in store.iterdir()) if store.exists() else []


def test_a_row_a_point_with_axes_and_figures(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("sweep", swept(workspace), "--json", "--out", "out", "--jobs", 2)
    assert answer.status == 0, answer.err
    assert [point["overrides"] for point in answer.json["points"]][:3] == [
        {"transport.bulk.base_target": "15us", "transport.bulk.ai": 0.5, "seed": 1},
        {"transport.bulk.base_target": "15us", "transport.bulk.ai": 0.5, "seed": 2},
        {"transport.bulk.base_target": "15us", "transport.bulk.ai": 1.0, "seed": 1},
    ]
    assert (answer.json["run"], answer.json["found"]) == (12, 0)
    described = json.loads((workspace / "out" / "sweep.json").read_text())["tables"]["points"]
    table = columns.read_table(
        workspace / "out", columns.Described(described["file"], described["rows"], described["columns"])
    )
    assert table["transport.bulk.base_target_us"].tolist() == [15.0] * 6 + [25.0] * 6
    assert table["seed"].tolist() == [1.0, 2.0] * 6
    for row, point in enumerate(answer.json["points"]):
        assert table["rtt_mean_us"][row] == point["summary"]["rtt_mean_us"]
        assert table["digest"][row] == point["digest"]
    page = (workspace / "out" / "report.html").read_text()
    assert '<th scope="col" title="transport.bulk.base_target">base_target</th>' in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_point_is_what_its_scenario_would_be_alone(
    clearway: Clearway, small: Path, workspace: Path
) -> None:
    answer = clearway("sweep", swept(workspace, "\n[sweep]\nseed = [7]\n"), "--json")
    alone = clearway("run", small, "--set", "record={}", "--json")
    assert answer.json["points"][0]["digest"] == alone.json["digest"]


def test_keys_may_be_overridden(clearway: Clearway, workspace: Path) -> None:
    file = swept(workspace, "\n[sweep]\nseed = [1, 2]\n")
    answer = clearway("sweep", file, "--set", "network.hosts=7", "--set", "duration=1ms", "--json")
    assert answer.status == 0, answer.err
    for point in answer.json["points"]:
        scenario = cw.load_run(point["path"]).scenario  # type: ignore[union-attr]
        assert (scenario["network"]["hosts"], scenario["duration"]) == (7, "1ms")
    for wrong, words in [
        ("network.hots=7", "--set network.hots=7: network.hots: unknown key"),
        ("seed=3", "--set seed=3: sweep.toml:"),
        ("sweep.seed=[3]", "--set sweep.seed=[3]: [sweep] is no part of the scenario"),
        ("network.hosts", "--set network.hosts: expected KEY=VALUE"),
    ]:
        refused = clearway("sweep", file.name, "--set", wrong)
        assert refused.status == 2
        assert words in refused.err


def test_a_star_sets_every_entry(clearway: Clearway, workspace: Path) -> None:
    both = {"bulk": {"protocol": "swift"}, "other": {"protocol": "swift"}}
    file = swept(workspace, '\n[sweep]\n"transport.*.base_target" = ["15us"]\n', transport=both)
    point = clearway("sweep", file, "--json").json["points"][0]
    resolved = cw.load_run(point["path"]).scenario["transport"]  # type: ignore[union-attr]
    assert [entry["base_target"] for entry in resolved.values()] == ["15us", "15us"]
    wrong = swept(workspace, '\n[sweep]\n"transport.*.base_targt" = ["15us"]\n', transport=both)
    answer = clearway("sweep", wrong)
    line = wrong.read_text().splitlines().index('"transport.*.base_targt" = ["15us"]') + 1
    assert f"sweep.toml:{line}: [sweep] transport.bulk.base_targt" in answer.err


def test_a_table_may_be_a_value(clearway: Clearway, workspace: Path) -> None:
    traffic = '[{ pattern = "incast", to = 0 }], [{ pattern = "incast", to = 1, flows_per_pair = 2 }]'
    file = swept(workspace, f"\n[sweep]\ntraffic = [{traffic}]\n")
    answer = clearway("sweep", file, "--json")
    assert [point["summary"]["flows"] for point in answer.json["points"]] == [4, 8]


def test_a_finished_point_is_never_run_twice(clearway: Clearway, workspace: Path) -> None:
    first = clearway("sweep", swept(workspace), "--json")
    assert len(stored(workspace)) == 12
    again = clearway("sweep", swept(workspace, name="another name"), "--json")
    assert (again.json["run"], again.json["found"]) == (0, 12)
    assert [point["digest"] for point in again.json["points"]] == [
        point["digest"] for point in first.json["points"]
    ]
    more = clearway("sweep", swept(workspace, AXES.replace("[1, 2]", "[1, 2, 3]")), "--json")
    assert (more.json["run"], more.json["found"]) == (6, 12)


def test_another_simulator_runs_them_again(
    clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clearway("sweep", swept(workspace))
    monkeypatch.setattr("clearway.sweeps.points.build", lambda: "another")
    assert clearway("sweep", swept(workspace), "--json").json["run"] == 12


def test_a_file_that_a_scenario_names_is_part_of_it(workspace: Path) -> None:
    trace = workspace / "trace.csv"
    text = documents.text_of(
        {**SMALL, "traffic": [{"pattern": "trace", "transport": "bulk", "file": "trace.csv"}]}
    )

    def key() -> str:
        scenario = cw._clearway.load_text(text, "x", workspace)
        return Point(scenario, {}, workspace).key

    trace.write_text("start,from,to,bytes\n0us,0,4,1kB\n")
    before = key()
    trace.write_text("start,from,to,bytes\n0us,0,4,2kB\n")
    assert key() != before


def test_two_processes_on_one_store(workspace: Path) -> None:
    file = swept(workspace)
    both = [child("sweep", file, "--json", "--out", f"out{number}") for number in range(2)]
    answers = [finished(process) for process in both]
    assert [answer.status for answer in answers] == [0, 0], answers
    assert answers[0].json["points"] == answers[1].json["points"]
    assert len(stored(workspace)) == 12
    assert not any(name.startswith(".") for name in stored(workspace))


def test_an_interrupted_sweep_goes_on(clearway: Clearway, workspace: Path) -> None:
    # Two points of a moment and one of hours: the two are there when it is stopped.
    endless = swept(
        workspace,
        '\n[sweep]\nduration = ["2ms", "3ms", "1000s"]\n',
        traffic=[{"pattern": "incast", "to": 4}],
    )
    process = child("sweep", endless, "--jobs", 1)
    deadline = time.monotonic() + 30
    while len([name for name in stored(workspace) if not name.startswith(".")]) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None, finished(process)
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    answer = finished(process)
    assert answer.status == 130
    assert "2 of 3 runs are finished and kept in .clearway/runs" in answer.err
    assert "the same command goes on from there" in answer.err
    assert "Traceback" not in answer.err
    assert nothing_but(workspace, "sweep.toml", ".clearway")
    kept = stored(workspace)
    assert len(kept) == 2
    swept(
        workspace,
        '\n[sweep]\nduration = ["2ms", "3ms"]\n',
        traffic=[{"pattern": "incast", "to": 4}],
    )
    resumed = clearway("sweep", "sweep.toml", "--json")
    assert (resumed.json["run"], resumed.json["found"]) == (0, 2)
    assert stored(workspace) == kept


def test_an_interrupt_while_a_point_is_kept_waits(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = file.read(swept(workspace, "\n[sweep]\nseed = [1, 2]\n")).points()
    write = Run.write_into

    def interrupted(run: Run, path: Path) -> None:
        write(run, path)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Run, "write_into", interrupted)
    # A shell that runs the tests in the background has them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(PointsInterrupted, match="1 of 2 runs are finished"):
            run_points(plan, Store(workspace / "store"))
    finally:
        signal.signal(signal.SIGINT, before)
    (kept,) = (workspace / "store").iterdir()
    assert Run.load(kept).digest


def test_a_point_that_fails_stops_no_other(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = file.read(swept(workspace, "\n[sweep]\nseed = [1, 2, 3]\n")).points()
    run = execution._run

    def failing(scenario: Any, *rest: Any) -> Any:
        if scenario.seed == 2:
            raise RuntimeError("the simulator gave up")
        return run(scenario, *rest)

    monkeypatch.setattr(execution, "_run", failing)
    with pytest.raises(ClearwayError, match=r"seed = 2: failed: the simulator gave up"):
        run_points(plan, Store(workspace / "store"))
    assert len(list((workspace / "store").iterdir())) == 2


def test_no_more_at_once_than_asked_for(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = file.read(swept(workspace, "\n[sweep]\nseed = [1, 2, 3, 4, 5]\n")).points()
    lock, active, most = threading.Lock(), [0], [0]
    run = execution._run

    def counting(*arguments: Any) -> Any:
        with lock:
            active[0] += 1
            most[0] = max(most[0], active[0])
        time.sleep(0.05)
        result = run(*arguments)
        with lock:
            active[0] -= 1
        return result

    monkeypatch.setattr(execution, "_run", counting)
    run_points(plan, Store(workspace / "store"), jobs=2)
    assert most[0] == 2


def test_points_that_do_not_fit_into_memory_are_refused(
    clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_clearway, "memory_limit", lambda: 1000)
    answer = clearway("sweep", swept(workspace))
    assert answer.status == 2
    assert "of memory" in answer.err


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ('"transport.bulk.base_targt" = ["1us"]', ["transport.bulk.base_targt", "did you mean base_target?"]),
        ('"transport.bulk.base_target" = ["25"]', ["transport.bulk.base_target", "found 25", "unit"]),
        ('"transport.bulk.base_target" = []', ["transport.bulk.base_target: is empty"]),
        ('"transport.bulk.base_target" = "25us"', ["expected a list of values or a range"]),
        ('"duration" = { from = "1us", to = "1ms", step = "1ns" }', ["more than 10,000 values"]),
        ('"duration" = { from = "1us", to = "1ms", step = 1 }', ["the unit of from"]),
        ('"duration" = { from = "2us", to = "1us", step = "1us" }', ["from below to"]),
        ('"duration" = { from = "2us", to = "3us" }', ["either step or factor"]),
        ("seed = { from = 0, to = 9999, step = 1 }\nwarmup = ['0us', '1us']", ["20,000 points", "10,000"]),
        ("", ["has no axis"]),
        ("[[sweep.zip]]\nseed = [1]\nwarmup = ['0us', '1us']", ["one length", "seed 1", "warmup 2"]),
        ("seed = [1]\n[[sweep.zip]]\nseed = [1]", ["seed: is in two axes"]),
        ('seed = [1]\n[sweep.frontier]\nobjectives = { a = "up" }', ["objectives", "direction"]),
        ('seed = [1]\n[sweep.frontier]\nobjectives = { a = "lower" }\ndecide = "b"', ["decide", "one of a"]),
        (
            'seed = [1]\n[sweep.frontier]\nobjectives = { a = "lower" }\ndecide = ["a"]',
            ["decide", "one of a"],
        ),
        ('seed = [1]\n[sweep.frontier]\nobjectives = { a = ["lower"] }', ["objectives", "direction"]),
        (
            'seed = [1]\n[sweep.frontier]\nobjectives = { a = "lower" }\nlimits = { a = "1" }\ndecide = "a"',
            ["limits", "numbers"],
        ),
        ("seed = [1]\nfrontier = 3", ["frontier", "expected a table"]),
    ],
)
def test_what_is_refused(axes: str, words: list[str], clearway: Clearway, workspace: Path) -> None:
    answer = clearway("sweep", swept(workspace, f"\n[sweep]\n{axes}\n"))
    assert answer.status == 2
    for word in words:
        assert word in answer.err
    assert "sweep.toml:" in answer.err
    assert nothing_but(workspace, "sweep.toml")


def test_messages_have_the_line_of_the_axis_and_of_what_comes_after(
    clearway: Clearway, workspace: Path
) -> None:
    file = swept(workspace, '\n[sweep]\nseed = [\n  1,\n  2,\n]\n"network.hots" = [3]\n')
    lines = file.read_text().splitlines()
    wrong = '"network.hots" = [3]'
    assert f"sweep.toml:{lines.index(wrong) + 1}:" in clearway("sweep", file).err
    file.write_text(file.read_text().replace(wrong, "").replace("pattern", "patern"))
    at = next(number for number, line in enumerate(lines, 1) if line.startswith("pattern"))
    assert f"sweep.toml:{at}: traffic[0].patern" in clearway("sweep", file).err


def test_a_figure_that_no_point_has(clearway: Clearway, workspace: Path) -> None:
    frontier = '\n[sweep]\nseed = [1]\n[sweep.frontier]\nobjectives = { jian = "higher" }\ndecide = "jian"\n'
    answer = clearway("sweep", swept(workspace, frontier))
    assert answer.status == 2
    assert "did you mean jain?" in answer.err


def test_run_names_the_command_for_it(clearway: Clearway, workspace: Path) -> None:
    file = swept(workspace)
    answer = clearway("run", file)
    header = file.read_text().splitlines().index("[sweep]") + 1
    assert answer.status == 2
    assert f"sweep.toml:{header}: sweep" in answer.err
    assert "clearway sweep" in answer.err


def test_sweep_names_the_command_for_a_scenario(clearway: Clearway, small: Path) -> None:
    answer = clearway("sweep", small)
    assert answer.status == 2
    assert "has no [sweep] table" in answer.err
    assert "clearway run" in answer.err


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"a": {"from": 1, "to": 4, "step": 1}}, [1, 2, 3, 4]),
        ({"a": {"from": 2**53 - 2, "to": 2**53, "step": 1}}, [2**53 - 2, 2**53 - 1, 2**53]),
        ({"a": {"from": 1, "to": 9, "factor": 3}}, [1, 3, 9]),
        ({"a": {"from": 0.1, "to": 0.5, "step": 0.2}}, [0.1, 0.3, 0.5]),
        ({"a": {"from": "10us", "to": "40us", "factor": 2}}, ["10us", "20us", "40us"]),
        ({"a": {"from": "800us", "to": "1ms", "step": "0.1ms"}}, ["800us", "900us", "1000us"]),
        ({"a": {"from": "0.5us", "to": "1us", "step": "0.25us"}}, ["0.5us", "0.75us", "1us"]),
    ],
)
def test_ranges_have_both_ends(table: dict[str, Any], expected: list[Any]) -> None:
    assert [variant["a"] for variant in variants(axes_of(table, str))] == expected


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"seed": [1, 1]}, [{"seed": 1}]),
        ({"seed": [2, 1, "1", 2]}, [{"seed": 2}, {"seed": 1}]),
        ({"duration": ["1ms", "1000us", "2ms"]}, [{"duration": "1ms"}, {"duration": "2ms"}]),
        ({"zip": [{"a": [1, 1, 1], "b": [3, 4, 3]}]}, [{"a": 1, "b": 3}, {"a": 1, "b": 4}]),
        ({"a": [True, 1, "x"]}, [{"a": True}, {"a": 1}, {"a": "x"}]),
        ({"seed": [2**53, 2**53 - 1]}, [{"seed": 2**53}, {"seed": 2**53 - 1}]),
    ],
)
def test_equal_values_of_an_axis_are_one(table: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert list(variants(axes_of(table, str))) == expected


def test_equal_seeds_are_no_two_samples(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("sweep", swept(workspace, "\n[sweep]\nseed = [1, 1, 2]\n"), "--json")
    assert [point["overrides"]["seed"] for point in answer.json["points"]] == [1, 2]
    assert answer.json["axes"]["seed"] == [1, 2]


def test_keys_of_a_zip_change_together() -> None:
    table = {"a": [1, 2], "zip": [{"b": [3, 4], "c": {"d": [5, 6]}}]}
    assert list(variants(axes_of(table, str))) == [
        {"a": 1, "b": 3, "c.d": 5},
        {"a": 1, "b": 4, "c.d": 6},
        {"a": 2, "b": 3, "c.d": 5},
        {"a": 2, "b": 4, "c.d": 6},
    ]


def test_a_table_is_taken_out_and_lines_stay() -> None:
    text = 'a = """\n[sweep]\n"""\n[sweep]\nx = [\n["y"],\n]\n[sweep.zip]\nz = 1\n[b]\nc = 2\n'
    left, header = documents.without_table(text, "sweep")
    assert header == 4
    assert documents.parse(left, "") == {"a": "[sweep]\n", "b": {"c": 2}}
    assert left.splitlines().index("[b]") == text.splitlines().index("[b]")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("25us", (25.0, "us")),
        ("1.5ms", (1500.0, "us")),
        ("64kB", (64000.0, "bytes")),
        ("50Gbps", (50.0, "gbps")),
        (3, (3.0, "")),
        ("swift", None),
        (True, None),
        ("5 parsecs", None),
    ],
)
def test_quantities(value: object, expected: tuple[float, str] | None) -> None:
    found = documents.quantity(value)
    assert (None if found is None else (found.value, found.unit)) == expected


ROWS = [
    {"jain": 0.99, "rtt": 60.0},
    {"jain": 0.95, "rtt": 40.0},
    {"jain": 0.95, "rtt": 45.0},  # beaten by the one before
    {"jain": 0.80, "rtt": 30.0},
    {"rtt": 1.0},  # without a value
]


def test_frontier_and_the_rule() -> None:
    frontier = Frontier({"jain": "higher", "rtt": "lower"}, {"jain": 0.9}, "rtt")
    assert frontier.members(ROWS) == [0, 1, 3]
    assert frontier.recommended(ROWS) == 1
    assert "jain of at least 0.9" in frontier.rule
    assert "smallest rtt" in frontier.rule
    assert Frontier({"jain": "higher", "rtt": "lower"}, {"jain": 0.995}, "rtt").recommended(ROWS) is None


def test_points_alike_are_all_on_the_frontier() -> None:
    frontier = Frontier({"jain": "higher", "rtt": "lower"}, {}, "rtt")
    assert frontier.members([ROWS[0], ROWS[0]]) == [0, 1]


def test_the_frontier_in_the_answer(clearway: Clearway, workspace: Path) -> None:
    frontier = (
        '[sweep.frontier]\nobjectives = { goodput_gbps = "higher", rtt_p99_us = "lower" }\n'
        'limits = { goodput_gbps = 0.5 }\ndecide = "rtt_p99_us"\n'
    )
    answer = clearway("sweep", swept(workspace, AXES + frontier), "--json")
    assert answer.status == 0, answer.err
    assert answer.json["frontier"]["recommended"] in answer.json["frontier"]["points"]
    assert all("seed" not in point for point in answer.json["frontier"]["points"])
    shown = clearway("sweep", workspace / "sweep.toml")
    assert "Recommended: base_target" in shown.out
    assert "12 points: 0 run, 12 found finished" in shown.out


def test_objectives_are_shown_first(clearway: Clearway) -> None:
    frontier = (
        '[sweep.frontier]\nobjectives = { "other.rtt_p50_us" = "lower", goodput_gbps = "higher" }\n'
        'decide = "goodput_gbps"\n'
    )
    transports = {name: {"protocol": "swift"} for name in ("bulk", "other")}
    traffic = [{**SMALL["traffic"][0], "transport": name} for name in transports]
    scenario = {**SMALL, "record": {}, "transport": transports, "traffic": traffic}
    text = (
        documents.text_of(scenario)
        + '\n[sweep]\n"transport.bulk.base_target" = ["15us", "25us"]\n'
        + frontier
    )
    Path("sweep.toml").write_text(text)
    shown = clearway("sweep", "sweep.toml").out
    words = shown.split()
    assert words.index("other:") < words.index("goodput") < words.index("mean")
    assert words.count("goodput") == 1


def test_the_sweep_that_ships_runs(clearway: Clearway) -> None:
    file = Path(__file__).parent.parent / "scenarios" / "sweeps" / "target_and_increase.toml"
    text = (
        file.read_text().replace('"20ms"', '"2ms"').replace('"4ms"', '"400us"').replace("seed = [1, 2]", "")
    )
    Path("shorter.toml").write_text(text)
    answer = clearway("sweep", "shorter.toml", "--json")
    assert answer.status == 0, answer.err
    assert len(answer.json["points"]) == 12
