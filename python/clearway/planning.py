"""The planner: what a long link needs to be lossless, from its length, its rate and its frames."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from clearway import _clearway, plan_options
from clearway.errors import ClearwayError, check_text
from clearway.figures import readable
from clearway.plan_options import BEYOND_MTU, MS, US

Rows = Sequence[tuple[str, Sequence[str]]]
"""Rows of a table: what each is called, and its cells."""

COLUMNS = ("PFC, no drop", "PFC, no loss", "relay")
_SCHEMES = ("pfc_without_drop", "pfc_without_loss", "relay")
_METRES_PER_KM = 1000
_PS_A_METRE = 5_000
"""Light takes 5 us for a kilometre of fibre."""
_LONGEST_METRES = 20_000_000
"""Half around the earth."""
_ROUNDING = 1e-6  # bytes, of a product of floats
OPTIONS = {
    *("distance", "rate", "drain", "drain_most", "mtu", "reverse_mtu", "priorities"),
    *("transponder", "response", "local_delay", "hysteresis", "buffer"),
}


def dci_buffer(**given: object) -> dict[str, Any]:
    """Plan a long link: `dci_buffer(distance="80km", rate="400Gbps", mtu="9000B", priorities=2)`.

    Options are those of `clearway plan dci-buffer`, with `_` for `-`; one that is None is as if not given.
    Returns what `--json` prints. Raises `ClearwayError` for options that cannot be planned for.
    """
    return plan(given, lambda name: name)


def plan(given: Mapping[str, object], spell: Callable[[str], str]) -> dict[str, Any]:
    """Plan a long link; a message names each option as `spell` writes it."""
    options = given_options(given, spell, OPTIONS)
    metres = options.quantity("distance", plan_options.LENGTH, "80km")
    if metres is not None and not 1 <= metres <= _LONGEST_METRES:
        options.problem("distance", f"found {metres} m, expected a length from 1m to 20000km")
    transponder = options.time("transponder", 0, 10 * MS)
    frame = options.frame("mtu") or 1_500 + BEYOND_MTU
    link = {
        "rate": options.rate(),
        "delay": _PS_A_METRE * (metres or 0) + 2 * transponder,
        "local_delay": options.time("local_delay", US, MS),
        "drain": options.share("drain", 0.0),
        "drain_most": options.share("drain_most", 1.0),
        "frame": frame,
        "own_frame": options.frame("reverse_mtu") or frame,
        "response": options.time("response", 0, 100 * MS),
        "priorities": options.count("priorities", 1, 1, 8),
    }
    hysteresis = options.size("hysteresis", 0, 1 << 50)
    link["hysteresis"] = 2 * frame if hysteresis is None else hysteresis
    buffer = options.size("buffer", 0, 1 << 50)
    if link["drain"] > link["drain_most"]:
        most = f"{link['drain_most']:.10g}"
        options.problem("drain", f"{link['drain']:.10g} is above the most that drains, {most}")
    if not options.given.keys() & {"distance", "buffer"}:
        options.problem(
            "distance", "is missing: give it, such as 80km, or ask with buffer how far that reaches"
        )
    options.check(spell)
    shown = {
        "rate_bps": link["rate"],
        "distance_m": metres,
        "delay_us": None if metres is None else link["delay"] / US,
        "local_delay_us": link["local_delay"] / US,
        "frame_bytes": frame,
        "reverse_frame_bytes": link["own_frame"],
        "response_us": link["response"] / US,
        "priorities": link["priorities"],
        "hysteresis_bytes": link["hysteresis"],
        "drain": link["drain"],
        "drain_most": link["drain_most"],
    }
    answer = json.loads(_clearway.plan_dci_buffer(link, metres is not None, buffer))
    if with_buffer := answer.get("with_buffer"):
        for scheme in with_buffer["schemes"].values():
            longest = scheme.pop("longest_delay_ps")
            fibre = -1 if longest is None else longest - 2 * transponder
            reaches = None if fibre < 0 else fibre // _PS_A_METRE
            links = scheme.pop("links")
            scheme.update(reaches_m=reaches, links=None if metres is None else links)
    return {"link": shown, **answer}


def given_options(
    given: Mapping[str, object], spell: Callable[[str], str], options: Collection[str]
) -> plan_options.Options:
    """Return the options that are given, of these `options`."""
    texts = {name: str(value) for name, value in given.items() if value is not None}
    if unknown := sorted(set(texts) - set(options)):
        raise ClearwayError(
            f"{spell(unknown[0])}: no such option", "there are " + ", ".join(map(spell, sorted(options)))
        )
    for name, text in texts.items():
        check_text(text, f"{spell(name)} {text}")
    return plan_options.Options(texts)


def title(answer: dict[str, Any]) -> str:
    """Say what was planned for, in a line."""
    link = answer["link"]
    rate = f"{link['rate_bps'] / 1e9:g} Gb/s"
    frames = f"frames of up to {link['frame_bytes']} B on the wire"
    if link["distance_m"] is None:
        return f"{rate}, {frames}, {_priorities(link)}"
    way = f"{_km(link['distance_m'])}, {readable('time', link['delay_us'])} one way"
    return f"{rate} over {way}; 1 BDP is {_bytes(answer['bdp_bytes'])}; {frames}, {_priorities(link)}"


def scheme_rows(answer: dict[str, Any]) -> Rows:
    """List thresholds, buffers and throughput of each scheme, and what the buffer given does for it."""
    rows: list[tuple[str, Sequence[str]]] = []
    if schemes := answer.get("schemes"):
        each = [schemes[name] for name in _SCHEMES]
        of = [scheme["thresholds"] for scheme in each]
        for label, key in (("XOFF", "xoff_bytes"), ("XON", "xon_bytes"), ("headroom", "headroom_bytes")):
            rows.append((label, ["none" if one is None else _bytes(one[key]) for one in of]))
        rows.append(("buffer of a priority", [_bytes(scheme["buffer_bytes"]) for scheme in each]))
        rows.append(("buffer of the link", [_bytes(scheme["link_buffer_bytes"]) for scheme in each]))
        rows.append(("buffer in the switch", [_bytes(scheme["switch_buffer_bytes"]) for scheme in each]))
        for drain in each[0]["carries_at_drain"]:
            carried = [readable("share", scheme["carries_at_drain"][drain]) for scheme in each]
            rows.append((f"carries at a drain of {readable('share', float(drain))}", carried))
    if with_buffer := answer.get("with_buffer"):
        each = [with_buffer["schemes"][name] for name in _SCHEMES]
        size = _bytes(with_buffer["buffer_bytes"])
        rows.append((f"{size} reach", [_km(one["reaches_m"]) for one in each]))
        if answer.get("schemes"):
            rows.append((f"such links on {size}", [f"{one['links']:,}" for one in each]))
    return rows


def headroom_rows(answer: dict[str, Any]) -> Rows:
    """List what the headroom is made of, each with its time and the bytes that come in it."""
    headroom, link = answer["headroom"], answer["link"]
    bytes_per_us = link["rate_bps"] / 8e6
    terms = [
        ("there and back", "round_trip_us"),
        ("own frame that PAUSE waits for", "own_frame_us"),
        ("PFC frames that PAUSE waits for", "pfc_ahead_us"),
        ("PAUSE itself", "pause_frame_us"),
        ("peer's response", "response_us"),
    ]
    rows: list[tuple[str, Sequence[str]]] = [
        (label, [readable("time", headroom[key]), _bytes(headroom[key] * bytes_per_us)])
        for label, key in terms
    ]
    frame = _bytes(link["frame_bytes"])
    rows += [
        ("peer's frame that has just begun", ["", frame]),
        ("frame that crosses XOFF", ["", frame]),
    ]
    if drained := _drained(answer, bytes_per_us):
        rows.append(("what drains meanwhile", ["", f"-{_bytes(drained)}"]))
    rows.append(("together", ["", _bytes(headroom["any_sizes_bytes"])]))
    return rows


def remarks(answer: dict[str, Any]) -> list[str]:
    """Say in sentences what stands in no table."""
    if "schemes" not in answer:
        return []
    link, local, pause = answer["link"], answer["local_port"], answer["pause"]
    inside = answer["relay_inside"]
    repeated = pause["repeat_within_us"]
    return [
        "Relay: port R has no threshold. Port L, and the switch's port to it, "
        + f"{readable('time', link['local_delay_us'])} one way, have for each priority:",
        f"  XOFF {_bytes(local['xoff_bytes'])}, XON {_bytes(local['xon_bytes'])}, "
        + f"headroom {_bytes(local['headroom_bytes'])}.",
        f"Relay inside the switch: a buffer of {_bytes(inside['buffer_bytes'])} for each priority, "
        + f"{_bytes(inside['link_buffer_bytes'])} of the link.",
        f"PAUSE: {pause['quanta']} quanta last {readable('time', pause['lasts_us'])}; "
        + (
            "frames before it are longer than that: it cannot be repeated in time."
            if repeated is None
            else f"repeat it within {readable('time', repeated)}, better at half of that."
        ),
    ]


def _drained(answer: dict[str, Any], bytes_per_us: float) -> float:
    headroom, frame = answer["headroom"], answer["link"]["frame_bytes"]
    whole = headroom["window_us"] * bytes_per_us + 2 * frame
    return max(0.0, float(whole - headroom["any_sizes_bytes"])) if answer["link"]["drain"] > 0 else 0.0


def _priorities(link: dict[str, Any]) -> str:
    count = link["priorities"]
    return "1 lossless priority" if count == 1 else f"{count} lossless priorities"


def _bytes(value: float) -> str:
    """Write every digit: a threshold that was rounded would drop a frame."""
    return f"{math.ceil(value - _ROUNDING):,} B"


def _km(metres: int | None) -> str:
    if metres is None:
        return "nowhere"
    # Rounded down: a metre more may be too far.
    return f"{metres:,} m" if metres < _METRES_PER_KM else f"{metres // 100 / 10:,} km"
