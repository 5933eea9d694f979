"""Controls of claims, a small configuration of each kind that the papers use.

Each is seen failing with the mechanism off, and refuting its claim when the mechanism is on in both.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from clearway.paper import papers

from tests.conftest import Clearway

STAR = 'network = { topology = "star", hosts = 5, rate = "10Gbps", delay = "1us" }'
FAST_STAR = 'network = { topology = "star", hosts = 5, rate = "50Gbps", delay = "1us" }'
RACKS = """
network.topology = "leaf_spine"
network.leaves = 2
network.spines = 1
network.hosts_per_leaf = 2
network.rate = "50Gbps"
network.delay = "0.5us"
"""


FAR = """
network = { topology = "datacenters", k = 2, long_rate = "100Gbps", long_km = 20.0, relays = true }
switch.default = { pfc = "static", pfc_xoff = "198kB" }
transport.a = { protocol = "roce", rto = "1s" }
transport.b = { protocol = "roce", rto = "1s" }
traffic = [
  { pattern = "incast", transport = "a", from = "0..2", to = 2, start = "0us..10us" },
  { pattern = "incast", transport = "b", from = 3, to = 2, start = "0us..10us" },
]
"""


@dataclass(frozen=True)
class Kind:
    """What a control takes away, and a claim that then fails."""

    scenario: str
    off: dict[str, Any]
    key: str
    holds: str
    transport: str | None = None
    without: str | None = None
    """A scenario that does without it, where a few keys do not take it away."""
    measure: str = "summary"
    """The measure that the claim takes; the key is the summary's, and any other has none."""
    arguments: str = ""
    """What else the measure is given, as in a file."""


KINDS = {
    "flow scaling": Kind(
        f"""{STAR}
transport.a = {{ protocol = "swift", initial_cwnd = 0.5 }}
traffic = [{{ pattern = "incast", to = 0, flows_per_pair = 20, start = "0us..500us" }}]""",
        {"transport.a.flow_scaling": False},
        "rtt_mean_us",
        "at_least = 40",
    ),
    "windows below one packet": Kind(
        f"""{STAR}
transport.a = {{ protocol = "swift", initial_cwnd = 0.1 }}
traffic = [{{ pattern = "incast", to = 0, flows_per_pair = 50, start = "0us..500us" }}]""",
        {"transport.a.cwnd_below_one": False},
        "rtt_mean_us",
        "at_most = 200",
    ),
    "topology scaling": Kind(
        f"""{RACKS}
transport.a = {{ protocol = "swift" }}
traffic = [
  {{ pattern = "incast", from = 1, to = 0, flows_per_pair = 10, start = "0us..100us" }},
  {{ pattern = "incast", from = 2, to = 0, flows_per_pair = 10, start = "0us..100us" }},
]""",
        {"transport.a.topology_scaling": False},
        "jain",
        "at_least = 0.95",
    ),
    "the endpoint window": Kind(
        f"""{FAST_STAR}
transport.a = {{ protocol = "swift" }}
host.default = {{ model = "snap" }}
traffic = [
  {{ pattern = "closed_loop", from = "0..4", to = 4, bytes = "64B", flows_per_pair = 5, outstanding = 32 }},
]
""",
        {"transport.a.endpoint_window": False},
        "rtt_mean_us",
        "at_most = 200",
    ),
    "jitter of the hosts": Kind(
        f"""{FAST_STAR}
transport.a = {{ protocol = "swift", base_target = "10us", flow_scaling = false }}
host.default = {{ model = "snap", pause = "0us" }}
traffic = [{{ pattern = "incast", from = "0..2", to = 4, flows_per_pair = 4, start = "0us..100us" }}]""",
        {"host.default.jitter": "0us"},
        "rtt_mean_us",
        "at_least = 13.8",
    ),
    "slow processors": Kind(
        f"""{FAST_STAR}
transport.a = {{ protocol = "swift" }}
host.default = {{ model = "snap", pause = "0us" }}
traffic = [{{ pattern = "open_loop", from = "0..2", to = 4, bytes = "64B", rate = "1000k/s" }}]""",
        {
            "host.default.receive_packet": "76ns",
            "host.default.operation": "62ns",
            "host.default.receive_ack": "75ns",
            "host.default.completion": "225ns",
        },
        "endpoint_delay_mean_us",
        "at_least = 10",
    ),
    "other traffic": Kind(
        f"""{STAR}
transport.a = {{ protocol = "swift" }}
transport.b = {{ protocol = "swift" }}
traffic = [
  {{ pattern = "incast", transport = "b", from = "0..2", to = 4, start = "0us..10us" }},
  {{ pattern = "open_loop", transport = "a", from = 2, to = 4, bytes = "1kB", rate = "20k/s" }},
]""",
        {"traffic[0].bytes": "1kB"},
        "rtt_p50_us",
        "at_least = 12",
        "a",
    ),
    "a common queue": Kind(
        f"""{STAR}
class.first = {{}}
class.second = {{ priority = 1 }}
transport.a = {{ protocol = "swift", class = "second", ack_class = "first" }}
transport.b = {{ protocol = "swift", class = "second", ack_class = "first" }}
traffic = [
  {{ pattern = "incast", transport = "b", from = "0..2", to = 4, start = "0us..10us" }},
  {{ pattern = "open_loop", transport = "a", from = 2, to = 4, bytes = "1kB", rate = "20k/s" }},
]""",
        {"transport.a.class": "first"},
        "rtt_p50_us",
        "at_least = 12",
        "a",
    ),
    "random phases": Kind(
        f"""{STAR}
transport.a = {{ protocol = "none", rate = "120Mbps" }}
traffic = [{{ pattern = "incast", to = 0, flows_per_pair = 20, start = "0us..270us" }}]""",
        {"traffic[0].start": "0us"},
        "rtt_mean_us",
        "at_most = 60",
    ),
    "additive increase": Kind(
        f"""{STAR}
transport.a = {{ protocol = "swift", initial_cwnd = 1 }}
transport.b = {{ protocol = "swift" }}
traffic = [
  {{ pattern = "incast", transport = "b", from = 1, to = 0 }},
  {{ pattern = "incast", transport = "a", from = 2, to = 0, start = "100us..200us" }},
]""",
        {"transport.a.ai": 0.001, "transport.b.ai": 0.001},
        "goodput_gbps",
        "at_least = 3",
        "a",
    ),
    "a low target": Kind(
        f"""{STAR}
transport.a = {{ protocol = "swift", initial_cwnd = 1 }}
traffic = [{{ pattern = "incast", to = 0, flows_per_pair = 4, start = "0us..100us" }}]""",
        {"transport.a.base_target": "400us"},
        "rtt_p999_us",
        "at_most = 200",
    ),
    "a target above the empty round trip": Kind(
        f"""{STAR}
transport.a = {{ protocol = "swift" }}
traffic = [{{ pattern = "open_loop", from = "1..5", to = 0, bytes = "64kB", load = 0.2 }}]""",
        {"transport.a.base_target": "5us", "transport.a.flow_scaling": False},
        "goodput_gbps",
        "at_least = 6",
    ),
    "a relay": Kind(FAR, {"network.relays": False}, "goodput_gbps", "at_least = 40", "a"),
    "a virtual queue": Kind(
        FAR + 'switch.relay = { relay_virtual_queue = "250kB", relay_virtual_queue_above = "100kB" }',
        {"switch.relay.relay_virtual_queue": "100MB"},
        "rtt_mean_us",
        "at_most = 650",
        "a",
    ),
}


LENGTH = """
[scenario]
duration = "6ms"
warmup = "1ms"
"""


def experiment(kind: Kind, off: dict[str, Any]) -> str:
    """Write the file of an experiment whose control has these keys."""
    of = f'measure = "{kind.measure}", run = "on"'
    if kind.key:
        of += f', key = "{kind.key}"'
    if kind.transport is not None:
        of += f', transport = "{kind.transport}"'
    of += f", {kind.arguments}" if kind.arguments else ""
    sets = ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in off.items())
    without = kind.without if off is kind.off else None
    other = "" if without is None else LENGTH.replace("scenario", "scenarios.without") + without
    return f"""
figure = "Fig 1"
title = "A mechanism and its control"

{LENGTH}{kind.scenario}
{other}
[runs.on]

[runs.off]
{"" if without is None else 'scenario = "without"'}
set = {{ {sets} }}

[[claim]]
text = "It does what it is for"
paper = "yes"
ours = {{ {of} }}
holds = {{ {kind.holds} }}
control = "off"
"""


@pytest.mark.parametrize("name", KINDS)
def test_a_control_fails_and_can_refute(
    name: str, clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    see_a_control_fail_and_refute(KINDS[name], clearway, workspace, monkeypatch)


def see_a_control_fail_and_refute(
    kind: Kind, clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judge a claim with its control, and with a control that takes nothing away."""
    folder = workspace / "papers" / "toy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "parameters.toml").write_text("parameter = []\n")
    monkeypatch.setattr(papers, "folder_of_papers", lambda: workspace / "papers")
    (folder / "fig1.toml").write_text(experiment(kind, kind.off))
    (claim,) = clearway("paper", "toy", "--json").json["claims"]
    assert claim["verdict"] == "reproduced", claim
    (folder / "fig1.toml").write_text(experiment(kind, {}))
    (claim,) = clearway("paper", "toy", "--json").json["claims"]
    assert claim["verdict"] == "not reproduced", claim
    assert claim["control"] == claim["ours"]
    assert "the control as well" in claim["reason"]
