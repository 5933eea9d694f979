"""What the tests of testbeds share: a scenario, its hosts, the command, and what local ones leave behind."""

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from clearway import daemon
from clearway.errors import ClearwayError
from clearway.testbed.network import Links, check_machine, network

from tests.conftest import SMALL, Clearway, finished, written
from tools.hosts import machine

_PATIENCE_S = 30.0

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


def what_is_missing() -> str | None:
    """Say why there can be no local testbed here."""
    try:
        daemon.program()
        check_machine()
        with network(2, Links(0.1, 100_000, 1400)):
            pass
    except ClearwayError as reason:
        return str(reason)
    return None


def namespaces(process: int) -> list[str]:
    """Return the namespaces that a process has made."""
    listed = machine.run(["ip", "netns", "list"])
    return [line for line in listed.splitlines() if line.startswith(f"clearway-{process}-")]


def agents(process: int, *kinds: str) -> list[int]:
    """Return the agents whose keys a process has made, or arbiters and endpoints if these are the kinds."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if any(kind in words for kind in kinds or ("agent",)) and any(
            f"clearway-{process}-" in word for word in words
        ):
            found.append(int(folder.name))
    return found


def running(process: "subprocess.Popen[str]") -> None:
    """Return when the process's controller runs."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        for name in namespaces(process.pid):
            inside = "switch" in name and machine.run(["ip", "netns", "pids", name.split()[0]]).strip()
            if inside and agents(process.pid):  # before there are agents it is what makes the network
                return
        time.sleep(0.05)
    process.kill()
    pytest.fail(f"it never ran: {finished(process)}")


def gone(process: int) -> bool:
    """Wait until no agent is left, and nothing that one has started; tell whether that was in time."""
    every = ("agent", "arbiter", "endpoint", "lift-limits")
    end = time.monotonic() + _PATIENCE_S
    while agents(process, *every) and time.monotonic() < end:
        time.sleep(0.05)
    return not agents(process, *every)
