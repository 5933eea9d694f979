"""Swing's measures: closed forms and the planner, samples of what is mostly empty, and what is sent again."""

import math
from typing import Any

import numpy as np
import pytest
from clearway.errors import ClearwayError
from clearway.paper.measures import Series

from tests.test_paper import made_up, measures

LINK = {"rate_gbps": 100, "buffer_bytes": 11e6}


def test_the_closed_forms_of_a_long_link() -> None:
    # At 400 us half drains: the threshold of 1 MB empties in 160 us of the 800 until RESUME has worked.
    at = {"delay_us": 400, "drain": 0.5}
    expected = {
        "pfc_share": 0.375,
        "relay_share": 0.5,
        "t1_us": 160,
        "t2_us": 800,
        "t3_us": 160,
        "highest_bytes": 6e6,
    }
    found = {figure: measures.long_link(figure, **LINK, **at) for figure in expected}
    assert found == pytest.approx(expected)
    assert measures.long_link("pfc_share", **LINK, delay_us=441, drain=0.5) == 0
    higher = measures.long_link("lowest_bytes", **LINK, **at, threshold_bytes=7e6)
    assert higher == pytest.approx(2e6)
    over = measures.long_link("pfc_share", **LINK, delay_us=[100, 400], drain=0.5)
    assert (over.x.tolist(), over.y.tolist()) == ([100, 400], pytest.approx([0.5, 0.375]))


def test_a_cycle_of_pfc() -> None:
    link = {**LINK, "delay_us": 400, "drain": 0.5}
    assert measures.cycle_us(**link, threshold_bytes=1e6) == pytest.approx(160 + 800 + 1600)
    assert measures.cycle_us(**link, threshold_bytes=7e6) == pytest.approx(800 + 800 + 1600)


def test_what_repeats_itself_is_like_itself_a_period_later() -> None:
    times = np.arange(0.0, 4000.0, 10.0)
    wave = Series(times, (times % 200 < 80).astype(float))
    assert measures.strongest_period(wave, 100, 350) == 200
    assert measures.autocorrelation(wave, 200) == pytest.approx(1, abs=0.05)
    assert measures.autocorrelation(wave, 100) < -0.5
    noise = Series(times, np.random.default_rng(1).random(len(times)))
    assert abs(measures.autocorrelation(noise, 200)) < 0.15
    assert math.isnan(measures.autocorrelation(Series(times, np.ones(len(times))), 200))
    assert math.isnan(measures.autocorrelation(wave, 4000))
    assert math.isnan(measures.strongest_period(Series(times[:1], times[:1]), 100, 350))


def test_what_is_no_long_link() -> None:
    with pytest.raises(ClearwayError, match="there is no pfc"):
        measures.long_link("pfc", **LINK, delay_us=400, drain=0.5)
    with pytest.raises(ClearwayError, match="not over both"):
        measures.long_link("pfc_share", **LINK, delay_us=[1, 2], drain=[0.1, 0.2])
    for drain in (0.0, 1.0):
        with pytest.raises(ValueError, match="a drain between 0 and 1"):
            measures.long_link("pfc_share", **LINK, delay_us=400, drain=drain)


def test_equation_4_as_printed() -> None:
    # 0.5 (5 MB - 11 MB) / (10 MB (-1 + 0.5 + 0.25) - 5.5 MB) = 3 / 8.
    assert measures.equation_4(**LINK, delay_us=400, drain=0.5) == pytest.approx(0.375)
    found = measures.equation_4(**LINK, delay_us=[100, 400, 440, 441], drain=0.8)
    assert found.y.tolist() == pytest.approx([0.8, 0.5454545, 0.4444444, 0])


def test_the_planner_as_a_measure() -> None:
    options = {"distance": "80km", "rate": "100Gbps", "buffer": "32MB"}
    assert measures.planned("bdp_bytes", options) == 10e6
    assert measures.planned("with_buffer.schemes.pfc_without_drop.links", options) == 3
    with pytest.raises(ClearwayError, match="there is no bdp"):
        measures.planned("bdp", options)
    with pytest.raises(ClearwayError, match="is no number"):
        measures.planned("schemes", options)


def test_a_reduction_is_a_share_of_the_larger() -> None:
    assert measures.reduction(4.0, 10.0) == pytest.approx(0.6)
    assert measures.reduction(12.0, 10.0) == pytest.approx(-0.2)
    assert math.isnan(measures.reduction(1.0, 0.0))


def with_gaps(**changes: Any) -> Any:
    """A run in whose link something was sent in the third and the sixth of eight intervals."""
    tables = {
        "links_series": {
            "time_us": np.array([30.0, 30.0, 60.0]),
            "link": np.array(["a>b", "c>d", "a>b"]),
            "utilisation": np.array([0.5, 0.25, 1.0]),
        }
    }
    return made_up(
        tables=tables,
        scenario={"record": {"links": "10us"}},
        summary={"simulated_us": 80.0},
        **changes,
    )


def test_every_sample_has_those_that_the_table_leaves_out() -> None:
    found = measures.every_sample(with_gaps(), "links_series", "utilisation", {"link": "a>b"})
    assert found.x.tolist() == [10, 20, 30, 40, 50, 60, 70, 80]
    assert found.y.tolist() == [0, 0, 0.5, 0, 0, 1, 0, 0]
    both = measures.every_sample(with_gaps(), "links_series", "utilisation", None, from_us=20, to_us=50)
    assert (both.x.tolist(), both.y.tolist()) == ([30, 40, 50], [0.75, 0, 0])
    never = measures.every_sample(with_gaps(), "links_series", "utilisation", {"link": "b>a"})
    assert never.y.tolist() == [0] * 8


def test_the_share_of_values_up_to_a_limit() -> None:
    found = Series(np.arange(4.0), np.array([0.0, 0.0, 1.0, 2.0]))
    assert [measures.share_up_to(found, limit) for limit in (-1, 0, 1, 2)] == [0, 0.5, 0.75, 1]
    assert math.isnan(measures.share_up_to(Series(np.array([]), np.array([])), 0))


def test_the_mean_of_whole_stretches_above_a_level() -> None:
    # It begins above, is so for 2 and for 4 samples, and ends above: only those two are whole.
    heights = np.array([9, 0, 9, 9, 0, 0, 9, 9, 9, 9, 0, 9], dtype=float)
    found = Series(np.arange(0.0, 120.0, 10.0), heights)
    assert measures.mean_stretch(found, above=5) == 30
    assert math.isnan(measures.mean_stretch(found, above=9))
    assert math.isnan(measures.mean_stretch(Series(found.x[:4], heights[:4]), above=5))


def test_the_time_for_which_hosts_send_again() -> None:
    run = made_up(summary={"transports": {"a": {"retransmissions": 1000}}})
    # A frame of 4096 + 64 + 38 bytes takes 0.67168 us at 50 Gb/s; there is one host with a link of its own.
    assert measures.retransmission_us(run, "a") == pytest.approx(671.68)
    with pytest.raises(ClearwayError, match="there is no b"):
        measures.retransmission_us(run, "b")
