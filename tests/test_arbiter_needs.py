"""The arithmetic of what an arbiter needs."""

from dataclasses import replace

import pytest
from clearway.arbiter_needs import Network, grant_ns, path_ns

FEW = 1e5
US = 10**6


def network(hosts: int) -> Network:
    return Network(
        hosts=hosts,
        rate=10**10,
        arbiter_rate=10**10,
        frame=1538,
        payload=1448,
        slot=1_242_828,
        racks=1,
        paths=1,
        batch=16,
        ahead=40,
        interval=34 * US,
        load=0.6,
        message=10,
        delay=US,
        latency=0,
        arbiters=1,
        grant_ns=5.0,
        path_ns=7.0,
        packet_ns=600.0,
    )


def test_costs_are_those_that_were_measured() -> None:
    for hosts, ns in ((256, 3.1), (1024, 3.4), (4096, 4.5), (16, 3.1)):
        assert grant_ns(hosts, 64) == pytest.approx(ns, rel=0.02)
    assert grant_ns(256, 16) == pytest.approx(5.0, rel=0.02)
    assert path_ns(16) == pytest.approx(6.8)
    assert path_ns(100) == pytest.approx(23.0)


def test_what_each_core_does_adds_up() -> None:
    needs = network(64).needs(grants=FEW)
    # 0.6 of the slots of 64 hosts, and some of acknowledgements.
    slots = needs["slots_per_packet"]
    assert 1.05 < slots < 1.2
    assert needs["grants_per_s"] == pytest.approx(64 * 0.6 * slots / 1.242828e-6, rel=0.02)
    cores, requests = needs["cores"], needs["requests_per_s"]
    assert (cores["allocation"], cores["paths"]) == (pytest.approx(needs["grants_per_s"] * 5e-9), 0.0)
    assert cores["packets"] == pytest.approx((requests + needs["allocations_per_s"]) * 600e-9)
    # Hosts ask every 34 us at most, and are told once a batch.
    assert 0.9 * 64 / 34e-6 < requests <= 1.01 * 64 / 34e-6
    assert needs["allocations_per_s"] * 1.242828e-6 * 16 / 64 > 0.9
    racks = replace(network(64), racks=4, paths=4).needs(grants=FEW)
    assert racks["cores"]["paths"] == pytest.approx(racks["grants_per_s"] * 7e-9)


def test_who_is_farther_or_slower_needs_to_be_further_ahead() -> None:
    near = network(16).needs(grants=FEW)
    far = replace(network(16), delay=20 * US).needs(grants=FEW)
    # Two links of 19 us more; how many allocations there are hardly changes.
    assert far["told_us"] - near["told_us"] == pytest.approx(38.0, abs=0.1)
    late = replace(network(16), latency=50 * US).needs(grants=FEW)
    assert (late["ahead_least"], near["ahead_most"]) == (near["ahead_least"] + 40, 48)
    # At ten times the rate a slot is a tenth, and so is what is told on the link, but not in a core.
    fast = replace(network(16), rate=10**11, arbiter_rate=10**11, slot=124_282).needs(grants=FEW)
    assert fast["cores"]["allocation"] > 9 * near["cores"]["allocation"]
    assert fast["ahead_least"] > near["ahead_least"]
    assert fast["goodput_gbps"] / near["goodput_gbps"] == pytest.approx(10.0, rel=0.02)


def test_an_arbiters_link_has_room_for_so_many_hosts() -> None:
    needs = network(64).needs(grants=FEW)
    assert needs["arbiter_link"]["allocations"] < 1
    more = network(needs["hosts_told"] + 20).needs(grants=FEW)
    assert more["arbiter_link"]["allocations"] > 1
    assert replace(network(16), load=1.0).needs(grants=FEW)["falls_behind"]
