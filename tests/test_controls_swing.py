"""Controls of Swing's claims: each kind on a short network, and no control of its files without its kind.

As in `test_controls_fastpass`: a control changes a few keys, or does without the relays. What it changes has
to be what one of the kinds here takes away, and each of these is seen failing, and refuting when it does not.
"""

import shutil
from pathlib import Path
from typing import Any

import pytest
import tomllib
from clearway.paper import papers, reading

from tests.conftest import Clearway
from tests.test_controls import KINDS as OF_SWIFT
from tests.test_controls import Kind, see_a_control_fail_and_refute
from tests.test_controls_fastpass import controls, flat, taken_away

SWING = papers.paper_named("swing")

LONG = """
network.topology = "dumbbell"
network.left = 4
network.right = 1
network.rate = "5Gbps"
network.bottleneck = "10Gbps"
network.bottleneck_delay = "100us"
network.mtu = "1452B"
traffic = [{ pattern = "incast", from = "0..4", to = 4, start = "0us..100us" }]
"""
"""A link of 250 kB of BDP, of whose rate a half drains."""
PFC = f'{LONG}transport.a = {{ protocol = "roce", rto = "1s" }}\nallow_loss = true\n'
HIGH = f'{PFC}switch.default = {{ pfc = "static", pfc_xoff = "400kB", pfc_headroom = "300kB" }}'
IRN = f'{LONG}transport.a = {{ protocol = "irn", bitmap = 200, rto_high = "2ms", rto_low = "1ms" }}\n'
BOXES = """
network = { topology = "file", file = "networks/relays.toml", rate = "50Gbps", delay = "100us" }
switch.default = { pfc = "static", pfc_xoff = "198kB", pfc_headroom = "120kB" }
switch.relay = { relay_buffer = "3MB" }
transport.a = { protocol = "roce" }
traffic = [{ pattern = "incast", from = "0..2", to = 2, start = "0us..100us" }]
"""
NO_BOXES = BOXES.replace("relays.toml", "pfc.toml").replace(
    'switch.relay = { relay_buffer = "3MB" }', 'switch.long = { pfc_xoff = "198kB", pfc_headroom = "2.6MB" }'
)
FAILS = 'allow_loss = true\nfault = [{ kind = "bypass", relay = "relay1", at = "2ms" }]\n'
TWO_BDP = BOXES + FAILS + 'switch.long = { pfc_xoff = "2.6MB", pfc_headroom = "2.6MB" }\n'
SHARED = """
network = { topology = "datacenters", k = 2, long_rate = "100Gbps", long_km = 20.0 }
switch.default = { pfc = "static", pfc_xoff = "198kB" }
switch.long = { pfc = "static", pfc_xoff = "198kB", pfc_headroom = "2.6MB" }
transport.a = { protocol = "roce", rto = "1s" }
transport.b = { protocol = "roce", rto = "1s" }
traffic = [
  { pattern = "incast", transport = "a", from = "0..2", to = 2, start = "0us..10us" },
  { pattern = "incast", transport = "b", from = 3, to = 2, start = "0us..10us" },
]
"""
"""Flows over 20 km have half of the receiver's link, beside those from close by."""
RELAYED = SHARED.replace("long_km = 20.0", "long_km = 20.0, relays = true").replace(
    'switch.long = { pfc = "static", pfc_xoff = "198kB", pfc_headroom = "2.6MB" }',
    """switch.long = { pfc = "static", pfc_xoff = "197kB", pfc_headroom = "120kB" }
switch.relay.pfc = "static"
switch.relay.buffer = "1MB"
switch.relay.sharing = "port"
switch.relay.pfc_xoff = "198kB"
switch.relay.pfc_headroom = "120kB"
switch.relay.relay_buffer = "3MB"
""",
)
INSIDE = SHARED.replace(
    'switch.long = { pfc = "static", pfc_xoff = "198kB", pfc_headroom = "2.6MB" }',
    'switch.long = { pfc = "relay", relay_buffer = "3MB" }',
)
SAFE = (
    BOXES.replace("relays.toml", "fast_clock.toml")
    .replace("50Gbps", "99Gbps")
    .replace('delay = "100us"', 'delay = "100us", mtu = "200B", framing = "0B"')
    .replace('"3MB"', '"5MB", relay_safety = "2.515MB"')
)
"""The sending side's clock is fast by 200 millionths; small frames let the limit be near a BDP."""
SWINGS = """
network.topology = "dumbbell"
network.left = 4
network.right = 1
network.rate = "99Gbps"
network.bottleneck = "100Gbps"
network.bottleneck_delay = "1us"
switch.default = { pfc = "static", pfc_xoff = "198kB", pfc_xon = "198kB" }
transport.a = { protocol = "roce" }
traffic = [{ pattern = "incast", from = "0..4", to = 4, start = "0us..100us" }]
"""

KINDS = {
    "a threshold that lasts until RESUME has worked": Kind(
        HIGH, {"switch.default.pfc_xoff": "20kB"}, "goodput_gbps", "at_least = 4.5"
    ),
    "a threshold that takes of the headroom": Kind(
        HIGH.replace("400kB", "600kB").replace("300kB", "100kB"),
        {"switch.default.pfc_xoff": "400kB", "switch.default.pfc_headroom": "300kB"},
        "drops",
        "at_least = 1",
    ),
    "a bitmap of a round trip": Kind(
        IRN,
        {"transport.a.bitmap": 2, "transport.a.rto_high": "1ms", "transport.a.rto_low": "600us"},
        "goodput_gbps",
        "at_least = 3",
    ),
    "a link too short for its bitmap": Kind(
        IRN.replace("100us", "3us", 1) + 'switch.default = { buffer = "100kB" }',
        {"network.bottleneck_delay": "100us", "switch.default.buffer": "10MB"},
        "loss_rate_whole",
        "at_least = 0.001",
    ),
    "relays in a network of a file": Kind(BOXES, {}, "goodput_gbps", "at_least = 45", without=NO_BOXES),
    "the same and their buffers": Kind(
        BOXES,
        {},
        "goodput_gbps",
        "at_least = 45",
        without=NO_BOXES.replace("198kB", "100kB").replace("120kB", "130kB"),
    ),
    "the length of a link": Kind(SHARED, {"network.long_km": 0.2}, "goodput_gbps", "at_most = 40", "a"),
    "relays": Kind(RELAYED, {}, "goodput_gbps", "at_least = 40", "a", without=SHARED),
    "a relay that fails": Kind(
        BOXES + FAILS + 'switch.long = { pfc_headroom = "2.6MB" }\n',
        {},
        "drops",
        "at_least = 100",
        without=BOXES,
    ),
    "two BDP where a relay fails": Kind(
        TWO_BDP,
        {"switch.long.pfc_xoff": "198kB", "switch.long.pfc_headroom": "120kB"},
        "goodput_gbps",
        "at_least = 40",
    ),
    "a limit of what waits and is granted": Kind(
        SAFE,
        {"switch.relay.relay_safety": "4.9MB"},
        "",
        "at_most = 38e3",
        measure="mean",
        arguments='table = "pauses", column = "account_peak_bytes", match = { link = "relay0>relay1" }',
    ),
    "a drain of almost all": Kind(
        SWINGS,
        {"network.rate": "50Gbps"},
        "",
        "at_least = 3000",
        measure="mean",
        arguments='table = "pauses", column = "pfc_frames", match = { link = "tor0>tor1" }',
    ),
    "a relay inside the switch": Kind(INSIDE, {}, "goodput_gbps", "at_least = 40", "a", without=SHARED),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_control_fails_and_can_refute(
    name: str, clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SWING.folder / "networks", workspace / "papers" / "toy" / "networks")
    see_a_control_fail_and_refute(KINDS[name], clearway, workspace, monkeypatch)


def keys_of(kind: Kind) -> frozenset[str]:
    """The keys that a kind takes away."""
    if kind.without is None:
        return frozenset(kind.off)
    of, to = (dict(flat(tomllib.loads(text))) for text in (kind.scenario, kind.without))
    return frozenset(key for key in of.keys() | to.keys() if of.get(key) != to.get(key))


def test_every_control_takes_away_what_one_of_the_kinds_does() -> None:
    known = [keys_of(kind) for kind in (*KINDS.values(), *OF_SWIFT.values())]
    found = list(controls(SWING))
    assert len(found) > 40
    for experiment, text, run, control in found:
        keys = taken_away(run, control)
        assert keys, f"{experiment.id}: {text}: {control.name} takes nothing away"
        assert any(keys <= kind for kind in known), f"{experiment.id}: {text}: no kind without {sorted(keys)}"


def reductions() -> list[tuple[str, Any]]:
    """The claims of Swing's that the paper gives as reductions, with what it prints."""
    found = []
    for experiment in reading.experiments(SWING, [], full=False):
        for claim in experiment.claims:
            of = claim["ours"]
            if isinstance(claim["paper"], float) and isinstance(of, dict) and of["measure"] == "reduction":
                found.append((f"{experiment.id}: {claim['text']}", claim))
    return found


def test_a_shape_is_a_third_of_the_papers_reduction_everywhere() -> None:
    found = reductions()
    assert len(found) > 15
    for name, claim in found:
        assert claim["shape"]["between"][0] == pytest.approx(claim["paper"] / 3, abs=0.006), name
