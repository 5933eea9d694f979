"""The page of `make demo-tcp`: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from tools.hosts.chart import Chart, Line
from tools.hosts.load import Outcome, Sample
from tools.hosts.network import Bottleneck

_AVERAGED = 4  # looks at the sockets, of which the first and the last make a goodput

HEADINGS = ("", "goodput, Mb/s", "mean RTT, ms", "longest RTT, ms", "Jain", "sent again", "dropped")
_NAMES = {"cubic": "Cubic", "bbr": "BBR", "swift": "Swift"}


def cells(outcome: Outcome) -> tuple[str, ...]:
    """Return a row of the table."""
    return (
        _NAMES.get(outcome.control, outcome.control),
        f"{outcome.goodput_mbps:.0f}",
        f"{outcome.srtt_ms:.2f}",
        f"{max(sample.srtt_ms for sample in outcome.samples):.2f}",
        f"{outcome.jain:.3f}",
        f"{outcome.retransmissions:,}",
        f"{outcome.drops:,}",
    )


def sentence(outcomes: Sequence[Outcome]) -> str:
    """Say what Swift, the last of them, comes to beside the first."""
    other, swift = outcomes[0], outcomes[-1]
    share = 100 * swift.goodput_mbps / other.goodput_mbps
    return (
        f"Swift's mean round trip is {other.srtt_ms / swift.srtt_ms:.1f} times as short as "
        f"{_NAMES[other.control]}'s, at {share:.0f} % of its goodput."
    )


def html(outcomes: Sequence[Outcome], bottleneck: Bottleneck, remarks: Sequence[str]) -> str:
    """Return the page; Swift is the last of the outcomes."""
    flows = len(outcomes[0].flow_mbps)
    title = f"{flows} flows of TCP through one bottleneck"
    where = (
        "iperf3 between network namespaces of one machine, one congestion control after the other. "
        f"The bottleneck sends {bottleneck.mbps:g} Mb/s and holds {bottleneck.queue_ms:g} ms of queue."
    )
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    # A column for each congestion control, so that it fits a narrow page.
    names, *rows = (
        "".join(f"<td>{escape(cell)}</td>" for cell in row)
        for row in zip(HEADINGS, *(cells(outcome) for outcome in outcomes), strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(f"<p>{escape(remark)}</p>" for remark in remarks)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><h1>{title}</h1><p>{where}</p>"
        f'<p class="lead">{escape(sentence(outcomes))}</p>'
        f'<section><div class="table"><table><thead><tr>{names}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
        f"{_rtt(outcomes).html()}{_goodput(outcomes).html()}"
        "<p>RTT: round trip as the sending sockets have smoothed it, its mean over sockets. Jain: 1 if all "
        "flows get the same. Dropped: by the bottleneck.</p>"
        f"{notes}</body></html>\n"
    )


def _label(outcome: Outcome) -> str:
    return _NAMES.get(outcome.control, outcome.control)


def _rtt(outcomes: Sequence[Outcome]) -> Chart:
    lines = [
        Line(_label(outcome), [(sample.time_s, sample.srtt_ms) for sample in outcome.samples])
        for outcome in outcomes
    ]
    return Chart("Round-trip time", "The scale is logarithmic.", "seconds", "ms", lines, log=True)


def _goodput(outcomes: Sequence[Outcome]) -> Chart:
    lines = [Line(_label(outcome), goodput_over_time(outcome.samples)) for outcome in outcomes]
    return Chart("Goodput", "Of all flows together.", "seconds", "Mb/s", lines)


def goodput_over_time(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """Return seconds, and the goodput in Mb/s between each look at the sockets and the fourth after it."""
    found = []
    for before, after in zip(samples, samples[_AVERAGED - 1 :], strict=False):
        seconds = after.time_s - before.time_s
        found.append((after.time_s, (after.acked_bytes - before.acked_bytes) * 8e-6 / seconds))
    return found
