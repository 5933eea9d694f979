"""A scenario for real hosts: what is planned, what is read of a run, and what the commands leave and say.

`clearwayd` is a script here that prints what one printed; `test_testbed_local` has the real one.
"""

import json
import math
import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway.daemon import VARIABLE, program
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.testbed import controller
from clearway.testbed.reading import Measured, SenselessLineError

from tests.conftest import Clearway, nothing_but, written
from tests.testbeds import HOSTS, SCENARIO, run_on_hosts, two_flows

MS = 1_000_000


def sample(host: str, t_ms: int, *flows: tuple[int, int, int | None]) -> dict[str, Any]:
    rows = [
        {"id": flow, "bytes": count, "rtt_ns": rtt, "cwnd": 4.5, "retransmissions": 0}
        for flow, count, rtt in flows
    ]
    return {"event": "sample", "host": host, "t_ns": t_ms * MS, "flows": rows}


def over(
    flow: int, end_ms: int | None, count: int, again: int = 0, error: str | None = None
) -> dict[str, Any]:
    rtt = {"mean_ns": 400_000, "p50_ns": 400_000, "p99_ns": 400_000, "min_ns": 1000, "samples": 3}
    return {
        "event": "flow",
        "id": flow,
        "host": "h1",
        "start_ns": 50_000,
        "end_ns": None if end_ms is None else end_ms * MS,
        "bytes": count,
        "retransmissions": again,
        "rtt": rtt,
        "error": error,
    }


LINES: list[dict[str, Any]] = [
    {
        "event": "agents",
        "hosts": [
            {"host": f"h{n}", "version": "1", "kernel": "6", "offset_ns": 5, "rtt_ns": 90_000}
            for n in range(3)
        ],
    },
    {"event": "started", "spread_ns": 812_000},
    {"event": "of the next version", "has": "what nobody knows"},
    *(sample("h1", t, (0, t * 20_000, 300_000), (2, t * 1000, 700_000)) for t in range(10, 50, 10)),
    over(0, 50, 1_000_000),
    *(sample("h1", t, (2, t * 1000, 500_000)) for t in range(50, 100, 10)),
    over(1, None, 500_000, again=3),
    over(2, None, 100_000),
    *({"event": "host", "host": f"h{n}", "cpu_ns": 5, "socket_drops": None, "lost": None} for n in range(3)),
    {"event": "end", "complete": True, "reason": None},
]
"""Flow 0 is complete after 50 ms, flow 1 of 1 MB is not, and flow 2 has no size."""

Daemon = Callable[..., None]
_WAIT = "while :; do sleep 0.05; done"


@pytest.fixture
def scenario(workspace: Path) -> Path:
    return two_flows(workspace)


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Daemon:
    """Have a script in the place of clearwayd; it prints lines, and then does what is said."""

    def put(lines: list[Any], then: str = "exit 0", at_the_signal: Sequence[Any] = ()) -> None:
        folder = tmp_path_factory.mktemp("bin")
        for name, each in (("lines", lines), ("last", at_the_signal)):
            printed = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in each)
            (folder / name).write_text(printed)
        first = f"trap \"cat '{folder}/last'; exit 130\" INT"
        script = folder / "clearwayd"
        script.write_text(f"#!/bin/sh\n{first}\ncat '{folder}/lines'\n{then}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv(VARIABLE, str(script))

    return put


# READING


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "3",
        '{"no": "event"}',
        '{"event": "started"}',
        '{"event": "started", "spread_ns": -1}',
        '{"event": "sample", "t_ns": 1, "flows": [{"id": "0"}]}',
        '{"event": "sample", "t_ns": 1e3, "flows": []}',
        '{"event": "end", "complete": 1, "reason": null}',
        '{"event": ["end"]}',
    ],
)
def test_a_line_that_makes_no_sense_is_told(line: str) -> None:
    with pytest.raises(SenselessLineError):
        Measured().take(line)


def test_unknown_events_are_left_alone() -> None:
    measured = Measured()
    for line in LINES:
        measured.take(json.dumps(line))
    assert (measured.spread_ns, measured.is_complete, len(measured.flows)) == (812_000, True, 3)
    assert len(measured.samples().flow) == 13


# RUNS


def test_a_run_has_the_tables_and_names_of_a_simulated_one(
    scenario: Path, clearway: Clearway, daemon: Daemon
) -> None:
    daemon(LINES)
    answer = run_on_hosts(clearway, scenario, "-o", "real", "--json")
    assert (answer.status, answer.err) == (0, "")
    real, simulated = cw.load_run("real"), cw.run(scenario)
    assert isinstance(real, Run)
    assert answer.json["summary"] == real.summary
    assert set(real.tables) == set(simulated.tables) - {"links"}
    for name, table in real.tables.items():
        assert {key: of.dtype.kind for key, of in table.items()} == {
            key: of.dtype.kind for key, of in simulated.table(name).items()
        }, name
    assert set(real.summary) == set(simulated.summary)
    missing = {key for key, value in real.summary.items() if value is None}
    assert missing == set(real.summary["absent"])
    assert {"drops", "loss_rate", "slowdown_mean", "queue_peak_bytes"} <= missing
    assert json.loads(Path("real/PLAN.json").read_text())["carrier"] == "udp:swift"
    assert real.testbed is not None
    assert real.testbed["start_spread_us"] == 812.0
    assert real.interrupted_at_us is None


def test_figures_are_of_what_was_measured(scenario: Path, clearway: Clearway, daemon: Daemon) -> None:
    daemon(LINES)
    run_on_hosts(clearway, scenario, "-o", "real")
    run = cw.load_run("real")
    assert isinstance(run, Run)
    flows = run.flows
    assert flows["fct_us"][0] == pytest.approx(50_000)
    assert flows["age_us"][1] == pytest.approx(100_000)
    assert math.isnan(flows["fct_us"][2])
    assert math.isnan(flows["age_us"][2])
    assert flows["delivered_bytes"].tolist() == [1_000_000, 500_000, 100_000]
    assert flows["retransmissions"].tolist() == [0, 3, 0]
    summary = run.summary
    # After the 20 ms of warm-up: 600 kB of flow 0, four fifths of flow 1, 80 kB of flow 2, in 80 ms.
    assert summary["goodput_gbps"] == pytest.approx((600 + 400 + 80) * 8e3 / 80e6, rel=2e-3)
    assert (summary["completed"], summary["unfinished_flows"]) == (1, 1)
    assert summary["fct_mean_us"] == pytest.approx(75_000)
    assert summary["fct_p50_us"] == pytest.approx(50_000)
    assert set(summary["lower_bounds"]) == {"fct_mean_us", "fct_p99_us", "fct_max_us"}
    # Each round trip counts for the bytes that it acknowledged: flow 1, without a sample, with its mean.
    weights = {300: 400e3, 700: 20e3, 500: 50e3, 400: 500e3}
    mean = sum(rtt * count for rtt, count in weights.items()) / sum(weights.values())
    assert summary["rtt_mean_us"] == pytest.approx(mean, rel=0.02)
    assert summary["rtt_p50_us"] == 400.0
    windows = run.windows
    assert set(np.unique(windows["cwnd_packets"])) == {4.5}
    assert len(run.throughput["time_us"]) == len(run.rtt_series["time_us"]) == 10
    assert run.throughput["goodput_gbps"][0] == pytest.approx(2e5 * 8 / 1e7 + 1e4 * 8 / 1e7 + 0.04, rel=0.02)


def test_operations_of_a_loop_have_latencies(workspace: Path, clearway: Clearway, daemon: Daemon) -> None:
    (workspace / "hosts.toml").write_text(HOSTS)
    loop = {"pattern": "closed_loop", "transport": "bulk", "from": 1, "to": 0, "bytes": "1MB"}
    traffic = [{**loop, "operation": "write", "outstanding": 1, "deadline": "15ms"}]
    record = {"operations": True}
    file = written(
        workspace / "loop.toml", {**SCENARIO, "warmup": "0us", "traffic": traffic, "record": record}
    )
    ends = [over(n, 10 * (n + 1), 1_000_000) | {"start_ns": 10 * n * MS} for n in range(4)]
    late = over(4, 70, 1_000_000) | {"start_ns": 40 * MS}
    opened = over(5, None, 1000) | {"start_ns": 70 * MS}
    daemon([*LINES[:2], *ends, late, opened, LINES[-1]])
    assert run_on_hosts(clearway, file, "-o", "real").status == 0
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert (run.summary["operations"], run.summary["unfinished_operations"]) == (5, 1)
    assert run.summary["latency_p50_us"] == pytest.approx(10_000, rel=0.01)
    assert run.summary["failed_operations"] == pytest.approx(2 / 6)
    assert run.operations["failed"].tolist() == [0, 0, 0, 0, 1, 1]
    assert run.operations["operation"].tolist() == [0, 1, 2, 3, 4, 5]
    assert list(run.operations) == list(cw.run(file).operations)
    assert len(run.flows["flow"]) == 1


# FAULTS


def test_a_run_that_ended_early_is_kept_and_said(scenario: Path, clearway: Clearway, daemon: Daemon) -> None:
    end = {"event": "end", "complete": False, "reason": "h2 was lost at 0.05 s: no answer"}
    daemon([*LINES[:8], over(2, None, 50_000), end], "echo 'error: h2 was lost' >&2; exit 1")
    answer = run_on_hosts(clearway, scenario, "-o", "real")
    assert answer.status == 1
    assert "h2 was lost at 0.05 s" in answer.err
    assert "real has what was measured" in answer.err
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert run.interrupted_at_us == pytest.approx(50_000)
    assert any("ended early" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("then", "status"), [("exit 2", 2), ("exit 1", 1), ("kill -KILL $$", 1), ("exit 0", 1)]
)
def test_a_run_that_never_started_leaves_nothing(
    scenario: Path, clearway: Clearway, daemon: Daemon, then: str, status: int
) -> None:
    daemon(LINES[:1], f"printf 'error: h1 at 127.0.0.1:7401: no answer\\n  is it running?\\n' >&2; {then}")
    answer = run_on_hosts(clearway, scenario)
    assert answer.status == status
    assert "error: h1 at 127.0.0.1:7401: no answer\n  is it running?" in answer.err
    assert nothing_but(scenario.parent, "two.toml", "hosts.toml")


def test_a_controller_that_dies_leaves_what_it_printed(
    scenario: Path, clearway: Clearway, daemon: Daemon
) -> None:
    daemon(LINES[:9], "kill -KILL $$")
    answer = run_on_hosts(clearway, scenario, "-o", "real")
    assert answer.status == 1
    assert "the controller ended with status -9" in answer.err
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert run.flows["delivered_bytes"][2] == 40_000


def test_senseless_lines_end_the_run(scenario: Path, clearway: Clearway, daemon: Daemon) -> None:
    daemon([*LINES[:5], "no JSON"], "sleep 60")
    answer = run_on_hosts(clearway, scenario)
    assert answer.status == 1
    assert "clearwayd printed no JSON" in answer.err
    assert nothing_but(scenario.parent, "two.toml", "hosts.toml")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Have SIGINT raise, also where a shell that runs the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_was_measured(scenario: Path, clearway: Clearway, daemon: Daemon) -> None:
    """The controller is told, and what it says then is read to its end."""
    end = {"event": "end", "complete": False, "reason": "interrupted"}
    daemon(LINES[:8], f"kill -INT {os.getpid()}; {_WAIT}", [over(2, None, 50_000), end])
    answer = run_on_hosts(clearway, scenario, "-o", "real")
    assert answer.status == 130, answer
    assert "interrupted; what was measured is written to real" in answer.err
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert run.flows["delivered_bytes"][2] == 50_000


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_amid_a_line_loses_none(
    scenario: Path, clearway: Clearway, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that says that the run has started, so that without it there would be nothing to keep."""
    take = Measured.take

    def take_interrupted(self: Measured, line: str) -> None:
        if json.loads(line)["event"] == "started":
            os.kill(os.getpid(), signal.SIGINT)
        take(self, line)

    monkeypatch.setattr(Measured, "take", take_interrupted)
    daemon(LINES[:8], _WAIT, [{"event": "end", "complete": False, "reason": "interrupted"}])
    answer = run_on_hosts(clearway, scenario, "-o", "real")
    assert answer.status == 130, answer
    assert "interrupted; what was measured is written to real" in answer.err


@pytest.mark.usefixtures("interruptible")
def test_a_controller_that_does_not_heed_ctrl_c_is_ended(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has said by then is kept, and nothing is added to it any more."""
    take, taken = Measured.take, list[str]()

    def take_slowly(self: Measured, line: str) -> None:
        take(self, line)
        taken.append(line)
        if len(taken) > 8:
            time.sleep(0.001)

    monkeypatch.setattr(Measured, "take", take_slowly)
    monkeypatch.setattr(controller, "_PATIENCE_S", 0.2)
    daemon(
        LINES[:8], f"trap '' INT; kill -INT {os.getpid()}; while :; do echo '{json.dumps(LINES[2])}'; done"
    )
    ended = controller.conduct([program()])
    by_then = len(taken)
    assert by_then > 8, "it said nothing while it was waited for"
    assert ended.measured.has_started
    assert (ended.measured.is_complete, ended.measured.reason) == (False, "interrupted")
    time.sleep(0.1)
    assert len(taken) == by_then


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_before_the_start_leaves_nothing(scenario: Path, clearway: Clearway, daemon: Daemon) -> None:
    daemon(LINES[:1], f"kill -INT {os.getpid()}; {_WAIT}")
    answer = run_on_hosts(clearway, scenario)
    assert answer.status == 130
    assert "before the run started, nothing written" in answer.err
    assert nothing_but(scenario.parent, "two.toml", "hosts.toml")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("when", ["before", "after"])
def test_ctrl_c_while_the_controller_starts_leaves_none_behind(
    scenario: Path, clearway: Clearway, daemon: Daemon, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """It has a session of its own, so no terminal would end it; nothing holds it yet as the signal comes."""
    daemon([], _WAIT)
    start, started = subprocess.Popen, list[subprocess.Popen[bytes]]()

    def interrupted(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            os.kill(os.getpid(), signal.SIGINT)
        started.append(start(*arguments, **named))
        if when == "after":
            os.kill(os.getpid(), signal.SIGINT)
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    answer = run_on_hosts(clearway, scenario)
    assert answer.status == 130, answer
    assert "before the run started, nothing written" in answer.err
    (process,) = started
    assert process.returncode is not None
    assert nothing_but(scenario.parent, "two.toml", "hosts.toml")


def test_without_the_daemon_it_says_so(
    scenario: Path, clearway: Clearway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "nowhere")
    answer = run_on_hosts(clearway, scenario)
    assert answer.status == 2
    assert f"error: CLEARWAYD names {Path('nowhere').absolute()}, which is no program\n" in answer.err
    assert nothing_but(scenario.parent, "two.toml", "hosts.toml")


# COMPARISON


def test_a_measured_run_stands_beside_its_simulation(
    scenario: Path, clearway: Clearway, daemon: Daemon
) -> None:
    daemon(LINES)
    run_on_hosts(clearway, scenario, "-o", "real")
    clearway("run", scenario, "--out", "simulated")
    answer = clearway("compare", "simulated", "real")
    assert answer.status == 0
    assert "real (measured)" in answer.out
    assert "mean RTT: real (measured) has" in answer.out
    assert "seeds" not in answer.out
    with pytest.raises(ClearwayError, match="recorded no table links"):
        cw.load_run("real").links  # type: ignore[union-attr]  # noqa: B018
