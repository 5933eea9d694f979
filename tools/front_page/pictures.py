"""The picture of each system, drawn from the runs that `clearway demo` leaves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import clearway as cw
import numpy as np
from clearway import Run
from clearway.figures import readable
from numpy.typing import NDArray

from tools.front_page.svg import Line, Picture

_BIN_US = 1000.0  # of the RTT: its samples are noisier than a picture of 150 ms can show
_MS = 1e3  # microseconds

Floats = NDArray[np.float64]


def pictures(demo: Path) -> Mapping[str, str]:
    """Return the text of each file of docs/ that is drawn from these runs."""
    return {
        "swift.svg": _incast(_load(demo, "incast_swift"), _load(demo, "incast_dctcp")).svg(),
        "fastpass.svg": _fabric(
            *(_load(demo, name) for name in ("fabric_fastpass", "fabric_sprayed", "fabric_hashed"))
        ).svg(),
        "swing.svg": _long_link(_load(demo, "long_link_relay"), _load(demo, "long_link_pfc")).svg(),
    }


def _load(demo: Path, name: str) -> Run:
    run = cw.load_run(demo / name)
    assert isinstance(run, Run)
    return run


def _incast(swift: Run, dctcp: Run) -> Picture:
    flows = swift.summary["flows"]
    means = [readable("time", run.summary["rtt_mean_us"]) for run in (swift, dctcp)]
    ends = [readable("time", run.summary["fct_max_us"]) for run in (swift, dctcp)]
    return Picture(
        f"{flows:,} flows of 1 MB into one link of 50 Gb/s: mean round-trip time",
        f"Swift's last flow is done after {ends[0]}, DCTCP's after {ends[1]}",
        f"Mean round-trip time while {flows:,} flows go into one link: "
        f"{means[0]} under Swift, {means[1]} under DCTCP.",
        "ms",
        "us",
        [Line("Swift", *_mean_rtt(swift)), Line("DCTCP", *_mean_rtt(dctcp))],
        log=True,
    )


def _mean_rtt(run: Run) -> tuple[Floats, Floats]:
    """Return the mean over each millisecond, beside its middle."""
    series = run.rtt_series
    there = np.isfinite(series["rtt_mean_us"])
    places = (series["time_us"][there] // _BIN_US).astype(int)
    counts = np.bincount(places)
    sums = np.bincount(places, weights=series["rtt_mean_us"][there])
    used = np.flatnonzero(counts)
    means: Floats = np.asarray(sums[used] / counts[used], dtype=np.float64)
    middles: Floats = np.asarray((used + 0.5) * _BIN_US / _MS, dtype=np.float64)
    return middles, means


def _fabric(fastpass: Run, sprayed: Run, hashed: Run) -> Picture:
    labels = ("Fastpass", "DCTCP, all paths", "DCTCP, a path a flow")
    runs = (fastpass, sprayed, hashed)
    goodputs = [readable("rate", run.summary["goodput_gbps"]) for run in runs]
    peaks = [readable("bytes", run.summary["queue_peak_bytes"]) for run in runs]
    return Picture(
        f"{fastpass.summary['flows']} hosts of a fat tree send at full rate: the longest queue of all ports",
        "beside each name: the goodput of all hosts together",
        "The longest queue of a fat tree at full load, at most: "
        + ", ".join(f"{peak} under {label}" for label, peak in zip(labels, peaks, strict=True))
        + ".",
        "ms",
        "kB",
        [
            Line(f"{label}: {goodput}", *_longest_queue(run))
            for label, goodput, run in zip(labels, goodputs, runs, strict=True)
        ],
    )


def _longest_queue(run: Run) -> tuple[Floats, Floats]:
    """Return the longest queue of any port at each time that was sampled."""
    times, places = np.unique(run.queues["time_us"].astype(float), return_inverse=True)
    longest = np.zeros(len(times))
    np.maximum.at(longest, places, run.queues["queue_bytes"].astype(float))
    return times / _MS, longest / 1e3


def _long_link(relay: Run, pfc: Run) -> Picture:
    ends = [readable("time", run.summary["fct_max_us"]) for run in (relay, pfc)]
    means = [readable("rate", run.summary["goodput_gbps"]) for run in (relay, pfc)]
    return Picture(
        "200 MB over 80 km without loss, to a host at 100 Gb/s: what arrives",
        f"all is there after {ends[0]} with Swing's relays, after {ends[1]} without",
        f"What arrives over a long lossless link: {means[0]} with Swing's relays, {means[1]} without.",
        "ms",
        "Gb/s",
        [
            Line("Swing's relays", relay.throughput["time_us"] / _MS, relay.throughput["goodput_gbps"]),
            Line("PFC alone", pfc.throughput["time_us"] / _MS, pfc.throughput["goodput_gbps"]),
        ],
    )
