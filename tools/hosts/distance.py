"""A long link of many lengths, with relays and without, measured on namespaces beside its simulation.

Swing's figures 5 and 12, scaled: the link has a two-hundredth of their rate and 200 times their delay, so as
much is under way. Part of `python -m tools.hosts bench`; `python -m tools.hosts distance` makes a page of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import clearway
from clearway import api
from clearway.runs import Run
from clearway.testbed import local, lossless
from clearway.testbed.given import Given

from tools.hosts.bars import Bar
from tools.hosts.machine import UnavailableError, demand

SCENARIO = Path(__file__).parents[2] / "scenarios/testbed_lossless.toml"
TOPOLOGIES = SCENARIO.parent / "topologies"
SWING = "swing"
PAPERS_GBPS = 100
US_A_KM = 5
KILOMETRES = (0, 10, 100, 200, 400, 700, 1000)
DRAINS = (0.2, 0.5, 0.8)
"""At the distance of the paper's, 80 km."""
PAPERS_KM = 80
_CARRIER = "udp:none"
_LEAST_DELAY_US = 1.0
_LEAST_S = 2.0
_CYCLES = 2
_FEW = 4  # frames
_SPELL_S = 10e-3
_STANDSTILL_S = 30e-3  # of processes on a machine with few cores
_RESPONSE_S = 2e-3  # of the scenario's switches
_SWITCHES_BYTES = 8e6


@dataclass(frozen=True)
class Setting:
    """What is measured."""

    kilometres: float
    """Of a link at the paper's rate."""
    drain: float
    """The share of the long link's rate that the receiver takes."""
    has_relays: bool
    rate_mbps: int = 500
    """Of the long link, of which the delay is longer by as much as this is below the paper's rate."""
    payload_bytes: int = 8900

    @property
    def delay_s(self) -> float:
        """One way over the long link."""
        longer = PAPERS_GBPS * 1000 / self.rate_mbps
        return max(_LEAST_DELAY_US, self.kilometres * US_A_KM * longer) / 1e6

    @property
    def bdp_bytes(self) -> float:
        """What is under way there and back."""
        return 2 * self.delay_s * self.rate_mbps * 1e6 / 8

    @property
    def cycle_s(self) -> float:
        """From one PAUSE to the next, without relays (Swing, equations 1 to 3, with XON near zero)."""
        return 2 * self.delay_s / (self.drain * (1 - self.drain))

    def sets(self, folder: Path) -> dict[str, Any]:
        """Return what makes the scenario this one; its network is written to a folder."""
        warmup = self.cycle_s + 4 * self.delay_s + _LEAST_S / 4
        network = TOPOLOGIES / ("long_link_relayed.toml" if self.has_relays else "long_link.toml")
        text = network.read_text(encoding="utf-8").replace('"100Mbps"', f'"{self.rate_mbps}Mbps"')
        own = folder / network.name
        own.write_text(text, encoding="utf-8")
        # Never what holds the sender up: twice what is under way, and what the switches hold.
        window = int((2 * self.bdp_bytes + _SWITCHES_BYTES) / self.payload_bytes)
        # A switch beside a relay must not run empty before a RESUME works, and lets the relay go in long
        # spells: each costs what its process takes to wake.
        few = _FEW * self.payload_bytes
        standstill = 2 * few + _STANDSTILL_S * self.rate_mbps * 125_000
        near = few + _RESPONSE_S * self.rate_mbps * 125_000
        xon, xoff = (near, near + _SPELL_S * self.rate_mbps * 125_000) if self.has_relays else (few, few)
        return {
            "duration": f"{warmup + max(_LEAST_S, _CYCLES * self.cycle_s):.4f}s",
            "warmup": f"{warmup:.4f}s",
            "network.file": str(own),
            "switch.default.pfc_xoff": f"{near:.0f}B",
            "switch.default.pfc_headroom": f"{standstill:.0f}B",
            "switch.long.pfc_headroom": f"{standstill + self.bdp_bytes:.0f}B",
            "switch.long.pfc_xoff": f"{xoff:.0f}B",
            "switch.long.pfc_xon": f"{xon - self.payload_bytes:.0f}B",
            "network.rate": f"{self.drain * self.rate_mbps:g}Mbps",
            "network.delay": f"{self.delay_s * 1e6:.0f}us",
            "network.mtu": f"{self.payload_bytes}B",
            "transport.window.window": window,
            "transport.window.rto": "60s",
        }


@dataclass(frozen=True)
class Point:
    """A setting, measured and simulated."""

    setting: Setting
    measured: Run
    simulated: Run

    def share(self, run: Run) -> float:
        """Return the share of the long link's rate that arrives."""
        return self.setting.drain * _of_link(run, "east>receiver", "utilisation")

    def queue_bytes(self, run: Run) -> float:
        """Return what waits on average behind the long link: in the far relay, or in the switch."""
        return _of_link(
            run, "relay1>east" if self.setting.has_relays else "east>receiver", "queue_mean_bytes"
        )

    @property
    def sent_again(self) -> int:
        """Packets that were sent again."""
        return int(sum(self.measured.tables["flows"]["retransmissions"]))

    @property
    def late_ms(self) -> float:
        """How late the software network was at most."""
        return float((self.measured.testbed or {})["fabric"]["lateness"]["max_ns"]) / 1e6

    @property
    def law_share(self) -> float:
        """The closed form of the share: equations (4), with XON near zero, and (6)."""
        drain = self.setting.drain
        return drain if self.setting.has_relays else drain / (1 + drain)

    @property
    def law_queue_bytes(self) -> float:
        """The closed form of what waits in the far relay: what is not under way of one BDP."""
        return (1 - self.setting.drain) * self.setting.bdp_bytes


def _of_link(run: Run, link: str, column: str) -> float:
    table = run.tables["links"]
    return float(table[column][list(table["link"]).index(link)])


def point(setting: Setting) -> Point:
    """Measure and simulate it; raises `UnavailableError` where this machine cannot."""
    with tempfile.TemporaryDirectory() as folder:
        sets = setting.sets(Path(folder))
        overrides = api.sets_of(sets)
        scenario = api.load_scenario(SCENARIO, overrides, None)
        made_of = lossless.of(scenario, _CARRIER, None)
        plan = local.plan_of(scenario, _CARRIER, None, Given(), is_star=False)
        measured, ended = local.execute(plan, None, partial(lossless.between, made_of))
        if not ended.measured.is_complete:
            raise UnavailableError(f"the run ended early: {ended.measured.reason}")
        return Point(setting, measured, clearway.run(SCENARIO, sets))


def points(lengths: Sequence[int] = KILOMETRES) -> Iterator[Point]:
    """Measure and simulate these lengths with half of the rate drained, other drains at the paper's.

    Raises `UnavailableError` where this machine cannot.
    """
    demand("ip", "tc", "setpriv")
    # A relay is for links that hold many frames.
    settings = [Setting(length, 0.5, has) for length in lengths for has in (True, False) if length or not has]
    settings += [Setting(PAPERS_KM, drain, has_relays=True) for drain in DRAINS]
    return (point(setting) for setting in settings)


def worst_share(points: Sequence[Point]) -> float:
    """Return how far the measured share is from the simulated one at most, as a part of that."""
    return max(abs(each.share(each.measured) / each.share(each.simulated) - 1) for each in points)


def bars(points: Sequence[Point]) -> Iterator[Bar]:
    """Hold points against simulation and closed forms."""
    drains = [each for each in points if each.setting.kilometres == PAPERS_KM]
    for has_relays, name in ((True, "relays"), (False, "pfc")):
        of = [each for each in points if each not in drains and each.setting.has_relays is has_relays]
        yield Bar(f"distance_with_{name}_from_simulated", worst_share(of), "most", 0.05, SWING)
    worst = max(abs(each.share(each.measured) / each.law_share - 1) for each in drains)
    yield Bar("drain_share_from_closed_form", worst, "most", 0.1, SWING)
    worst = max(abs(each.queue_bytes(each.measured) / each.law_queue_bytes - 1) for each in drains)
    yield Bar("standing_queue_from_closed_form", worst, "most", 0.1, SWING)


def row(each: Point) -> str:
    """Say what a point came to."""
    of, (measured, simulated) = each.setting, (each.measured, each.simulated)
    what = "relays" if of.has_relays else "pfc"
    share = f"{each.share(measured):.4f}, simulated {each.share(simulated):.4f}, law {each.law_share:.4f}"
    queue = (
        f"{each.queue_bytes(measured) / 1e6:.3f} MB wait, simulated {each.queue_bytes(simulated) / 1e6:.3f}"
    )
    return (
        f"measured {what} {of.kilometres:g} km, {of.drain:g} drains: carried {share}; {queue};"
        f" sent again {each.sent_again}; latest event {each.late_ms:.1f} ms"
    )
