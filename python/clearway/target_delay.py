"""Which target delay a network should have under Swift, and what that costs.

Base, hop scaling and flow scaling follow from the delays of the empty path; round trip and goodput of flows
that share one link from the law by which windows move (Swift, Algorithm 1). The target of the longest path
is what that takes when it is empty, and room for a few flows' queue and for the hosts' jitter. For each
switch it has what a switch adds to the empty path. Flow scaling adds the difference of the mean queues of
many flows and of one: N paced flows of random phase keep a queue of sqrt(πN/8) packets on average (figure
4; the deviation of N uniform phases is a Brownian bridge, whose largest value has a Rayleigh distribution).
Times are in picoseconds, rates in bits a second, sizes in bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from clearway.arbiter_needs import transmission

MAX_CWND = 256.0
"""The largest window of Swift, in packets."""
_AI, _BETA = 1.0, 0.8
"""Swift's additive increase, and its reaction to the excess over the target."""
_TERMS = (1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.319381530)


@dataclass(frozen=True)
class Parameters:
    """Swift's parameters: the windows are those at which all of the range is added, and none."""

    base_target: int
    hop_scaling: int
    fs_range: int
    """Zero without flow scaling."""
    fs_min_cwnd: float = 0.0
    fs_max_cwnd: float = 0.0

    def target(self, cwnd: float, switches: int) -> int:
        """Return the target for a window on a path, as Swift has it (§3.5)."""
        scaling = 0.0
        if self.fs_range:
            steepest, flattest = 1.0 / math.sqrt(self.fs_min_cwnd), 1.0 / math.sqrt(self.fs_max_cwnd)
            slope = self.fs_range / (steepest - flattest)
            scaling = min(max(slope / math.sqrt(cwnd) + -slope * flattest, 0.0), float(self.fs_range))
        return self.base_target + self.hop_scaling * switches + int(scaling + 0.5)


@dataclass(frozen=True)
class Outcome:
    """What some flows get, on average, that share a link and always have something to send."""

    cwnd: float
    """The window of each, in packets."""
    target: int
    """The target for that window."""
    rtt: int
    """The mean round trip."""
    share: float
    """The share of the link that they fill."""


@dataclass(frozen=True)
class TargetPlan:
    """Flows to plan for, and the path that they take to the link that they share."""

    rate: int
    delay: int
    """Of every link, one way."""
    frame: int
    """A full frame on the wire."""
    ack: int
    """An acknowledgement on the wire."""
    payload: int
    """Of a full frame."""
    switches: int
    """On the longest path."""
    flows: int
    """The most that share a link."""
    few: int
    """Flows for whose queue the base target has room: each raises its window by a packet in a round trip."""
    jitter: int
    """What hosts add to a round trip at most: timestamps that err, and work that waits."""
    flow_scaling: bool
    """Whether the target grows with the number of flows."""

    @cached_property
    def _frame_time(self) -> int:
        return transmission(self.frame, self.rate)

    @property
    def per_hop(self) -> int:
        """What a link, and the switch before it, add to the round trip of an empty path."""
        return self._frame_time + transmission(self.ack, self.rate) + 2 * self.delay

    def empty(self, switches: int) -> int:
        """Return the round trip of an empty path, which has one link more than switches."""
        return self.per_hop * (switches + 1)

    @property
    def room(self) -> int:
        """The queue for which the base target has room, as time: what the few flows add in a round trip."""
        return self._frame_time * self.few

    @property
    def range(self) -> int:
        """What flow scaling adds at most: the time of the mean queue of all flows, less that of one."""
        queue = mean_queue(self.flows) - mean_queue(1)
        return int(self._frame_time * queue) if self.flow_scaling else 0

    @property
    def _least_target(self) -> int:
        """The target of the longest path with nothing added for flows."""
        return self.empty(self.switches) + self.room + self.jitter

    def _packets(self, time: float) -> float:
        """Return the packets that leave in this time."""
        return time / self._frame_time

    @cached_property
    def parameters(self) -> Parameters:
        """Swift's parameters.

        All of the range is added at the window that each of all flows has, and none at that of one flow
        alone: so that flows of different windows always have different targets, which is what makes them
        fair.
        """
        base = self.per_hop + self.room + self.jitter
        least = self._packets(self._least_target + self.range) / self.flows
        return Parameters(base, self.per_hop, self.range, least, self._packets(self._least_target))

    def outcome(self, flows: int, switches: int) -> Outcome:
        """Return what `flows` flows get, each from a host with few of them, on a path over these switches.

        A flow alone waits in its own host, before its packets count. Of several, each raises its window by
        `ai` in a round trip that is below the target, and lowers it by the share `β (D - t) / D` in one
        that is above. So `P(D < t) ai = β w E[max(0, D - t)] / D` in the mean, where w is the window that
        is lowered: the mean one, and the `ai` by which it has just been raised. D is taken as normal around
        its mean, with the deviation of a sawtooth of the height of what all flows add in a round trip: `ai`
        for each flow, or for each packet where there are fewer of them.
        """
        empty, target = self.empty(switches), self.parameters.target
        if flows == 1:
            cwnd = self._packets(empty)
            return Outcome(cwnd, target(cwnd, switches), empty, 1.0)

        def deviation_of(rtt: int) -> float:
            return min(float(flows), self._packets(rtt)) * _AI * self._frame_time / math.sqrt(12.0)

        def grows(rtt: int) -> bool:
            cwnd, deviation = self._packets(rtt) / flows, deviation_of(rtt)
            above = (rtt - target(cwnd, switches)) / deviation
            excess = deviation * (density(above) + above * below(above))
            return below(-above) * _AI > _BETA * (cwnd + _AI) * excess / rtt

        low, high = empty, (self._least_target + self.range) * 16
        while high > low + 1:
            middle = (low + high) // 2
            low, high = (middle, high) if grows(middle) else (low, middle)
        # The link idles where the round trip would be shorter than the empty path's.
        deviation = deviation_of(low)
        spare = (low - empty) / deviation
        idle = deviation * (density(spare) - spare * below(-spare)) / empty
        cwnd = self._packets(low) / flows
        return Outcome(cwnd, target(cwnd, switches), low, min(max(1.0 - idle, 0.0), 1.0))

    def goodput(self, share: float) -> float:
        """Return the payload of all flows in bits a second, where they fill this share of the link."""
        return share * self.rate * self.payload / self.frame


def mean_queue(flows: int) -> float:
    """Return the mean queue, in packets, of paced flows of random phase at a full link: figure 4."""
    return math.sqrt(math.pi / 8 * flows)


def density(x: float) -> float:
    """Return the density of the standard normal distribution."""
    return math.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi)


def below(x: float) -> float:
    """Return the normal distribution's share below x, to 1e-7 (Abramowitz and Stegun, 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * abs(x))
    total = 0.0
    for term in _TERMS:
        total = total * t + term
    above = density(x) * t * total
    return above if x < 0.0 else 1.0 - above
