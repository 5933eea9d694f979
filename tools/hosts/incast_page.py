"""The page of `make demo-hosts`: what was measured beside what was simulated, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from clearway.runs import Run

from tools.hosts.chart import Chart, Line

Sets = Mapping[str, Any]
NEAR = 0.25
"""How far a simulated figure of Swift may be from the measured one, as a share of that."""
_BUSY = 0.8  # of this machine's processors


@dataclass(frozen=True)
class Scheme:
    """What flows are carried by, and how that is simulated."""

    label: str
    carrier: str
    sets: Sets | None
    """What changes in the scenario for it; None where the simulator has no such scheme."""


@dataclass(frozen=True)
class Pair:
    """One scheme, measured and simulated."""

    scheme: Scheme
    measured: Run
    simulated: Run | None
    load: float
    """Of this machine while it was measured: processors that were busy, with the testbed's own."""
    processors: int
    """Of this machine."""


@dataclass(frozen=True)
class Shown:
    """All schemes, and what is said of those that are missing."""

    pairs: Sequence[Pair]
    remarks: Sequence[str]


HEADINGS = (
    "",
    "mean RTT, ms",
    "mean RTT simulated",
    "off by",
    "p99 RTT, ms",
    "p99 RTT simulated",
    "goodput, Mb/s",
    "goodput simulated",
    "off by",
    "Jain",
    "Jain simulated",
    "sent again",
    "sent again simulated",
)


def cells(pair: Pair) -> tuple[str, ...]:
    """Return a row of the table."""
    found, model = pair.measured.summary, pair.simulated.summary if pair.simulated else {}

    def two(key: str, scale: float, digits: int) -> tuple[str, str]:
        measured, simulated = (
            "-" if side.get(key) is None else f"{side[key] * scale:,.{digits}f}" for side in (found, model)
        )
        return measured, simulated

    return (
        pair.scheme.label,
        *two("rtt_mean_us", 1e-3, 2),
        _percent(off_by(pair, "rtt_mean_us")),
        *two("rtt_p99_us", 1e-3, 2),
        *two("goodput_gbps", 1e3, 0),
        _percent(off_by(pair, "goodput_gbps")),
        *two("jain", 1, 2),
        *two("retransmissions", 1, 0),
    )


def off_by(pair: Pair, key: str) -> float | None:
    """Return how far the simulation is from what was measured, as a share of that; None without both."""
    found = pair.measured.summary.get(key)
    model = pair.simulated.summary.get(key) if pair.simulated else None
    return None if not found or model is None else float(model / found - 1)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{round(100 * share) or 0:+d} %"


def _beside(share: float) -> str:
    """Say where a simulated figure is."""
    percent = round(100 * abs(share))
    return f"{percent} % {'above' if share > 0 else 'below'} the measured one" if percent else "as measured"


def sentences(pairs: Sequence[Pair]) -> list[str]:
    """Say how near the simulation of each Swift is, and why where it is not near."""
    said = []
    for pair in pairs:
        if "swift" not in pair.scheme.carrier:
            continue
        rtt, goodput = off_by(pair, "rtt_mean_us"), off_by(pair, "goodput_gbps")
        if rtt is None or goodput is None:
            continue
        near = max(abs(rtt), abs(goodput)) <= NEAR
        said.append(
            f"{pair.scheme.label} ({pair.scheme.carrier}): the simulated mean RTT is {_beside(rtt)}, "
            f"the goodput {_beside(goodput)}; the bar is {100 * NEAR:.0f} %."
        )
        if not near:
            said.append(_why(pair))
    return said


def _why(pair: Pair) -> str:
    """Say what keeps a machine from being what is simulated."""
    processors = pair.processors
    if pair.load > _BUSY * processors:
        return (
            f"While it was measured, {pair.load:.1f} of this machine's {processors} processors were busy: "
            "packets wait for a processor, and in the simulation there is none. Run it on an idle machine."
        )
    return (
        f"Simulated hosts answer at once. Here all hosts share {processors} processors ({pair.load:.1f} of "
        "them busy), are woken late, and send in bursts, all of which the RTT has in it."
    )


def table(pairs: Sequence[Pair]) -> str:
    """Return the figures as lines for a terminal: a column for each scheme."""
    rows = list(zip(HEADINGS, *(cells(pair) for pair in pairs), strict=True))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def html(shown: Shown) -> str:
    """Return the page."""
    title = "64 flows to 1, on hosts and simulated"
    where = (
        "Eight network namespaces of one machine around a switch whose ports send 200 Mb/s and hold 20 ms of "
        "queue: seven send 64 endless flows to the eighth, one scheme after the other. Beside it, the same "
        "scenario simulated."
    )
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    names, *rows = zip(HEADINGS, *(cells(pair) for pair in shown.pairs), strict=True)
    head = "".join(f"<td>{escape(cell)}</td>" for cell in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    lead = "".join(f'<p class="lead">{escape(line)}</p>' for line in sentences(shown.pairs))
    notes = "".join(f"<p>{escape(remark)}</p>" for remark in shown.remarks)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><h1>{title}</h1><p>{where}</p>{lead}"
        f'<section><div class="table"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
        + "".join(chart.html() for chart in charts(shown.pairs))
        + "<p>RTT: over TCP as the sending sockets have smoothed it, over UDP that of the latest packet; "
        "simulated, of every packet. Off by: the simulated figure over the measured one, less one. The "
        "simulator has no BBR.</p>"
        f"{notes}</body></html>\n"
    )


def charts(pairs: Sequence[Pair]) -> list[Chart]:
    """Return the charts: every scheme as measured, and each beside its simulation."""
    ordered = sorted(pairs, key=lambda pair: pair.scheme.carrier == "udp:swift")
    measured = [Line(pair.scheme.label, rtt_over_time(pair.measured)) for pair in ordered]
    goodput = [Line(pair.scheme.label, goodput_over_time(pair.measured)) for pair in ordered]
    made = [
        Chart("RTT as measured", "The scale is logarithmic.", "seconds", "ms", measured, log=True),
        Chart("Goodput as measured", "Of all flows together.", "seconds", "Mb/s", goodput),
    ]
    for pair in ordered:
        if pair.simulated is not None:
            lines = [
                Line("simulated", rtt_over_time(pair.simulated)),
                Line("measured", rtt_over_time(pair.measured)),
            ]
            title = f"RTT of {pair.scheme.label}, measured and simulated"
            made.append(Chart(title, "Its mean over each twentieth of a second.", "seconds", "ms", lines))
    return made


def rtt_over_time(run: Run) -> list[tuple[float, float]]:
    """Return seconds, and the mean RTT of each interval in ms; intervals without any are left out."""
    series = run.rtt_series
    return [
        (float(at) * 1e-6, float(rtt) * 1e-3)
        for at, rtt in zip(series["time_us"], series["rtt_mean_us"], strict=True)
        if np.isfinite(rtt)
    ]


def goodput_over_time(run: Run) -> list[tuple[float, float]]:
    """Return seconds, and the goodput of each interval in Mb/s."""
    series = run.throughput
    return [
        (float(at) * 1e-6, float(rate) * 1e3)
        for at, rate in zip(series["time_us"], series["goodput_gbps"], strict=True)
    ]
