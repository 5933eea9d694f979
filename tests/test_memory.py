"""The estimate of memory against what a process takes: it is never too low, and not absurdly high."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc"),
]

# What any run takes, whatever its scenario is: the estimate leaves it out.
_ANY_RUN = 10_000_000

# Random scenarios with samples; 300 of them are run where something has changed that takes memory.
_RANDOM = int(os.environ.get("CLEARWAY_MEMORY_SEEDS", "12"))

_PRELUDE = """
import ctypes, gc, json, sys, tempfile
from pathlib import Path
import numpy as np
from clearway import _clearway, columns, directory
from clearway.runs import Run

def size(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))

def begin():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    return size("VmRSS")
"""

_RUN = """
with tempfile.TemporaryDirectory() as there:
    # What writes tables takes megabytes when it is first used.
    first = {"number": np.zeros(100_000), "text": np.array(["a"] * 100_000)}
    columns.write_table(Path(there), "first", first)
for text in json.load(sys.stdin):
    scenario = _clearway.load_text(text)
    before = begin()
    with tempfile.TemporaryDirectory() as there:
        Run.of(scenario, scenario.run(threads=1)).write_into(Path(there))
    print(json.dumps([scenario.estimated_bytes, size("VmHWM") - before]))
"""

_REFUSED = """
text, = json.load(sys.stdin)
before = begin()
try:
    _clearway.load_text(text)
except _clearway.ScenarioError as error:
    print(json.dumps([str(error), size("VmHWM") - before]))
"""

_INCAST = """
format = 1
name = "incast"
duration = "10ms"
[network]
topology = "star"
hosts = {hosts}
rate = "100Gbps"
delay = "1us"
[transport.a]
protocol = "swift"
[[traffic]]
pattern = "incast"
to = 0
{more}
"""

_LOOP = """
format = 1
name = "loop"
duration = "2ms"
[network]
topology = "star"
hosts = 4
rate = "400Gbps"
[transport.a]
protocol = "none"
[[traffic]]
pattern = "open_loop"
from = "0..2"
to = "2..4"
rate = "100M/s"
bytes = "64B"
backlog = 1000000
[record]
operations = true
"""


def _recorded(what: str, hosts: int = 3) -> str:
    return _INCAST.format(hosts=hosts, more=f"[record]\n{what}")


CASES = {
    "windows": _recorded('windows = "500ns"', hosts=51),
    "throughput": _recorded('throughput = "10ns"'),
    "queues": _recorded('queues = "20ns"'),
    "links": _recorded('links = "20ns"'),
    "probe": _INCAST.format(hosts=3, more='[[probe]]\nfrom = 1\nto = 2\ninterval = "40ns"'),
    "flows": _INCAST.format(hosts=3, more='flows_per_pair = 25000\nbytes = "1kB"'),
    "network": _INCAST.format(hosts=30_001, more='from = "1..10"'),
    "operations": _LOOP,
}


# Of these samples every instant has all rows, so that what they take is known before the run.
_DENSE = ("windows", "throughput")
_SPARSE = ("rtt", "queues", "links")


def _told(program: str, texts: Sequence[str], **environment: str) -> list[Any]:
    """Return what a process of its own says of the memory that scenarios take."""
    command = [sys.executable, "-c", _PRELUDE + program]
    env = os.environ | environment
    asked = subprocess.run(
        command, check=True, capture_output=True, text=True, input=json.dumps(texts), env=env
    )
    return [json.loads(line) for line in asked.stdout.splitlines()]


def _drawn(seed: int) -> tuple[str, bool]:
    """Draw a scenario with samples, and whether they are all dense."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    hosts = draw.randint(3, 40)
    network = draw.choice(
        [
            f'topology = "star"\nhosts = {hosts}',
            f'topology = "dumbbell"\nleft = {hosts // 2}\nright = {hosts - hosts // 2}',
            f'topology = "leaf_spine"\nleaves = 3\nhosts_per_leaf = {hosts // 3 + 1}\nspines = 2',
        ]
    )
    rate, duration = draw.choice([25, 100, 400]), draw.choice([500, 1000, 2000])
    text = f'format = 1\nname = "drawn"\nseed = {seed}\nduration = "{duration}us"\n[network]\n{network}\n'
    text += f'rate = "{rate}Gbps"\ndelay = "1us"\n'
    for protocol in draw.sample(["swift", "dctcp", "gcn", "reno"], draw.randint(1, 3)):
        text += f'[transport.{protocol}]\nprotocol = "{protocol}"\n'
        pattern = draw.choice(['"incast"\nto = 0', '"permutation"'])
        text += f'[[traffic]]\ntransport = "{protocol}"\npattern = {pattern}\n'
    dense = draw.random() < 0.5
    kinds = _DENSE if dense else _DENSE + _SPARSE
    sampled = draw.sample(kinds, draw.randint(1, 2))
    text += "[record]\n" + "".join(f'{kind} = "{draw.choice([5, 10, 20, 50])}ns"\n' for kind in sampled)
    return text, set(sampled) <= set(_DENSE)


@pytest.mark.parametrize("case", CASES)
def test_a_run_takes_no_more_memory_than_estimated(case: str) -> None:
    [[estimated, taken]] = _told(_RUN, [CASES[case]])
    assert taken > 2 * _ANY_RUN, "too small a case to tell"
    assert taken <= estimated + _ANY_RUN
    assert estimated <= 4 * taken


def test_random_samples_take_no_more_memory_than_estimated() -> None:
    drawn = [_drawn(seed) for seed in range(_RANDOM)]
    # One of them goes first, as a process takes memory when it first writes tables of samples. pyarrow keeps
    # some 15 MB from one run for the next, more on a busy machine; the system's allocator gives them back.
    texts = [drawn[1][0], *(text for text, _ in drawn)]
    warm, *told = _told(_RUN, texts, ARROW_DEFAULT_MEMORY_POOL="system")
    assert warm[0] == told[1][0]
    assert len(told) == len(drawn)
    for (text, dense), (estimated, taken) in zip(drawn, told, strict=True):
        assert taken <= estimated + _ANY_RUN, text
        if dense:
            assert estimated <= 2 * taken + _ANY_RUN, text


@pytest.mark.parametrize(
    "table",
    [
        '[[fault]]\nlink = "h0-tor0"\nkind = "down"',
        '[[probe]]\nfrom = "h0"\nto = "h1"\ninterval = "1us"',
    ],
)
def test_a_network_that_cannot_fit_is_not_built_to_look_its_nodes_up(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARWAY_MEMORY_LIMIT", "100MB")
    [[said, taken]] = _told(_REFUSED, [_INCAST.format(hosts=800_001, more=f'from = "1..10"\n{table}')])
    assert "network: the run needs about " in said
    assert taken <= _ANY_RUN


def _run_in(addresses: int, text: str, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a scenario from standard input in a process that may have `addresses` bytes of addresses."""
    return subprocess.run(
        [sys.executable, "-m", "clearway", "run", "-", "--out", str(out)],
        check=False,
        capture_output=True,
        text=True,
        input=text,
        env={**os.environ, **environment},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses)),
    )


def test_a_limit_of_addresses_counts_as_what_is_available(tmp_path: Path) -> None:
    ended = _run_in(1_500_000_000, _recorded('windows = "10ns"', hosts=30), tmp_path / "out")
    assert ended.returncode == 2
    assert "record.windows: the run needs about 1.6 GB of memory and 1." in ended.stderr


def test_running_out_of_memory_after_all_is_an_error_and_no_abort(tmp_path: Path) -> None:
    allowed = {"CLEARWAY_MEMORY_LIMIT": "1TB"}
    ended = _run_in(1_500_000_000, _recorded('windows = "10ns"', hosts=30), tmp_path / "out", **allowed)
    assert ended.returncode == 2
    assert ended.stderr.startswith("error: out of memory")
    assert not (tmp_path / "out").exists()
