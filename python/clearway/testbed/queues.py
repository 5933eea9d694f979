"""What was seen of the ports of a testbed's switch, as a simulated run has it of its links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.columns import Columns
from clearway.testbed.network import OVERHEAD_BYTES
from clearway.testbed.ports import SAMPLE
from clearway.testbed.reading import Measured

_SAMPLE = np.dtype(
    [
        ("time", "<i8"),
        ("host", "<u4"),
        ("frames", "<u4"),
        ("octets", "<u8"),
        ("waiting", "<u4"),
        ("drops", "<u4"),
    ]
)
_NAN = float("nan")


@dataclass(frozen=True)
class Port:
    """Samples of the port that feeds a link: equally long arrays."""

    link: str
    """The link's name."""
    rate_gbps: float
    delay_us: float
    """NaN where it is not known."""
    time_us: NDArray[np.float64]
    """From the start of the run on."""
    frames: NDArray[np.float64]
    """Sent so far."""
    wire_bytes: NDArray[np.float64]
    """Of these, with all that Ethernet adds."""
    waiting: NDArray[np.float64]
    """Bytes that wait."""
    drops: NDArray[np.float64]
    """Frames dropped so far."""

    def grown(self, counts: NDArray[np.float64], from_us: float, until_us: float) -> float:
        """Return by how much a count grows from one time to another."""
        first, last = np.interp([from_us, until_us], self.time_us, counts)
        return float(last - first)

    def waiting_within(self, from_us: float, until_us: float) -> NDArray[np.float64]:
        """Return what waited at each look of an interval."""
        return self.waiting[(self.time_us >= from_us) & (self.time_us < until_us)]


Ports = Sequence[Port]


def read(file: Path, measured: Measured, rate_gbps: float) -> Ports | None:
    """Return the ports to hosts; None where nothing was written, or the run has not started."""
    if measured.started_at_ns is None or not file.is_file():
        return None
    data = file.read_bytes()
    rows = np.frombuffer(data[: len(data) // SAMPLE.size * SAMPLE.size], _SAMPLE)
    ports = []
    for host in sorted(set(rows["host"].tolist())):
        of_host = rows[rows["host"] == host]
        frames = _growing(of_host["frames"])
        port = Port(
            link=f"tor0>h{host}",
            rate_gbps=rate_gbps,
            delay_us=_NAN,
            time_us=(of_host["time"] - measured.started_at_ns) / 1000,
            frames=frames,
            wire_bytes=of_host["octets"].astype(np.float64) + OVERHEAD_BYTES * frames,
            waiting=of_host["waiting"].astype(np.float64),
            drops=_growing(of_host["drops"]),
        )
        ports.append(port)
    return ports or None


def _growing(counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return a count of 32 bits without its jumps back to 0."""
    whole = counts.astype(np.int64)
    jumps = np.cumsum(np.diff(whole, prepend=0) < 0)
    return (whole + (jumps << 32)).astype(np.float64)


def links(ports: Ports, interval_us: tuple[float, float], end_us: float) -> Columns:
    """Return the table of links, of which those are there whose ports somebody saw."""
    start, until = interval_us
    rows = []
    for port in ports:
        wire = port.grown(port.wire_bytes, start, until)
        room = port.rate_gbps * 125 * (until - start)
        waiting = port.waiting_within(start, until)
        rows.append(
            (
                port.link,
                port.rate_gbps,
                port.delay_us,
                wire / room if room > 0 else _NAN,
                round(port.grown(port.frames, start, until)),
                round(wire),
                float(waiting.mean()) if len(waiting) else _NAN,
                int(port.waiting_within(0.0, end_us).max(initial=0)),
                round(port.grown(port.drops, start, until)),
                0,  # no port here marks anything
                0,
            )
        )
    names = (
        "link rate_gbps delay_us utilisation frames wire_bytes queue_mean_bytes queue_peak_bytes drops marks"
        " fault_losses"
    )
    kinds = "text real real real whole whole real whole whole whole whole"
    columns = zip(*rows, strict=True)
    kind_of = {"text": np.str_, "real": np.float64, "whole": np.uint64}
    return {
        name: np.array(values, kind_of[kind])
        for name, kind, values in zip(names.split(), kinds.split(), columns, strict=True)
    }


def figures(table: Columns) -> dict[str, Any]:
    """Return the figures of the network that follow from the table of links."""
    means = table["queue_mean_bytes"]
    return {
        "utilisation_max": float(np.nanmax(table["utilisation"], initial=0.0)),
        "queue_mean_bytes": float(np.nanmax(means, initial=0.0)),
        "queue_peak_bytes": int(table["queue_peak_bytes"].max()),
        "drops": int(table["drops"].sum()),
        "marks": 0,
        "fault_losses": 0,
    }


def series(ports: Ports, step_us: float, end_us: float) -> Columns:
    """Return what waited every `step_us` at the ports at which anything ever did, as of the look before."""
    times = step_us * np.arange(1, int(end_us / step_us + 1e-9) + 1)
    held = [port for port in ports if port.waiting_within(0.0, end_us).any()]
    seen = []
    for port in held:
        looks = np.maximum(np.searchsorted(port.time_us, times, side="right") - 1, 0)
        seen.append(port.waiting[looks])
    names = [port.link for port in held]
    return {
        "time_us": np.repeat(times, len(held)).astype(np.float64),
        "link": np.array(names * len(times), np.str_) if names and len(times) else np.array([], "<U1"),
        "queue_bytes": (np.stack(seen, axis=1).ravel() if seen else np.empty(0)).astype(np.uint64),
    }
