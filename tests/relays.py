"""What tests of relays between namespaces have in common."""

import json
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tools.hosts.frames import PRIORITY
from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.swift import DAEMON
from tools.hosts.wire import LOCAL, REMOTE, Wire, inside, wire

CONFIG = f"""[relay]
rate = "100Mbps"
delay = "400us"
priorities = [{PRIORITY}]
"""
# A machine that runs other tests too may hold a process for long. There is room for what comes in 150 ms: at
# this rate a PAUSE lasts no longer than twice that. The kernel takes the process for dead later than it does
# by default (100 ms).
PATIENT = CONFIG + 'response = "150ms"\ndead_after = "2s"\n'
METRICS = "127.0.0.1:9477"
_PATIENCE_S = 10.0


def what_is_missing() -> str | None:
    """Say why there can be no relay here. A kernel that should take it and does not is no reason."""
    numbers = [int(number) for number in re.findall(r"\d+", platform.release())[:2]]
    if sys.platform != "linux" or numbers < [6, 4]:
        return f"Linux 6.4 or newer is needed, this is {platform.system()} {platform.release()}"
    try:
        demand("ip", "tc", "iperf3", "curl")
        if not Path("/sys/kernel/btf/vmlinux").exists():
            return "this kernel has no BTF"
        if not Path("/dev/net/tun").exists():
            return "this kernel has no TAP devices"
        if not DAEMON.is_file():
            return "clearwayd is missing: make build"
        with wire():
            pass
    except UnavailableError as reason:
        return str(reason)
    return None


def metrics(through: Wire) -> dict[str, float]:
    """Return what the relay counts, by name and labels."""
    page = run(inside(through.relay, "curl", "-sS", f"http://{METRICS}/metrics"))
    lines = [line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#")]
    return {name.removeprefix("clearway_relay_"): float(value) for name, value in lines}


def lane(name: str, origin: str = "local") -> str:
    return f'{name}{{from="{origin}",priority="{PRIORITY}"}}'


def until(through: Wire, name: str, value: float) -> None:
    """Return when a metric has this value."""
    end = time.monotonic() + _PATIENCE_S
    while metrics(through)[name] != value:
        assert time.monotonic() < end, (name, value, metrics(through))
        time.sleep(0.02)


def listening(process: "subprocess.Popen[str]") -> "subprocess.Popen[str]":
    """Wait for a receiver to be ready."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def numbers(receiver: "subprocess.Popen[str]") -> list[int]:
    told, _ = receiver.communicate(timeout=60)
    return [int(number) for number in told.split()]


def all_in_order(found: list[int], count: int) -> None:
    """Demand all packets that were sent, once each and in order; say in one line what is wrong."""
    missing = sorted(set(range(count)) - set(found))
    assert not missing, f"{len(missing)} are lost, between {missing[0]} and {missing[-1]}"
    wrong = next((at for at, number in enumerate(found) if number != at), None)
    assert wrong is None, f"{found[wrong]} came where {wrong} was due; {len(found)} came of {count}"


def done(process: "subprocess.Popen[str]") -> str:
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return told


def clearwayd(through: Wire, *options: str) -> "subprocess.CompletedProcess[str]":
    ends = ("--local", LOCAL, "--remote", REMOTE)
    command = inside(through.relay, str(DAEMON), "relay", *ends, *options)
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


def status(through: Wire) -> Any:
    """Return what the relay tells of itself."""
    return json.loads(clearwayd(through, "--status", "--json").stdout)
