"""What the tests of testbeds share: a scenario, its hosts, and the command."""

from pathlib import Path
from typing import Any

from tests.conftest import SMALL, Clearway, written

SCENARIO: dict[str, Any] = {
    **SMALL,
    "name": "two flows",
    "duration": "100ms",
    "warmup": "20ms",
    "network": {"topology": "star", "hosts": 3, "rate": "1Gbps", "delay": "1us", "mtu": "1500B"},
    "transport": {"bulk": {"protocol": "swift", "base_target": "300us", "initial_rto": "7ms"}},
    "traffic": [
        {"pattern": "incast", "transport": "bulk", "from": "1..3", "to": 0, "bytes": "1MB"},
        {"pattern": "incast", "transport": "bulk", "from": 1, "to": 2},
    ],
    "record": {"windows": "10ms", "rtt": "10ms", "throughput": "10ms"},
}
HOSTS = "".join(f'[[host]]\nname = "h{n}"\ncontrol = "127.0.0.1:{7400 + n}"\n' for n in range(3))


def two_flows(workspace: Path) -> Path:
    """Write the scenario and the hosts; return the scenario's file."""
    (workspace / "hosts.toml").write_text(HOSTS)
    return written(workspace / "two.toml", SCENARIO)


def run_on_hosts(clearway: Clearway, file: Path, *more: object) -> Any:
    return clearway("testbed", "run", file, "--hosts", "hosts.toml", "--keys", "keys", *more)
