"""A scenario with an arbiter on hosts: the deployment of its plan, and runs on namespaces of this machine.

The runs need root, ip, tc and a kernel that has what each mode takes (for `rates` its types, BTF; for `slots`
TUN devices): where one is missing they are skipped and say which.
"""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import api, daemon
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.testbed import local, ports, queues
from clearway.testbed.fastpass import deployed
from clearway.testbed.given import given_keys
from clearway.testbed.hosts import Host
from clearway.testbed.plan import Plan, plan_of
from clearway.testbed.reading import Measured

from tests.conftest import Clearway, child, finished
from tests.testbeds import agents, gone, namespaces, running, two_flows, what_is_missing

pytestmark = pytest.mark.slow

SCENARIO = Path(__file__).parent.parent / "scenarios/testbed_fastpass.toml"
MODES = ("rates", "slots")


def planned(carrier: str = "fastpass:rates", **sets: str) -> Plan:
    """Plan the scenario for namespaces of this machine."""
    overrides = api.sets_of({key.replace("__", "."): value for key, value in sets.items()})
    return local.plan_of(
        api.load_scenario(SCENARIO, overrides, None),
        carrier,
        None,
        given_keys(SCENARIO, overrides),
        is_star=True,
    )


def planned_for(machines: Sequence[Host], carrier: str = "fastpass:rates", **sets: str) -> Plan:
    """Plan the scenario for other machines."""
    overrides = api.sets_of({key.replace("__", "."): value for key, value in sets.items()})
    scenario = api.load_scenario(SCENARIO, overrides, None)
    given = given_keys(SCENARIO, overrides)
    plan = plan_of(scenario, carrier, [machine.name for machine in machines], given)
    return deployed(plan, machines, given, has_one_switch=False)


# PLANS


@pytest.mark.parametrize("mode", MODES)
def test_the_plan_has_the_deployment(mode: str) -> None:
    plan = planned(f"fastpass:{mode}")
    text = json.loads(plan.text())
    assert text["carrier"] == "tcp:cubic"
    assert text["hosts"] == [f"h{n}" for n in range(7)]
    file = text["fastpass"]["file"]
    assert f'[endpoint]\nmode = "{mode}"\n' in file
    assert 'topology = "star"\nhosts = 5\nrate = "200Mbps"\n' in file
    assert 'at = ["h5", "h6"]' in file
    # What the file gives, and nothing that it leaves to defaults.
    assert 'slot = "500us"' in file
    assert "fault_isolation" not in file
    prefix = {"rates": "10.198.0.2", "slots": "10.197.0.2"}[mode]
    assert f'name = "h1"\ncontrol = "10.199.0.2:7600"\nprefixes = ["{prefix}"]\ndata = "10.198.0.2"\n' in file
    assert file.endswith('[[host]]\nname = "h6"\ncontrol = "10.199.0.7:7600"\n')
    assert not any("[arbiter]" in warning for warning in plan.warnings)
    assert any("[arbiter]" in warning for warning in planned("tcp:cubic").warnings)


def test_traffic_goes_to_the_addresses_behind_endpoints() -> None:
    rates, slots = planned("fastpass:rates").fastpass, planned("fastpass:slots").fastpass
    assert rates is not None
    assert slots is not None
    assert rates.hosts is None
    assert slots.hosts is not None
    assert 'name = "h0"\ncontrol = "10.199.0.1:7400"\ndata = "10.197.0.1"\n' in slots.hosts
    assert slots.hosts.endswith('name = "h6"\ncontrol = "10.199.0.7:7400"\n')


def test_timeslots_that_are_too_short_for_hosts_are_left_to_them() -> None:
    sets = {"arbiter__slot": "10us", "arbiter__watchdog": "1us", "arbiter__order": "min_fct"}
    plan = planned(network__rate="10Gbps", **sets)
    assert plan.fastpass is not None
    words = plan.fastpass.text.partition("[arbiter]\n")[2].partition("\n[")[0]
    assert "slot" not in words
    assert "watchdog" not in words
    assert 'order = "min_fct"\n' in words
    assert "arbiter.slot: 10us is too short for hosts, which have their own" in plan.warnings
    assert "arbiter.slot: hosts have timeslots of 100us, unless it says 20us or more" in plan.warnings


def test_real_hosts_are_where_hosts_toml_says() -> None:
    machines = [Host(f"n{n}", f"192.0.2.{n}:7400", f"198.51.100.{n}") for n in range(7)]
    plan = planned_for([*machines[:6], Host("n6", "[2001:db8::6]:7400")])
    assert plan.fastpass is not None
    assert 'name = "n0"\ncontrol = "192.0.2.0:7600"\nprefixes = ["198.51.100.0"]' in plan.fastpass.text
    assert 'at = ["n5", "n6"]' in plan.fastpass.text
    assert plan.fastpass.text.endswith('name = "n6"\ncontrol = "[2001:db8::6]:7600"\n')
    assert planned_for(machines, "tcp:cubic").fastpass is None


def test_arbiters_know_the_fabric() -> None:
    words = {"topology": "leaf_spine", "leaves": "2", "spines": "2", "hosts_per_leaf": "4"}
    unset = {"network.hosts": None, **{f"network.{key}": value for key, value in words.items()}}
    overrides = [*unset.items(), ("arbiter.at", "h7")]
    scenario = api.load_scenario(SCENARIO, overrides, None)
    given = given_keys(SCENARIO, overrides)
    machines = [Host(f"h{n}", f"192.0.2.{n}:7400") for n in range(8)]
    names = [machine.name for machine in machines]
    plan = plan_of(scenario, "fastpass:rates", names, given)
    fabric = deployed(plan, machines, given, has_one_switch=False).fastpass
    assert fabric is not None
    assert 'topology = "leaf_spine"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n' in fabric.text
    assert fabric.text.count("prefixes") == 8
    with pytest.raises(ClearwayError, match="this leaf_spine has 8 hosts, and there are 7"):
        deployed(replaced_arbiter(plan), machines[:7], given, has_one_switch=False)


def replaced_arbiter(plan: Plan) -> Plan:
    """Have the arbiter at a host that there is."""
    plan.resolved["arbiter"]["at"] = ["h6"]
    return plan


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        (
            {"arbiter__at": "h9", "network__hosts": "10"},
            "arbiter.at: h9 is host 9, counted from 0, and there are 7",
        ),
        ({"arbiter__at": "tor0"}, "arbiter.at: tor0 is no host"),
    ],
)
def test_arbiters_need_hosts(sets: dict[str, str], words: str) -> None:
    machines = [Host(f"h{n}", f"192.0.2.{n}:7400") for n in range(7)]
    with pytest.raises(ClearwayError) as error:
        planned_for(machines, **sets)
    assert words in str(error.value)


def test_hosts_with_one_address_are_told() -> None:
    machines = [Host(f"h{n}", f"127.0.0.1:{7400 + n}") for n in range(7)]
    with pytest.raises(ClearwayError, match=r"the hosts h0 and h1 are both at 127.0.0.1"):
        planned_for(machines)


def test_without_an_arbiter_it_says_so(clearway: Clearway, workspace: Path) -> None:
    file = two_flows(workspace)
    answer = clearway("testbed", "local", file, "--carrier", "fastpass:slots")
    if answer.err.startswith("error: a local testbed"):
        pytest.skip(answer.err)
    assert answer.status == 2
    assert "--carrier fastpass:slots: the scenario has no [arbiter]" in answer.err


def _program() -> str:
    try:
        return daemon.program()
    except ClearwayError as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("mode", MODES)
def test_an_arbiter_takes_the_file(workspace: Path, mode: str) -> None:
    """It goes as far as to its address, which this machine has not."""
    plan = planned(f"fastpass:{mode}")
    assert plan.fastpass is not None
    (workspace / "file.toml").write_text(plan.fastpass.text)
    clearwayd = _program()
    run = [clearwayd, "keys", "--days", "2", "keys", "h5"]
    subprocess.run(run, check=True, capture_output=True)
    command = [clearwayd, "arbiter", "file.toml", "--keys", "keys", "--name", "h5", "--state", "."]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode != 0
    assert "10.199.0.6: " in done.stderr
    assert "file.toml" not in done.stderr


def test_what_cannot_start_is_bad_input(workspace: Path, clearway: Clearway) -> None:
    """Its port is taken: the run does not begin, and says whose it was."""
    names = ("h0", "h1", "h2")
    clearwayd = _program()
    subprocess.run([clearwayd, "keys", "--days", "2", "keys", *names, "controller"], check=True)
    with ExitStack() as stack:
        hosts = ""
        for number, name in enumerate(names):
            taken = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            taken.bind((f"127.0.28.{number + 1}", 7600))
            command = [clearwayd, "agent", "--keys", "keys", "--name", name]
            agent = stack.enter_context(
                subprocess.Popen(
                    [*command, "--listen", f"127.0.28.{number + 1}:0"],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
            )
            stack.callback(agent.terminate)
            assert agent.stdout is not None
            at = agent.stdout.readline().removeprefix("listening at ").strip()
            hosts += Host(name, at).entry(None)
        (workspace / "hosts.toml").write_text(hosts)
        sets = ("network.hosts=3", "arbiter.at=h2", "traffic[0].from=1", "duration=300ms", "warmup=0us")
        options = [word for each in sets for word in ("--set", each)]
        where = ("--hosts", "hosts.toml", "--keys", "keys", "--name", "controller")
        answer = clearway("testbed", "run", SCENARIO, *where, *options, "-o", "real")
    assert answer.status == 2, answer
    if "the kernel does not take the program: Operation not permitted" in answer.err:
        pytest.skip(answer.err)
    assert "7600: " in answer.err
    assert "its arbiter: " in answer.err or "its endpoint: " in answer.err
    assert not Path("real").exists()


# WHAT IS READ


def test_samples_of_ports_are_a_table_of_links(workspace: Path) -> None:
    """A port of 100 Mb/s that sends a frame of 1476 bytes, 1500 on the wire, in each sample, of 10 ms."""
    rows = [
        ports.SAMPLE.pack(5_000_000_000 + n * 10_000_000, 3, n, n * 1476, 3000 if n % 2 else 1000, n // 50)
        for n in range(101)
    ]
    (workspace / "ports").write_bytes(b"".join(rows) + b"cut off")
    seen = queues.read(workspace / "ports", Measured(started_at_ns=5_000_000_000), 0.1)
    assert seen is not None
    table = queues.links(seen, (200_000.0, 1_000_000.0), 1_000_000.0)
    simulated = cw.run(SCENARIO, {"duration": "10ms", "warmup": "1ms"}).table("links")
    assert {name: column.dtype.kind for name, column in table.items()} == {
        name: column.dtype.kind for name, column in simulated.items()
    }
    row = {name: column[0] for name, column in table.items()}
    assert (row["link"], row["frames"], row["wire_bytes"], row["drops"]) == ("tor0>h3", 80, 120_000, 2)
    assert (row["queue_mean_bytes"], row["queue_peak_bytes"]) == (2000.0, 3000)
    assert row["utilisation"] == pytest.approx(120_000 * 8 / 0.8e8)
    held = queues.series(seen, 250_000.0, 1_000_000.0)
    assert held["queue_bytes"].tolist() == [3000, 1000, 3000, 1000]
    assert set(held["link"]) == {"tor0>h3"}
    assert queues.read(workspace / "nothing", Measured(started_at_ns=1), 0.1) is None


# RUNS


@pytest.fixture(scope="module")
def _possible() -> None:
    if reason := what_is_missing():
        pytest.skip(reason)


def run_or_skip(clearway: Clearway, mode: str, *more: object) -> Run:
    """Run the scenario for a second; skip where this kernel has not what the mode takes."""
    options = ("--carrier", f"fastpass:{mode}", "--set", "duration=1s", "--set", "warmup=300ms")
    answer = clearway("testbed", "local", SCENARIO, *options, *more, "-o", "real")
    if answer.status == 2 and "its endpoint: " in answer.err:
        pytest.skip(answer.err)
    assert answer.status == 0, answer.err
    run = cw.load_run("real")
    assert isinstance(run, Run)
    return run


@pytest.mark.usefixtures("_possible")
@pytest.mark.parametrize("mode", MODES)
def test_a_scenario_runs_in_timeslots(clearway: Clearway, mode: str) -> None:
    run = run_or_skip(clearway, mode)
    simulated = cw.run(SCENARIO, {"duration": "100ms", "warmup": "10ms"})
    assert set(run.tables) == set(simulated.tables)
    for name, table in run.tables.items():
        assert {key: of.dtype.kind for key, of in table.items()} == {
            key: of.dtype.kind for key, of in simulated.table(name).items()
        }, name
    assert set(run.summary) == set(simulated.summary)
    assert {key for key, value in run.summary.items() if value is None} == set(run.summary["absent"])
    endpoints = run.table("endpoints")
    assert endpoints["host"].tolist() == [0, 1, 2, 3, 4]
    assert (endpoints["slots_granted"][1:] > 0).all()
    assert (endpoints["slots_used"][1:] > 0).all()
    assert run.summary["slots_granted"] == endpoints["slots_granted"].sum()
    arbiters = run.table("arbiters")
    assert arbiters["node"].tolist() == ["h5", "h6"]
    assert sorted(arbiters["role"].tolist()) == ["primary", "standby"]
    assert arbiters["slots_granted"].sum() > 0
    assert run.flows["delivered_bytes"].min() > 0
    links = dict(zip(run.links["link"].tolist(), run.links["queue_peak_bytes"].tolist(), strict=True))
    assert set(links) == {f"tor0>h{n}" for n in range(7)}
    assert np.nanmax(run.links["utilisation"]) <= 1.1
    clearway("run", SCENARIO, "--set", "duration=200ms", "--set", "warmup=50ms", "--out", "simulated")
    answer = clearway("compare", "simulated", "real")
    assert (answer.status, "timeslots granted" in answer.out) == (0, True)


@pytest.mark.usefixtures("_possible")
def test_the_usual_carrier_is_that_of_the_scenario(clearway: Clearway) -> None:
    answer = clearway(
        "testbed", "local", SCENARIO, "--set", "duration=300ms", "--set", "warmup=0us", "-o", "real"
    )
    if answer.status == 2 and "its endpoint: " in answer.err:
        pytest.skip(answer.err)
    assert "over fastpass:rates" in answer.out


@pytest.mark.usefixtures("_possible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_arbiters_and_endpoints_end_with_the_command(clearway: Clearway, number: int) -> None:
    run_or_skip(clearway, "rates")
    process = child("testbed", "local", SCENARIO, "--set", "duration=60s", "--out", "long")
    running(process)
    while process.poll() is None and len(agents(process.pid, "arbiter", "endpoint")) < 7:
        time.sleep(0.05)
    process.send_signal(number)
    if number == signal.SIGKILL:
        process.communicate()
    else:
        answer: Any = finished(process)
        assert answer.status == 128 + number, answer.err
        assert namespaces(process.pid) == []
    assert gone(process.pid)
    # Namespaces of one that was killed the next run removes.
    assert (
        clearway("testbed", "local", SCENARIO, "--set", "duration=300ms", "--set", "warmup=0us").status == 0
    )
    assert namespaces(process.pid) == []


@pytest.mark.usefixtures("_possible")
def test_an_endpoint_that_dies_is_told(clearway: Clearway) -> None:
    run_or_skip(clearway, "rates")
    process = child("testbed", "local", SCENARIO, "--set", "duration=3s", "--out", "long")
    running(process)
    while process.poll() is None and len(agents(process.pid, "arbiter", "endpoint")) < 7:
        time.sleep(0.05)
    os.kill(agents(process.pid, "endpoint")[-1], signal.SIGKILL)
    answer = finished(process)
    assert gone(process.pid)
    # It may have been before the run began.
    assert answer.status in (0, 1), answer
    assert "its endpoint" in answer.err
