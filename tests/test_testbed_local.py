"""A testbed on namespaces of this machine, with the real `clearwayd`.

Needs root, ip, tc and a kernel that makes namespaces, veths and token buckets: where one is missing, the
tests are skipped and say which.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway.runs import Run

from tests.conftest import Clearway, child, finished, written
from tests.testbeds import agents, gone, namespaces, running, what_is_missing

pytestmark = pytest.mark.slow

SCENARIO: dict[str, Any] = {
    "format": 1,
    "name": "short",
    "duration": "600ms",
    "warmup": "100ms",
    "network": {"topology": "star", "hosts": 3, "rate": "50Mbps", "delay": "10us", "mtu": "1400B"},
    "switch": {"default": {"buffer": "100kB"}},
    "transport": {"bulk": {"protocol": "swift", "base_target": "2ms"}},
    "traffic": [
        {"pattern": "incast", "transport": "bulk", "from": "1..3", "to": 0},
        {
            "pattern": "incast",
            "transport": "bulk",
            "from": "1..3",
            "to": 0,
            "bytes": "20kB",
            "start": "200ms",
        },
    ],
    "record": {"throughput": "50ms"},
}


@pytest.fixture(scope="module", autouse=True)
def _possible() -> None:
    if reason := what_is_missing():
        pytest.skip(reason)


@pytest.mark.parametrize("carrier", ["udp:swift", "tcp:reno"])
def test_a_scenario_runs_on_namespaces(workspace: Path, clearway: Clearway, carrier: str) -> None:
    file = written(workspace / "short.toml", SCENARIO)
    answer = clearway("testbed", "local", file, "--carrier", carrier, "-o", "real", "--json")
    assert answer.status == 0, answer.err
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert run.summary["completed"] == 2
    # No more than the port's rate, over which buckets and queues smear some.
    assert 0.02 < run.summary["goodput_gbps"] < 0.055
    assert run.summary["rtt_mean_us"] > 100
    assert run.flows["delivered_bytes"][2:].tolist() == [20_000, 20_000]
    assert len(json.loads(Path("real/PLAN.json").read_text())["flows"]) == 4
    # Of the network it sees the switch's ports.
    assert run.links["link"].tolist() == ["tor0>h0", "tor0>h1", "tor0>h2"]
    assert run.links["wire_bytes"][0] > run.links["wire_bytes"][1]
    assert run.summary["queue_peak_bytes"] <= 100_000
    assert run.testbed is not None
    assert [host["lost"] for host in run.testbed["hosts"]] == [None] * 3


def test_options_change_the_scenario_that_is_recorded(workspace: Path, clearway: Clearway) -> None:
    file = written(workspace / "short.toml", {**SCENARIO, "traffic": SCENARIO["traffic"][1:]})
    options = ("--rate", "20Mbps", "--buffer", "50kB", "--hosts", "4", "--set", "traffic[0].start=0us")
    assert clearway("testbed", "local", file, *options, "-o", "real").status == 0
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert run.scenario["network"]["rate"] == "20Mbps"
    assert run.scenario["switch"]["default"]["buffer"] == "50kB"
    # Two times 20 kB through 20 Mb/s, but for the first burst.
    assert run.flows["fct_us"].max() > 14_000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_was_measured_and_leaves_nothing_else(workspace: Path, number: int) -> None:
    file = written(workspace / "long.toml", {**SCENARIO, "duration": "60s", "measure_until": "60s"})
    process = child("testbed", "local", file, "--out", "real")
    running(process)
    process.send_signal(number)
    answer = finished(process)
    assert answer.status == 128 + number, answer.err
    assert namespaces(process.pid) == []
    assert gone(process.pid)
    if Path("real").exists():  # else it had not started
        assert "what was measured is written to real" in answer.err
        run = cw.load_run("real")
        assert isinstance(run, Run)
        assert run.interrupted_at_us is not None


def test_a_killed_agent_ends_the_run(workspace: Path) -> None:
    file = written(workspace / "long.toml", {**SCENARIO, "duration": "60s", "measure_until": "60s"})
    process = child("testbed", "local", file, "--out", "real")
    running(process)
    os.kill(agents(process.pid)[-1], signal.SIGKILL)
    answer = finished(process)
    assert answer.status == 1, answer
    assert namespaces(process.pid) == []
    assert gone(process.pid)
    if Path("real").exists():  # else it had not started
        assert "was lost" in answer.err
        assert "real has what was measured" in answer.err


def test_what_a_killed_one_leaves_the_next_removes(workspace: Path, clearway: Clearway) -> None:
    file = written(workspace / "long.toml", {**SCENARIO, "duration": "60s"})
    process = child("testbed", "local", file)
    running(process)
    process.kill()
    process.communicate()
    assert gone(process.pid)
    # All four namespaces are there, unless another test has begun one meanwhile: that removes them, too.
    assert len(namespaces(process.pid)) <= 4
    answer = clearway("testbed", "local", file, "--set", "duration=300ms")
    assert answer.status == 0, answer.err
    assert namespaces(process.pid) == []


@pytest.mark.parametrize(("delay_s", "starts"), [(0.0, True), (0.5, False)])
def test_what_starts_after_its_parent_died_ends_at_once(tmp_path: Path, delay_s: float, starts: bool) -> None:
    """A parent that is killed while `ip netns exec` still starts its child has no signal to give to it."""
    parent = f"""
import subprocess, time
from clearway.testbed.controller import dies_with_us
late = ["sh", "-c", 'sleep {delay_s}; exec "$@"', "sh", *dies_with_us(["touch", "started"])]
subprocess.Popen(late)
time.sleep(0.3)
"""
    subprocess.run([sys.executable, "-c", parent], check=True, timeout=30, cwd=tmp_path)
    time.sleep(1.0)
    assert (tmp_path / "started").exists() == starts


def test_it_says_what_is_missing(
    workspace: Path, clearway: Clearway, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(workspace / "short.toml", SCENARIO)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    answer = clearway("testbed", "local", file)
    assert (answer.status, "needs ip and tc" in answer.err) == (2, True)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    answer = clearway("testbed", "local", file)
    assert (answer.status, "needs root" in answer.err) == (2, True)
    answer = clearway("testbed", "local", file, "--hosts", "2")
    assert answer.status == 2
