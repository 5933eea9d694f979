"""A testbed on this machine alone: namespaces, certificates and agents for one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from clearway import _clearway, daemon, stops
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.testbed import controller, fastpass, owner, plan, ports, processes, queues, running
from clearway.testbed.controller import Ended, FailedRunError
from clearway.testbed.given import Given
from clearway.testbed.hosts import Host
from clearway.testbed.network import Links, Network, network
from clearway.testbed.reading import Measured
from clearway.testbed.running import Seen

MOST_HOSTS = 256
"""Namespaces, at most."""
_CONTROLLER = "controller"
_PORT = 7400
_PATIENCE_S = 20.0


def overrides(rate: str | None, buffer: str | None) -> list[tuple[str, str | None]]:
    """Return what `--rate` and `--buffer` change in the scenario, so that it says what was run."""
    return [
        *([("network.rate", rate)] if rate is not None else []),
        *([("switch.default.buffer", buffer)] if buffer is not None else []),
    ]


def links_of(scenario: _clearway.Scenario) -> Links:
    """Return what the links and ports of a scenario are like."""
    resolved = json.loads(scenario.resolved)
    rate = quantity(resolved["network"].get("rate"))
    if rate is None:
        raise ClearwayError("network.rate: the scenario has none for all links", "give one: --rate 1Gbps")
    buffers = [found for switch in resolved["switch"].values() if (found := quantity(switch.get("buffer")))]
    if not buffers:
        raise ClearwayError("switch.default.buffer: the scenario has none", "give one: --buffer 1MB")
    mtu = quantity(resolved["network"]["mtu"])
    return Links(rate.value, int(buffers[0].value), int(mtu.value) if mtu else plan.MOST_PAYLOAD)


def plan_of(
    scenario: _clearway.Scenario, carrier: str, hosts: int | None, given: Given, *, is_star: bool
) -> plan.Plan:
    """Plan a scenario for this many hosts, or for those that its traffic needs."""
    machines = [_host(host) for host in range(hosts or MOST_HOSTS)]
    names = [machine.name for machine in machines]
    payload = quantity(json.loads(scenario.resolved)["network"]["mtu"])
    planned = plan.plan_of(
        scenario, carrier, names, given, most_payload=int(payload.value) if payload else plan.MOST_PAYLOAD
    )
    planned = fastpass.deployed(planned, machines, given, has_one_switch=True)
    if is_star and planned.resolved["network"].get("topology") != "star":
        said = "a local testbed has one switch, whatever network.topology says"
        return replace(planned, warnings=[*planned.warnings, said])
    return planned


Between = Callable[[int, Path], AbstractContextManager[tuple[Network, Callable[[Measured], Seen]]]]
"""Makes the network of a number of hosts, with a folder for its files, and says how to ask what it did."""


@contextmanager
def star(links: Links, hosts: int, folder: Path) -> Iterator[tuple[Network, Callable[[Measured], Seen]]]:
    """Have a shaped switch with this many hosts while the body runs."""
    file = folder / "ports"
    with network(hosts, links) as made, _sampling(made, file):
        yield made, lambda measured: Seen(queues.read(file, measured, links.rate_gbps))


def execute(planned: plan.Plan, hosts: int | None, between: Between) -> tuple[Run, Ended]:
    """Make the network, keys and agents, run the plan, and remove them, whatever happens.

    Raises what `controller.conduct` raises, and `ClearwayError` where the network cannot be made.
    """
    count = hosts or max(planned.hosts) + 1
    with owner.folder() as folder, between(count, folder) as (made, seen):
        keys = folder / "keys"
        names = [f"h{host}" for host in range(count)]
        _make_keys(keys, names)
        machines = [_host(host) for host in range(count)]
        text = "".join(machine.entry(machine.data) for machine in machines)
        (folder / "hosts.toml").write_text(text, encoding="utf-8")
        with _agents(made, names, keys, folder):
            before = tuple(Network.inside(made.switch, []))
            place = running.Place(folder / "hosts.toml", keys, _CONTROLLER, before, seen)
            return running.execute(planned, place, folder)


def _host(number: int) -> Host:
    return Host(f"h{number}", f"{Network.control(number)}:{_PORT}", Network.data(number))


def _make_keys(keys: Path, names: Sequence[str]) -> None:
    command = [daemon.program(), "keys", "--days", "2", str(keys), *names, _CONTROLLER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)  # noqa: S603
    if done.returncode != 0:
        raise ClearwayError(f"certificates: {done.stderr.strip()}", "is there room for temporary files?")


@contextmanager
def _agents(made: Network, names: Sequence[str], keys: Path, folder: Path) -> Iterator[None]:
    """Have an agent in each namespace while the body runs."""
    started: list[subprocess.Popen[bytes]] = []
    with ExitStack() as files:
        try:
            for host, name in enumerate(names):
                at = f"{Network.control(host)}:{_PORT}"
                words = [daemon.program(), "agent", "--keys", str(keys), "--name", name, "--listen", at]
                said = files.enter_context((folder / f"{name}.log").open("w+b"))
                agent = subprocess.Popen(  # noqa: S603 - our own command
                    Network.inside(made.hosts[host], controller.dies_with_us(words)),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    start_new_session=True,
                    # What they leave there goes with the folder.
                    env={**os.environ, "TMPDIR": str(folder)},
                )
                started.append(agent)
            for agent, name in zip(started, names, strict=True):
                _wait(agent, name, folder / f"{name}.log")
            yield
        finally:
            with stops.put_off():
                processes.end(started)


@contextmanager
def _sampling(made: Network, file: Path) -> Iterator[None]:
    """Have a process write what the switch's ports do, while the body runs."""
    command = [sys.executable, "-I", ports.__file__, str(file)]
    sampler = subprocess.Popen(  # noqa: S603 - our own command
        Network.inside(made.switch, controller.dies_with_us(command)),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        with stops.put_off():
            processes.end([sampler])


def _wait(agent: subprocess.Popen[bytes], name: str, said: Path) -> None:
    """Wait until an agent says where it listens."""
    line = processes.first_line(agent)
    if not line.startswith(b"listening at "):
        why = said.read_text(encoding="utf-8", errors="replace").strip() or "it does not say that it listens"
        raise FailedRunError(f"the agent of {name}: {why}")
