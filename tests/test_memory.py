"""The estimate of memory against what a process takes: it is never too low, and not absurdly high."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")

# What any run takes, whatever its scenario is: the estimate leaves it out.
_ANY_RUN = 6_000_000

_PRELUDE = """
import json, sys
from pathlib import Path
import numpy as np
from clearway import _clearway, directory
from clearway.runs import Run

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
"""

_RUN = """
scenario = _clearway.load(sys.argv[1])
out = Path(sys.argv[2])
out.mkdir()
# What writes tables takes tens of megabytes when it is first used.
directory.write_table(out, "first", {"number": np.zeros(100_000), "text": np.array(["a"] * 100_000)})
before = peak()
Run.of(scenario, scenario.run()).write_into(out)
print(json.dumps([scenario.estimated_bytes, peak() - before]))
"""

_REFUSED = """
before = peak()
try:
    _clearway.load(sys.argv[1])
except _clearway.ScenarioError as error:
    print(json.dumps([str(error), peak() - before]))
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
    "throughput": _recorded('throughput = "20ns"'),
    "queues": _recorded('queues = "20ns"'),
    "links": _recorded('links = "20ns"'),
    "probe": _INCAST.format(hosts=3, more='[[probe]]\nfrom = 1\nto = 2\ninterval = "40ns"'),
    "flows": _INCAST.format(hosts=3, more='flows_per_pair = 25000\nbytes = "1kB"'),
    "network": _INCAST.format(hosts=30_001, more='from = "1..10"'),
    "operations": _LOOP,
}


def _told(program: str, *arguments: Path) -> Any:
    """Return what a process of its own says of the memory that it takes."""
    command = [sys.executable, "-c", _PRELUDE + program, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("case", CASES)
def test_a_run_takes_no_more_memory_than_estimated(case: str, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(CASES[case])
    estimated, taken = _told(_RUN, file, tmp_path / "out")
    assert taken > 2 * _ANY_RUN, "too small a case to tell"
    assert taken <= estimated + _ANY_RUN
    assert estimated <= 12 * taken


@pytest.mark.parametrize(
    "table",
    [
        '[[fault]]\nlink = "h0-tor0"\nkind = "down"',
        '[[probe]]\nfrom = "h0"\nto = "h1"\ninterval = "1us"',
    ],
)
def test_a_network_that_cannot_fit_is_not_built_to_look_its_nodes_up(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARWAY_MEMORY_LIMIT", "100MB")
    file = tmp_path / "scenario.toml"
    file.write_text(_INCAST.format(hosts=800_001, more=f'from = "1..10"\n{table}'))
    said, taken = _told(_REFUSED, file)
    assert "network: the run needs about " in said
    assert taken <= _ANY_RUN
