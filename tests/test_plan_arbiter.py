"""The planner of arbiters on the command line and from Python."""

import json
from typing import Any

import clearway as cw
import pytest
from clearway import arbiter_check
from clearway.arbiter_planning import OPTIONS, limits

from tests.conftest import Answer, Clearway

RACK = ("plan", "arbiter", "--hosts", "32", "--rate", "10Gbps")
FEW = ("plan", "arbiter", "--hosts", "2", "--rate", "10Gbps")


_PLANS: dict[tuple[str, ...], str] = {}
"""What was printed for each command line: a plan takes tenths of a second, and is the same each time."""


def planned(clearway: Clearway, *more: str, of: tuple[str, ...] = RACK) -> Any:
    line = (*of, *more, "--json")
    if line not in _PLANS:
        answer = clearway(*line)
        assert answer.status == 0, answer
        _PLANS[line] = answer.out
    return json.loads(_PLANS[line])


def test_the_figures_of_a_rack(clearway: Clearway) -> None:
    plan = planned(clearway)
    assert plan["network"]["slot_us"] == pytest.approx(1538 * 8 / 10e3 / 0.99, abs=1e-6)
    data = 32 * 0.6 / plan["network"]["slot_us"] * 1e6
    assert plan["grants_per_s"] == pytest.approx(data * plan["slots_per_packet"])
    assert plan["goodput_gbps"] == pytest.approx(data * 1448 * 8 / 1e9)
    # Hosts ask every 34 us at most, and each is told of nearly every batch of 16.
    assert 0.9 * 32 / 34e-6 < plan["requests_per_s"] < 1.02 * 32 / 34e-6
    assert 0.9 < plan["allocations_per_s"] / (32 * 1e6 / 16 / plan["network"]["slot_us"]) < 1.02
    cores, costs = plan["cores"], plan["costs"]
    assert cores["allocation"] == pytest.approx(plan["grants_per_s"] * costs["grant_ns"] / 1e9)
    packets = plan["requests_per_s"] + plan["allocations_per_s"]
    assert cores["packets"] == pytest.approx(packets * 660 / 1e9)
    assert (cores["paths"], cores["whole"]) == (0, 2)
    # 50 us ahead, half a batch, and the wait for a request.
    assert 70 < plan["first_slot"]["mean_us"] < plan["last_slot"]["mean_us"] < plan["last_slot"]["p99_us"]
    assert limits(plan) == []


def test_each_option_counts(clearway: Clearway) -> None:
    plain = planned(clearway, of=FEW)
    for more, key in [
        (("--load", "0.3"), "grants_per_s"),
        (("--message", "100"), "slots_per_packet"),
        (("--slot", "2us"), "goodput_gbps"),
        (("--mtu", "4096B"), "goodput_gbps"),
        (("--racks", "2"), "cores"),
        (("--batch", "64"), "allocations_per_s"),
        (("--ahead", "100"), "first_slot"),
        (("--request-interval", "100us"), "requests_per_s"),
        (("--delay", "5us"), "ahead_least"),
        (("--arbiter-latency", "20us"), "ahead_least"),
        (("--arbiters", "8"), "host_link"),
        (("--arbiter-rate", "40Gbps"), "arbiter_link"),
        (("--grant-ns", "50"), "cores"),
        (("--packet-ns", "50"), "cores"),
    ]:
        assert planned(clearway, *more, of=FEW)[key] != plain[key], more
    racks = planned(clearway, "--racks", "2", of=FEW)
    for more in (("--path-ns", "50"), ("--paths", "32")):
        changed = planned(clearway, "--racks", "2", *more, of=FEW)
        assert changed != racks, more


def test_what_it_cannot_do_is_said(clearway: Clearway) -> None:
    for more, words in [
        (("--load", "0.99"), "More is asked for than can be granted"),
        (("--load", "0.75"), "waits grow steeply"),
        (("--grant-ns", "100"), "Allocation takes 1.7"),
        (("--arbiter-rate", "1Gbps"), "The arbiter's link has room for what 2"),
        (("--arbiters", "8"), "Requests, to 8 arbiters, take 1.6"),
        (("--delay", "40us"), "Grants come too late: the last host hears of a batch 7"),
        (("--ahead", "49"), "Endpoints refuse grants for a batch that is more than 48 slots ahead"),
    ]:
        answer = clearway(*RACK, *more)
        assert answer.status == 0
        assert words in " ".join(answer.out.split()), (more, answer.out)


def test_the_table_shows_it(clearway: Clearway) -> None:
    text = " ".join(clearway(*RACK, "--racks", "4").out.split())
    for words in (
        "32 hosts of 10 Gb/s in 4 racks, 4 paths, each with data in 60 % of its slots of 1.243 us",
        "in messages of 10 packets",
        "cores to select paths",
        "ns a packet",
        "slots ahead, least and most",
    ):
        assert words in text, text
    assert "select paths" not in clearway(*RACK).out


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--racks", "4"),
        ("--message", "1", "--load", "0.3"),
        ("--message", "100"),
        ("--batch", "64", "--ahead", "64"),
        ("--rate", "100Gbps", "--ahead", "400"),
    ],
)
def test_hosts_do_as_planned(more: tuple[str, ...], clearway: Clearway) -> None:
    plan = planned(clearway, *more, "--check")
    assert plan["check"]["passed"], plan["check"]
    assert len(plan["check"]["figures"]) == 6


def test_a_check_sees_what_is_not_as_planned(clearway: Clearway, monkeypatch: pytest.MonkeyPatch) -> None:
    # The network that is simulated asks for each slot twice as long ahead.
    scenario = arbiter_check._scenario
    monkeypatch.setattr(
        arbiter_check,
        "_scenario",
        lambda plan, slots: (
            scenario(plan, slots).replace("ahead = 40", "ahead = 140").replace("80080000ps", "1ms")
        ),
    )
    answer = clearway(*RACK, "--load", "0.3", "--check")
    assert answer.status == 1, answer
    assert "NOT AS PLANNED" in answer.out


def test_python_plans_the_same(clearway: Clearway) -> None:
    assert cw.plan_arbiter(hosts=32, rate="10Gbps", load=0.3, message=4) == planned(
        clearway, "--load", "0.3", "--message", "4"
    )
    with pytest.raises(cw.ClearwayError, match="hots: no such option"):
        cw.plan_arbiter(hots=32, rate="10Gbps")
    with pytest.raises(cw.ClearwayError, match=r"^hosts: is missing"):
        cw.plan_arbiter(rate="10Gbps")


def test_what_a_grant_costs_can_be_measured(clearway: Clearway) -> None:
    plan = planned(clearway, "--racks", "4", "--measure")
    assert plan["costs"]["measured"]
    assert 0 < plan["costs"]["grant_ns"] < 10_000
    assert 0 < plan["costs"]["path_ns"] < 10_000
    assert plan["costs"]["grant_ns"] != planned(clearway, "--racks", "4")["costs"]["grant_ns"]
    refused(clearway(*RACK, "--measure", "--grant-ns", "5"), "--grant-ns: is given and to be measured")


def test_help_names_every_option(clearway: Clearway) -> None:
    text = clearway("plan", "arbiter", "--help").out
    assert all(f"--{name.replace('_', '-')}" in text for name in OPTIONS)
    assert "arbiter" in clearway("plan", "--help").out


def refused(answer: Answer, *words: str) -> None:
    assert answer.status == 2, answer
    assert answer.out == ""
    for word in words:
        assert word in answer.err, answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hosts", "1"], ["--hosts", "from 2 to 8192"]),
        (["--hosts", "100000"], ["--hosts", '"100000"', "from 2 to 8192"]),
        (["--hosts", "many"], ["--hosts", '"many"']),
        (["--rate", "10"], ["--rate", "such as 400Gbps"]),
        (["--rate", "1Mbps"], ["--rate: makes slots of 12428us; the longest", "is 100us"]),
        (
            ["--slot", "1us"],
            ["--slot: 1us is shorter than a frame of 1538B takes on a link of 10Gbps, 1.2304us"],
        ),
        (["--slot", "1s"], ["--slot", "a time from 0us to 100us"]),
        (["--load", "0"], ["--load", "from 0.01 to 1"]),
        (["--load", "nan"], ["--load", "from 0.01 to 1"]),
        (["--message", "0"], ["--message", "from 1 to 1000"]),
        (["--batch", "65"], ["--batch", "from 1 to 64"]),
        (["--racks", "5"], ["--racks: 32 hosts cannot be 5 racks"]),
        (["--racks", "129"], ["--racks", "from 1 to 128"]),
        (["--paths", "4"], ["--paths: one rack has one path"]),
        (["--delay", "1s"], ["--delay", "a time from 0us to 10ms"]),
        (["--arbiters", "9"], ["--arbiters", "from 1 to 8"]),
        (["--grant-ns", "-1"], ["--grant-ns", "from 0.1"]),
        (["--mtu", "64B"], ["--mtu", "a size from 256B"]),
        (["--load", "0.99", "--check"], ["--check: more is asked for than can be granted"]),
        (["--arbiter-latency", "60us", "--check"], ["--check", "slots ahead are needed, and --ahead is 40"]),
        (["--hosts", "x", "--load", "x", "--batch", "x"], ["--hosts", "--load", "--batch"]),
    ],
)
def test_wrong_options(arguments: list[str], words: list[str], clearway: Clearway) -> None:
    refused(clearway(*RACK, *arguments), *words)
