"""Swift over UDP and a testbed's agents held against their bars: part of `python -m tools.hosts bench`."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tools.hosts import incast, incast_page
from tools.hosts.bars import Bar, skipped
from tools.hosts.machine import UnavailableError, run
from tools.hosts.swift import DAEMON

TESTBED = "testbed"
_AGENTS = 64
_RATIO = re.compile(r"^testbed (\S+) (\S+) (\S+) (?:ok|short)$", re.MULTILINE)
_SECOND = 1_000_000_000  # ns
_INCAST_S = 6


@dataclass(frozen=True)
class Agent:
    """An agent on loopback: its process, and where its control channel is."""

    name: str
    process: subprocess.Popen[str]
    address: str

    @property
    def resident_kb(self) -> int:
        """Memory that it holds."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


@dataclass(frozen=True)
class Testbed:
    """Agents with keys of one authority, and the directory of what a controller reads."""

    directory: Path
    agents: list[Agent]

    def controller(self, flows: list[dict[str, Any]], seconds: float) -> subprocess.Popen[str]:
        """Start a run of flows over `udp:swift`."""
        plan = {
            "version": 1,
            "carrier": "udp:swift",
            "parameters": {},
            "mtu": 1384,
            "until_ns": round(seconds * _SECOND),
            "sample_every_ns": _SECOND,
            "hosts": [agent.name for agent in self.agents],
            "flows": flows,
        }
        (self.directory / "plan.json").write_text(json.dumps(plan))
        files = (self.directory / "plan.json", "--hosts", self.directory / "hosts.toml")
        keys = ("--keys", self.directory / "keys", "--name", "controller")
        return subprocess.Popen(  # noqa: S603 - our own command
            [DAEMON, "testbed", *files, *keys], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )


def lines(repeats: int, soak_s: int) -> Iterator[str]:
    """Measure one thing after the other, and yield each line as soon as it is known."""
    for name, found in (
        ("datagrams", _against_blasts(repeats)),
        ("agents", _agents(repeats)),
        ("soak", _soak(soak_s)),
        ("incast", _beside_simulation()),
    ):
        yield from _or_skipped(name, found)


def _or_skipped(name: str, found: Iterator[str]) -> Iterator[str]:
    try:
        yield from found
    except UnavailableError as reason:
        yield skipped(name, reason, TESTBED)


def _against_blasts(repeats: int) -> Iterator[str]:
    """Hold Swift over UDP on loopback against what only sends."""
    if shutil.which("cargo") is None:
        raise UnavailableError("missing: cargo")
    bench = ("cargo", "bench", "--quiet", "-p", "clearway-host", "--bench", "datagrams")
    ran = subprocess.run(  # noqa: S603 - our own command
        [*bench, "--", "--rounds", str(repeats)], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise UnavailableError(f"cargo bench ended with {ran.returncode}: {ran.stderr[-300:]}")
    yield from (f"measured {line}" for line in ran.stdout.splitlines() if line.endswith("Gb/s"))
    for name, figure, limit in _RATIO.findall(ran.stdout):
        yield Bar(name, float(figure), "least", float(limit), TESTBED).line()


def _agents(repeats: int) -> Iterator[str]:
    """Start a run on many agents at once, and end one in the middle of a run."""
    with _testbed(_AGENTS) as testbed:
        flows = [_flow(each, each, (each + 1) % _AGENTS, 100_000) for each in range(_AGENTS)]
        told = [_events(testbed.controller(flows, 2).communicate()[0]) for _ in range(repeats)]
        spread = median(_of(each, "started")[0]["spread_ns"] / 1e6 for each in told)
        complete = min(sum(flow["end_ns"] is not None for flow in _of(each, "flow")) for each in told)
        yield Bar(f"start_of_{_AGENTS}_agents_ms", spread, "most", 100, TESTBED).line()
        yield Bar(f"flows_complete_of_{_AGENTS}", complete, "least", _AGENTS, TESTBED).line()
        controller = testbed.controller([{**flow, "bytes": None} for flow in flows], 60)
        time.sleep(3)
        testbed.agents[0].process.kill()
        before = time.monotonic()
        rest = _events(controller.communicate()[0])
        yield Bar("killed_agent_ends_run_s", time.monotonic() - before, "most", 5, TESTBED).line()
        measured = sum(flow["bytes"] > 0 for flow in _of(rest, "flow"))
        # Those that it sent itself are lost with it, and the one to it has failed.
        yield Bar("killed_agent_flows_told", measured, "least", _AGENTS - 2, TESTBED).line()


def _soak(seconds: int) -> Iterator[str]:
    """Let flows come and go between two agents, and see what memory these hold."""
    with _testbed(2) as testbed:
        flows = [_flow(0, 0, 1, None)]
        each_ns = max(_SECOND // 20, seconds * _SECOND // 90_000)
        for number in range(1, seconds * _SECOND // each_ns):
            source = number % 2
            flows.append({**_flow(number, source, 1 - source, 20_000), "start_ns": number * each_ns})
        controller = testbed.controller(flows, seconds)
        try:
            time.sleep(seconds / 3)
            early = [agent.resident_kb for agent in testbed.agents]
            time.sleep(seconds / 2)
            late = [agent.resident_kb for agent in testbed.agents]
        finally:
            controller.send_signal(signal.SIGINT)
            controller.communicate()
        growth = max(after / before for before, after in zip(early, late, strict=True))
        after = f"after a third and {max(late)} kB after five sixths of {seconds} s"
        yield f"measured resident {max(early)} kB {after}"
        yield Bar(f"resident_memory_in_{seconds}_s", growth, "most", 1.05, TESTBED).line()


def _beside_simulation() -> Iterator[str]:
    """Hold the simulation of the 64 to 1 incast of `make demo-hosts` against what namespaces do."""
    for pair in incast.incast(_INCAST_S).pairs:
        for key, name in (("rtt_mean_us", "mean_rtt"), ("goodput_gbps", "goodput")):
            off = incast_page.off_by(pair, key)
            if "swift" in pair.scheme.carrier and off is not None:
                figure = f"incast_64_{pair.scheme.carrier.replace(':', '_')}_{name}_off"
                yield Bar(figure, abs(off), "most", incast_page.NEAR, TESTBED).line()


def _flow(number: int, source: int, destination: int, length: int | None) -> dict[str, Any]:
    ends = {"source": source, "destination": destination}
    return {"id": number, "traffic": 0, **ends, "bytes": length, "start_ns": 0}


def _events(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def _of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == kind]


@contextmanager
def _testbed(agents: int) -> Iterator[Testbed]:
    """Agents on loopback, which are gone afterwards with all that they had."""
    directory = Path(tempfile.mkdtemp(prefix="clearway-bench-"))
    started: list[Agent] = []
    names = [f"h{number}" for number in range(agents)]
    try:
        run([str(DAEMON), "keys", str(directory / "keys"), *names, "controller"])
        started.extend(_agent(directory, name) for name in names)
        hosts = (f'[[host]]\nname = "{agent.name}"\ncontrol = "{agent.address}"\n' for agent in started)
        (directory / "hosts.toml").write_text("".join(hosts))
        yield Testbed(directory, started)
    finally:
        for agent in started:
            agent.process.kill()
            agent.process.communicate()
        shutil.rmtree(directory)


def _agent(directory: Path, name: str) -> Agent:
    options = ("--keys", directory / "keys", "--name", name, "--listen", "127.0.0.1:0")
    process = subprocess.Popen(  # noqa: S603 - our own command
        [DAEMON, "agent", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    said = process.stdout.readline() if process.stdout else ""
    return Agent(name, process, said.removeprefix("listening at ").strip())
