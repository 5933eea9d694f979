"""Relays for an hour: `python -m tools.hosts soak`.

Windows that nothing holds back but PFC, PAUSEs at random at the relays' neighbours, and relays that are ended
and started again, or with `--replace` replaced by a process to which they hand over. No frame may be lost or
overtaken.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import clearway
from clearway import api
from clearway.runs import Run
from clearway.testbed import local, lossless
from clearway.testbed.given import Given
from clearway.testbed.lossless import Lossless, Relay

from tools.hosts.machine import demand

SCENARIO = Path(__file__).parents[2] / "scenarios/testbed_lossless.toml"
STORMED = ("relay0>west", "relay1>east", "east>receiver")
"""The links whose sending ends are paused at random: adapters, switches and relays."""
_CARRIER = "udp:none"
_SETTLES_S = 3
"""What storms and restarts leave alone at the end, so that everything arrives."""
_APART_S = 2.0
_ROUND_S = 900
"""A scenario lasts for 1000 s at most."""
_CONTROL_S = 60
_LATENCY_MS = 40
"""What processes of a busy machine with few cores may take."""
_RESPONSE_MS = 60
"""What switches take to obey PAUSE, on purpose: more than half of what the relays' headroom is for."""
_HEADROOM = "3MB"
"""Of switches: a relay that is away is a wire, and its switch then pauses the far one over the long link."""
_SHORT_LINK = "1m"
"""From a switch to its relay."""


@dataclass
class Restarts:
    """Relays that are ended and started again, or replaced, one after the other."""

    times: int
    every_s: float
    replaces: bool = False
    done: int = 0
    lost: list[str] = field(default_factory=list)

    @contextmanager
    def going_on(self, relays: Sequence[Relay]) -> Iterator[None]:
        """Restart relays while the body runs."""
        ending = threading.Event()
        thread = threading.Thread(target=self._work, args=(relays, ending))
        thread.start()
        try:
            yield
        finally:
            ending.set()
            thread.join()
            self.lost += [line for relay in relays for line in relay.lost()]

    def _work(self, relays: Sequence[Relay], ending: threading.Event) -> None:
        while self.done < self.times and not ending.wait(self.every_s):
            relay = relays[self.done % len(relays)]
            if self.replaces:
                relay.replace()
            else:
                relay.stop()
                # The kernel passes everything on meanwhile.
                ending.wait(_APART_S)
                relay.start()
            self.done += 1


@dataclass(frozen=True)
class Soaked:
    """What came of it."""

    run: Run
    restarts: Restarts
    overflows: int
    """Frames for which a relay or a switch had no room."""
    overtaken: int
    """Frames that were sent again, as one before them was missing."""
    pauses: int
    """PAUSEs and RESUMEs that relays got."""
    stored: int
    """Frames that waited in relays."""
    late_ms: float
    """How late the network was at most."""


def soak(seconds: int, restarts: int, seed: int, *, headroom: float = 1.0, replaces: bool = False) -> Soaked:
    """Run it; `headroom` is the share of what the planner says that the relays have at their local ports.

    With `replaces` each restart is a replacement, and switches have headroom for their relays alone.
    """
    demand("ip", "tc", "setpriv")
    room = _HEADROOM
    if replaces:
        plain = lossless.of(api.load_scenario(SCENARIO, [], seed), _CARRIER, None)
        room = f"{_planned(plain)['headroom_bytes']}B"
    both = [
        {"pattern": "incast", "transport": "window", "from": source, "to": 1 - source} for source in (0, 1)
    ]
    overrides = api.sets_of(
        {
            "duration": f"{seconds}s",
            "warmup": "0s",
            "traffic": both,
            "transport.window.window": 2000,
            "switch.default.pfc_response": f"{_RESPONSE_MS}ms",
            "switch.default.pfc_headroom": room,
            "switch.long.pfc_headroom": room,
            # Only what is missing is sent again, and nothing because it is late.
            "transport.window.rto": "30s",
        }
    )
    scenario = api.load_scenario(SCENARIO, overrides, seed)
    going = Restarts(restarts, max(1.0, (seconds - _SETTLES_S) / max(restarts, 1) - _APART_S), replaces)
    made_of = replace(
        lossless.of(scenario, _CARRIER, None), of_host_ns=_LATENCY_MS * 10**6, meanwhile=going.going_on
    )
    made_of = replace(
        made_of,
        storms=storms(made_of, seconds - _SETTLES_S, seed),
        relay_keys=relay_keys(made_of, headroom),
    )
    plan = local.plan_of(scenario, _CARRIER, None, Given(), is_star=False)
    run, _ = local.execute(plan, None, partial(lossless.between, made_of))
    return _soaked(run, going)


def _planned(made_of: Lossless) -> Mapping[str, Any]:
    """Return the thresholds and the room that the planner has for the link from a switch to its relay."""
    _, fibre = made_of.links.of_relay(made_of.links.relays[0])
    planned: Mapping[str, Any] = clearway.dci_buffer(
        distance=_SHORT_LINK,
        rate=f"{made_of.links.directed[fibre].rate_bps}bps",
        mtu=f"{made_of.mtu}B",
        response=f"{_RESPONSE_MS + _LATENCY_MS}ms",
    )["local_port"]
    return planned


def storms(made_of: Lossless, seconds: int, seed: int) -> list[dict[str, int]]:
    """Return storms of this many seconds at the links that have them."""
    return [
        {
            "link": made_of.links.named(name),
            "from_ns": 10**9,
            "until_ns": seconds * 10**9,
            "seed": seed + place,
        }
        for place, name in enumerate(STORMED)
    ]


def relay_keys(made_of: Lossless, headroom: float) -> list[str]:
    """Return the lines that give relays this share of the planner's headroom at their local ports."""
    planned = _planned(made_of)
    buffer = planned["xoff_bytes"] + round(headroom * planned["headroom_bytes"])
    return [f'xoff = "{planned["xoff_bytes"]}B"', f'local_buffer = "{buffer}B"']


def _soaked(run: Run, going: Restarts) -> Soaked:
    assert run.testbed is not None
    said = run.testbed
    ports = [
        port
        for status in [
            *said["relays"].values(),
            *(each for ended in said["ended"].values() for each in ended),
        ]
        for port in status.get("ports", {}).values()
    ]
    refused = sum(sum(port["refused"].values()) for port in ports)
    overflows = sum(link["overflows"] for link in said["fabric"]["links"]) + refused
    heard = sum(port["pauses_received"] + port["resumes_received"] for port in ports)
    again = int(sum(run.tables["flows"]["retransmissions"]))
    late = said["fabric"]["lateness"]["max_ns"] / 1e6
    return Soaked(run, going, overflows, again, heard, sum(port["stored"] for port in ports), late)


def lines(seconds: int, restarts: int, seed: int, *, replaces: bool) -> Iterator[str]:
    """Run it, and the control with half of the headroom, which has to lose; a line for each figure."""
    rounds = math.ceil(seconds / _ROUND_S)
    lost, what = 0, "replacements" if replaces else "restarts"
    for number in range(rounds):
        planned = restarts // rounds + (number < restarts % rounds)
        kept = soak(math.ceil(seconds / rounds), planned, seed + number, replaces=replaces)
        part = kept.restarts.done
        delivered = sum(kept.run.tables["flows"]["delivered_bytes"]) / 1e6
        failed = len(kept.restarts.lost)
        yield (
            f"measured soak round {number + 1} of {rounds}: {part} {what}, {kept.pauses} PAUSEs and RESUMEs"
            f" at relays, {kept.stored} frames stored, {delivered:.0f} MB delivered;"
            f" {kept.overflows} frames without room, {kept.overtaken} sent again, {failed} {what} that"
            f" lost any; latest event {kept.late_ms:.1f} ms"
        )
        lost += kept.overflows + kept.overtaken + failed
    yield f"swing soak_lost {lost} 0 {_word(lost == 0)}"
    half = soak(min(seconds, _CONTROL_S), 0, seed, headroom=0.5)
    yield f"swing half_headroom_lost {half.overflows} 1 {_word(half.overflows > 0)}"


def _word(holds: bool) -> str:
    return "ok" if holds else "short"
