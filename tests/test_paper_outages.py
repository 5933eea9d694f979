"""Measures of outages, on made-up tables."""

import math
from typing import Any

import numpy as np
import pytest
from clearway.errors import ClearwayError
from clearway.paper.measures import Series

from tests.test_paper import made_up, measures


def recorded(goodput: list[float], **changes: Any) -> Any:
    """A run with two transports whose throughput was recorded every 10 us; the second delivers nothing."""
    times = 10.0 * np.arange(1, len(goodput) + 1)
    throughput = {
        "time_us": np.repeat(times, 2),
        "transport": np.array(["a", "b"] * len(goodput)),
        "goodput_gbps": np.ravel([[value, 0.0] for value in goodput]),
    }
    return made_up(tables={"throughput": throughput}, scenario={"record": {"throughput": "10us"}}, **changes)


def test_the_longest_silence_lies_between_two_deliveries() -> None:
    assert measures.longest_silence(recorded([1, 1, 0, 0, 0, 1, 0, 1])) == 40
    assert measures.longest_silence(recorded([1, 1, 0, 0, 0, 1, 0, 1]), from_us=50) == 20
    assert measures.longest_silence(recorded([1, 1, 1])) == 10


def test_a_silence_that_does_not_end_lasts_to_the_end() -> None:
    assert measures.longest_silence(recorded([1, 0, 1, 0, 0, 0])) == 30
    assert measures.longest_silence(recorded([1, 0, 1, 0, 0, 0]), to_us=50) == 20
    with pytest.raises(ClearwayError, match="nothing arrives between 10 and inf us"):
        measures.longest_silence(recorded([1, 0, 0]), from_us=10)


def test_goodput_in_a_window() -> None:
    assert measures.goodput_in(recorded([1, 2, 3, 4]), 10, 30) == 2.5
    with pytest.raises(ClearwayError, match="no throughput is recorded between 90 and 95 us"):
        measures.goodput_in(recorded([1, 2, 3, 4]), 90, 95)


def test_the_share_of_flows_that_are_complete() -> None:
    assert measures.completed_share(made_up(summary={"completed": 3, "flows": 4})) == 0.75


def test_the_mean_of_values() -> None:
    assert measures.average([1.0, 2.0, 6.0]) == 3
    assert math.isnan(measures.average([]))


def test_rows_between_two_values() -> None:
    assert measures.quantile(made_up(), "rtt", "rtt_us", 1.0, match={"rtt_us": [10, 30]}) == 30
    assert measures.quantile(made_up(), "rtt", "rtt_us", 0.01, match={"rtt_us": [11, 99]}) == 20


def test_the_load_that_keeps_a_limit() -> None:
    latencies = Series(np.array([0.6, 0.2, 0.4]), np.array([9.0, 1.0, 3.0]))
    loads = {0.5: 0.0, 1.0: 0.2, 2.9: 0.2, 3.0: 0.4, 10.0: 0.6}
    assert {limit: measures.highest_below(latencies, limit) for limit in loads} == loads
    unfinished = Series(np.array([0.2, 0.4, 0.6]), np.array([1.0, math.inf, 2.0]))
    assert measures.highest_below(unfinished, 6.0) == 0.2
    unmeasured = Series(np.array([0.2, 0.4]), np.array([math.nan, 1.0]))
    assert math.isnan(measures.highest_below(unmeasured, 6.0))
