"""`clearway paper`: losses counted over all seeds together, and whether their intervals cover the truth."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clearway.errors import ClearwayError
from clearway.paper import claims, evaluation, sampling
from clearway.paper.evaluation import MadeRun
from clearway.paper.experiment import Experiment
from clearway.paper.measures import Losses, Series
from clearway.runs import Run

from tests.test_paper import made_up, measures

PACKET = 1000.0
PORTS = 400


def port_losses(*lost: float, offered: float = 1e9) -> Losses:
    """What these ports lost, in one bin, in bytes."""
    column = np.array(lost)
    return Losses(
        np.array([column.sum()]),
        np.array([offered]),
        np.array([(column**2).sum()]),
        np.array([column.max(initial=0.0)]),
        PACKET,
    )


# MEASURES


def test_losses_are_counted_by_bin_and_port() -> None:
    series = {
        "time_us": np.repeat([1.0, 2.0], 3),
        "link": np.array(["tor0>h1", "tor0>h2", "tor0>spine0"] * 2),
        "class": np.array(["a"] * 6),
        "utilisation": np.array([0.5, 0.55, 1.0, 0.95, 0.5, 1.0]),
        "sent_bytes": np.array([900, 500, 1, 600, 100, 1], dtype=np.uint64),
        "dropped_bytes": np.array([100, 0, 7, 400, 30, 7], dtype=np.uint64),
    }
    scenario = {"warmup": "0us", "record": {"links": "1us"}, "network": {"mtu": "1kB"}}
    run = made_up(tables={"links_series": series}, scenario=scenario)
    found = measures.losses(run, "a", "tor*>h*", [0, 50, 60, 100])
    assert (found.lost.tolist(), found.offered.tolist()) == ([0, 130, 400], [0, 1630, 1000])
    # A port's losses in a bin are one event: 100 and 30 of two ports, and 400 of one.
    assert found.squares.tolist() == [0, 100**2 + 30**2, 400**2]
    assert (found.largest.tolist(), found.packet) == ([0, 100, 400], 1000)
    whole = measures.losses(run, "a", "tor*>h*")
    assert (whole.lost.tolist(), whole.squares.tolist()) == ([530], [500**2 + 30**2])
    assert measures.losses(run, "a", "tor*>h*", from_us=1).lost.tolist() == [430]


def test_nothing_lost_of_n_packets_may_be_three_of_n() -> None:
    none = measures.pooled_rate(port_losses(0, 0, offered=6e5 * PACKET))
    assert (none, none.low, none.high) == (0, 0, pytest.approx(5e-6, rel=2e-3))
    # One burst of 21 packets is one loss, not 21: from next to nothing to 5.6 of its kind.
    one = measures.pooled_rate(port_losses(0, 21 * PACKET, offered=1e6 * PACKET))
    assert one == 21e-6
    assert one.low < 1e-6
    assert one.high == pytest.approx(5.57 * 21e-6, rel=0.01)
    # Of 21 bursts of one packet the interval is that of 21 counts.
    many = measures.pooled_rate(port_losses(*[PACKET] * 21, offered=1e6 * PACKET))
    assert (many.low, many.high) == (pytest.approx(13e-6, rel=0.01), pytest.approx(32.1e-6, rel=0.01))
    assert math.isnan(measures.pooled_rate(port_losses(offered=0)))


def test_a_ratio_to_n_losses_reaches_to_three_of_n() -> None:
    theirs = port_losses(*[50 * PACKET] * 300)
    none = measures.pooled_ratio(port_losses(0), theirs)
    assert (none, none.low) == (0, 0)
    assert 3 / 300 <= none.high < 1.15 * 3 / 300
    # A hundred of theirs against another hundred: their chance is that of both.
    even = measures.pooled_ratio(port_losses(*[PACKET] * 100), port_losses(*[PACKET] * 100))
    assert (even, even.low, even.high) == (1, pytest.approx(0.76, abs=0.02), pytest.approx(1.32, abs=0.02))
    # What lost something where the other lost nothing is no more than open above, and not below.
    lost = measures.pooled_ratio(theirs, port_losses(0))
    assert (lost, lost.high) == (math.inf, math.inf)
    assert lost.low == pytest.approx(300 / 3, rel=0.15)
    assert math.isnan(measures.pooled_ratio(port_losses(0), port_losses(0)))


def test_of_several_bins_the_worst_counts() -> None:
    """Nothing lost of ours; of theirs a packet in the first bin, forty in the second."""
    ours, theirs = (measures.losses(two_bins(*lost), "a", "*", [0, 50, 100]) for lost in ((0, 0), (1e3, 4e4)))
    assert (ours.lost.tolist(), theirs.lost.tolist()) == ([0, 0], [1e3, 4e4])
    both = [port_losses(lost, offered=1e6) for lost in (1e3, 4e4)]
    of_each = [measures.pooled_ratio(port_losses(0, offered=1e6), other).high for other in both]
    assert of_each[0] == pytest.approx(of_each[1])  # three times one loss of one, however large
    assert measures.pooled_ratio(ours, theirs).high == pytest.approx(of_each[0])
    swapped = measures.losses(two_bins(4e4, 1e3), "a", "*", [0, 50, 100])
    assert measures.pooled_ratio(theirs, swapped) == 40
    assert measures.pooled_ratio(theirs, swapped, largest=True) == 1
    assert measures.pooled_rate(theirs) == 0.04
    # A bin in which the other offered nothing has no rate, and is not its highest.
    lost = np.array([0, 4e4])
    other = Losses(lost, np.array([0, 1e6]), lost**2, lost, PACKET)
    assert measures.pooled_ratio(theirs, other, largest=True) == 1
    with pytest.raises(ClearwayError, match="2 bins, and 1"):
        measures.pooled_ratio(ours, port_losses(1))


def test_the_interval_of_a_quantile_is_that_of_ordered_values() -> None:
    def ratio(*ours: float, count: int = 10_000) -> Any:
        values = np.zeros(count)
        values[: len(ours)] = ours
        of = Series(np.full(count, 95.0), values)
        return measures.pooled_quantile_ratio(of, Series(of.x, np.arange(float(count))), 0.999)

    # Ten of ten thousand are above it, or by chance 4 to 17.
    found = ratio(*range(1, 31))
    assert (found * 9989, found.low * 9995, found.high * 9982) == pytest.approx((20, 13, 27), abs=1)
    nothing = ratio(1, 1, 1)
    assert (nothing, nothing.high) == (0, 0)
    # Of 3688 values the largest is above the quantile in 97.5 of 100 cases, and of 3687 in fewer.
    assert (ratio(count=3688).high, ratio(count=3687).high) == (0, math.inf)
    assert math.isnan(measures.pooled_quantile_ratio(LOST_NOTHING, LOST_NOTHING, 0.9))
    assert math.isnan(measures.pooled_quantile_ratio(LOST_NOTHING, LOST_NOTHING, 0.9, above=96))


@pytest.mark.parametrize("q", [0, 1, math.nan])
def test_the_ends_of_a_distribution_have_no_interval(q: float) -> None:
    with pytest.raises(ClearwayError, match="between 0 and 1"):
        measures.pooled_quantile_ratio(LOST_NOTHING, LOST_NOTHING, q)


LOST_NOTHING = Series(np.array([95.0]), np.array([0.0]))


# WHETHER THE INTERVALS COVER


def bursts(rng: np.random.Generator, mean: float, size: float, kind: str) -> Losses:
    """Return what `mean` bursts on average, of `size` packets on average, take from ports of five seeds."""
    lost = np.zeros(PORTS)
    for port in rng.integers(0, PORTS, rng.poisson(mean)):
        lost[port] += size if kind == "equal" else rng.geometric(1 / size)
    return port_losses(*(PACKET * lost))


@pytest.mark.parametrize("kind", ["equal", "geometric"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [((0.5, 20), (50, 20)), ((3, 20), (50, 20)), ((3, 20), (200, 60)), ((30, 50), (100, 50))],
)
def test_the_interval_of_a_ratio_covers(
    ours: tuple[float, float], theirs: tuple[float, float], kind: str
) -> None:
    rng = np.random.default_rng(22)
    true = math.prod(ours) / math.prod(theirs)
    found = [measures.pooled_ratio(bursts(rng, *ours, kind), bursts(rng, *theirs, kind)) for _ in range(600)]
    # 2.5 % on each side, and three standard errors of 600 draws.
    assert np.mean([true > ratio.high for ratio in found]) <= 0.025 + 0.019
    assert np.mean([true < ratio.low for ratio in found]) <= 0.025 + 0.019


def test_students_interval_of_rare_bursts_does_not_cover() -> None:
    rng = np.random.default_rng(22)
    missed = 0
    for _ in range(600):
        # Five seeds, with half a burst of twenty packets on all of them together.
        seeds = [float(bursts(rng, 0.1, 20, "equal").lost[0]) for _ in range(5)]
        interval = sampling.interval_of(np.array(seeds))
        missed += interval.mean + (interval.half_width or 0.0) < 0.1 * 20 * PACKET
    assert missed / 600 > 0.5


def test_the_interval_of_a_quantile_covers() -> None:
    rng = np.random.default_rng(22)
    flat = Series(np.zeros(100_000), np.ones(100_000))
    found = [
        measures.pooled_quantile_ratio(Series(np.zeros(5000), rng.random(5000)), flat, 0.99)
        for _ in range(400)
    ]
    covers = np.mean([ratio.low <= 0.99 <= ratio.high for ratio in found])
    assert 0.95 - 0.033 <= covers < 1


# CLAIMS


def two_bins(lost: float, more: float) -> Run:
    series = {
        "time_us": np.array([1.0, 1.0]),
        "link": np.array(["h0>tor0", "tor0>h1"]),
        "class": np.array(["a", "a"]),
        "utilisation": np.array([0.2, 0.7]),
        "sent_bytes": np.array([1e6 - lost, 1e6 - more]),
        "dropped_bytes": np.array([lost, more]),
    }
    scenario = {"warmup": "0us", "record": {"links": "1us"}, "network": {"mtu": "1kB"}}
    return made_up(tables={"links_series": series}, scenario=scenario)


def of_seeds(name: str, *losses: tuple[float, float]) -> MadeRun:
    return MadeRun(name, name, [({"seed": seed}, two_bins(*lost)) for seed, lost in enumerate(losses, 1)])


RUNS = {
    "ours": of_seeds("ours", (0, 0), (0, 0), (0, 2e3), (0, 0)),
    "none": of_seeds("none", *[(0, 0)] * 4),
    "theirs": of_seeds("theirs", *[(0, 2e4)] * 50),
}


def losses(run: str, **more: Any) -> dict[str, Any]:
    return {"measure": "losses", "run": run, "traffic_class": "a", "links": "*", **more}


def test_losses_of_seeds_and_points_add_up() -> None:
    assert evaluation.evaluate(losses("ours"), RUNS).lost.tolist() == [2e3]
    assert evaluation.evaluate(losses("theirs"), RUNS).offered.tolist() == [1e8]
    points = [({"d": d, "seed": seed}, two_bins(0, d * 1e3)) for d in (1, 2) for seed in (1, 2, 3)]
    swept = {"swept": MadeRun("swept", "swept", points)}
    assert evaluation.evaluate(losses("swept"), swept).lost.tolist() == [3e3, 6e3]
    assert evaluation.evaluate(losses("swept", pool=True), swept).lost.tolist() == [9e3]
    fixed = evaluation.evaluate(losses("swept", where={"d": 2}, edges=[0, 50, 100]), swept)
    assert (fixed.lost.tolist(), fixed.squares.tolist()) == ([0, 6e3], [0, 3 * 2e3**2])


def judged(ours: Any, **claim: Any) -> claims.Judged:
    whole = {"text": "It loses little", "paper": "low", "ours": ours, "holds": {"at_most": 0.01}, **claim}
    (found,) = claims.judge(Experiment("a", Path(), "Fig 1", "", "", "", [], [whole], [], None), RUNS)
    return found


def ratio(of: str, to: str = "theirs") -> dict[str, Any]:
    return {"measure": "pooled_ratio", "of": losses(of), "to": losses(to)}


def test_a_claim_of_pooled_counts_is_judged_by_their_interval() -> None:
    bar = {"at_most": 0.002}
    found = judged(
        {"measure": "pooled_rate", "of": losses("ours")}, control="theirs", kind="share", holds=bar
    )
    assert (found.verdict, found.seeds) == ("reproduced", "4 pooled")
    assert found.readable(found.ours) == "0.025 % (0.00033 % to 0.14 %)"
    answer = found.as_json()
    assert (answer["ours"], answer["samples"], answer["seeds_in_a_sample"]) == (0.00025, 1, 4)
    ((low, high),) = answer["interval"]
    assert (low, high) == (pytest.approx(3.3e-6, rel=0.02), pytest.approx(1.39e-3, rel=0.01))
    assert answer["control_interval"][0][0] > 0.005


@pytest.mark.parametrize(
    ("ours", "bar", "control", "verdict"),
    [
        # Nothing lost on four seeds against one loss of theirs on each of fifty: 3/50 and a little of each.
        (ratio("none"), 0.9, None, "reproduced"),
        (ratio("none"), 0.1, None, "straddles"),
        (ratio("theirs", "none"), 0.1, None, "not reproduced"),
        ({"measure": "pooled_rate", "of": losses("none")}, 3.1 / 8000, None, "reproduced"),
        ({"measure": "pooled_rate", "of": losses("none")}, 2.9 / 8000, None, "straddles"),
        # A control that loses as little refutes a claim, and one that loses more does not.
        ({"measure": "pooled_rate", "of": losses("none")}, 1e-3, "theirs", "reproduced"),
        ({"measure": "pooled_rate", "of": losses("theirs")}, 0.02, "none", "not reproduced"),
        ([ratio("none"), ratio("theirs", "theirs")], 0.5, None, "not reproduced"),
    ],
)
def test_verdicts_of_pooled_counts(ours: Any, bar: float, control: str | None, verdict: str) -> None:
    swaps = {} if control is None else {"control": control}
    assert judged(ours, holds={"at_most": bar}, **swaps).verdict == verdict
