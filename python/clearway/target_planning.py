"""The planner of target delays: base, hop scaling and flow scaling of Swift, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clearway import _clearway
from clearway.figures import readable
from clearway.planning import Rows, answered

OPTIONS = {
    *("rate", "topology", "hosts", "flows", "few_flows", "delay", "jitter", "mtu"),
}

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
    return answered(given, spell, OPTIONS, _clearway.plan_target_delay)


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
