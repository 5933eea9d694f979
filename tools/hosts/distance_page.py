"""The page of `python -m tools.hosts distance`: a long link measured beside its simulation, in one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from tools.hosts.chart import Chart, Line
from tools.hosts.demo import write_whole
from tools.hosts.distance import DRAINS, PAPERS_GBPS, PAPERS_KM, Point, bars, points, row, worst_share
from tools.hosts.machine import UnavailableError

_HEADINGS = ("", "carried", "simulated", "closed form", "waits, MB", "simulated", "sent again")


def demo(page: Path) -> int:
    """Measure all, write a page of it, and return the status that the process ends with."""
    found = []
    try:
        for each in points():
            found.append(each)
            print(row(each), flush=True)
    except UnavailableError as reason:
        print(f"skipped: {reason}")
        return 0
    held = list(bars(found))
    print("\n".join(bar.line() for bar in held))
    write_whole(page, html(found))
    print(f"page: {page}")
    return int(not all(bar.reached for bar in held))


def html(points: Sequence[Point]) -> str:
    """Return the page."""
    lengths = [each for each in points if each.setting.drain == 0.5]
    rate = points[0].setting.rate_mbps
    scale = PAPERS_GBPS * 1000 // rate
    title = "A long link that loses nothing, measured"
    where = (
        f"A sender, a link of {rate} Mb/s and {scale} times the delay of its length, so that as much is under"
        f" way as at {PAPERS_GBPS} Gb/s, and a receiver that takes half of it: on namespaces of one machine,"
        " with clearwayd relay at each end of the link or with PFC alone."
    )
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    head = "".join(f"<td>{escape(cell)}</td>" for cell in _HEADINGS)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(each))}</tr>" for each in points
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><h1>{title}</h1><p>{where}</p>"
        f'<p class="lead">{escape(_lead(lengths))}</p>'
        f"{_carried(lengths).html()}{_waiting(lengths).html()}"
        f'<section><div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></section><p>Carried: the share of the link's rate that arrives. Closed form: equations (4),"
        " with XON near zero, and (6) of Swing's paper. Waits: on average, in the far relay or the switch."
        "</p></body></html>\n"
    )


def _lead(lengths: Sequence[Point]) -> str:
    relays, pfc = ([each for each in lengths if each.setting.has_relays is has] for has in (True, False))
    farthest = max(pfc, key=lambda each: each.setting.kilometres)
    beside = max(relays, key=lambda each: each.setting.kilometres)
    return (
        f"Over {farthest.setting.kilometres:g} km PFC alone carries"
        f" {100 * farthest.share(farthest.measured):.1f} % of the rate and relays"
        f" {100 * beside.share(beside.measured):.1f} %, at most"
        f" {100 * worst_share(lengths):.1f} % from what the simulator says."
    )


def _cells(each: Point) -> tuple[str, ...]:
    of = each.setting
    return (
        f"{'relays' if of.has_relays else 'PFC'}, {of.kilometres:g} km, {100 * of.drain:g} % drains",
        *(f"{100 * share:.2f} %" for share in (each.share(each.measured), each.share(each.simulated))),
        f"{100 * each.law_share:.2f} %",
        *(f"{each.queue_bytes(run) / 1e6:.3f}" for run in (each.measured, each.simulated)),
        f"{each.sent_again:,}",
    )


def _carried(lengths: Sequence[Point]) -> Chart:
    lines = _lines(lengths, lambda each, run: 100 * each.share(run))
    note = (
        "The receiver takes 50 %. Buffers are planned for each length: what may come after a PAUSE has room."
    )
    return Chart("What a long link carries", note, _kilometres(), "% of its rate", lines)


def _waiting(lengths: Sequence[Point]) -> Chart:
    lines = _lines(lengths, lambda each, run: each.queue_bytes(run) / 1e6)
    note = "With relays half of what the link holds there and back waits in the far one, whatever its length."
    return Chart("What waits behind it", note, _kilometres(), "MB", lines)


def _kilometres() -> str:
    others = ", ".join(f"{100 * drain:g} %" for drain in DRAINS)
    return f"km at {PAPERS_GBPS} Gb/s (drains of {others} at {PAPERS_KM} km are in the table)"


def _lines(lengths: Sequence[Point], figure: Callable[..., float]) -> list[Line]:
    lines = []
    for name, has in (("PFC", False), ("relays", True)):
        of = [each for each in lengths if each.setting.has_relays is has]
        of.sort(key=lambda each: each.setting.kilometres)
        for label, run in (("simulated", "simulated"), ("measured", "measured")):
            places = [(each.setting.kilometres, figure(each, getattr(each, run))) for each in of]
            lines.append(Line(f"{name}, {label}", places))
    return lines
