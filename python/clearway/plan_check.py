"""The simulation behind `clearway plan dci-buffer --check`, which shows that a link does as planned.

PFC is put to the test at one port: a switch with hosts around it, every link as long as the one that is
planned. Host 0 sends over it; others, of a higher priority, leave it the drain; and two more fill the way
back, so that a PAUSE waits for a whole frame. The relay stands between two datacenters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clearway import _clearway, execution, screen, tables
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.runs import Run

LEAST_SHARE = 0.99
"""Of the throughput that is planned, what must be carried where none is to be lost."""

_FRAMING = 38  # bytes of preamble, gap, header and frame check sequence
_MOST_FRAMES = 1 << 20  # as far as a sender may be ahead
_LEAST_FRAMES = 5_000  # that are measured, so that one more or less does not matter
_US_PER_KM = 5.0
_LOCAL_LINKS = 10  # between two hosts of two datacenters, and one to spare
_SCHEMES = {"pfc_without_drop": "PFC, no drop", "pfc_without_loss": "PFC, no loss", "relay": "relay"}
_WORST = "the drain stops"
_LESS = "the drain stops, a frame less"


@dataclass(frozen=True)
class Checked:
    """What a run has shown."""

    scheme: str
    case: str
    drain: float
    dropped: int
    """Frames of the lossless priority."""
    peak_bytes: int
    """The most that waited of the long link's frames."""
    buffer_bytes: int
    carried: float | None
    """The share of the link; none where the drain stops."""
    planned: float | None
    passed: bool


_Judge = Callable[["_Case", int, int, float], bool]
"""Whether frames dropped, the peak and what was carried are as they should."""


@dataclass(frozen=True)
class _Case:
    scheme: str
    case: str
    drain: float
    text: str
    link: str
    buffer_bytes: int
    planned: float | None
    judge: _Judge


def check(answer: Mapping[str, Any], plain: Mapping[str, Any], *, as_json: bool) -> list[Checked]:
    """Simulate what was planned. `plain` is the plan with one priority, and with nothing that must drain.

    Raises `ClearwayError` if the plan is of no particular length, or the link too long or too short.
    """
    link = answer["link"]
    if link["distance_m"] is None:
        raise ClearwayError("--check: give --distance", "a link without a length cannot be simulated")
    if (ahead := _frames_ahead(link)) > _MOST_FRAMES:
        raise ClearwayError(
            f"--check: up to {ahead:,} frames are under way, and a sender may be {_MOST_FRAMES:,} ahead",
            "check a shorter link, or larger frames",
        )
    if link["delay_us"] * link["rate_bps"] < link["frame_bytes"] * 8e6:
        raise ClearwayError("--check: the link holds less than a frame", "check a longer link")
    cases = _cases(answer, plain)
    scenarios = [_clearway.load_text(case.text, f"check of {case.scheme}") for case in cases]
    done: dict[int, Checked] = {}

    def keep(index: int, outcome: Run | BaseException) -> None:
        if isinstance(outcome, BaseException):
            raise outcome
        done[index] = _judged(cases[index], outcome, link)

    with screen.progress("checking", as_json=as_json) as watch:
        execution.execute_each(scenarios, keep, watch)
    return [done[index] for index in range(len(cases))]


def as_json(checked: Sequence[Checked]) -> dict[str, Any]:
    """Return what `--json` has under `check`."""
    return {"passed": has_passed(checked), "runs": [asdict(one) for one in checked]}


def has_passed(checked: Sequence[Checked]) -> bool:
    """Tell whether every run did what is planned."""
    return all(one.passed for one in checked)


def show(checked: Sequence[Checked]) -> None:
    """Print a table for each scheme."""
    for scheme, name in _SCHEMES.items():
        rows = [(one.case, _cells(one)) for one in checked if one.scheme == scheme]
        labels = ("dropped", "most that waited", "of a buffer of", "carried", "planned", "")
        tables.show_table(f"Simulated: {name}", labels, rows)


def _cells(one: Checked) -> Sequence[str]:
    share = ["" if value is None else readable("share", value) for value in (one.carried, one.planned)]
    verdict = "as planned" if one.passed else "NOT AS PLANNED"
    return [f"{one.dropped:,}", f"{one.peak_bytes:,} B", f"{one.buffer_bytes:,} B", *share, verdict]


def _frames_ahead(link: Mapping[str, Any]) -> int:
    """Return more frames than are ever under way: three round trips, with the links of both datacenters."""
    round_trip = 2 * link["delay_us"] + 2 * _LOCAL_LINKS * link["local_delay_us"]
    return int(3 * round_trip * link["rate_bps"] / 8e6 / link["frame_bytes"]) + 1


def _cases(answer: Mapping[str, Any], plain: Mapping[str, Any]) -> list[_Case]:
    """List all runs: each scheme where the drain stops and at each drain, and a frame less of headroom."""
    least = answer["link"]["drain"]
    worst = _WORST if least == 0 else f"{readable('share', least)} drain, at worst"
    cases = []
    for scheme in ("pfc_without_drop", "pfc_without_loss"):
        of = answer["schemes"][scheme]
        cases.append(_pfc_case(answer, scheme, worst, least, None, _drops_nothing))
        if scheme == "pfc_without_drop":
            # The planner's headroom is for frames of any size; these are all of one.
            tight, frame = plain["headroom"]["one_size_bytes"], answer["link"]["frame_bytes"]
            less = of["thresholds"]["headroom_bytes"] - tight + frame
            cases.append(_pfc_case(answer, scheme, _LESS, 0.0, None, _drops_some, less))
        judge = _drops_nothing if scheme == "pfc_without_drop" else _carries
        for drain, planned in of["carries_at_drain"].items():
            if float(drain) >= least:
                cases.append(_pfc_case(answer, scheme, _draining(drain), float(drain), planned, judge))
    relay = answer["schemes"]["relay"]
    for drain, planned in [("0", None), *relay["carries_at_drain"].items()]:
        case = _WORST if planned is None else _draining(drain)
        text = _by_relays(answer, float(drain), stops=planned is None)
        judge = _drops_nothing if planned is None else _carries
        room = relay["buffer_bytes"]
        cases.append(_Case("relay", case, float(drain), text, "relay0>relay1", room, planned, judge))
    return cases


def _draining(drain: str) -> str:
    return f"{readable('share', float(drain))} drain"


def _pfc_case(
    answer: Mapping[str, Any],
    scheme: str,
    case: str,
    drain: float,
    planned: float | None,
    judge: _Judge,
    less: int = 0,
) -> _Case:
    of = answer["schemes"][scheme]["thresholds"]
    rooms = dict(of, headroom_bytes=of["headroom_bytes"] - less)
    text = _at_a_port(answer["link"], rooms, drain, worst=planned is None)
    return _Case(scheme, case, drain, text, "h0>tor0", of["buffer_bytes"] - less, planned, judge)


def _drops_nothing(case: _Case, dropped: int, peak: int, _carried: float) -> bool:
    return dropped == 0 and peak <= case.buffer_bytes


def _drops_some(_case: _Case, dropped: int, _peak: int, _carried: float) -> bool:
    return dropped > 0


def _carries(case: _Case, dropped: int, peak: int, carried: float) -> bool:
    return _drops_nothing(case, dropped, peak, carried) and carried >= LEAST_SHARE * (case.planned or 0)


def _judged(case: _Case, run: Run, link: Mapping[str, Any]) -> Checked:
    classes = run.table("link_classes")
    dropped = int(classes["drops"][classes["class"] == "ours"].sum())
    pauses = run.table("pauses")
    peak = int(pauses["account_peak_bytes"][pauses["link"] == case.link].max())
    ours = run.summary["transports"]["ours"]["goodput_gbps"] or 0.0
    payload = _payload(link)
    carried = ours * 1e9 * (link["frame_bytes"] / payload) / link["rate_bps"]
    return Checked(
        scheme=case.scheme,
        case=case.case,
        drain=case.drain,
        dropped=dropped,
        peak_bytes=peak,
        buffer_bytes=case.buffer_bytes,
        carried=None if case.planned is None else carried,
        planned=case.planned,
        passed=case.judge(case, dropped, peak, carried),
    )


def _payload(link: Mapping[str, Any]) -> int:
    """Return the network's payload of a full frame: the shorter direction has no further header."""
    return int(min(link["frame_bytes"], link["reverse_frame_bytes"])) - _FRAMING


def _begin(link: Mapping[str, Any], topology: str, duration_us: float, warmup_us: float) -> str:
    return (
        "format = 1\nname = 'check'\nallow_loss = true\n"
        f"duration = '{_ps(duration_us)}'\nwarmup = '{_ps(warmup_us)}'\n"
        f"[network]\n{topology}\nrate = '{link['rate_bps']}bps'\n"
        f"mtu = '{_payload(link)}B'\nframing = '{_FRAMING}B'\n"
        "[class.others]\n[class.ours]\npriority = 1\nlossless = true\n[class.acks]\npriority = 2\n"
        + _transport("ours", "ours", link["frame_bytes"], link)
        + _transport("back", "others", link["reverse_frame_bytes"], link)
    )


def _transport(name: str, of: str, frame: int, link: Mapping[str, Any], more: str = "") -> str:
    """Return a transport whose full frames weigh `frame` bytes, and which sends each once."""
    header = frame - _FRAMING - _payload(link)
    reach = 1 << max(6, (_frames_ahead(link) - 1).bit_length())
    return (
        f"[transport.{name}]\nprotocol = 'none'\nrto = '100s'\nreach = {reach}\n"
        f"header = '{header}B'\nack = '26B'\nclass = '{of}'\nack_class = 'acks'\n{more}"
    )


def _ps(us: float) -> str:
    return f"{round(us * 1e6)}ps"


def _others(link: Mapping[str, Any], drain: float) -> str:
    """Return a transport that leaves the share `drain` of a link."""
    rate = round((1 - drain) * link["rate_bps"])
    return _transport("others", "others", link["frame_bytes"], link, f"rate = '{rate}bps'\n")


def _flow(transport: str, source: int, to: int, start_us: float = 0.0) -> str:
    return (
        f"[[traffic]]\npattern = 'incast'\ntransport = '{transport}'\nfrom = {source}\nto = {to}\n"
        f"start = '{_ps(start_us)}'\n"
    )


def _control(rooms: Mapping[str, int], link: Mapping[str, Any]) -> str:
    return (
        f"pfc = 'static'\npfc_xoff = '{rooms['xoff_bytes']}B'\npfc_xon = '{rooms['xon_bytes']}B'\n"
        f"pfc_headroom = '{rooms['headroom_bytes']}B'\npfc_response = '{_ps(link['response_us'])}'\n"
    )


def _at_a_port(link: Mapping[str, Any], rooms: Mapping[str, int], drain: float, *, worst: bool) -> str:
    """Return a scenario of the port alone; at worst a PAUSE waits for a frame that has just begun."""
    delay = link["delay_us"]
    frame_us = link["frame_bytes"] * 8e6 / link["rate_bps"]
    least = _LEAST_FRAMES * frame_us
    filling = rooms["xoff_bytes"] * 8e6 / link["rate_bps"]
    if worst:
        duration, warmup = 5 * delay + 2 * filling / max(1 - drain, 0.05) + link["response_us"] + least, 0.0
    elif rooms["xon_bytes"] * 8e6 / link["rate_bps"] < 2 * delay * drain:
        # The link stands still in each cycle: a number of whole cycles, after the first.
        cycle = _cycle(delay, rooms["xoff_bytes"] * 8e6 / link["rate_bps"], drain)
        duration, warmup = delay + 6 * cycle, delay + cycle
    else:
        duration = max(15 * delay, least)
        warmup = duration / 5
    topology = f"topology = 'star'\nhosts = 6\ndelay = '{_ps(delay)}'"
    text = _begin(link, topology, duration, warmup)
    text += f"[switch.default]\nbuffer = '1000MB'\n{_control(rooms, link)}"
    # Where nothing is measured, acknowledgements need not come through.
    back = [_flow("back", 1, 0), _flow("back", 2, 0)] if worst else []
    flows = "".join(back) + _flow("ours", 0, 3, _in_step(link, rooms["xoff_bytes"]) if worst else 0.0)
    if drain < 1:
        text += _others(link, drain)
        flows += _flow("others", 4, 3)
    if drain == 0:
        # Two of them: between frames of one that takes all, something else would slip through.
        flows += _flow("others", 5, 3)
    return text + flows


def _in_step(link: Mapping[str, Any], xoff: int) -> float:
    """Return when to start, in us, for XOFF to be passed as a frame begins the other way."""
    frame, back = (
        -(-8 * 10**12 * link[key] // link["rate_bps"]) for key in ("frame_bytes", "reverse_frame_bytes")
    )
    passing = (xoff // link["frame_bytes"] + 1) * frame
    return float((passing // back + 2) * back - passing) / 1e6


def _cycle(delay: float, filling: float, drain: float) -> float:
    """Return how long PAUSE and RESUME take in turn, in us, at a threshold of `filling` us at line rate."""
    starved = filling / drain < 2 * delay
    active = filling / (1 - drain) if starved else 2 * delay * drain / (1 - drain)
    return active + 2 * delay * (1 - drain) / drain + 4 * delay


def _by_relays(answer: Mapping[str, Any], drain: float, *, stops: bool) -> str:
    """Return a scenario of two datacenters with a relay at each end of the fibre."""
    link = answer["link"]
    delay, km = link["delay_us"], link["distance_m"] / 1000
    least = _LEAST_FRAMES * link["frame_bytes"] * 8e6 / link["rate_bps"]
    # The first frames are there after a delay; a drain that stops does when the link is full.
    duration = 12 * delay + least if stops else max(15 * delay, least)
    topology = (
        f"topology = 'datacenters'\nk = 2\nrelays = true\ndelay = '{_ps(link['local_delay_us'])}'\n"
        f"long_rate = '{link['rate_bps']}bps'\nlong_km = {km!r}\n"
        f"transponder_delay = '{_ps(max(0.0, delay - _US_PER_KM * km))}'"
    )
    text = _begin(link, topology, duration, 0.0 if stops else duration / 5)
    local = answer["local_port"]
    room = answer["schemes"]["relay"]["buffer_bytes"]
    text += f"[switch.default]\nbuffer = '1000MB'\n{_control(local, link)}"
    text += f"[switch.relay]\nrelay_buffer = '{room}B'\n"
    text += _others(link, drain)
    return text + _flow("ours", 0, 2) + _flow("others", 3, 2, 5 * delay if stops else 0.0)
