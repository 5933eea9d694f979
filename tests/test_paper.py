"""`clearway paper`: measures on made-up tables, verdicts, a tiny paper end to end, the files that ship."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway.errors import ClearwayError
from clearway.figures import AtLeast
from clearway.paper import claims, evaluation, papers, reading, reproduce, sampling, verdicts
from clearway.paper.evaluation import MadeRun, lower_bounds_in
from clearway.paper.experiment import Experiment
from clearway.paper.frontier import frontier_of, frontier_rows
from clearway.paper.measures import OF_RUN, OF_VALUES, Series
from clearway.paper.verdicts import Position
from clearway.runs import Run

from tests.conftest import Clearway, child, finished

ROOT = Path(__file__).parent.parent

measures = SimpleNamespace(**OF_RUN, **OF_VALUES)
"""Every measure, by the name that experiment files use."""


def made_up(**changes: Any) -> Run:
    """A run with tables of a few rows."""
    tables = {
        "rtt": {
            "transport": np.array(["a", "a", "a", "b"]),
            "rtt_us": np.array([10.0, 20.0, 30.0, 99.0]),
            "count": np.array([90, 9, 1, 5], dtype=np.uint64),
        },
        "throughput": {
            "time_us": np.array([1e3, 1e3, 2e3, 2e3, 3e3, 3e3]),
            "transport": np.array(["a", "b"] * 3),
            "goodput_gbps": np.array([40.0, 0.0, 30.0, 10.0, 19.0, 21.0]),
        },
        "links": {
            "link": np.array(["h0>tor0", "tor0>h1"]),
            "rate_gbps": np.array([50.0, 50.0]),
            "utilisation": np.array([0.1, 0.8]),
            "queue_mean_bytes": np.array([0.0, 4000.0]),
        },
    }
    values: dict[str, Any] = {
        "name": "made up",
        "seed": 1,
        "version": "0",
        "digest": "v1:0",
        "packet_hops": 1,
        "wall_s": 0.0,
        "summary": {"goodput_gbps": 40.0, "jain": None, "transports": {"a": {"goodput_gbps": 30.0}}},
        "scenario": {
            "network": {"rate": "50Gbps", "mtu": "4096B", "framing": "38B", "delay": "2us"},
            "transport": {"a": {"header": "64B"}},
        },
        "tables": tables,
        **changes,
    }
    return Run(**values)


# MEASURES


def test_what_is_unfinished_makes_a_measure_a_lower_bound() -> None:
    operations = {
        "latency_us": np.array([1.0, 2.0, 3.0, 4.0, np.nan]),
        "age_us": np.array([np.nan] * 4 + [9.0]),
    }
    run = made_up(
        tables={"operations": operations},
        summary={"latency_p50_us": 3.0, "latency_p99_us": 9.0, "lower_bounds": ["latency_p99_us"]},
    )
    for q, value, bound in [(0.5, 3.0, False), (0.8, 4.0, False), (0.99, 9.0, True)]:
        found = measures.quantile(run, "operations", "latency_us", q)
        assert (found, isinstance(found, AtLeast)) == (value, bound)
    mean = measures.mean(run, "operations", "latency_us")
    assert (mean, isinstance(mean, AtLeast)) == (3.8, True)
    for key, bound in [("latency_p50_us", False), ("latency_p99_us", True)]:
        assert isinstance(measures.summary(run, key), AtLeast) is bound
        runs = {"one": MadeRun("one", "One", [({}, run)])}
        inner = {"measure": "summary", "run": "one", "key": key}
        found_bounds = lower_bounds_in({"measure": "ratio", "of": 1.0, "to": inner}, runs)
        assert found_bounds == ([f"{key} of One"] if bound else [])


def test_a_frontier_knows_which_objectives_are_lower_bounds() -> None:
    summaries: dict[str, dict[str, Any]] = {
        "1us": {"latency_p99_us": 9.0, "lower_bounds": ["latency_p99_us"]},
        "2us": {"latency_p99_us": 9.0, "lower_bounds": []},
    }
    points = [({"target": target}, made_up(summary=summary)) for target, summary in summaries.items()]
    objective = {"name": "p99", "run": "one", "of": {"measure": "summary", "key": "latency_p99_us"}}
    frontier = {"runs": ["one"], "objective": [{**objective, "better": "lower"}], "decide": "p99"}
    experiment = Experiment("map", Path(), "Map", "", "", "", [], [], [], frontier)
    combinations, rows = frontier_rows(experiment, {"one": MadeRun("one", "One", points)})
    assert combinations == [{"target": "1us"}, {"target": "2us"}]
    assert [isinstance(row["p99"], AtLeast) for row in rows] == [True, False]
    assert frontier_of(frontier, "map").recommended(rows) == 1


def test_the_latency_of_operations_that_had_time_to_finish() -> None:
    operations = {
        "issued_us": np.array([1.0, 20.0, 30.0, 40.0, 50.0, 95.0]),
        "latency_us": np.array([9.0, 1.0, 2.0, np.nan, 3.0, np.nan]),
        "age_us": np.array([np.nan, np.nan, np.nan, 60.0, np.nan, 5.0]),
    }
    scenario = {"warmup": "10us", "duration": "100us"}
    run = made_up(tables={"operations": operations}, scenario=scenario)
    # Of all but the first, in the warm-up, and the last, which had no time: the third longest took 3 us.
    for q, value, bound in [(0.5, 2.0, False), (0.75, 3.0, False), (0.99, 60.0, True)]:
        found = measures.operation_latency(run, q, 10)
        assert (found, isinstance(found, AtLeast)) == (value, bound)
    # With the last one its age of 5 us is a latency that nobody knows.
    assert isinstance(measures.operation_latency(run, 0.8, 0), AtLeast)
    assert math.isnan(measures.operation_latency(run, 0.5, 95))


def test_the_latency_of_what_is_answered_in_time() -> None:
    operations = {
        "issued_us": np.array([1.0, 20.0, 30.0, 40.0, 50.0, 85.0, 95.0]),
        "latency_us": np.array([9.0, 1.0, 4.0, np.nan, 12.0, 2.0, 3.0]),
        "initiator": np.array([0, 0, 0, 0, 0, 1, 0]),
    }
    run = made_up(tables={"operations": operations}, scenario={"warmup": "10us", "duration": "100us"})
    # The first is in the warm-up, the last too late, the fourth lost, and the fifth as good as lost.
    assert [measures.answered_latency(run, q, 10) for q in (0.33, 0.5, 1.0)] == [1, 2, 4]
    assert measures.answered_latency(run, 1.0, 10, match={"initiator": 1}) == 2
    assert math.isnan(measures.answered_latency(run, 0.5, 95))


def test_summary() -> None:
    assert measures.summary(made_up(), "goodput_gbps") == 40
    assert measures.summary(made_up(), "goodput_gbps", "a") == 30
    assert math.isnan(measures.summary(made_up(), "jain"))
    with pytest.raises(ClearwayError, match="there is no goodput"):
        measures.summary(made_up(), "goodput")


@pytest.mark.parametrize(
    ("lost", "packets", "bound"),
    [(0.0, 300, 0.01), (0.0, 0, math.nan), (0.2, 300, 0.2), (None, 300, math.nan)],
)
def test_nothing_lost_of_few_packets_says_little(lost: float | None, packets: int, bound: float) -> None:
    run = made_up(summary={"loss_rate": lost}, tables={"rtt": {"count": np.array([packets])}})
    assert measures.measured_packets(run) == packets
    assert measures.loss_bound(run) == pytest.approx(bound, nan_ok=True)


def test_no_failure_of_few_operations_says_little() -> None:
    issued = {"issued_us": np.array([1.0, 5.0] + [20.0] * 300)}

    def bound(failed: float | None, **tables: Any) -> float:
        scenario = {"warmup": "10us"}
        run = made_up(summary={"failed_operations": failed}, tables={"operations": tables}, scenario=scenario)
        return float(measures.failure_bound(run))

    assert [bound(failed, **issued) for failed in (0.0, 0.004, 0.2)] == [0.01, 0.01, 0.2]
    assert math.isnan(bound(0.0, issued_us=np.array([1.0])))


def test_links() -> None:
    assert measures.link(made_up(), "tor0>h1", "queue_mean_bytes") == 4000
    assert measures.wire_gbps(made_up(), "tor0>h1") == pytest.approx(40)
    assert measures.unfinished_work_packets(made_up(), "tor0>h1", 1000) == pytest.approx(4.4)
    with pytest.raises(ClearwayError, match="there is no link h9"):
        measures.wire_gbps(made_up(), "h9")


def test_a_quantile_of_a_queue_counts_samples_of_it_empty() -> None:
    queues = {
        "time_us": np.array([20.0, 30.0, 30.0, 40.0, 80.0]),
        "link": np.array(["a>b", "a>b", "c>b", "a>b", "a>b"]),
        "queue_bytes": np.array([9000, 500, 7000, 0, 300]),
    }
    scenario = {"warmup": "20us", "duration": "100us", "record": {"queues": "10us"}}
    run = made_up(tables={"queues": queues}, scenario=scenario)
    # Eight samples from 30 to 100 us, six of them zero, one of which is in the table.
    expected = {0.5: 0, 0.75: 0, 0.76: 300, 0.875: 300, 0.9: 500, 1.0: 500}
    assert {q: measures.queue_quantile(run, "a>b", q) for q in expected} == expected
    assert measures.queue_quantile(run, "never", 1.0) == 0
    with pytest.raises(ClearwayError, match="3 samples of a>b, and 1 instants"):
        measures.queue_quantile(
            replace(run, scenario={**scenario, "record": {"queues": "50us"}, "warmup": "25us"}), "a>b", 0.5
        )


def test_what_headers_leave() -> None:
    assert measures.headers_leave_gbps(made_up(), "a") == pytest.approx(50 * 4096 / 4198)
    assert measures.goodput_share(made_up(), "a") == pytest.approx(30 / (50 * 4096 / 4198))


def test_setting() -> None:
    assert measures.setting(made_up(), "network.delay") == 2
    with pytest.raises(ClearwayError, match="network"):
        measures.setting(made_up(), "network.hosts")


@pytest.mark.parametrize(("q", "expected"), [(0.5, 10), (0.9, 10), (0.901, 20), (0.99, 20), (0.999, 30)])
def test_quantile_by_weight(q: float, expected: float) -> None:
    of_a = {"weight": "count", "match": {"transport": "a"}}
    assert measures.quantile(made_up(), "rtt", "rtt_us", q, **of_a) == expected


def test_quantile_and_mean_by_rows() -> None:
    assert measures.quantile(made_up(), "rtt", "rtt_us", 0.5) == 20
    assert measures.mean(made_up(), "rtt", "rtt_us", match={"transport": "a"}) == 20
    assert measures.mean(made_up(), "rtt", "rtt_us", {"transport": "a"}, weight="count") == pytest.approx(
        11.1
    )
    assert math.isnan(measures.mean(made_up(), "rtt", "rtt_us", match={"transport": "c"}))
    with pytest.raises(ClearwayError, match="no column rtt_ms"):
        measures.mean(made_up(), "rtt", "rtt_ms")


def test_cdf() -> None:
    found = measures.cdf(made_up(), "rtt", "rtt_us", "count", {"transport": "a"}, scale=2)
    assert isinstance(found, Series)
    assert found.x.tolist() == [20, 40, 60]
    assert found.y.tolist() == [90, 99, 100]


def test_where_smallest_chooses_one_value_by_others() -> None:
    assert measures.where_smallest([7.0, 8.0, 9.0], [3.0, 1.0, math.nan]) == 8
    assert measures.where_smallest([7.0, 8.0], Series(np.array([1.0, 2.0]), np.array([5.0, 6.0]))) == 7
    assert math.isnan(measures.where_smallest([7.0], [math.nan]))
    with pytest.raises(ClearwayError, match="2 values, and 1 to choose by"):
        measures.where_smallest([7.0, 8.0], [1.0])


def test_over_time_adds_up_rows_of_one_time() -> None:
    found = measures.over_time(made_up(), "throughput", "goodput_gbps", from_us=1000, to_us=3000)
    assert isinstance(found, Series)
    assert found.x.tolist() == [2000, 3000]
    assert found.y.tolist() == [40, 40]


def test_columns_of_the_links_that_match() -> None:
    found = measures.columns(made_up(), "links", "utilisation", "queue_mean_bytes", "rate_gbps")
    assert (found.x.tolist(), found.y.tolist()) == ([0.1, 0.8], [0, 80])
    found = measures.columns(made_up(), "links", "utilisation", "rate_gbps", match={"link": "tor*>h*"})
    assert (found.x.tolist(), found.y.tolist()) == ([0.8], [50])
    found = measures.columns(made_up(), "links", "utilisation", "rate_gbps", match={"utilisation": [0.8, 1]})
    assert (found.x.tolist(), found.y.tolist()) == ([0.8], [50])


def test_shares_and_fairness_in_a_window() -> None:
    both = ["a", "b"]
    assert measures.shares(made_up(), both, 1000, 3000) == pytest.approx([1.225, 0.775])
    assert measures.jain(made_up(), both, 0, 1000) == pytest.approx(0.5)
    stages = [{"transports": both, "from_us": 2000, "to_us": 3000}]
    assert measures.worst_share(made_up(), stages) == pytest.approx(0.05)
    wider = [*stages, {"transports": both, "from_us": 1000, "to_us": 2000}]
    assert measures.worst_share(made_up(), wider) == pytest.approx(0.5)
    both_at_once = [{"transports": both, "from_us": 1000, "to_us": 3000}]
    assert measures.worst_share(made_up(), both_at_once, together=2) == pytest.approx(0.225)
    with pytest.raises(ClearwayError, match="2 intervals, fewer than 3"):
        measures.worst_share(made_up(), both_at_once, together=3)
    with pytest.raises(ClearwayError, match="no throughput"):
        measures.shares(made_up(), both, 5000, 6000)


def test_goodput_among_so_many_flows() -> None:
    ends = [100.0, 200.0, 300.0, 400.0]
    rates = {"a": [9.0, 6.0, 4.0, 5.0], "b": [0.0, 2.0, 6.0, 4.0], "c": [0.0, 0.0, 0.0, 1.0]}
    throughput = {
        "time_us": np.repeat(ends, 3),
        "transport": np.array(["a", "b", "c"] * 4),
        "goodput_gbps": np.array(list(zip(*rates.values(), strict=True))).ravel(),
    }
    traffic = [
        {"transport": "a", "start": "0us..1us"},
        {"transport": "b", "start": "100us", "stop": "400us"},
        {"transport": "c", "start": "310us", "stop": "0.4ms"},
    ]
    scenario = {"duration": "400us", "record": {"throughput": "100us"}, "traffic": traffic}
    run = made_up(tables={"throughput": throughput}, scenario=scenario)
    # There are two in the intervals to 200 and 300 us. In the first some of a are late, in the last c begins.
    assert measures.goodput_among(run, 2) == pytest.approx(9)
    assert measures.deviation_among(run, 2) == pytest.approx(1e3 * (4 / math.sqrt(2) + 2 / math.sqrt(2)) / 2)
    assert math.isnan(measures.goodput_among(run, 3))
    assert math.isnan(measures.deviation_among(run, 1))
    alone = made_up(tables={"throughput": throughput}, scenario={**scenario, "traffic": traffic[:1]})
    assert measures.goodput_among(alone, 1) == pytest.approx(5)
    twice = made_up(tables={"throughput": throughput}, scenario={**scenario, "traffic": traffic[:1] * 2})
    with pytest.raises(ClearwayError, match="have one transport"):
        measures.goodput_among(twice, 1)


def test_a_lead_counts_from_when_one_joins() -> None:
    # A Gb/s for 1 ms are 125 kB. From 2 ms on b has 10 and 21, a 30 and 19: 20 and 18 apart.
    scenario = {"record": {"throughput": "1ms"}}
    run = made_up(scenario=scenario)
    assert measures.largest_lead(run, ["a", "b"], "b") == pytest.approx(20 * 125e3)
    assert measures.largest_lead(run, ["a", "b"], "a") == pytest.approx(60 * 125e3)
    tables = {"throughput": {**run.tables["throughput"], "goodput_gbps": np.array([1.0, 0.0] * 3)}}
    assert math.isnan(measures.largest_lead(made_up(scenario=scenario, tables=tables), ["a", "b"], "b"))


LINE = Series(np.array([3.0, 1.0, 2.0, 4.0]), np.array([10.0, 2.0, 8.0, 10.0]))


def test_measures_of_values() -> None:
    assert measures.ratio(3, 2) == 1.5
    assert math.isnan(measures.ratio(1, 0))
    assert measures.difference(3, 2) == 1
    assert measures.product([2, 3, 4]) == 24
    assert (measures.smallest(LINE), measures.largest([1.0, 3.0])) == (2, 3)
    assert measures.largest_deviation([11.0, 19.0], [10.0, 20.0]) == pytest.approx(0.1)
    assert measures.at(LINE, 2.5) == 9
    assert math.isnan(float(measures.at(LINE, 9)))


def test_knee_is_where_a_share_of_the_largest_is_reached() -> None:
    assert measures.knee(LINE, 0.9) == pytest.approx(2.5)
    assert measures.knee(LINE, 0.1) == 1


def test_slope_of_logarithms_is_the_exponent() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0])
    assert measures.slope(Series(x, 3 * np.sqrt(x)), log=True) == pytest.approx(0.5)
    assert measures.slope(Series(x, 3 * x)) == pytest.approx(3)


def test_series_against_each_other() -> None:
    other = Series(LINE.x, np.array([1.0, 4.0, 2.0, 3.0]))
    assert measures.ratios(LINE, other).y.tolist() == [10, 0.5, 4, pytest.approx(10 / 3)]
    found = measures.against(other, LINE)
    assert isinstance(found, Series)
    assert (found.x.tolist(), found.y.tolist()) == ([1, 2, 3, 4], [10, 8, 10, 2])
    with pytest.raises(ClearwayError, match="different x"):
        measures.ratios(LINE, Series(np.array([1.0]), np.array([1.0])))


def test_bins() -> None:
    found = measures.binned(LINE, [0, 2.5, 5, 9])
    assert isinstance(found, Series)
    assert (found.x.tolist(), found.y.tolist()) == ([1.25, 3.75], [5, 10])
    assert measures.binned(LINE, [0, 5], 1.0).y.tolist() == [10]


def of_classes(**changes: Any) -> Run:
    """Two classes, one with three times the weight, at a port to a host and one to a spine; two intervals."""
    ports = ["tor0>h1", "tor0>spine0"]
    series = {
        "time_us": np.repeat([1.0, 2.0], 4),
        "link": np.tile(np.repeat(ports, 2), 2),
        "class": np.tile(["a", "b"], 4),
        "utilisation": np.repeat([0.5, 0.2, 1.0, 0.0], 2),
        "sent_bytes": np.array([900, 100, 0, 0, 600, 9400, 0, 1000], dtype=np.uint64),
        "dropped_bytes": np.array([100, 0, 0, 0, 200, 600, 0, 0], dtype=np.uint64),
    }
    links = {"link": np.array(ports), "rate_gbps": np.array([80.0, 8.0])}
    scenario = {
        "warmup": "0us",
        "record": {"links": "1us"},
        "class": {
            "a": {"weight": 3, "priority": 0},
            "b": {"weight": 1, "priority": 0},
            "c": {"weight": 9, "priority": 1},
        },
        **changes,
    }
    return made_up(tables={"links_series": series, "links": links}, scenario=scenario)


def test_loss_against_utilisation() -> None:
    found = measures.loss_against_utilisation(of_classes(), "a", "tor*>h*")
    assert isinstance(found, Series)
    assert found.x.tolist() == pytest.approx([50, 100])
    assert found.x[1] < 100  # what is full is in the last bin
    assert found.y.tolist() == [0.1, 0.25]
    # The second interval alone, and where the class offers nothing.
    assert measures.loss_against_utilisation(of_classes(warmup="1us"), "a", "tor*>h*").y.tolist() == [0.25]
    assert measures.loss_against_utilisation(of_classes(), "a", "*>[!h]*").y.tolist() == []
    # 7.2 and 4.8 of 60 Gb/s; 0.8 and, beyond what it is sure of, 75.2 of 20 Gb/s.
    own = measures.loss_against_utilisation(of_classes(), "a", "tor*>h*", own_share=True)
    assert own.x.tolist() == pytest.approx([12, 8])
    own = measures.loss_against_utilisation(of_classes(), "b", "tor*>h*", own_share=True)
    assert own.x.tolist() == pytest.approx([4, 100])


def test_loss_and_rate_of_a_class() -> None:
    assert measures.class_loss(of_classes(), "a", "tor*>h*") == pytest.approx(0.175)
    assert measures.class_loss(of_classes(), "a", "tor*>h*", q=1.0) == 0.25
    assert measures.class_loss(of_classes(), "b", "tor*>h*", above=90) == pytest.approx(0.06)
    assert math.isnan(measures.class_loss(of_classes(), "a", "*>[!h]*"))
    assert measures.class_gbps(of_classes(), "a", "tor*>h*") == pytest.approx(6)
    assert math.isnan(measures.class_gbps(of_classes(), "c", "tor*>h*"))
    assert measures.scaled(LINE, 100).y.tolist() == [1000, 200, 800, 1000]
    assert measures.class_gbps(of_classes(), "b", "tor*>*", from_us=1) == pytest.approx(83.2)


def test_worst_ratio_leaves_out_where_both_are_zero() -> None:
    def over(*values: float) -> Series:
        return Series(np.array([1.0, 2.0, 3.0]), np.array(values))

    assert measures.worst_ratio(over(0, 1, 3), over(0, 4, 6)) == 0.5
    assert measures.worst_ratio(over(0, 1, 3), over(2, 0, 6)) == math.inf
    assert math.isnan(measures.worst_ratio(over(0, 0, 0), over(0, 0, 0)))
    shorter = Series(np.array([2.0, 4.0]), np.array([2.0, 0.0]))
    assert measures.worst_ratio(over(9, 1, 9), shorter) == 0.5
    assert math.isnan(measures.worst_ratio(over(9, 1, 9), Series(np.array([4.0]), np.array([1.0]))))


def test_of_nothing_nothing_is_measured() -> None:
    nothing = Series(np.array([]), np.array([]))
    for measure in (measures.smallest, measures.largest, measures.knee, measures.slope):
        assert math.isnan(measure(nothing))
    assert math.isnan(measures.largest_deviation(nothing, nothing))


def test_closed_forms() -> None:
    walk = measures.random_walk_queue([100])
    assert walk.y.tolist() == [pytest.approx(math.sqrt(100 * math.pi / 8))]
    target = measures.swift_target([0.001, 0.01, 0.04, 1, 100], 2, 20, 2, 90, 0.01, 1)
    # 1/sqrt is 10, 5 and 1: alpha is 10 and beta -10.
    assert target.y.tolist() == pytest.approx([114, 114, 64, 24, 24])


# VERDICTS


@pytest.mark.parametrize(
    ("predicates", "ours", "paper", "expected"),
    [
        ({"within": 0.2}, 120.0, 100, True),
        ({"within": 0.2}, 79.9, 100, False),
        ({"within": 0.1}, [9.5, 21.0], [10, 20], True),
        ({"within": 0.1}, [9.5, 23.0], [10, 20], False),
        ({"within": 0.1}, [9.5, 10.5], 10, True),
        ({"within": 0.1}, [9.5, 10.5, 10], [10, 10], False),
        ({"within": 0.1}, 1.0, "image only", False),
        ({"at_least": 0.9}, 0.9, "image only", True),
        ({"at_least": 0.9}, [0.95, 0.89], None, False),
        ({"at_most": 1e-5}, 0.0, 3e-6, True),
        ({"at_most": 1e-5}, 2e-5, 3e-6, False),
        ({"between": [0.9, 1.1]}, 1.05, None, True),
        ({"between": [0.9, 1.1]}, [1.0, 0.8], None, False),
        ({"order": "rising"}, [1.0, 2.0, 3.0], None, True),
        ({"order": "rising"}, [1.0, 2.0, 2.0], None, False),
        ({"order": "falling"}, [3.0, 2.0], None, True),
        ({"order": "rising"}, 3.0, None, False),
        ({"ratio_at_least": 4}, [8.0, 2.0], None, True),
        ({"ratio_at_least": 4}, [7.9, 2.0], None, False),
        ({"ratio_at_most": 4}, [8.0, 2.0], None, True),
        ({"ratio_at_most": 3.9}, [8.0, 2.0], None, False),
        ({"ratio_at_least": 4}, [8.0, 0.0], None, False),
        ({"at_least": 1, "at_most": 2}, 3.0, None, False),
        ({"at_least": 0}, math.nan, None, False),
        ({"at_least": 0}, [1.0, math.nan], None, False),
        ({"at_most": 5}, Series(np.array([1.0]), np.array([4.0])), None, True),
        ({"at_most": 5}, [], None, False),
    ],
)
def test_predicates(predicates: dict[str, Any], ours: Any, paper: Any, expected: bool) -> None:
    """A single sample is exact."""
    wanted = Position.WITHIN if expected else Position.OUTSIDE
    assert verdicts.position(predicates, [ours], paper) is wanted


def test_every_predicate_has_words() -> None:
    examples = {"between": [1, 2], "order": "rising"}
    for name in verdicts.PREDICATES:
        assert verdicts.in_words({name: examples.get(name, 0.5)}, "plain")
    assert verdicts.in_words({"at_most": 1e-5}, "share") == "at most 0.001 %"


# Three and five samples whose intervals are known: t is 4.3027 and 2.7764 for 2 and 4 degrees of freedom.
THREE = [9.0, 10.0, 11.0]  # 10 +- 4.3027 / sqrt(3) = 2.4841
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]  # 3 +- 2.7764 * sqrt(2.5 / 5) = 1.9632


def test_the_interval_of_samples_is_students() -> None:
    found = sampling.estimate(THREE)
    assert (found.mean, found.count, found.deterministic) == (10, 3, False)
    assert list(found.half_widths) == [pytest.approx(2.4841, abs=1e-4)]
    found = sampling.estimate([[a, 7.0] for a in FIVE])
    assert found.mean == [3, 7]
    assert list(found.half_widths) == [pytest.approx(1.9632, abs=1e-4), 0]
    series = sampling.estimate([Series(np.array([1.0]), np.array([a])) for a in FIVE])
    assert (series.mean.x.tolist(), series.mean.y.tolist()) == ([1], [3])
    alike = sampling.estimate([0.1] * 5)
    assert (alike.mean, alike.half_widths, alike.deterministic) == (0.1, [0], True)
    assert not sampling.estimate([0.1]).deterministic


@pytest.mark.parametrize(
    ("predicates", "samples", "paper", "expected"),
    [
        ({"at_least": 7.5}, THREE, None, Position.WITHIN),
        ({"at_least": 7.6}, THREE, None, Position.OVER),
        ({"at_least": 12.4}, THREE, None, Position.OVER),
        ({"at_least": 12.5}, THREE, None, Position.OUTSIDE),
        ({"at_most": 12.5}, THREE, None, Position.WITHIN),
        ({"at_most": 12.4}, THREE, None, Position.OVER),
        ({"at_most": 7.5}, THREE, None, Position.OUTSIDE),
        ({"within": 0.25}, THREE, 10, Position.WITHIN),
        ({"within": 0.24}, THREE, 10, Position.OVER),
        ({"within": 0.1}, THREE, 14, Position.OUTSIDE),
        # The interval is wider than the bar, on both sides of it.
        ({"between": [9, 11]}, THREE, None, Position.OVER),
        # Of several values the worst decides, and of several predicates too.
        ({"at_most": [5.0, 20.0]}, [[a, 2 * a] for a in FIVE], None, Position.WITHIN),
        ({"at_most": [4.0, 20.0]}, [[a, 2 * a] for a in FIVE], None, Position.OVER),
        ({"at_most": [1.0, 20.0]}, [[a, 2 * a] for a in FIVE], None, Position.OUTSIDE),
        ({"at_least": 0, "at_most": 4.9}, FIVE, None, Position.OVER),
        # Steps and ratios are taken seed by seed: what seeds have in common is no spread of theirs.
        ({"order": "rising"}, [[a, a + 0.1] for a in FIVE], None, Position.WITHIN),
        ({"order": "rising"}, [[0.0, a - 2] for a in FIVE], None, Position.OVER),
        ({"order": "falling"}, [[a, a + 0.1] for a in FIVE], None, Position.OUTSIDE),
        ({"ratio_at_least": 2}, [[2 * a, a] for a in FIVE], None, Position.WITHIN),
        ({"ratio_at_least": 4}, [[a, 1.0] for a in FIVE], None, Position.OVER),
        # A ratio over nothing is nowhere; with finite ones beside it, it leaves open what these hold.
        ({"at_most": 1}, [math.inf, math.inf], None, Position.OUTSIDE),
        ({"at_most": 1}, [math.inf, 0.5], None, Position.OVER),
        ({"at_least": 0}, [1.0, math.nan], None, Position.OUTSIDE),
    ],
)
def test_where_an_interval_lies(
    predicates: dict[str, Any], samples: list[Any], paper: Any, expected: Position
) -> None:
    assert verdicts.position(predicates, samples, paper) is expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"value": "WITHIN", "shape": "WITHIN"}, "reproduced"),
        ({"value": "WITHIN", "fitted": True}, "calibrated"),
        ({"value": "OVER", "shape": "WITHIN"}, "straddles"),
        ({"value": "OVER", "fitted": True}, "straddles"),
        ({"value": "OUTSIDE", "shape": "WITHIN", "fitted": True}, "shape"),
        ({"value": "OUTSIDE", "shape": "OVER"}, "straddles"),
        ({"value": "OUTSIDE"}, "not reproduced"),
        # A control must fail, and be seen to.
        ({"value": "WITHIN", "control": "OUTSIDE"}, "reproduced"),
        ({"value": "WITHIN", "control": "OVER"}, "straddles"),
        ({"value": "WITHIN", "control": "WITHIN"}, "not reproduced"),
        ({"value": "WITHIN", "control": "WITHIN", "fitted": True}, "not reproduced"),
        ({"value": "OVER", "control": "WITHIN"}, "not reproduced"),
        ({"value": "OUTSIDE", "control": "OVER"}, "not reproduced"),
        ({"value": "OUTSIDE", "shape": "WITHIN", "control_shape": "WITHIN"}, "not reproduced"),
        ({"value": "OUTSIDE", "shape": "WITHIN", "control_shape": "OUTSIDE"}, "shape"),
        # The control shows the effect's value, but not its shape.
        ({"value": "WITHIN", "shape": "WITHIN", "control": "WITHIN", "control_shape": "OUTSIDE"}, "shape"),
        ({"value": "WITHIN", "stand_in": True, "control": "OUTSIDE"}, "stand-in"),
        ({"value": "WITHIN", "stand_in": True, "control": "OUTSIDE", "fitted": True}, "calibrated"),
        ({"value": "WITHIN", "stand_in": True, "control": "WITHIN"}, "not reproduced"),
        ({"value": "WITHIN", "shape": "WITHIN", "stand_in": True}, "not reproduced"),
        # What the paper does not claim never has one of the paper's verdicts.
        ({"value": "WITHIN", "extension": True}, "extension"),
        ({"value": "WITHIN", "extension": True, "fitted": True}, "extension"),
        ({"value": "WITHIN", "extension": True, "control": "WITHIN"}, "extension failed"),
        ({"value": "OVER", "extension": True}, "extension failed"),
        ({"value": "OUTSIDE", "shape": "WITHIN", "extension": True}, "extension failed"),
    ],
)
def test_verdicts(facts: dict[str, Any], expected: str) -> None:
    named: dict[str, Any] = {
        key: Position[value] if isinstance(value, str) else value for key, value in facts.items()
    }
    assert verdicts.verdict(**named) == expected


# EXPRESSIONS


def made(name: str, *points: tuple[dict[str, Any], float]) -> evaluation.MadeRun:
    return evaluation.MadeRun(name, name, [(axes, made_up(summary={"f": value})) for axes, value in points])


RUNS = {
    "one": made("one", ({}, 7.0)),
    "seeds": made("seeds", ({"seed": 1}, 2.0), ({"seed": 2}, 4.0)),
    "swept": made(
        "swept",
        *(
            ({"d": d, "k": k, "seed": seed}, 10.0 * place + seed + (100 if k == "b" else 0))
            for place, d in enumerate(["2ms", "500us"])
            for k in ("a", "b")
            for seed in (1, 3)
        ),
    ),
}


def worth(**expression: Any) -> Any:
    return evaluation.evaluate({"measure": "summary", "key": "f", **expression}, RUNS)


def test_points_are_chosen_and_seeds_averaged() -> None:
    assert worth(run="one") == 7
    assert worth(run="seeds") == 3
    assert worth(run="seeds", where={"seed": 2}) == 4
    assert worth(run="swept", where={"d": "2ms", "k": "b"}) == 102
    assert worth(run="swept", where={"d": "2000us", "k": "b"}) == 102
    assert worth(run="swept", where={"k": "a"}) == [2, 12]
    series = worth(run="swept", where={"k": "a"}, over="d")
    assert (series.x.tolist(), series.y.tolist()) == ([500, 2000], [12, 2])


def test_series_of_all_points_pool() -> None:
    series = {"measure": "over_time", "table": "throughput", "column": "goodput_gbps", "pool": True}
    found = evaluation.evaluate({**series, "run": "seeds", "match": {"transport": "b"}}, RUNS)
    assert found.x.tolist() == [1e3, 1e3, 2e3, 2e3, 3e3, 3e3]
    assert found.y.tolist() == [0, 0, 10, 10, 21, 21]
    with pytest.raises(ClearwayError, match="nothing to pool"):
        worth(run="seeds", pool=True)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ({"run": "swept", "over": "d"}, "several values at a point"),
        ({"run": "swept", "over": "x"}, "has no axis x"),
        ({"run": "swept", "where": {"d": "2ms"}, "over": "k"}, "anything but a number"),
        ({"run": "swept", "where": {"k": "c"}}, "has no point"),
    ],
)
def test_points_that_cannot_be_chosen(expression: dict[str, Any], message: str) -> None:
    with pytest.raises(ClearwayError, match=message):
        worth(**expression)


def test_measures_of_measures_and_controls() -> None:
    of = {"measure": "summary", "run": "one", "key": "f"}
    ratio = {"measure": "ratio", "of": of, "to": {**of, "run": "seeds"}}
    assert evaluation.evaluate(ratio, RUNS) == pytest.approx(7 / 3)
    assert evaluation.evaluate(ratio, RUNS, {"one": "seeds"}) == 1
    assert evaluation.evaluate([of, 5, "text"], RUNS, "seeds") == [3, 5, "text"]


def of_seeds(name: str, *values: float) -> evaluation.MadeRun:
    return made(name, *(({"seed": seed}, value) for seed, value in enumerate(values, 1)))


JUDGED = {
    "high": of_seeds("high", 9.0, 10.0, 11.0),
    "wide": of_seeds("wide", 1.0, 10.0, 19.0),
    "low": of_seeds("low", 2.0, 2.0, 2.0),
    "nothing": of_seeds("nothing", math.nan, math.nan, math.nan),
}


def judged(**claim: Any) -> claims.Judged:
    of = {"measure": "summary", "run": "high", "key": "f"}
    whole = {"text": "It is high", "paper": "high", "ours": of, "holds": {"at_least": 5}, **claim}
    (found,) = claims.judge(Experiment("a", Path(), "Fig 1", "", "", "", [], [whole], [], None), JUDGED)
    return found


def test_a_claim_has_its_interval() -> None:
    found = judged()
    assert (found.verdict, found.reason, found.seeds) == ("reproduced", "", "3")
    assert found.readable(found.ours) == "10.0 ± 2.5"
    answer = found.as_json()
    assert (answer["ours"], answer["samples"], answer["deterministic"]) == (10, 3, False)
    assert answer["half_widths"] == [pytest.approx(2.4841, abs=1e-4)]


def test_a_claim_that_straddles_says_so() -> None:
    found = judged(holds={"at_least": 8})
    assert (found.verdict, found.reason) == ("straddles", "The interval reaches over the bar.")
    found = judged(control="wide", reason="It varies.")
    assert found.verdict == "straddles"
    assert found.reason == "The interval of the control reaches over the bar. It varies."
    found = judged(holds={"at_least": 20}, shape={"at_least": 8})
    assert (found.verdict, "weaker bar" in found.reason) == ("straddles", True)


def test_seeds_that_are_alike_are_said_to_be() -> None:
    found = judged(ours={"measure": "summary", "run": "low", "key": "f"}, holds={"at_most": 2})
    assert (found.verdict, found.seeds, found.readable(found.ours)) == ("reproduced", "3, all alike", "2")
    assert found.as_json()["deterministic"] is True


def test_a_control_that_was_not_measured_shows_nothing() -> None:
    found = judged(control="nothing")
    assert found.verdict == "not reproduced"
    assert "could not be measured" in found.reason


def test_a_claim_timed_by_the_clock_says_that_the_machine_was_busy() -> None:
    runs = {**JUDGED, "high": of_seeds("high", 9.0, 10.0, 11.0)}
    of = {"measure": "summary", "run": "high", "key": "f"}
    claim = {"text": "It is high", "paper": "high", "ours": of, "holds": {"at_least": 5}}
    for share, expected in [(None, ""), (0.01, ""), (0.3, "waited up to 0.30 s a second for a processor")]:
        runs["high"].points[1][1].summary["waited_share"] = share
        (found,) = claims.judge(Experiment("a", Path(), "Fig 1", "", "", "", [], [claim], [], None), runs)
        assert expected in found.reason
        assert bool(found.reason) == bool(expected)


def test_a_claim_made_after_seeing_is_calibrated() -> None:
    found = judged(after_seeing=True)
    assert (found.verdict, "after the first results" in found.reason) == ("calibrated", True)


def test_a_bar_that_the_paper_does_not_state_is_marked() -> None:
    for claim, asked, bar in [
        ({}, "at least 5", "paper"),
        ({"bar": "ours"}, "at least 5 (our bar)", "ours"),
        ({"origin": "extension"}, "at least 5", "ours"),
    ]:
        answer = judged(**claim).as_json()
        assert (answer["tolerance"], answer["bar"]) == (asked, bar)


def test_a_stand_in_says_what_it_is_worth() -> None:
    found = judged(stand_in=True, control="low")
    assert found.control is not None
    assert (found.verdict, found.control.mean) == ("stand-in", 2)
    assert "measured production" in found.reason


def test_samples_are_of_one_seed_or_of_several() -> None:
    runs = {"six": of_seeds("six", *range(1, 7)), "four": of_seeds("four", 10, 20, 30, 40), **RUNS}
    of = {"measure": "summary", "run": "six", "key": "f"}
    ratio = {"measure": "ratio", "of": {**of, "run": "four"}, "to": of}
    assert sampling.samples(of, runs) == [1, 2, 3, 4, 5, 6]
    assert sampling.samples(of, runs, 2) == [1.5, 3.5, 5.5]
    # What is left of the seeds makes no sample of its own.
    assert sampling.samples(of, runs, 4) == [2.5]
    # The seeds that both have, and a run without any stands for itself.
    assert sampling.samples(ratio, runs) == [10, 10, 10, 10]
    assert sampling.samples(ratio, runs, swaps={"four": "one"}) == [7, 3.5, 7 / 3, 1.75, 1.4, 7 / 6]
    assert sampling.samples({**of, "run": "one"}, runs) == [7]
    assert sampling.samples(["text", 3], runs) == [["text", 3]]


# A TINY PAPER

PARAMETERS = """
[[parameter]]
key = "transport.swift.base_target"
value = "20us"
source = "paper"
why = "Section 1."

[[parameter]]
key = "transport.swift.ai"
value = 0.5
source = "calibrated"
why = "It fits."
fitted_on = ["fig2"]

[[parameter]]
key = "network.mtu"
value = "1500B"
source = "ours"
why = "Small."
"""

FIG1 = """
figure = "Fig 1"
title = "A & B"
setup = "Two <hosts>."
model = "All of it."

[scenario]
duration = "1ms"
network = { topology = "star", hosts = 3, rate = "10Gbps", delay = "1us" }
transport.bulk = { protocol = "swift" }
traffic = [{ pattern = "incast", to = 0, start = "0us..50us" }]
record = { throughput = "100us" }

[full]
duration = "2ms"

[runs.swift]
label = "Swift"

[runs.swept]
sweep = { "transport.*.base_target" = ["15us", "25us"] }
keep = ["rtt"]

[runs.slow]
set = { "network.rate" = "1Gbps" }

[[claim]]
text = "It is fast"
paper = 9.5
kind = "rate"
ours = { measure = "summary", run = "swift", key = "goodput_gbps" }
holds = { within = 0.2 }
control = "slow"

[[claim]]
text = "More target is more RTT"
paper = [15, 25]
kind = "time"
names = ["15 us:", "25 us:"]
ours = { measure = "summary", run = "swept", key = "rtt_mean_us" }
holds = { within = 1e-9 }
shape = { order = "rising" }
reason = "A queue stands above the target."

[[plot]]
title = "Goodput"
x = "time (ms)"
y = "goodput (Gb/s)"
x_scale = 0.001
[[plot.line]]
label = "ours"
of = { measure = "over_time", run = "swift", table = "throughput", column = "goodput_gbps" }
[[plot.line]]
label = "the paper"
paper = true
of = { measure = "series", x = [0, 1000], y = [9.5, 9.5] }

[[plot]]
title = "RTT"
x = "RTT (us)"
y = "packets (%)"
[[plot.line]]
label = ""
each = "transport.*.base_target"
of = { measure = "cdf", run = "swept", table = "rtt", column = "rtt_us", weight = "count" }

[[plot]]
title = "Bars"
kind = "bars"
y = "rate"
[[plot.bar]]
label = "Swift"
of = { measure = "summary", run = "swift", key = "goodput_gbps" }
paper = 9.5
"""

FIG2 = """
figure = "Fig 2"
title = "A fitted one, and one that fails"

[scenario]
duration = "1ms"
network = { topology = "star", hosts = 3, rate = "10Gbps", delay = "1us" }
transport.bulk = { protocol = "swift" }
traffic = [{ pattern = "incast", to = 0 }]

[runs.swift]

[[claim]]
text = "Fitted"
paper = "image only"
ours = { measure = "summary", run = "swift", key = "loss_rate" }
holds = { at_most = 0 }
fitted = true
"""

FAILING = """
[[claim]]
text = "A terabit"
paper = 1000
kind = "rate"
ours = { measure = "summary", run = "swift", key = "goodput_gbps" }
holds = { within = 0.5 }
"""


@pytest.fixture
def toy(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = workspace / "papers" / "toy"
    folder.mkdir(parents=True)
    (folder / "parameters.toml").write_text(PARAMETERS)
    (folder / "fig1.toml").write_text(FIG1)
    (folder / "fig2.toml").write_text(FIG2)
    monkeypatch.setattr(papers, "folder_of_papers", lambda: workspace / "papers")
    return folder


@pytest.mark.usefixtures("toy")
def test_a_paper_from_end_to_end(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("paper", "toy", "--json", "--out", "out", "--jobs", 2)
    assert answer.status == 0, answer.err
    assert set(answer.json) == {"claims", "verdicts", "extensions"}
    assert answer.json["verdicts"] == {"reproduced": 1, "calibrated": 1, "shape": 1}
    assert answer.json["extensions"] == {}
    fast, order, fitted = answer.json["claims"]
    assert (fast["figure"], fast["claim"], fast["paper"]) == ("Fig 1", "It is fast", 9.5)
    assert fast["verdict"] == "reproduced"
    assert fast["ours"] == pytest.approx(9.4, abs=0.3)
    assert fast["control"] < 1
    assert (fast["reason"], fast["samples"], len(fast["half_widths"])) == ("", 5, 1)
    assert order["verdict"] == "shape"
    assert order["ours"][0] < order["ours"][1]
    assert order["reason"] == "A queue stands above the target."
    assert fitted["verdict"] == "calibrated"
    page = (workspace / "out" / "report.html").read_text()
    for words in (
        "A &amp; B",
        "Two &lt;hosts&gt;.",
        "Section 1.",
        "badge shape",
        "Fitted on fig2.",
        "15&nbsp;us:",
        '<td data-name="Bar">within 20&nbsp;%</td>',
        '<td class="number" data-name="Seeds">5</td>',
        '<td class="number" data-name="Seeds">5, all alike</td>',
        "95 % interval",
        "seeds: 1 to 5",
    ):
        assert words in page
    assert " src=" not in page
    assert 'href="http' not in page


@pytest.mark.usefixtures("toy")
def test_the_terminal_has_the_table_and_the_reasons(clearway: Clearway) -> None:
    answer = clearway("paper", "toy", "fig1")
    assert answer.status == 0
    assert "It is fast" in answer.out
    assert "Fig 1, shape: More target is more RTT: A queue stands above the target." in answer.out
    assert "Fig 1: 20 run, 0 found finished: 1 reproduced, 1 shape" in answer.err
    assert "Fitted" not in answer.out
    again = clearway("paper", "toy", "fig1")
    assert "Fig 1: 0 run, 20 found finished" in again.err


def test_a_claim_that_does_not_hold_is_status_1(clearway: Clearway, toy: Path) -> None:
    (toy / "fig2.toml").write_text(FIG2 + FAILING)
    answer = clearway("paper", "toy", "fig2", "--json")
    assert answer.status == 1
    assert [claim["verdict"] for claim in answer.json["claims"]] == ["calibrated", "not reproduced"]
    assert answer.json["claims"][1]["reason"]
    assert answer.err == ""


@pytest.mark.parametrize(("bar", "status", "verdict"), [(0, 0, "extension"), (1e6, 1, "extension failed")])
def test_an_extension_is_counted_apart(
    clearway: Clearway, toy: Path, workspace: Path, bar: float, status: int, verdict: str
) -> None:
    extension = FAILING.replace("[[claim]]", '[[claim]]\norigin = "extension"')
    changed = re.sub(r"holds = .*", f"holds = {{ at_least = {bar} }}", extension)
    (toy / "fig2.toml").write_text(FIG2 + changed)
    answer = clearway("paper", "toy", "fig2", "--json", "--out", "out")
    assert answer.status == status
    assert [claim["origin"] for claim in answer.json["claims"]] == ["paper", "extension"]
    assert (answer.json["verdicts"], answer.json["extensions"]) == ({"calibrated": 1}, {verdict: 1})
    said = clearway("paper", "toy", "fig2")
    assert "The paper's claims: 1 calibrated" in said.out
    assert f"Beyond the paper: 1 {verdict}" in said.out
    page = (workspace / "out" / "report.html").read_text()
    badge = f'<span class="badge {verdict.replace(" ", "-")}">'
    assert f'counted apart:</p><div class="tally"><span>{badge}' in page


def test_a_control_that_shows_it_too_refutes_it(clearway: Clearway, toy: Path) -> None:
    (toy / "fig1.toml").write_text(FIG1.replace('set = { "network.rate" = "1Gbps" }', ""))
    answer = clearway("paper", "toy", "fig1", "--json")
    assert answer.status == 1
    assert answer.json["claims"][0]["verdict"] == "not reproduced"
    assert "the control as well" in answer.json["claims"][0]["reason"]


@pytest.mark.usefixtures("toy")
def test_shared_parameters_scale_and_overrides() -> None:
    paper = papers.paper_named("toy")
    quick = reading.read(paper, "fig1", full=False)
    full = reading.read(paper, "fig1", full=True)
    document = quick.runs[0].document
    assert document["transport"]["bulk"] == {"protocol": "swift", "base_target": "20us", "ai": 0.5}
    assert document["network"]["mtu"] == "1500B"
    assert (dict(quick.runs[0].overrides), dict(full.runs[0].overrides)) == ({}, {"duration": "2ms"})
    assert dict(full.runs[2].overrides) == {"duration": "2ms", "network.rate": "1Gbps"}


def test_an_experiment_may_have_its_own_value(toy: Path) -> None:
    own = FIG1.replace('{ protocol = "swift" }', '{ protocol = "swift", base_target = "50us" }')
    (toy / "fig1.toml").write_text(own)
    read = reading.read(papers.paper_named("toy"), "fig1", full=False)
    assert read.runs[0].document["transport"]["bulk"]["base_target"] == "50us"


@pytest.mark.usefixtures("toy")
def test_list_runs_nothing(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("paper", "toy", "--list")
    assert answer.status == 0
    assert "A fitted one" in answer.out
    assert not (workspace / "runs").exists()
    assert not (workspace / ".clearway").exists()
    listed = clearway("paper", "toy", "--list", "--json").json["experiments"]
    assert [entry["id"] for entry in listed] == ["fig1", "fig2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["swift"], ["swift: no such paper", "one of toy"]),
        (["toi"], ["toi: no such paper", "did you mean toy?"]),
        (["toy/"], ["toy/: no such paper", "did you mean toy?"]),
        (["../toy"], ["../toy: no such paper"]),
        (["t" * 5000], ["no such paper"]),
        (["toy", "fig3"], ["fig3: no such experiment", "did you mean"]),
        (["toy", "--jobs", "0"], ["--jobs"]),
        ([], ["PAPER"]),
    ],
)
@pytest.mark.usefixtures("toy")
def test_names_that_are_none(arguments: list[str], words: list[str], clearway: Clearway) -> None:
    answer = clearway("paper", *arguments)
    assert answer.status == 2
    for word in words:
        assert word in answer.err


GOODPUT = 'ours = { measure = "summary", run = "swift", key = "goodput_gbps" }'
LOSSES = '{ measure = "losses", run = "swift", traffic_class = "a", links = "*" }'
POOLED = f'{{ measure = "pooled_rate", of = {LOSSES} }}'


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("holds = {", "hold = {", ["fig1.toml:", "claim[0].hold: unknown key", "did you mean holds?"]),
        ("within = 0.2", "witin = 0.2", ["claim[0].holds.witin", "did you mean within?"]),
        ("holds = { within = 0.2 }", "holds = {}", ["claim[0].holds", "is empty"]),
        ("within = 0.2", 'within = "0.2"', ["claim[0].holds.within", "found '0.2', expected a number"]),
        ("within = 0.2", "between = [1]", ["claim[0].holds.between", "expected two numbers"]),
        ("within = 0.2", 'order = "risng"', ["claim[0].holds.order", "did you mean rising?"]),
        ('measure = "summary"', 'measure = "sumary"', ["claim[0].ours.measure", "did you mean summary?"]),
        ('key = "goodput_gbps"', 'kee = "x"', ["claim[0].ours.kee", "no argument of summary", "key"]),
        (', key = "goodput_gbps"', "", ["claim[0].ours", "summary needs key"]),
        ('run = "swift", key', 'run = "swft", key', ["claim[0].ours.run", "did you mean swift?"]),
        ('control = "slow"', 'control = "slo"', ["claim[0].control", "did you mean slow?"]),
        ('control = "slow"', "stand_in = true", ["claim[0].control", "needs a negative control"]),
        ('control = "slow"', 'control = "swift"', ["claim[0].control", "changes none of the runs"]),
        ('title = "A & B"', 'title = "A & B"\nseeds = 1', ["claim[0]", "has 1 seeds", "give it seeds = 5"]),
        ("paper = 9.5", "paper = 9.5\ndraws = 3", ["claim[0]", "two samples of 3", "give it seeds = 15"]),
        ("paper = 9.5", "paper = 9.5\ndraws = 0", ["claim[0].draws", "at least 1"]),
        ('title = "A & B"', 'title = "A & B"\nseeds = 0', ["runs.swift.seeds", "at least 1"]),
        ('keep = ["rtt"]', 'seeds = "3"', ["runs.swept.seeds", "expected a whole number"]),
        ('["15us", "25us"] }', '["15us", "25us"], seed = [1, 2] }', ["is no axis", "give seeds = 5"]),
        (
            'control = "slow"',
            'control = { swift = "slow" }\n'
            "shape = { at_least = 1 }\n"
            'shape_of = { measure = "ratio", of = { measure = "summary", run = "swift", key = "jain" }, '
            'to = { measure = "summary", run = "slow", key = "jain" } }',
            ["claim[0].control", "compares a run with itself"],
        ),
        ('kind = "rate"', 'kind = "speed"', ["claim[0].kind", "one of"]),
        ('kind = "rate"', 'bar = "our"', ["claim[0].bar", "did you mean ours?"]),
        (GOODPUT, f"ours = {POOLED}\ndraws = 2", ["claim[0].draws", "takes all seeds together"]),
        (
            GOODPUT,
            f"ours = [{POOLED}, {POOLED}]\nshape = {{ order = 'rising' }}",
            ["claim[0].shape.order", "each have an interval", "one of at_least, at_most, between, within"],
        ),
        (
            GOODPUT,
            f'ours = {{ measure = "ratio", of = {POOLED}, to = 2 }}',
            ["claim[0].ours", "pooled_rate brings its own interval", "a list of such"],
        ),
        ("[runs.slow]\nset", "[runs.slow]\nsets", ["runs.slow.sets", "did you mean set?"]),
        ('title = "A & B"', "title = 3", ["title: found 3, expected a text"]),
        ('figure = "Fig 1"', "", ["figure: missing"]),
        ('figure = "Fig 1"', 'figure = "Fig 1', ["fig1.toml:2"]),
        ('"network.rate" = "1Gbps"', '"network.rat" = "1Gbps"', ["network.rat", "did you mean rate?"]),
        ('key = "goodput_gbps"', 'key = "goodput"', ["fig1.toml", "there is no goodput"]),
        ('["15us", "25us"]', "[]", ["runs.swept.sweep", "is empty"]),
        ('each = "transport', 'each = "transprt', ["plot[1].line[0].each", "did you mean transport"]),
        (
            'of = { measure = "over_time"',
            'each = "transport.*.ai"\nof = { measure = "series", x = [1], y = [1] }\n#',
            ["plot[0].line[0].each", "goes with a measure of a run"],
        ),
    ],
)
def test_files_that_are_wrong(old: str, new: str, words: list[str], clearway: Clearway, toy: Path) -> None:
    assert old in FIG1
    (toy / "fig1.toml").write_text(FIG1.replace(old, new, 1))
    answer = clearway("paper", "toy", "fig1")
    assert answer.status == 2, answer
    for word in words:
        assert word in answer.err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('source = "paper"', 'source = "papers"', ["parameter[0].source", "did you mean paper?"]),
        ('fitted_on = ["fig2"]', "", ["parameter[1].source", "fitted_on"]),
        ('why = "Small."', "", ["parameter[2].why: missing"]),
    ],
)
def test_parameters_that_are_wrong(
    old: str, new: str, words: list[str], clearway: Clearway, toy: Path
) -> None:
    (toy / "parameters.toml").write_text(PARAMETERS.replace(old, new, 1))
    answer = clearway("paper", "toy")
    assert answer.status == 2
    for word in words:
        assert word in answer.err


# THE FILES THAT SHIP

SWIFT, FASTPASS, SWING = (papers.paper_named(name) for name in ("swift", "fastpass", "swing"))
SHIPPED = [
    pytest.param(paper, name, id=f"{paper.name}-{name}")
    for paper in (SWIFT, FASTPASS, SWING)
    for name in paper.ids
]


@pytest.mark.parametrize(("paper", "name"), SHIPPED)
@pytest.mark.parametrize("full", [False, True], ids=["quick", "full"])
def test_experiments_are_read_at_both_scales(paper: papers.Paper, name: str, full: bool) -> None:
    found = reading.read(paper, name, full=full)
    assert found.claims or found.frontier
    # Thousands of points differ in a seed: both ends of each run's axes say enough.
    ends = [replace(run, variants=[run.variants[0], run.variants[-1]]) for run in found.runs]
    ready = reproduce.prepare([replace(found, runs=ends)])
    assert all(point.scenario.estimated_bytes > 0 for _, points in ready[0].points for point in points)


@pytest.mark.parametrize(("paper", "name"), SHIPPED)
def test_claims_are_fitted_where_a_parameter_was(paper: papers.Paper, name: str) -> None:
    fitted = {entry for parameter in paper.parameters for entry in parameter.fitted_on}
    claims = reading.read(paper, name, full=False).claims
    assert any(claim.get("fitted") for claim in claims) or name not in fitted


@pytest.mark.parametrize("name", SWIFT.ids)
def test_every_claim_of_swift_can_fail(name: str) -> None:
    """A bar on one side of a value needs a control, unless the verdict can be no better than calibrated."""
    for claim in reading.read(SWIFT, name, full=False).claims:
        lesser = claim.get("origin") == "extension" or claim.get("fitted") or claim.get("after_seeing")
        one_sided = {"at_least", "at_most"} & set(claim["holds"])
        assert lesser or not one_sided or "control" in claim, claim["text"]


@pytest.mark.parametrize("name", FASTPASS.ids)
def test_what_may_be_reproduced_of_fastpass_has_a_control(name: str) -> None:
    """A claim beyond the paper whose bar has one side only needs one too, unless it is a count of zero."""
    for claim in reading.read(FASTPASS, name, full=False).claims:
        ours = claim.get("origin") == "extension"
        open_ = set(claim["holds"]) in ({"at_least"}, {"at_most"}) and claim["holds"].get("at_most") != 0
        lesser = claim.get("fitted") or claim.get("after_seeing")
        needed = open_ and not lesser if ours else not lesser
        assert not needed or "control" in claim, claim["text"]


def test_the_map_marks_the_set_in_use() -> None:
    parameters = {parameter.key.rsplit(".", 1)[-1]: parameter.value for parameter in SWIFT.parameters}
    for full in (False, True):
        found = reading.read(SWIFT, "map", full=full)
        assert found.frontier is not None
        reference = found.frontier["reference"]
        assert all(parameters[key.rsplit(".", 1)[-1]] == value for key, value in reference.items())
        assert all({**reference, "seed": 1} in run.variants for run in found.runs)


@pytest.mark.parametrize(
    ("paper", "entry", "sets", "where"),
    [
        (SWIFT, "transport.swift", [], ("transport", "bulk")),
        (SWIFT, "host.snap", [("host.default.model", "snap")], ("host", "default")),
        (FASTPASS, "host.interrupts", [("host.default.model", "interrupts")], ("host", "default")),
    ],
    ids=lambda value: value.name if isinstance(value, papers.Paper) else None,
)
def test_parameters_are_those_of_the_simulator(
    paper: papers.Paper, entry: str, sets: list[tuple[str, str]], where: tuple[str, str]
) -> None:
    """A default that moves must move here, with its source."""
    scenario = ROOT / "scenarios" / "swift_incast_100.toml"
    resolved = json.loads(cw._clearway.load(scenario, sets).resolved)
    defaults = resolved[where[0]][where[1]]
    ours = {
        parameter.key.removeprefix(f"{entry}."): parameter.value
        for parameter in paper.parameters
        if parameter.key.startswith(f"{entry}.")
    }
    assert ours
    assert {key: defaults[key] for key in ours} == ours


def test_the_example_of_the_documentation_is_read(toy: Path) -> None:
    text = (ROOT / "docs" / "PAPERS.md").read_text()
    (toy / "fig22.toml").write_text(text.split("```toml\n")[1].split("```")[0])
    for full in (False, True):
        found = reading.read(papers.paper_named("toy"), "fig22", full=full)
        assert [len(points) for _, points in reproduce.prepare([found])[0].points] == [5, 5, 6]


@pytest.mark.parametrize("name", OF_RUN | OF_VALUES)
def test_every_measure_is_tested(name: str) -> None:
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_paper*.py")]
    assert any(f"measures.{name}(" in text for text in texts) or name in {"series", "fabric_target"}


def test_fig5_is_reproduced(clearway: Clearway) -> None:
    answer = clearway("paper", "swift", "fig5", "--json")
    assert answer.status == 0, answer.err
    assert [claim["verdict"] for claim in answer.json["claims"]] == ["reproduced"]


def test_the_papers_of_a_checkout_are_those_of_the_package() -> None:
    assert (ROOT / "papers").resolve() == papers.folder_of_papers().resolve()


def test_the_command_as_a_process() -> None:
    answer = finished(child("paper", "swift", "--list"))
    assert answer.status == 0
    assert "table3" in answer.out


LATE, EXACT = AtLeast(4.0), 4.0


@pytest.mark.parametrize(
    ("holds", "of", "to", "verdict"),
    [
        # What has a lower bound may be anything from there on.
        ({"at_least": 3}, LATE, 1.0, verdicts.REPRODUCED),
        ({"at_least": 5}, LATE, 1.0, verdicts.STRADDLES),
        ({"at_most": 5}, LATE, 1.0, verdicts.STRADDLES),
        ({"at_most": 3}, LATE, 1.0, verdicts.NOT_REPRODUCED),
        ({"between": [3, 5]}, LATE, 1.0, verdicts.STRADDLES),
        ({"between": [3, 5]}, EXACT, 1.0, verdicts.REPRODUCED),
        # A ratio to a lower bound is an upper bound; of two lower bounds nothing is known.
        ({"at_most": 5}, EXACT, AtLeast(1.0), verdicts.REPRODUCED),
        ({"at_least": 3}, EXACT, AtLeast(1.0), verdicts.STRADDLES),
        ({"at_least": 5}, EXACT, AtLeast(1.0), verdicts.NOT_REPRODUCED),
        ({"at_least": 3}, LATE, AtLeast(1.0), verdicts.STRADDLES),
        ({"at_most": 5}, LATE, AtLeast(1.0), verdicts.STRADDLES),
    ],
)
def test_a_lower_bound_is_not_within_a_bar_above_it(holds: Any, of: float, to: float, verdict: str) -> None:
    figures = {
        "of": of,
        "to": to,
        "lower_bounds": [key for key, value in (("of", of), ("to", to)) if isinstance(value, AtLeast)],
    }
    run = made_up(summary=figures)
    runs = {"one": MadeRun("one", "One", [({"seed": 1}, run), ({"seed": 2}, run)])}
    of_run, to_run = ({"measure": "summary", "run": "one", "key": key} for key in ("of", "to"))
    ours = {"measure": "ratio", "of": of_run, "to": to_run}
    claim = {"text": "It is near", "paper": "near", "ours": ours, "holds": holds}
    (found,) = claims.judge(Experiment("a", Path(), "Fig 1", "", "", "", [], [claim], [], None), runs)
    assert found.verdict == verdict
