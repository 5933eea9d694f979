"""Fastpass's queue beside DCTCP's, in a network of many paths at full load."""

from __future__ import annotations

from collections.abc import Sequence

from clearway.demonstration.part import Part
from clearway.demonstration.words import LENGTH, share
from clearway.report.chart import Chart
from clearway.report.charts import queue, throughput
from clearway.report.sources import Labelled
from clearway.runs import Run


def _conclude(runs: Sequence[Run]) -> str:
    fastpass, sprayed, _ = (run.summary for run in runs)
    length = LENGTH.beside(fastpass["queue_peak_bytes"], sprayed["queue_peak_bytes"])
    of_goodput = share(fastpass["goodput_gbps"], sprayed["goodput_gbps"])
    return (
        f"Fastpass's longest queue is {length} that of DCTCP over all paths, at {of_goodput} of its goodput."
    )


def _charts(groups: Labelled) -> Sequence[Chart]:
    return [queue(groups), throughput(groups)]


FABRIC = Part(
    name="fabric",
    asks="Fastpass: 127 hosts of a network of many paths send at full rate. How long are the queues?",
    files={
        "Fastpass": "fabric_fastpass",
        "DCTCP, all paths": "fabric_sprayed",
        "DCTCP, a path a flow": "fabric_hashed",
    },
    keys=frozenset({"goodput_gbps", "loss_rate_whole", "jain", "queue_mean_bytes", "queue_peak_bytes"}),
    conclude=_conclude,
    charts=_charts,
    note="Fastpass: an arbiter gives each packet a time and a path. Queues: of the port with the longest.",
)
