"""What each flow of a testbed had delivered at any time, and the round trips that were seen, from samples.

Between two looks at a flow its bytes are taken to arrive evenly. A round trip counts for the bytes that were
acknowledged since the look before, as in a simulation each acknowledgement counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearway.testbed.plan import Flow
from clearway.testbed.reading import FlowEnd, Measured

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A flow that has started."""

    flow: Flow
    start_us: float
    """When it was to start: by the clock, or of a closed loop when the operation before it was complete."""
    end_us: float | None
    """When it was complete; None if it was not when the run ended."""
    retransmissions: int
    time_us: Floats
    """When it was looked at, its start and its end among these."""
    bytes: Floats
    """Acknowledged by then."""
    rtt_us: Floats
    """Of the bytes between one time and the next, so one fewer; NaN where nothing was seen."""
    cwnd: Floats
    """In packets, at the times between start and end; NaN where nothing was seen."""

    def delivered(self, time_us: Floats | float) -> Floats:
        """Return the bytes acknowledged at a time."""
        return np.asarray(np.interp(time_us, self.time_us, self.bytes))

    def round_trips(self, from_us: float, until_us: float) -> tuple[Floats, Floats]:
        """Return the round trips in microseconds of an interval, and the bytes of each."""
        inside = (self.time_us[1:] > from_us) & (self.time_us[1:] <= until_us)
        weights = np.diff(self.bytes)
        seen = inside & (weights > 0) & np.isfinite(self.rtt_us)
        return self.rtt_us[seen], weights[seen]


def curves_of(flows: Sequence[Flow], measured: Measured, end_us: float) -> list[Curve]:
    """Return the flows that have started, in the order of the plan; the run ended at `end_us`."""
    samples = measured.samples()
    order = np.argsort(samples.flow, kind="stable")
    sorted_flows = samples.flow[order]
    found = []
    for flow in flows:
        end = measured.flows.get(flow.id)
        first, last = np.searchsorted(sorted_flows, [flow.id, flow.id + 1])
        rows = order[first:last]
        if (end is None or end.start_ns is None) and not len(rows):
            continue
        looks = (samples.time_ns[rows], samples.bytes[rows], samples.rtt_ns[rows], samples.cwnd[rows])
        found.append(_curve(flow, end, looks, end_us))
    return found


def _curve(
    flow: Flow,
    end: FlowEnd | None,
    looks: tuple[NDArray[np.int64], NDArray[np.int64], Floats, Floats],
    run_end_us: float,
) -> Curve:
    """Make one; of an agent that was lost there is no last word, and what it last said stands."""
    times, counts, rtts, cwnds = looks
    begun_ns = end.start_ns if end and end.start_ns is not None else flow.start_ns
    start_us = (begun_ns if flow.after is not None else min(begun_ns, flow.start_ns)) / 1000
    end_us = end.end_ns / 1000 if end and end.end_ns is not None else None
    last_us = run_end_us if end_us is None else end_us
    inside = (times / 1000 > start_us) & (times / 1000 < last_us)
    times, counts, rtts, cwnds = times[inside], counts[inside], rtts[inside], cwnds[inside]
    total = end.bytes if end else (int(counts[-1]) if len(counts) else 0)
    mean_us = end.rtt_ns / 1000 if end and end.rtt_ns is not None else np.nan
    # Of the time since the last look nothing is known; the mean of all stands for a flow without any look.
    tail = [mean_us if not len(times) else float("nan")]
    # No agent reports fewer bytes than before.
    amounts = np.maximum.accumulate(np.concatenate([[0.0], counts, [float(total)]]))
    return Curve(
        flow=flow,
        start_us=start_us,
        end_us=end_us,
        retransmissions=end.retransmissions if end else 0,
        time_us=np.concatenate([[start_us], times / 1000, [max(last_us, start_us)]]),
        bytes=amounts,
        rtt_us=np.concatenate([rtts / 1000, tail]),
        cwnd=cwnds,
    )
