"""Controls of Fastpass's claims: each kind in a small network, and no control of its files without its kind.

A control changes a few keys of a scenario, or does without Fastpass. What it changes has to be what one of
the kinds here takes away. Each is seen failing, and seen refuting its claim when nothing is taken away.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from clearway.paper import papers, reading
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.papers import Paper

from tests.conftest import Clearway
from tests.test_controls import Kind, see_a_control_fail_and_refute

NETWORK = """
network = { topology = "star", hosts = 7, rate = "10Gbps", delay = "1us", mtu = "1448B" }
traffic = [{ pattern = "incast", from = "0..4", to = 4, flows_per_pair = 4, start = "0us..100us" }]
"""
CUBIC = f'{NETWORK}transport.a = {{ protocol = "cubic", header = "52B" }}'
RACK = f'{NETWORK}transport.a = {{ protocol = "fastpass", header = "52B" }}\narbiter = {{ at = "h5" }}'


SHALLOW = '\nswitch.default = { buffer = "30kB" }'


def hosts(**settings: str) -> str:
    """Hosts that wait for interrupts, but for none of them unless these settings say so."""
    whole = {"model": "interrupts", "wake_interval": "0us", "softirq": "0us", "softirq_mean": "0us"}
    written = ", ".join(f'{key} = "{value}"' for key, value in {**whole, **settings}.items())
    return f"host.default = {{ {written} }}\n"


LATE_OR_STILL = {
    "host.default.model": "interrupts",
    "host.default.clock_offset": "0.52us",
    "host.default.wake_interval": "0us",
    "host.default.softirq": "0us",
    "host.default.softirq_mean": "0us",
}
"""Hosts of a model in which they can be late and stand still, and as yet do neither."""
CRASH = 'fault = [{ kind = "crash", arbiter = 0, at = "2ms" }]\n'
BACK = CRASH.replace('"2ms"', '"2ms", until = "3ms"')
SHORT = RACK.replace(
    'flows_per_pair = 4, start = "0us..100us"', 'flows_per_pair = 20, bytes = "10kB", start = "1ms..5ms"'
).replace('header = "52B"', 'header = "52B", unscheduled = 14')
LONGER = SHORT.replace('bytes = "10kB", start = "1ms..5ms"', 'bytes = "40kB", start = "1ms..1200us"')
READS = """
network = { topology = "star", hosts = 7, rate = "10Gbps", delay = "1us", mtu = "1448B" }
transport.a = { protocol = "fastpass", header = "52B" }
arbiter = { at = "h5" }
record = { operations = true }
measure_until = "4ms"

[[scenario.traffic]]
pattern = "open_loop"
from = "0..4"
to = "0..4"
operation = "read"
bytes = "20kB"
load = 0.1
"""

RACKS = """
network.topology = "leaf_spine"
network.leaves = 4
network.spines = 2
network.hosts_per_leaf = 2
network.rate = "10Gbps"
network.delay = "1us"
network.mtu = "1448B"
transport.a = { protocol = "fastpass", header = "52B" }
arbiter = { at = "h7" }
traffic = [
  { pattern = "incast", from = 0, to = 2 },
  { pattern = "incast", from = 1, to = 3 },
  { pattern = "incast", from = 2, to = 4 },
  { pattern = "incast", from = 3, to = 5 },
  { pattern = "incast", from = 4, to = 0 },
  { pattern = "incast", from = 5, to = 1 },
]
"""
DEAD = f'{RACKS}fault = [{{ kind = "loss", link = "spine1>tor1", probability = 1.0, at = "1ms" }}]\n'
DEAD_FOR_A_TIME = DEAD.replace('at = "1ms"', 'at = "1ms", until = "1500us"')
UNHEARD = """
network = { topology = "star", hosts = 7, rate = "10Gbps", delay = "1us", mtu = "1448B" }
transport.a = { protocol = "fastpass", header = "52B", fallback_after = "10s" }
arbiter = { at = "h6" }
traffic = [{ pattern = "permutation", hosts = "0..6", bytes = "500kB", start = "1ms..1100us" }]
fault = [{ kind = "loss", link = "h6-tor0", probability = 0.25 }]
"""


def with_arbiter(scenario: str, **settings: Any) -> str:
    """A scenario whose arbiter has these settings too."""
    written = "".join(f", {key} = {json.dumps(value)}" for key, value in settings.items())
    return scenario.replace('at = "h5"', f'at = "h5"{written}')


KINDS = {
    "a share of the link for control": Kind(
        RACK, {"arbiter.slot": "1230.4ns"}, "queue_peak_bytes", "at_most = 6000"
    ),
    "Ethernet's framing": Kind(CUBIC, {"network.framing": "0B"}, "goodput_gbps", "at_most = 9.5"),
    "deep buffers": Kind(CUBIC, {"switch.default.buffer": "12304B"}, "queue_peak_bytes", "at_least = 100000"),
    "Fastpass": Kind(RACK, {}, "queue_peak_bytes", "at_most = 6000", without=CUBIC),
    "Cubic": Kind(CUBIC, {}, "queue_peak_bytes", "at_least = 100000", without=RACK),
    "the least recently served first": Kind(RACK, {"arbiter.order": "min_fct"}, "jain", "at_least = 0.95"),
    "the check of a grant's age": Kind(
        hosts(stall="1ms", stall_interval="2ms") + RACK,
        {"transport.a.age_check": False},
        "queue_peak_bytes",
        "at_most = 40000",
    ),
    "hosts that do not stand still": Kind(
        f'host.default = {{ model = "ideal" }}\n{RACK}',
        {**LATE_OR_STILL, "host.default.stall": "1ms", "host.default.stall_interval": "2ms"},
        "slots_refused",
        "at_most = 0",
    ),
    "hosts that are punctual": Kind(
        f'host.default = {{ model = "ideal" }}\n{RACK}',
        {**LATE_OR_STILL, "host.default.send_jitter": "10us"},
        "queue_peak_bytes",
        "at_most = 6000",
    ),
    "windows that are times": Kind(
        with_arbiter(RACK.replace("10Gbps", "100Gbps"), ahead=400),
        {"arbiter.latency": "15us", "arbiter.ahead": 48, "transport.a.late": "100ns"},
        "goodput_gbps",
        "at_least = 85",
    ),
    "a core that is quick enough": Kind(
        with_arbiter(RACK, request_service="0.66us", allocation_service="0.66us"),
        {"arbiter.request_service": "50us", "arbiter.allocation_service": "50us"},
        "goodput_gbps",
        "at_least = 9",
    ),
    "requests for what has come together": Kind(
        hosts(wake_interval="72us") + RACK,
        {
            "host.default.wake_interval": "0us",
            "host.default.softirq": "0us",
            "host.default.softirq_mean": "0us",
            "transport.a.report_interval": "2us",
        },
        "request_share",
        "at_most = 0.012",
    ),
    "batches": Kind(
        RACK, {"arbiter.batch": 4, "arbiter.allocation_rate": 1_000_000}, "allocation_share", "at_most = 0.03"
    ),
    "an arbiter that keeps up": Kind(RACK, {"arbiter.slot_service": "2us"}, "goodput_gbps", "at_least = 9"),
    "another arbiter": Kind(
        CRASH + RACK.replace('"h5"', '["h5", "h6"]'),
        {"arbiter.at": "h5", "transport.a.fallback_after": "10s"},
        "goodput_gbps",
        "at_least = 8.5",
    ),
    "fallback": Kind(
        BACK + RACK,
        {"fault[0].until": "6ms", "transport.a.fallback_after": "10s"},
        "goodput_gbps",
        "at_least = 5",
    ),
    "an arbiter that restarts": Kind(
        BACK + RACK,
        {"fault[0].until": "6ms"},
        "allocation_share",
        "at_least = 0.012",
    ),
    "a fault": Kind(DEAD, {"fault[0].probability": 1e-4}, "", "at_least = 1", measure="named_faults"),
    "fault isolation": Kind(DEAD, {"arbiter.fault_isolation": False}, "fault_losses", "at_most = 2000"),
    "a link that returns": Kind(DEAD_FOR_A_TIME, {"fault[0].until": "6ms"}, "fault_losses", "at_most = 1000"),
    "words that are said again": Kind(
        UNHEARD,
        {"transport.a.request_timeout": "10s", "arbiter.retransmit": "10s"},
        "completed",
        "at_least = 6",
    ),
    "hosts that are late": Kind(
        hosts(send_jitter="10us") + RACK,
        {"host.default.send_jitter": "0us"},
        "queue_peak_bytes",
        "at_least = 6000",
    ),
    "no wait for a timeslot": Kind(SHORT, {"transport.a.unscheduled": 1}, "fct_p50_us", "at_most = 40"),
    "few flows without timeslots": Kind(
        LONGER, {"transport.a.unscheduled": 700}, "queue_peak_bytes", "at_most = 60000"
    ),
    "windows for a whole round trip": Kind(
        with_arbiter(
            RACK.replace("10Gbps", "100Gbps").replace("flows_per_pair = 4", "flows_per_pair = 1"), ahead=400
        ),
        {"transport.a.reach": 256},
        "goodput_gbps",
        "at_least = 90",
    ),
    "little work": Kind(READS, {"host.default.operation_service": "1ms"}, "latency_p50_us", "at_most = 400"),
    "Fastpass's lack of losses": Kind(
        RACK + SHALLOW, {}, "loss_rate_whole", "at_most = 0", without=CUBIC + SHALLOW
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_control_fails_and_can_refute(
    name: str, clearway: Clearway, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    see_a_control_fail_and_refute(KINDS[name], clearway, workspace, monkeypatch)


# NO CONTROL WITHOUT ITS KIND

FASTPASS = papers.paper_named("fastpass")
HOW_LONG = re.compile(
    r"name|format|duration|warmup|record\..*|traffic\[\d+\]\.(start|stop|rate|load)|host\.arbiter\..*"
)
"""What says how long something is looked at, how, and at what load, and the arbiter's host."""


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a document by dotted key."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from flat(entry, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
        for index, entry in enumerate(value):
            yield from flat(entry, f"{prefix}[{index}]")
    else:
        yield prefix, value


def settings(run: PlannedRun) -> dict[str, Any]:
    """What a run is given, by dotted key without the names of transports; the axes are left out."""
    found = dict(flat(run.document))
    for key, value in run.overrides.items():
        found = {at: entry for at, entry in found.items() if at != key and not at.startswith(f"{key}.")}
        found.update(flat(value, key))
    axes = {key for variant in run.variants for key in variant}
    kept = {key: value for key, value in found.items() if key not in axes and not HOW_LONG.fullmatch(key)}
    return {re.sub(r"^transport\.(\w+|\*)", "transport.a", key): value for key, value in kept.items()}


def axes_of(run: PlannedRun) -> dict[str, set[Any]]:
    """The values of each axis of a run."""
    return {key: {variant[key] for variant in run.variants} for key in run.variants[0]}


def taken_away(run: PlannedRun, control: PlannedRun) -> frozenset[str]:
    """The keys in which a control is another than its run, or `protocol` alone if that is one of them."""
    (of, of_axes), (to, to_axes) = ((settings(each), axes_of(each)) for each in (run, control))
    changed = {key for key in of.keys() | to.keys() if of.get(key) != to.get(key)}
    changed -= of_axes.keys() | to_axes.keys()
    changed |= {key for key in of_axes.keys() & to_axes.keys() if of_axes[key].isdisjoint(to_axes[key])}
    return frozenset({"protocol"} if "transport.a.protocol" in changed else changed)


def controls(paper: Paper) -> Iterator[tuple[Experiment, str, PlannedRun, PlannedRun]]:
    """Yield every pair of a run and its control in a paper's files, but for those that are timed."""
    for experiment in reading.experiments(paper, [], full=False):
        runs = {run.name: run for run in experiment.runs}
        for claim in experiment.claims:
            for original, control in claim.get("control", {}).items():
                if original not in experiment.timed:
                    yield experiment, claim["text"], runs[original], runs[control]


def test_every_control_takes_away_what_one_of_the_kinds_does() -> None:
    known = [frozenset({"protocol"} if kind.without else kind.off) for kind in KINDS.values()]
    found = list(controls(FASTPASS))
    assert len(found) > 50
    for experiment, text, run, control in found:
        keys = taken_away(run, control)
        assert keys, f"{experiment.id}: {text}: {control.name} takes nothing away"
        assert any(keys <= kind for kind in known), f"{experiment.id}: {text}: no kind without {sorted(keys)}"
