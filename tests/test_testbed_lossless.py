"""A lossless testbed on namespaces of this machine: software switches with PFC, and real relays.

Needs root, ip, tc and a kernel that makes namespaces and TAP devices: where one is missing, the tests that
need them are skipped and say which.
"""

import json
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
import tomllib
from clearway import api
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.testbed import fabric, lossless

from tests.conftest import Clearway
from tests.testbeds import what_is_missing
from tools.hosts import distance, soak

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SCENARIO = ROOT / "scenarios/testbed_lossless.toml"
RELAYED, PLAIN = (
    str(ROOT / f"scenarios/topologies/{name}.toml") for name in ("long_link_relayed", "long_link")
)
SHORT = {"duration": "1500ms", "warmup": "500ms"}


def made_of(**sets: Any) -> lossless.Lossless:
    overrides = api.sets_of({key.replace("__", "."): value for key, value in sets.items()})
    return lossless.of(api.load_scenario(SCENARIO, overrides, None), "udp:none", None)


def needs_namespaces() -> None:
    if reason := what_is_missing():
        pytest.skip(reason)


# WHAT IS PLANNED


def test_the_network_is_that_of_the_scenario() -> None:
    links = made_of().links
    names = [links.name(link) for link in range(len(links.directed))]
    assert names[:2] == ["sender>west", "west>sender"]
    fibre = links.directed[links.named("relay0>relay1")]
    assert (fibre.rate_bps, fibre.delay_ns) == (100_000_000, 20_000_000)
    plan = json.loads(links.plan(1484, 5_000_000, []))
    assert [node["kind"] for node in plan["nodes"]] == ["host", "host", "switch", "relay", "relay", "switch"]
    of = dict(zip(names, plan["links"], strict=True))
    assert of["sender>west"]["pfc"]["xoff"] == 60_000
    assert of["sender>west"]["response_ns"] == 2_000_000
    assert (of["sender>west"]["device"], of["west>sender"]["device"]) == ("n0", None)
    # A relay has flow control of its own.
    assert of["west>relay0"]["pfc"] is None
    assert of["relay0>west"]["device"] == fabric.device(links.named("relay0>west"))


def test_headroom_is_for_the_frames_that_hosts_send() -> None:
    """2 ms and 1 us there and back of 100 Mb/s, and frames of the devices' MTU rather than the scenario's."""
    scenario = api.load_scenario(SCENARIO, [("switch.default.pfc_headroom", None)], None)
    links = lossless.of(scenario, "udp:none", None).links
    pfc = links.directed[links.named("sender>west")].pfc
    assert pfc is not None
    headroom = pfc["headroom_bytes"]
    assert headroom is not None
    assert 25_025 + 3 * 1522 <= headroom <= 25_025 + 6 * 1522


def test_a_relay_gets_the_link_and_the_memory_of_the_scenario() -> None:
    relayed = made_of(switch__relay__relay_buffer="2MB")
    local, fibre = relayed.links.of_relay(relayed.links.relays[0])
    assert relayed.links.name(fibre) == "relay0>relay1"
    relay = tomllib.loads(lossless.relay_config(relayed, local, fibre))["relay"]
    assert relay == {
        "rate": "100000000bps",
        "delay": "20000000ns",
        "local_delay": "1000ns",
        "response": "22000000ns",
        "priorities": [0],
        "mtu": "1484B",
        "remote_buffer": "2000000B",
    }


@pytest.mark.parametrize(
    ("sets", "carrier", "hosts", "said"),
    [
        ({}, "fastpass:rates", None, "fastpass:rates has queues of its own"),
        (
            {"network": {"topology": "star", "hosts": 300, "rate": "1Gbps"}, "switch.long": None},
            "udp:none",
            None,
            "the network has 300 hosts, and a testbed at most 256",
        ),
        ({}, "udp:none", 3, "--hosts: the network of --lossless is the scenario's"),
        (
            {"switch.default": {}, "switch.long": {}, "network.file": PLAIN},
            "udp:none",
            None,
            "no switch of the scenario has flow control",
        ),
        (
            {
                "network.file": PLAIN,
                "switch.long": {},
                "switch.default": {"pfc": "dynamic", "buffer": "1MB", "sharing": "shared"},
            },
            "udp:none",
            None,
            "pfc is dynamic",
        ),
        (
            {"network.file": PLAIN, "switch.long": {"pfc": "relay"}},
            "udp:none",
            None,
            "switch.long.pfc: a software switch has no relay inside",
        ),
    ],
)
def test_what_cannot_be_made_is_told(
    sets: dict[str, Any], carrier: str, hosts: int | None, said: str
) -> None:
    with pytest.raises(ClearwayError, match=said):
        lossless.of(api.load_scenario(SCENARIO, api.sets_of(sets), None), carrier, hosts)


# RUNS


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize(
    ("network", "carrier"), [(RELAYED, "udp:none"), (RELAYED, "udp:go_back_n"), (PLAIN, "udp:none")]
)
def test_a_long_link_carries_what_it_does_in_the_simulator(
    clearway: Clearway, network: str, carrier: str
) -> None:
    needs_namespaces()
    sets: dict[str, Any] = {**SHORT, "network.file": network}
    if carrier == "udp:go_back_n":
        sets |= {"transport.window": {"protocol": "go_back_n", "window": 2000, "rto": "1s", "header": "96B"}}
    words = [f"--set={key}={value}" for key, value in api.sets_of(sets)]
    answer = clearway("testbed", "local", SCENARIO, "--lossless", *words, "-o", "real")
    assert answer.status == 0, answer.err
    measured, simulated = cw.load_run("real"), cw.run(SCENARIO, sets)
    assert isinstance(measured, Run)
    assert measured.testbed is not None
    assert measured.testbed["carrier"] == carrier
    share = measured.summary["goodput_gbps"] / simulated.summary["goodput_gbps"]
    # Other tests run beside this one.
    assert 0.85 < share < 1.1
    assert measured.links["link"].tolist() == simulated.links["link"].tolist()
    assert measured.summary["drops"] == 0
    pauses = measured.table("pauses")
    assert {name: column.dtype.kind for name, column in pauses.items()} == {
        name: column.dtype.kind for name, column in simulated.table("pauses").items()
    }
    paused = dict(zip(pauses["link"], pauses["paused_us"], strict=True))
    assert paused["sender>west"] > 100_000
    refused = [
        port["refused"] for relay in measured.testbed["relays"].values() for port in relay["ports"].values()
    ]
    assert len(refused) == (4 if network == RELAYED else 0)
    assert all(sum(port.values()) == 0 for port in refused)
    for relay in measured.testbed["relays"].values():
        # 20 ms one way; what a busy machine adds to it is no delay that the link has.
        assert 20_000_000 <= relay["link"]["delay_ns"] < 25_000_000, relay["link"]
        assert relay["link"]["finding"] == "as_planned"


@pytest.mark.usefixtures("workspace")
def test_tcp_runs_over_a_lossless_network(clearway: Clearway) -> None:
    needs_namespaces()
    words = [f"--set={key}={value}" for key, value in api.sets_of(SHORT)]
    answer = clearway(
        "testbed", "local", SCENARIO, "--lossless", "--carrier", "tcp:reno", *words, "-o", "real"
    )
    assert answer.status == 0, answer.err
    run = cw.load_run("real")
    assert isinstance(run, Run)
    assert run.summary["goodput_gbps"] > 0.02


def test_nothing_is_lost_while_relays_are_restarted_and_less_headroom_loses() -> None:
    """The soak of an hour (docs/LOSSLESS.md), for seconds."""
    needs_namespaces()
    kept = soak.soak(12, 2, 1)
    assert kept.restarts.done == 2
    assert (kept.overflows, kept.overtaken, kept.restarts.lost) == (0, 0, [])
    assert kept.pauses > 1000
    assert kept.stored > 1000
    assert soak.soak(12, 0, 1, headroom=0.2).overflows > 0


def test_nothing_is_lost_while_relays_are_replaced() -> None:
    """Switches have headroom for their relays, and none for the long link."""
    needs_namespaces()
    kept = soak.soak(14, 4, 1, replaces=True)
    assert kept.restarts.done == 4
    assert (kept.overflows, kept.overtaken, kept.restarts.lost) == (0, 0, [])
    assert kept.stored > 1000


# THE FIGURE


def test_a_length_is_scaled_and_has_its_closed_forms() -> None:
    setting = distance.Setting(80, 0.5, has_relays=True)
    assert setting.delay_s == pytest.approx(0.08)
    assert setting.bdp_bytes == pytest.approx(10e6)
    # Equations (1) to (3) at half: twice 2D, and 4D until PAUSE and RESUME work.
    assert setting.cycle_s == pytest.approx(8 * setting.delay_s)


def test_the_simulated_length_follows_the_closed_forms(workspace: Path) -> None:
    for has_relays in (True, False):
        setting = distance.Setting(20, 0.5, has_relays)
        run = cw.run(SCENARIO, setting.sets(workspace))
        each = distance.Point(setting, run, run)
        assert each.share(run) == pytest.approx(each.law_share, rel=0.03)
        if has_relays:
            assert each.queue_bytes(run) == pytest.approx(each.law_queue_bytes, rel=0.1)
