"""Swift beside DCTCP and Fastpass, where a thousand flows go into one link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearway.demonstration.part import Part, Rows
from clearway.demonstration.words import EQUALITY, LENGTH, share
from clearway.figures import readable
from clearway.report.chart import Chart
from clearway.report.charts import queue, rtt_over_time
from clearway.report.sources import Labelled
from clearway.runs import Run


def _start_up(run: Run) -> dict[str, float]:
    """Measure the warm-up. Every interval of the record in which a round trip ended counts alike."""
    until, series = run.summary["measured_from_us"], run.rtt_series
    early = series["time_us"] <= until
    mean, most = np.nanmean(series["rtt_mean_us"][early]), np.nanmax(series["rtt_max_us"][early])
    return {"until_us": until, "rtt_mean_us": float(mean), "rtt_max_us": float(most)}


def _rows(runs: Sequence[Run]) -> Rows:
    starts = [_start_up(run) for run in runs]
    until = readable("time", starts[0]["until_us"])
    return [(f"longest RTT, first {until}", [readable("time", start["rtt_max_us"]) for start in starts])]


def _more(runs: Sequence[Run]) -> dict[str, Any]:
    return {"start_up": [{"label": label, **_start_up(run)} for label, run in zip(_FILES, runs, strict=True)]}


def _conclude(runs: Sequence[Run]) -> str:
    swift, dctcp, _ = (run.summary for run in runs)
    length = LENGTH.beside(swift["rtt_mean_us"], dctcp["rtt_mean_us"])
    of_goodput = share(swift["goodput_gbps"], dctcp["goodput_gbps"])
    equal = EQUALITY.order(swift["jain"], dctcp["jain"])
    return f"Swift's mean RTT is {length} DCTCP's, at {of_goodput} of its goodput, with {equal}."


def _charts(groups: Labelled) -> Sequence[Chart]:
    return [rtt_over_time(groups), queue(groups)]


_FILES = {"Swift": "incast_swift", "DCTCP": "incast_dctcp", "Fastpass": "incast_fastpass"}

INCAST = Part(
    name="incast",
    asks="Swift: 1000 flows of 1 MB go into one link of 50 Gb/s. How long does a packet take there and back?",
    files=_FILES,
    keys=frozenset(
        {
            "goodput_gbps",
            "loss_rate_whole",
            "rtt_mean_us",
            "rtt_p99_us",
            "jain",
            "unfinished_flows",
            "fct_max_us",
            "queue_mean_bytes",
        }
    ),
    rows=_rows,
    conclude=_conclude,
    charts=_charts,
    note="RTT: round-trip time, under Fastpass without the wait for a turn. Jain: 1 if all shares are equal.",
    more=_more,
)
