"""A testbed on this machine alone: namespaces, certificates and agents for one run."""

from __future__ import annotations

import json
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from clearway import _clearway, stops
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.runs import Run
from clearway.testbed import controller, owner, plan, running
from clearway.testbed.controller import Ended, FailedRunError
from clearway.testbed.network import Links, Network, check_machine, network

__all__ = ["MOST_HOSTS", "Links", "check_machine", "execute", "links_of", "overrides", "plan_of"]

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
    scenario: _clearway.Scenario, carrier: str, hosts: int | None, given: frozenset[tuple[str, str]]
) -> plan.Plan:
    """Plan a scenario for this many hosts, or for those that its traffic needs."""
    names = [f"h{host}" for host in range(hosts or MOST_HOSTS)]
    payload = quantity(json.loads(scenario.resolved)["network"]["mtu"])
    planned = plan.plan_of(
        scenario, carrier, names, given, most_payload=int(payload.value) if payload else plan.MOST_PAYLOAD
    )
    network_ = planned.resolved["network"]
    if network_.get("topology") != "star":
        said = "a local testbed has one switch, whatever network.topology says"
        return replace(planned, warnings=[*planned.warnings, said])
    return planned


def execute(planned: plan.Plan, hosts: int | None, links: Links) -> tuple[Run, Ended]:
    """Make the network, keys and agents, run the plan, and remove them, whatever happens.

    Raises what `controller.conduct` raises, and `ClearwayError` where the network cannot be made.
    """
    count = hosts or max(planned.hosts) + 1
    with owner.folder() as folder, network(count, links) as made:
        keys = folder / "keys"
        names = [f"h{host}" for host in range(count)]
        _make_keys(keys, names)
        (folder / "hosts.toml").write_text(_hosts(made, names), encoding="utf-8")
        with _agents(made, names, keys, folder):
            before = tuple(Network.inside(made.switch, []))
            place = running.Place(folder / "hosts.toml", keys, _CONTROLLER, before)
            return running.execute(planned, place, folder)


def _hosts(made: Network, names: Sequence[str]) -> str:
    return "".join(
        f'[[host]]\nname = "{name}"\ncontrol = "{made.control(host)}:{_PORT}"\ndata = "{made.data(host)}"\n'
        for host, name in enumerate(names)
    )


def _make_keys(keys: Path, names: Sequence[str]) -> None:
    command = [controller.program(), "keys", "--days", "2", str(keys), *names, _CONTROLLER]
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
                at = f"{made.control(host)}:{_PORT}"
                words = [controller.program(), "agent", "--keys", str(keys), "--name", name, "--listen", at]
                said = files.enter_context((folder / f"{name}.log").open("w+b"))
                agent = subprocess.Popen(  # noqa: S603 - our own command
                    Network.inside(made.hosts[host], controller.dies_with_us(words)),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    start_new_session=True,
                )
                started.append(agent)
            for agent, name in zip(started, names, strict=True):
                _wait(agent, name, folder / f"{name}.log")
            yield
        finally:
            with stops.put_off():
                for agent in started:
                    with suppress(OSError):
                        agent.kill()
                for agent in started:
                    agent.wait()


def _wait(agent: subprocess.Popen[bytes], name: str, said: Path) -> None:
    """Wait until an agent says where it listens."""
    assert agent.stdout is not None
    ready, _, _ = select.select([agent.stdout], [], [], _PATIENCE_S)
    line = agent.stdout.readline() if ready else b""
    if not line.startswith(b"listening at "):
        why = said.read_text(encoding="utf-8", errors="replace").strip() or "it does not say that it listens"
        raise FailedRunError(f"the agent of {name}: {why}")
