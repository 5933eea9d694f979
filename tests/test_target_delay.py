"""The arithmetic of target delays: frames of a microsecond, and acknowledgements of a tenth of that."""

import math
from dataclasses import replace

import pytest
from clearway.target_delay import TargetPlan, below, density

US = 10**6


def plan(flows: int, switches: int) -> TargetPlan:
    return TargetPlan(
        rate=8 * 10**9,
        delay=450_000,
        frame=1000,
        ack=100,
        payload=900,
        switches=switches,
        flows=flows,
        few=4,
        jitter=3 * US,
        flow_scaling=True,
    )


def test_the_base_target_is_a_link_and_what_waits_and_each_switch_adds_a_link() -> None:
    found = plan(100, 5).parameters
    # 1 us and 0.1 us and twice 0.45 us for a link; four frames; three microseconds of hosts.
    assert (found.hop_scaling, found.base_target) == (2 * US, (2 + 4 + 3) * US)
    assert plan(100, 5).empty(5) == 12 * US
    assert found.target(found.fs_max_cwnd, 5) == (12 + 4 + 3) * US


def test_the_range_is_the_queue_of_all_flows_less_that_of_one() -> None:
    # sqrt(pi 128 / 8) - sqrt(pi / 8).
    found = plan(128, 1).parameters
    assert found.fs_range == 6_463_158
    # 4 us empty, 7 us more, and the range, in frames of 1 us, over 128 flows.
    assert found.fs_min_cwnd == pytest.approx((11.0 + 6.463158) / 128.0)
    assert found.fs_max_cwnd == pytest.approx(11.0)


def test_one_flow_needs_no_scaling_and_waits_for_nobody() -> None:
    alone = plan(1, 3)
    assert alone.range == 0
    outcome = alone.outcome(1, 3)
    assert (outcome.rtt, outcome.share) == (8 * US, 1.0)
    assert alone.goodput(1.0) == 7.2e9


def test_the_more_flows_the_longer_the_round_trip_and_scaling_pays_for_the_link() -> None:
    many = replace(plan(1000, 1), few=0, jitter=0)
    before = 0
    for flows in (2, 10, 100, 1000):
        outcome = many.outcome(flows, 1)
        assert outcome.rtt > max(before, outcome.target), outcome
        assert outcome.cwnd * flows == pytest.approx(outcome.rtt / US)
        before = outcome.rtt
    scaled, unscaled = many.outcome(1000, 1), replace(many, flow_scaling=False).outcome(1000, 1)
    assert scaled.rtt > unscaled.rtt
    assert scaled.share > unscaled.share


def test_at_the_mean_windows_grow_as_much_as_they_shrink() -> None:
    flows, steps = 20, 20_000
    outcome = plan(100, 3).outcome(flows, 3)
    rtt_us = outcome.rtt / US
    deviation = min(flows, rtt_us) / math.sqrt(12.0)
    grown = shrunk = 0.0
    # The two sides of the balance, summed over the distribution in place of its closed form.
    for step in range(steps):
        x = 16.0 * (step + 0.5) / steps - 8.0
        excess = rtt_us + x * deviation - outcome.target / US
        weight = density(x) * 16.0 / steps
        if excess < 0.0:
            grown += weight
        else:
            shrunk += weight * 0.8 * (outcome.cwnd + 1.0) * excess / rtt_us
    assert grown / shrunk == pytest.approx(1.0, abs=1e-3)


def test_the_normal_distribution_is_that_of_the_tables() -> None:
    for x, share in ((0.0, 0.5), (1.0, 0.841344746), (-1.959963985, 0.025), (3.0, 0.998650102)):
        assert below(x) == pytest.approx(share, abs=1e-7)
