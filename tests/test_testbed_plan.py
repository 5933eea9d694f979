"""What hosts are told to do: plans of scenarios, and what of a scenario they cannot do."""

import json
from pathlib import Path
from typing import Any

import pytest
from clearway import api
from clearway.testbed.given import given_keys
from clearway.testbed.plan import Plan, plan_of

from tests.conftest import Clearway, nothing_but, written
from tests.testbeds import SCENARIO, run_on_hosts, two_flows

MS = 1_000_000


@pytest.fixture
def scenario(workspace: Path) -> Path:
    return two_flows(workspace)


def planned(file: Path, carrier: str = "udp:swift", **sets: str) -> Plan:
    overrides = api.sets_of({key.replace("__", "."): value for key, value in sets.items()})
    loaded = api.load_scenario(file, overrides, None)
    return plan_of(loaded, carrier, ["h0", "h1", "h2"], given_keys(file, overrides))


def test_a_plan_has_the_flows_hosts_and_parameters(scenario: Path) -> None:
    text = json.loads(planned(scenario).text())
    flows = text.pop("flows")
    swift = text.pop("parameters")
    assert text == {
        "version": 1,
        "carrier": "udp:swift",
        "mtu": 1384,
        "until_ns": 100 * MS,
        "sample_every_ns": 10 * MS,
        "hosts": ["h0", "h1", "h2"],
    }
    ends = [(flow["id"], flow["source"], flow["destination"], flow["bytes"]) for flow in flows]
    assert ends == [(0, 1, 0, 1_000_000), (1, 2, 0, 1_000_000), (2, 1, 2, None)]
    assert all("after" not in flow and flow["start_ns"] == 0 for flow in flows)
    # What the file gives, the network's defaults, and of hosts only what the file gives.
    assert (swift["base_target"], swift["initial_rto"], swift["fs_range"]) == ("300us", "7ms", "75us")
    assert not {"min_rto", "endpoint_target", "protocol", "header"} & set(swift)


def test_what_is_set_on_the_command_line_counts_as_given(scenario: Path) -> None:
    swift = planned(scenario, transport__bulk__min_rto="9ms").parameters
    assert swift["min_rto"] == "9ms"
    assert "max_cwnd" not in planned(scenario, "quic:swift").parameters
    assert planned(scenario, "tcp:cubic").parameters == {}


def test_a_closed_loop_is_chains_of_operations(workspace: Path) -> None:
    loop = {"pattern": "closed_loop", "transport": "bulk", "from": 1, "to": 0, "operation": "write"}
    traffic = [{**loop, "bytes": "100kB", "outstanding": 2}]
    plan = planned(written(workspace / "loop.toml", {**SCENARIO, "traffic": traffic}))
    flows = json.loads(plan.text())["flows"]
    # 100 kB take 800 us at 1 Gb/s, so at most 125 of them and one more in 100 ms.
    assert len(flows) == 2 * 126
    heads = [flow["id"] for flow in flows if "after" not in flow]
    assert heads == [0, 126]
    assert all(flow["after"] == flow["id"] - 1 for flow in flows if "after" in flow)
    assert [flow.id for flow in plan.flows if flow.is_last] == [125, 251]


def test_a_flow_that_starts_after_the_end_is_not_told_of(workspace: Path) -> None:
    rows = ("start,from,to,bytes", "0us,0,1,1kB", "99ms,1,2,1kB", "200ms,2,0,9B")
    (workspace / "trace.csv").write_text("\n".join(rows) + "\n")
    traffic = [{"pattern": "trace", "transport": "bulk", "file": "trace.csv"}]
    plan = planned(written(workspace / "trace.toml", {**SCENARIO, "traffic": traffic}))
    assert [flow.start_ns for flow in plan.flows] == [0, 99 * MS]
    assert [(flow.flow, flow.start_ns) for flow in plan.later] == [(2, 200 * MS)]
    assert len(json.loads(plan.text())["flows"]) == 2


@pytest.mark.parametrize(
    ("change", "carrier", "words"),
    [
        ({}, "udp:cubic", "udp:cubic: there is no such carrier"),
        ({}, "tcp:", "there is no such carrier"),
        ({"network.hosts": 4, "traffic[0].from": "3", "traffic[0].to": 0}, "udp:swift", "needs host 3"),
        ({"traffic[1].stop": "50ms"}, "udp:swift", "traffic[1].stop: an agent does not stop"),
        ({"traffic[0].start": "5s", "traffic[1].start": "5s"}, "udp:swift", ""),
    ],
)
def test_what_hosts_cannot_do_is_bad_input(
    scenario: Path, clearway: Clearway, change: dict[str, Any], carrier: str, words: str
) -> None:
    sets = [word for key, value in change.items() for word in ("--set", f"{key}={value}")]
    answer = run_on_hosts(clearway, scenario, "--carrier", carrier, *sets)
    assert answer.status == 2, answer
    assert words in answer.err
    assert answer.err.startswith("error: ")


@pytest.mark.parametrize(
    ("hosts", "words"),
    [
        ("", "host: found no table [[host]]"),
        ("host = 3\n", "host: found no table [[host]]"),
        ('[[host]]\ncontrol = "a:1"\n', "host[0].name: missing"),
        ('[[host]]\nname = "a"\n[[host]]\nname = "a"\n', "host[1].name: a is host[0], too"),
        ("[[host\n", "hosts.toml:1"),
    ],
)
def test_hosts_are_checked(scenario: Path, clearway: Clearway, hosts: str, words: str) -> None:
    Path("hosts.toml").write_text(hosts)
    answer = run_on_hosts(clearway, scenario)
    assert (answer.status, words in answer.err) == (2, True), answer.err
    Path("hosts.toml").unlink()
    assert run_on_hosts(clearway, scenario).status == 2
    assert nothing_but(scenario.parent, "two.toml")
