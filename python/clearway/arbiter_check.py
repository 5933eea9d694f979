"""The simulation behind `clearway plan arbiter --check`, which shows that hosts and arbiter do as planned.

A smaller network with the same slots, load and messages is planned and simulated, packet by packet: hosts in
one rack, or in several with the spine switches that make the paths, and a rack more for the arbiter alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clearway import _clearway, execution, screen, tables
from clearway.arbiter_planning import STEEP
from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.runs import Run

_HOSTS = 32
_RACKS = 4
_HEADER = 52
_FRAMING = 38
_LEAST_SLOTS = 16_000
_WARM = 0.2
_EARLY_US = 80.08


@dataclass(frozen=True)
class Checked:
    """A figure as planned and as simulated."""

    figure: str
    planned: float
    simulated: float
    tolerance: float
    """The part by which they may differ."""
    passed: bool


@dataclass(frozen=True)
class Check:
    """What a run has shown."""

    hosts: int
    racks: int
    figures: Sequence[Checked]

    @property
    def passed(self) -> bool:
        """Whether every figure is as planned."""
        return all(one.passed for one in self.figures)


def check(
    answer: Mapping[str, Any], plan: Callable[[Mapping[str, object]], dict[str, Any]], *, as_json: bool
) -> Check:
    """Simulate a network of a size that takes seconds; `plan` plans with these options changed.

    Raises `ClearwayError` if what was planned does not work anyway.
    """
    if answer["falls_behind"]:
        raise ClearwayError("--check: more is asked for than can be granted", "check a lower --load")
    network = answer["network"]
    racks = min(network["racks"], _RACKS)
    hosts = max(2, min(network["hosts"] // network["racks"], _HOSTS // racks)) * racks
    size: dict[str, object] = {"hosts": hosts, "racks": racks, "arbiters": 1, "arbiter_rate": None}
    whole = (network["hosts"], network["racks"], network["arbiters"], network["arbiter_rate_bps"])
    is_small = whole == (hosts, racks, 1, network["rate_bps"]) and not answer["costs"]["measured"]
    smaller = answer if is_small else plan(size if racks > 1 else {**size, "paths": None})
    if smaller["ahead_least"] > network["ahead"]:
        raise ClearwayError(
            f"--check: {smaller['ahead_least']} slots ahead are needed, and --ahead is {network['ahead']}",
            "check a plan whose grants are in time",
        )
    slots = _LEAST_SLOTS + 60 * network["message"] / network["load"]
    scenario = _clearway.load_text(_scenario(smaller, slots), "check of an arbiter")
    done: list[Run] = []

    def keep(_index: int, outcome: Run | BaseException) -> None:
        if isinstance(outcome, BaseException):
            raise outcome
        done.append(outcome)

    with screen.progress("checking", as_json=as_json) as watch:
        execution.execute_each([scenario], keep, watch)
    return Check(hosts, racks, _judged(smaller, done[0], slots))


def as_json(checked: Check) -> dict[str, Any]:
    """Return what `--json` has under `check`."""
    return {"passed": checked.passed, **asdict(checked)}


def show(checked: Check) -> None:
    """Print a table of what was planned and simulated."""
    rows = [
        (one.figure, [f"{one.planned:,.4g}", f"{one.simulated:,.4g}", _verdict(one)])
        for one in checked.figures
    ]
    where = "one rack" if checked.racks == 1 else f"{checked.racks} racks"
    tables.show_table(f"Simulated: {checked.hosts} hosts in {where}", ("planned", "simulated", ""), rows)


def _verdict(one: Checked) -> str:
    return f"to {readable('share', one.tolerance)}" if one.passed else "NOT AS PLANNED"


def _judged(plan: Mapping[str, Any], run: Run, slots: float) -> list[Checked]:
    network, endpoints = plan["network"], run.table("endpoints")
    seconds = slots * network["slot_us"] / 1e6
    a_second = {
        key: int(endpoints[key].sum()) / seconds for key in ("requests", "allocations", "slots_granted")
    }
    # From the last slot's beginning the frame takes a transmission and a delay on each link.
    links = 2 if network["racks"] == 1 else 4
    frame_us = network["frame_bytes"] * 8e6 / network["rate_bps"]
    way = links * (frame_us + network["delay_us"])
    steep = network["load"] * plan["slots_per_packet"] > STEEP
    figures = [
        ("payload, Gb/s", plan["goodput_gbps"], run.summary["goodput_gbps"] or 0.0, 0.1),
        ("slots granted a second", plan["grants_per_s"], a_second["slots_granted"], 0.1),
        ("requests a second", plan["requests_per_s"], a_second["requests"], 0.4),
        ("allocations a second", plan["allocations_per_s"], a_second["allocations"], 0.25),
        (
            "message, mean us",
            plan["last_slot"]["mean_us"] + way,
            run.summary["fct_mean_us"] or 0.0,
            0.5 if steep else 0.35,
        ),
        (
            "message, p99 us",
            plan["last_slot"]["p99_us"] + way,
            run.summary["fct_p99_us"] or 0.0,
            1.0 if steep else 0.6,
        ),
    ]
    return [
        Checked(name, planned, simulated, part, abs(simulated / planned - 1) <= part)
        for name, planned, simulated, part in figures
    ]


def _scenario(plan: Mapping[str, Any], slots: float) -> str:
    """Return the scenario of a plan, for `slots` slots."""
    network = plan["network"]
    hosts, racks, slot_us = network["hosts"], network["racks"], network["slot_us"]
    each = hosts // racks
    if racks == 1:
        shape = f"topology = 'star'\nhosts = {hosts + 1}"
    else:
        shape = f"topology = 'leaf_spine'\nleaves = {racks + 1}\nspines = {network['paths']}\n"
        # Each link up carries a whole number of packets a slot, and together they carry what the hosts send.
        whole = -(-each // network["paths"])
        shape += f"hosts_per_leaf = {each}\noversubscription = {each / (network['paths'] * whole)!r}"
    payload, frame = network["payload_bytes"], network["frame_bytes"]
    early = max(_EARLY_US, (network["ahead"] + network["batch"]) * slot_us)
    duration = slots * slot_us
    load = network["load"] * payload * 8e6 / (slot_us * network["rate_bps"])
    return (
        "format = 1\nname = 'check'\n"
        f"duration = '{_ps(duration)}'\nwarmup = '{_ps(_WARM * duration)}'\n"
        f"[network]\n{shape}\nrate = '{network['rate_bps']}bps'\ndelay = '{_ps(network['delay_us'])}'\n"
        f"mtu = '{payload}B'\nframing = '{_FRAMING}B'\n"
        f"[transport.data]\nprotocol = 'fastpass'\nheader = '{frame - payload - _FRAMING}B'\nreach = 8192\n"
        f"report_interval = '{_ps(network['request_interval_us'])}'\nearly = '{_ps(early)}'\n"
        f"[arbiter]\nat = 'h{hosts}'\nslot = '{_ps(slot_us)}'\nbatch = {network['batch']}\n"
        f"ahead = {network['ahead']}\nlatency = '{_ps(network['arbiter_latency_us'])}'\n"
        f"[[traffic]]\npattern = 'poisson'\nfrom = '0..{hosts}'\nto = '0..{hosts}'\nload = {load!r}\n"
        f"sizes = 'fixed:{network['message'] * payload}B'\n"
    )


def _ps(us: float) -> str:
    return f"{round(us * 1e6)}ps"
