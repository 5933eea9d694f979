"""Measures of one link."""

from __future__ import annotations

import math

import numpy as np

from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run
from clearway.paper.measures.rows import column_of, rows_of
from clearway.paper.measures.scenario import amount_of
from clearway.runs import Run


@of_run
def link(run: Run, name: str, column: str) -> float:
    """Take a column of the table of links, of the link `name`, such as "tor0>h5"."""
    return _link(run, name, column)


@of_run
def wire_gbps(run: Run, name: str) -> float:
    """Take what a link carried, headers and framing included, in Gb/s."""
    return _link(run, name, "utilisation") * _link(run, name, "rate_gbps")


@of_run
def unfinished_work_packets(run: Run, name: str, packet_bytes: float) -> float:
    """Mean unfinished work at a port, in packets: what waits, and what is left of the one in transmission.

    The latter is half a packet on average while the port sends; this is the queue of figure 4's law.
    """
    waiting = _link(run, name, "queue_mean_bytes") / packet_bytes
    return waiting + _link(run, name, "utilisation") / 2


@of_run
def queue_quantile(run: Run, name: str, q: float) -> float:
    """Take a quantile (0 to 1) of what waits at a port in bytes, over all samples after the warm-up.

    A port at which nothing ever waited is not in the table of queues, and counts as empty.
    """
    start, end = (amount_of(run.scenario[key]) for key in ("warmup", "duration"))
    step = amount_of(run.scenario["record"]["queues"])
    # Half a step more than a whole number of them, so that rounding loses no sample.
    samples = int(end / step + 0.5) - int(start / step + 0.5)
    waiting = column_of(run, rows_of(run, "queues", {"link": name}, start, end), "queue_bytes")
    if samples < max(len(waiting), 1):
        raise ClearwayError(f"{run.name}: {len(waiting)} samples of {name}, and {samples} instants")
    every = np.sort(np.concatenate([np.zeros(samples - len(waiting)), waiting]))
    return float(every[max(math.ceil(samples * q * (1 - 1e-12)), 1) - 1])


def _link(run: Run, name: str, column: str) -> float:
    links = run.links
    there = np.flatnonzero(links["link"] == name)
    if not len(there):
        raise ClearwayError(
            f"{run.name}: there is no link {name}", f"there is {', '.join(links['link'][:8])}"
        )
    return float(column_of(run, links, column)[there[0]])
