"""The planner of target delays: base, hop scaling and flow scaling of Swift, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from clearway.errors import ClearwayError
from clearway.figures import readable
from clearway.plan_options import BEYOND_MTU, MS, US, quoted
from clearway.planning import Rows, given_options
from clearway.target_delay import MAX_CWND, TargetPlan, mean_queue

OPTIONS = {
    *("rate", "topology", "hosts", "flows", "few_flows", "delay", "jitter", "mtu"),
}

_HEADER = 64
"""Bytes that Swift puts before its payload, and all that an acknowledgement carries: as scenarios have it."""
_SWITCHES = {"star": 1, "leaf_spine": 3, "fat_tree": 5}
"""The switches on the longest path of each shape of network."""

PARTS = {
    "link": "a link there and back",
    "switches": "each switch's link, together",
    "few_flows": "queue of a few flows",
    "jitter": "hosts' jitter",
    "flow_scaling": "queue of all flows",
}
PART_COLUMNS = ("of the target", "RTT without", "goodput without")
FLOW_COLUMNS = ("window", "target", "RTT", "goodput", "RTT in a rack")


def plan_target_delay(**given: object) -> dict[str, Any]:
    """Plan a target delay: `plan_target_delay(rate="100Gbps", topology="fat_tree", hosts=1024, flows=1000)`.

    Options are those of `clearway plan target-delay`, with `_` for `-`; one that is None is as if not given.
    Returns what `--json` prints. Raises `ClearwayError` for options that cannot be planned for.
    """
    return plan(given, lambda name: name)


def plan(given: Mapping[str, object], spell: Callable[[str], str]) -> dict[str, Any]:
    """Plan a target delay; a message names each option as `spell` writes it."""
    options = given_options(given, spell, OPTIONS)
    rate = options.rate()
    mtu = options.size("mtu", 256, 65_000) or 4_096 + _HEADER
    topology = options.given.get("topology", "star")
    if topology not in _SWITCHES:
        options.problem("topology", f"found {quoted(topology)}, expected star, leaf_spine or fat_tree")
    hosts = options.count("hosts", 16, 3, 65_536)
    asked = {
        "rate": rate,
        "delay": options.time("delay", US, 10 * MS),
        "frame": mtu + BEYOND_MTU,
        "ack": _HEADER + BEYOND_MTU,
        "payload": mtu - _HEADER,
        "switches": _SWITCHES.get(topology, 1),
        "flows": options.count("flows", 100, 1, 100_000),
        "few": options.count("few_flows", 4, 0, 1_000),
        "jitter": options.time("jitter", 0, 10 * MS),
    }
    options.check(spell)
    network = {
        "topology": topology,
        "switches": asked["switches"],
        "hosts": hosts,
        "flows": asked["flows"],
        "few_flows": asked["few"],
        "rate_bps": rate,
        "delay_us": asked["delay"] / US,
        "jitter_us": asked["jitter"] / US,
        "frame_bytes": asked["frame"],
        "ack_bytes": asked["ack"],
        "payload_bytes": asked["payload"],
    }
    target_plan = TargetPlan(**asked, flow_scaling=True)
    if target_plan.range and target_plan.parameters.fs_max_cwnd > MAX_CWND:
        longest = target_plan.empty(target_plan.switches) / US
        raise ClearwayError(
            f"{spell('delay')}: the longest path takes {longest:.1f} us, and holds more than the largest "
            f"window of Swift, {MAX_CWND:.10g} packets: plan for shorter links, or a larger --mtu"
        )
    return {"network": network, **_answer(target_plan)}


def _answer(of: TargetPlan) -> dict[str, Any]:
    found, scaling = of.parameters, of.range > 0
    numbers = [10**power for power in range(6) if 10**power < of.flows]
    return {
        "parameters": {
            "base_target_us": found.base_target / US,
            "hop_scaling_us": found.hop_scaling / US,
            "flow_scaling": scaling,
            "fs_range_us": found.fs_range / US if scaling else None,
            "fs_min_cwnd": found.fs_min_cwnd if scaling else None,
            "fs_max_cwnd": found.fs_max_cwnd if scaling else None,
        },
        "empty_us": {"near": of.empty(1) / US, "far": of.empty(of.switches) / US},
        "parts": _parts(of),
        "flows": [
            {
                "flows": flows,
                "mean_queue_packets": mean_queue(flows),
                "far": _outcome(of, flows, of.switches),
                "near": _outcome(of, flows, 1),
            }
            for flows in (*numbers, of.flows)
        ],
        "without_flow_scaling": _outcome(replace(of, flow_scaling=False), of.flows, of.switches),
    }


def _parts(of: TargetPlan) -> list[dict[str, Any]]:
    """Return what the target of the longest path is made of.

    Each part has round trip and goodput of all flows without it where there is more to that than a path
    that takes longer than its target.
    """
    targets = {
        "link": of.per_hop,
        "switches": of.per_hop * of.switches,
        "few_flows": of.room,
        "jitter": of.jitter,
        "flow_scaling": of.range,
    }
    without = {"few_flows": replace(of, few=0), "flow_scaling": replace(of, flow_scaling=False)}
    return [
        {
            "part": part,
            "target_us": target / US,
            "without": _outcome(without[part], of.flows, of.switches) if part in without else None,
        }
        for part, target in targets.items()
    ]


def _outcome(of: TargetPlan, flows: int, switches: int) -> dict[str, float]:
    outcome = of.outcome(flows, switches)
    return {
        "cwnd": outcome.cwnd,
        "target_us": outcome.target / US,
        "rtt_us": outcome.rtt / US,
        "goodput_gbps": of.goodput(outcome.share) / 1e9,
    }


def title(answer: Mapping[str, Any]) -> str:
    """Say what was planned for, in a line."""
    network = answer["network"]
    far = readable("time", answer["empty_us"]["far"])
    return (
        f"{network['topology']} of {network['hosts']:,} hosts of {network['rate_bps'] / 1e9:g} Gb/s, "
        f"up to {flows(network['flows'])} a link; the longest path takes {far} when it is empty"
    )


def parameter_rows(answer: Mapping[str, Any]) -> Rows:
    """List the parameters as a scenario has them."""
    return [(key, [text]) for key, text in settings(answer).items()]


def settings(answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters as text, by their keys under `[transport.NAME]`."""
    of = answer["parameters"]
    found = {
        "base_target": _exact(of["base_target_us"]),
        "hop_scaling": _exact(of["hop_scaling_us"]),
    }
    if not of["flow_scaling"]:
        return {**found, "flow_scaling": "false"}
    windows = {key: f"{of[key]:.6g}" for key in ("fs_min_cwnd", "fs_max_cwnd")}
    return {**found, "fs_range": _exact(of["fs_range_us"]), **windows}


def part_rows(answer: Mapping[str, Any]) -> Rows:
    """List what the target is made of, and what all flows would have without each part."""
    rows = []
    for part in answer["parts"]:
        without = part["without"]
        cells = ["", ""] if without is None else [_time(without["rtt_us"]), _gbps(without["goodput_gbps"])]
        rows.append((PARTS[part["part"]], [_time(part["target_us"]), *cells]))
    whole = sum(part["target_us"] for part in answer["parts"])
    return [*rows, ("together", [_time(whole), "", ""])]


def flow_rows(answer: Mapping[str, Any]) -> Rows:
    """List what flows get, by their number."""
    rows = []
    for one in answer["flows"]:
        far, near = one["far"], one["near"]
        cells = [f"{far['cwnd']:.4g}", _time(far["target_us"]), _time(far["rtt_us"])]
        rows.append((flows(one["flows"]), [*cells, _gbps(far["goodput_gbps"]), _time(near["rtt_us"])]))
    return rows


def flows(number: int) -> str:
    """Say how many flows."""
    return "1 flow" if number == 1 else f"{number:,} flows"


def _time(us: float) -> str:
    return readable("time", us)


def _gbps(value: float) -> str:
    return f"{value:.4g} Gb/s"


def _exact(us: float) -> str:
    """Write a time as a scenario takes it, to the nanosecond."""
    return f"{round(us * 1e3)}ns"
