"""The planner of arbiters: what Fastpass's arbiter needs, from its hosts, their rate and their load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from clearway import _clearway
from clearway.arbiter_needs import PACKET_NS, Network, grant_ns, path_ns, transmission
from clearway.figures import readable
from clearway.plan_options import BEYOND_MTU, BYTES, MS, RATE, TIME, US, Options, spell
from clearway.planning import Rows, given_options

OPTIONS = {
    *("hosts", "rate", "slot", "mtu", "racks", "paths", "batch", "ahead", "request_interval", "load"),
    *("message", "delay", "arbiter_latency", "arbiters", "arbiter_rate"),
    *("grant_ns", "path_ns", "packet_ns"),
}


_HEADER = 52
"""Bytes that the scenario's transport puts before its payload."""
_LONGEST_SLOT = 100 * US
"""The longest slot of an arbiter in a scenario, in picoseconds."""

STEEP = 0.75
"""The share of the slots from which on waits depend on more than the plan knows."""


def plan_arbiter(*, measure: bool = False, **given: object) -> dict[str, Any]:
    """Plan an arbiter: `plan_arbiter(hosts=256, rate="10Gbps", racks=16, load=0.8)`.

    Options are those of `clearway plan arbiter`, with `_` for `-`; one that is None is as if not given.
    With `measure`, what a grant and its path cost is measured on this machine. Returns what `--json` prints.
    Raises `ClearwayError` for options that cannot be planned for.
    """
    return plan(given, lambda name: name, measure=measure)


def plan(given: Mapping[str, object], spelled: Callable[[str], str], *, measure: bool) -> dict[str, Any]:
    """Plan an arbiter; a message names each option as `spelled` writes it."""
    options = given_options(given, spelled, OPTIONS)
    asked = _read(options)
    if measure:
        for name in ("grant_ns", "path_ns"):
            if name in options.given:
                options.problem(name, "is given and to be measured: give one of the two")
    options.check(spelled)
    network = {
        "hosts": asked["hosts"],
        "rate_bps": asked["rate"],
        "arbiter_rate_bps": asked["arbiter_rate"],
        "frame_bytes": asked["frame"],
        "payload_bytes": asked["payload"],
        "slot_us": asked["slot"] / US,
        "racks": asked["racks"],
        "paths": asked["paths"] if asked["racks"] > 1 else 1,
        "batch": asked["batch"],
        "ahead": asked["ahead"],
        "request_interval_us": asked["interval"] / US,
        "load": asked["load"],
        "message": asked["message"],
        "delay_us": asked["delay"] / US,
        "arbiter_latency_us": asked["latency"] / US,
        "arbiters": asked["arbiters"],
    }
    if measure:
        _measure(asked)
    costs = {name: asked[name] for name in ("grant_ns", "path_ns", "packet_ns")}
    needs = Network(**asked).needs()
    return {"network": network, "costs": {**costs, "measured": measure}, **needs}


def _measure(asked: dict[str, Any]) -> None:
    """Measure on this machine what a grant costs at a load of 0.86, and a path at 0.9, on one core."""
    hosts, racks = asked["hosts"], asked["racks"]
    asked["grant_ns"] = _clearway.time_grants(hosts, asked["batch"])
    if racks > 1:
        network = {"racks": racks, "hosts": hosts // racks, "paths": asked["paths"]}
        times = _clearway.time_paths(1, **network, utilisation=0.9, repeats=11)
        asked["path_ns"] = 1e3 * median(times) / (0.9 * hosts)


def _read(options: Options) -> dict[str, Any]:
    """Read the options of an arbiter's plan: times in picoseconds, rates in bits a second, sizes in bytes."""
    if "hosts" not in options.given:
        options.problem("hosts", "is missing: how many hosts send in timeslots, such as 256")
    hosts, rate = options.count("hosts", 2, 2, 8192), options.rate()
    frame = options.frame("mtu") or 1500 + BEYOND_MTU
    batch = options.count("batch", 16, 1, 64)
    slot = _read_slot(options, frame, rate)
    racks = options.count("racks", 1, 1, 128)
    asked = {
        "hosts": hosts,
        "rate": rate,
        "arbiter_rate": options.rate_or("arbiter_rate", rate),
        "frame": frame,
        "payload": frame - BEYOND_MTU - _HEADER,
        "slot": slot,
        "racks": racks,
        "paths": options.count("paths", 4, 1, 32),
        "batch": batch,
        "ahead": options.count("ahead", 40, 1, 100_000),
        "interval": options.time("request_interval", 34 * US, 10 * MS),
        "load": options.number("load", 0.6, 0.01, 1.0),
        "message": options.count("message", 10, 1, 1000),
        "delay": options.time("delay", US, 10 * MS),
        "latency": options.time("arbiter_latency", 0, 10 * MS),
        "arbiters": options.count("arbiters", 1, 1, 8),
        "grant_ns": options.number("grant_ns", grant_ns(hosts, batch), 0.1, 10_000.0),
        "path_ns": options.number("path_ns", path_ns(racks), 0.1, 10_000.0),
        "packet_ns": options.number("packet_ns", PACKET_NS, 1.0, 100_000.0),
    }
    if racks > 1 and hosts % racks:
        options.problem("racks", f"{hosts} hosts cannot be {racks} racks of as many each")
    if racks == 1 and "paths" in options.given:
        options.problem("paths", "one rack has one path to each host: give racks as well")
    return asked


def _read_slot(options: Options, frame: int, rate: int) -> int:
    """Read the length of a slot; by default that of a full frame with a hundredth for what has none."""
    full = transmission(frame, rate)
    slot = options.time("slot", int(full / 0.99), _LONGEST_SLOT)
    if slot < full:
        shown, takes = spell(slot, TIME), spell(full, TIME)
        options.problem(
            "slot",
            f"{shown} is shorter than a frame of {spell(frame, BYTES)} takes on a link of "
            f"{spell(rate, RATE)}, {takes}: queues would grow without end",
        )
    elif slot > _LONGEST_SLOT:
        longest = spell(_LONGEST_SLOT, TIME)
        options.problem("rate", f"makes slots of {spell(slot // US * US, TIME)}; the longest is {longest}")
    return slot


def title(answer: Mapping[str, Any]) -> str:
    """Say what was planned for, in a line."""
    network = answer["network"]
    racks = f" in {network['racks']} racks, {network['paths']} paths" if network["racks"] > 1 else ""
    packets = "packet" if network["message"] == 1 else "packets"
    return (
        f"{network['hosts']} hosts of {network['rate_bps'] / 1e9:g} Gb/s{racks}, each with data in "
        f"{readable('share', network['load'])} of its slots of {_time(network['slot_us'])}, "
        f"in messages of {network['message']} {packets}"
    )


def rows(answer: Mapping[str, Any]) -> Rows:
    """List what the arbiter does in a second, what it needs, and what hosts get."""
    cores, costs = answer["cores"], answer["costs"]
    arbiter, host = answer["arbiter_link"], answer["host_link"]
    asked = f"{_millions(answer['requests_per_s'])} a second, {answer['request_bytes']:.0f} B each"
    told = f"{_millions(answer['allocations_per_s'])} a second, {answer['allocation_bytes']:.0f} B each"
    cells = {
        "timeslots granted": f"{_millions(answer['grants_per_s'])} a second",
        "requests": asked,
        "allocations": told,
        "cores to allocate": f"{cores['allocation']:.2f}, at {costs['grant_ns']:.1f} ns a grant",
        "cores to select paths": f"{cores['paths']:.2f}, at {costs['path_ns']:.1f} ns a packet",
        "cores for control packets": f"{cores['packets']:.2f}, at {costs['packet_ns']:.0f} ns a packet",
        "cores together": str(cores["whole"]),
        "of the arbiter's link, in and out": _shares(arbiter["requests"], arbiter["allocations"]),
        "of a host's link, out and in": _shares(host["requests"], host["allocations"]),
        "what slots leave of a host's link": _share(host["left"]),
        "from decision to the last host": _time(answer["told_us"]),
        "slots ahead, least and most": f"{answer['ahead_least']:,}, {answer['ahead_most']:,}",
        "to the first slot, mean and p99": _times(answer["first_slot"]),
        "to the last slot, mean and p99": _times(answer["last_slot"]),
        "payload of all hosts": f"{answer['goodput_gbps']:,.1f} Gb/s",
    }
    if answer["network"]["racks"] == 1:
        del cells["cores to select paths"]
    return [(label, [cell]) for label, cell in cells.items()]


def limits(answer: Mapping[str, Any]) -> list[str]:
    """Say what the plan cannot do, and what would help."""
    network, cores, host = answer["network"], answer["cores"], answer["host_link"]
    least, most = answer["ahead_least"], answer["ahead_most"]
    found = []
    if answer["falls_behind"]:
        found.append(
            f"More is asked for than can be granted: {_share(network['load'])} of the slots for data, and "
            f"{answer['slots_per_packet'] - 1:.2f} for acknowledgements for each of these. Messages wait "
            "longer and longer: lower --load, or raise --message."
        )
    elif network["load"] * answer["slots_per_packet"] > STEEP:
        found.append(
            f"More than {_share(STEEP)} of the slots are granted: waits grow steeply, and hosts' are longer "
            "than these, the p99 by up to twice: see --check."
        )
    if cores["allocation"] > 1:
        found.append(
            f"Allocation takes {cores['allocation']:.2f} cores, and one core must do it, as order matters: "
            f"which has room for {network['hosts'] / cores['allocation']:.0f} of these hosts."
        )
    if max(answer["arbiter_link"].values()) > 1:
        found.append(
            f"The arbiter's link has room for what {answer['hosts_told']:,} of these hosts ask and are told: "
            "raise --arbiter-rate, or --batch."
        )
    if host["requests"] > host["left"]:
        found.append(
            f"Requests, to {_arbiters(network['arbiters'])}, take {_share(host['requests'])} of a host's "
            f"link, and slots leave {_share(host['left'])}: its queue grows. Raise --slot or "
            "--request-interval."
        )
    if least > network["ahead"]:
        found.append(
            f"Grants come too late: the last host hears of a batch {least:,} slots after it is allocated, "
            f"and that is {network['ahead']:,} ahead of its first: raise --ahead."
        )
    if max(least, network["ahead"]) > most:
        found.append(
            f"Endpoints refuse grants for a batch that is more than {most:,} slots ahead: raise the "
            "transport's early."
        )
    return found


def remarks(answer: Mapping[str, Any]) -> Sequence[str]:
    """Say in sentences what the figures are of."""
    measured = answer["costs"]["measured"]
    source = "measured here" if measured else "of docs/PERFORMANCE.md, unless given"
    return [
        "Times are from a message's coming; the allocator itself was run for them, with 256 hosts at most.",
        f"What grants and paths cost is {source}; 660 ns for a control packet are the paper's, network card "
        "and all.",
    ]


def _arbiters(count: int) -> str:
    return "1 arbiter" if count == 1 else f"{count} arbiters"


def _millions(value: float) -> str:
    return f"{value / 1e6:,.2f} million"


def _share(value: float) -> str:
    return readable("share", value)


def _shares(first: float, second: float) -> str:
    return f"{_share(first)}, {_share(second)}"


def _time(us: float) -> str:
    return readable("time", us)


def _times(times: Mapping[str, float] | None) -> str:
    return "no message had one" if times is None else f"{_time(times['mean_us'])}, {_time(times['p99_us'])}"
