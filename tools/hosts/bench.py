"""Swift, a testbed, Fastpass and a relay against their bars, a line a bar: `python -m tools.hosts bench`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tools.hosts import distance, fastpass, swift, swing, testbed
from tools.hosts.bars import Bar, Pairs, measured, middle, skipped
from tools.hosts.load import Outcome, load
from tools.hosts.machine import UnavailableError, demand
from tools.hosts.network import Bottleneck, network

GIGABIT = Bottleneck(mbps=1000, queue_ms=10)
CROWDED = Bottleneck(mbps=100, queue_ms=10)
_CROWD = 200  # flows

Measure = Callable[["Effort"], Iterator[str]]


@dataclass(frozen=True)
class Effort:
    """How often and how long is measured."""

    repeats: int = 5
    starving_runs: int = 100
    soak_s: int = 30
    most_seconds: int = 8
    """For a run; none is longer than its measurement wants it."""

    def seconds(self, wanted: int) -> int:
        """Return the length of a run."""
        return min(wanted, self.most_seconds)


QUICK = Effort(repeats=1, starving_runs=1, soak_s=6, most_seconds=2)


def lines(effort: Effort) -> Iterator[str]:
    """Measure one thing after the other, and yield each line as soon as it is known."""
    measurements: Sequence[tuple[str, Measure]] = (
        ("1gbit_1_flow", lambda effort: _gigabit(effort, 1, srtt=0.2)),
        ("1gbit_4_flows", lambda effort: _gigabit(effort, 4, srtt=0.2)),
        ("1gbit_16_flows", lambda effort: _gigabit(effort, 16, srtt=0.2)),
        ("1gbit_64_flows", lambda effort: _gigabit(effort, 64, srtt=0.15)),
        ("100mbit_200_flows", _crowded),
        ("no_bottleneck_1_flow", lambda effort: _unlimited(effort, 1)),
        ("no_bottleneck_16_flows", lambda effort: _unlimited(effort, 16)),
        ("1gbit_4_flows_starving", _starving),
    )
    try:
        demand("ip", "tc", "ss", "iperf3")
        with swift.installed():
            for name, measure in measurements:
                yield from _or_skipped(name, measure(effort))
    except UnavailableError as reason:
        yield from (skipped(name, reason) for name, _ in measurements)
    yield from testbed.lines(effort.repeats, effort.soak_s)
    yield from fastpass.lines(effort.repeats, effort.seconds(4))
    yield from swing.lines(effort.repeats, effort.seconds(3))
    yield from _distance(effort)


def _distance(effort: Effort) -> Iterator[str]:
    try:
        found = []
        for each in distance.points(distance.KILOMETRES if effort.repeats > 1 else (0, 100)):
            found.append(each)
            yield distance.row(each)
        yield from (bar.line() for bar in distance.bars(found))
    except UnavailableError as reason:
        yield skipped("distance", reason, distance.SWING)


def _or_skipped(name: str, found: Iterator[str]) -> Iterator[str]:
    try:
        yield from found
    except UnavailableError as reason:
        yield skipped(name, reason)


def _pairs(bottleneck: Bottleneck | None, flows: int, seconds: int, repeats: int) -> Pairs:
    """Run cubic and Swift in turn."""
    pairs: tuple[list[Outcome], list[Outcome]] = ([], [])
    with network(bottleneck) as through:
        for _ in range(repeats):
            for outcomes, control in zip(pairs, (swift.NAME, "cubic"), strict=True):
                outcomes.append(load(through, control, flows, seconds))
    return Pairs(*pairs)


def _gigabit(effort: Effort, flows: int, srtt: float) -> Iterator[str]:
    name = f"1gbit_{flows}_flow{'s' * (flows > 1)}"
    pairs = _pairs(GIGABIT, flows, effort.seconds(4), effort.repeats)
    yield from (measured(name, outcomes) for outcomes in (pairs.swift, pairs.other))
    yield Bar(f"{name}_goodput_of_cubic", pairs.ratio(_goodput), "least", 0.95).line()
    yield Bar(f"{name}_srtt_of_cubic", pairs.ratio(_srtt), "most", srtt).line()
    if flows > 1:
        yield Bar(f"{name}_jain", middle(pairs.swift, _jain), "least", 0.95).line()
    yield Bar(f"{name}_drops", max(outcome.drops for outcome in pairs.swift), "most", 0).line()


def _crowded(effort: Effort) -> Iterator[str]:
    """Measure more flows than the queue holds packets: by default, with a small first window, a control."""
    name, seconds = f"100mbit_{_CROWD}_flows", effort.seconds(8)
    pairs = _pairs(CROWDED, _CROWD, seconds, effort.repeats)
    yield measured(name, pairs.other)
    yield Bar(f"{name}_jain_of_cubic_itself", middle(pairs.other, _jain), "most", 0.4).line()
    yield from _against(name, pairs)
    with _changed("--initial-cwnd", "1", "10"):
        small = f"{name}_initial_cwnd_1"
        yield from _against(small, Pairs(_alone(seconds, effort.repeats), pairs.other))
    with _changed("--cwnd-below-one", "off", "on"):
        control = _alone(seconds, 1)
        yield measured(f"{name}_cwnd_below_one_off", control)
        missed = sum(not bar.reached for bar in _crowd_bars(name, Pairs(control, pairs.other[:1])))
        yield Bar(f"{name}_cwnd_below_one_off_bars_missed", missed, "least", 1).line()


def _alone(seconds: int, repeats: int) -> list[Outcome]:
    with network(CROWDED) as through:
        return [load(through, swift.NAME, _CROWD, seconds) for _ in range(repeats)]


def _against(name: str, pairs: Pairs) -> Iterator[str]:
    yield measured(name, pairs.swift)
    yield from (bar.line() for bar in _crowd_bars(name, pairs))


def _crowd_bars(name: str, pairs: Pairs) -> list[Bar]:
    return [
        Bar(f"{name}_jain", middle(pairs.swift, _jain), "least", 0.9),
        Bar(f"{name}_goodput_of_cubic", pairs.ratio(_goodput), "least", 0.97),
        Bar(f"{name}_retransmissions_of_cubic", pairs.ratio(lambda each: each.retransmissions), "most", 0.02),
        Bar(f"{name}_srtt_ms", middle(pairs.swift, _srtt), "most", CROWDED.queue_ms / 2),
    ]


def _unlimited(effort: Effort, flows: int) -> Iterator[str]:
    name = f"no_bottleneck_{flows}_flow{'s' * (flows > 1)}"
    pairs = _pairs(None, flows, effort.seconds(2), effort.repeats)
    yield from (measured(name, outcomes) for outcomes in (pairs.swift, pairs.other))
    yield Bar(f"{name}_goodput_of_cubic", pairs.ratio(_goodput), "least", 0.95).line()


def _starving(effort: Effort) -> Iterator[str]:
    """No flow starves: in many short runs, none has less than a quarter of the mean."""
    with network(GIGABIT) as through:
        shares = [load(through, swift.NAME, 4, 1).least_share for _ in range(effort.starving_runs)]
    yield Bar(f"1gbit_4_flows_least_share_in_{len(shares)}_runs", min(shares), "least", 0.25).line()


@contextmanager
def _changed(option: str, value: str, before: str) -> Iterator[None]:
    """Change a parameter of Swift while the body runs."""
    swift.tcp("set", option, value)
    try:
        yield
    finally:
        swift.tcp("set", option, before)


def _goodput(outcome: Outcome) -> float:
    return outcome.goodput_mbps


def _srtt(outcome: Outcome) -> float:
    return outcome.srtt_ms


def _jain(outcome: Outcome) -> float:
    return outcome.jain
