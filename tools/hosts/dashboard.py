"""The dashboard's queries, asked of a Prometheus that reads two agents and a relay.

`python -m tools.hosts dashboard` starts two agents on loopback, a relay in a namespace and a
Prometheus, lets flows go between the agents, and asks each query of packaging/grafana.json by
Prometheus' HTTP API until it has a result. Rules that warn are loaded, too. Without root no relay
is started, nor is anything asked of one.
"""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.hosts.machine import UnavailableError, demand, run
from tools.hosts.swift import DAEMON
from tools.hosts.wire import relay, wire

PACKAGING = Path(__file__).parents[2] / "packaging"
DASHBOARD = PACKAGING / "grafana.json"
RULES = PACKAGING / "clearway.rules.yml"
_PATIENCE_S = 40.0
_NEAR, _FAR = "10.99.77.1", "10.99.77.2"
_CARRIERS = ("tcp:cubic", "udp:swift")
_FOR_ALL = {"$agent": ".*", "$job": ".*", "$__rate_interval": "30s"}
"""What Grafana puts in the place of variables: all agents, and a time of many samples."""


@dataclass(frozen=True)
class Query:
    """A query of the dashboard."""

    panel: str
    expression: str

    @property
    def filled(self) -> str:
        """Return it as Grafana asks it."""
        text = self.expression
        for name, value in _FOR_ALL.items():
            text = text.replace(name, value)
        return text


def queries(path: Path = DASHBOARD) -> list[Query]:
    """Return the queries of a dashboard's panels, in their order."""
    panels = json.loads(path.read_text(encoding="utf-8"))["panels"]
    return [Query(panel["title"], target["expr"]) for panel in panels for target in panel["targets"]]


def missing() -> str | None:
    """Return why the queries cannot be asked here; none where they can."""
    if not DAEMON.exists():
        return "clearwayd is missing: make build"
    if shutil.which("prometheus") is None:
        return "prometheus is not installed (Debian and Ubuntu: apt-get install prometheus)"
    return None


def lines() -> Iterator[str]:
    """Ask each query, and yield whether it has a result; then each rule."""
    if (why := missing()) is not None:
        raise UnavailableError(why)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        run([str(DAEMON), "keys", str(folder / "keys"), "h0", "h1", "controller"])
        agents = [stack.enter_context(_agent(folder, name)) for name in ("h0", "h1")]
        targets = [agent.metrics for agent in agents]
        without_relay = ""
        try:
            targets.append(stack.enter_context(_relay(folder)))
        except UnavailableError as reason:
            without_relay = str(reason)
        url = stack.enter_context(_prometheus(folder, targets))
        # It finds out after some seconds whom to read, and a rate needs what was there before.
        if not _wait_for_result(url, Query("agents", f"sum(up) == {len(targets)}")):
            raise UnavailableError("prometheus does not read the agents")
        for carrier in _CARRIERS:
            _traffic(folder, carrier, agents)
        for query in queries():
            if without_relay and "clearway_relay_" in query.expression:
                yield f"dashboard {query.panel}: not asked, as there is no relay: {without_relay}"
                continue
            found = _wait_for_result(url, query)
            yield f"dashboard {query.panel}: {'ok' if found else 'EMPTY'} {query.expression}"
        for rule, health in _rules(url):
            yield f"rule {rule}: {health}"


@dataclass(frozen=True)
class _Agent:
    control: str
    metrics: str


@contextmanager
def _process(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[str]]:
    with (
        log.open("w") as errors,
        subprocess.Popen(  # noqa: S603 - our own command
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def _agent(folder: Path, name: str) -> Iterator[_Agent]:
    """Run an agent for as long as the body runs."""
    anywhere = "127.0.0.1:0"
    command = [str(DAEMON), "agent", "--keys", str(folder / "keys"), "--name", name]
    command += ["--listen", anywhere, "--metrics", anywhere]
    with _process(command, folder / f"{name}.log") as process:
        assert process.stdout is not None
        control = process.stdout.readline().removeprefix("listening at ").strip()
        metrics = process.stdout.readline().removeprefix("metrics at http://").strip()
        if not metrics:
            raise UnavailableError((folder / f"{name}.log").read_text())
        yield _Agent(control, metrics.removesuffix("/metrics"))


@contextmanager
def _relay(folder: Path) -> Iterator[str]:
    """Run a relay for as long as the body runs; yield where its metrics are, on a link of their own."""
    demand("ip", "tc")
    config = folder / "relay.toml"
    config.write_text('[relay]\nrate = "100Mbps"\ndelay = "400us"\n')
    with wire() as through:
        near, far = f"{through.relay}m", "m0"
        run(f"ip link add {near} type veth peer name {far} netns {through.relay}".split())
        run(f"ip addr add {_NEAR}/30 dev {near}".split())
        run(f"ip link set {near} up".split())
        run(f"ip -n {through.relay} addr add {_FAR}/30 dev {far}".split())
        run(f"ip -n {through.relay} link set {far} up".split())
        with relay(through, config, "--metrics", f"{_FAR}:9477"):
            yield f"{_FAR}:9477"


@contextmanager
def _prometheus(folder: Path, targets: Sequence[str]) -> Iterator[str]:
    """Run a Prometheus that reads these agents ten times a second; yield where it answers."""
    scrape = {"job_name": "clearway", "scrape_interval": "100ms", "scrape_timeout": "100ms"}
    config = {
        "global": {"evaluation_interval": "200ms"},
        "rule_files": [str(RULES)],
        "scrape_configs": [{**scrape, "static_configs": [{"targets": list(targets)}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}"]
    command += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={address}"]
    with _process(command, folder / "prometheus.log") as process:
        deadline = time.monotonic() + _PATIENCE_S
        while not _is_ready(f"http://{address}/-/ready"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise UnavailableError((folder / "prometheus.log").read_text())
            time.sleep(0.1)
        yield f"http://{address}/api/v1"


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - a process of our own
            return True
    except OSError:
        return False


def _traffic(folder: Path, carrier: str, agents: Sequence[_Agent]) -> None:
    """Let flows go both ways for a second, of which the first has no end."""
    pairs = [(0, 1, None), (1, 0, 1_000_000), (0, 1, 300_000)]
    flows = [
        {"id": id_, "traffic": 0, "source": source, "destination": to, "bytes": bytes_, "start_ns": 0}
        for id_, (source, to, bytes_) in enumerate(pairs)
    ]
    plan = {"version": 1, "carrier": carrier, "parameters": {}, "mtu": 1400, "until_ns": 1_000_000_000}
    plan |= {"sample_every_ns": 20_000_000, "hosts": ["h0", "h1"], "flows": flows}
    (folder / "plan.json").write_text(json.dumps(plan))
    hosts = [f'[[host]]\nname = "h{i}"\ncontrol = "{agent.control}"\n' for i, agent in enumerate(agents)]
    (folder / "hosts.toml").write_text("".join(hosts))
    command = [str(DAEMON), "testbed", str(folder / "plan.json"), "--hosts", str(folder / "hosts.toml")]
    run([*command, "--keys", str(folder / "keys"), "--name", "controller"], patience_s=_PATIENCE_S)


def _wait_for_result(url: str, query: Query) -> bool:
    """Ask a query until it has a number as its result; return whether it had."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        found = _ask(f"{url}/query?" + urllib.parse.urlencode({"query": query.filled}))["result"]
        if any(not math.isnan(float(each["value"][1])) for each in found):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)


def _rules(url: str) -> Iterator[tuple[str, str]]:
    """Yield each rule, and whether Prometheus could evaluate it."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        rules = [rule for group in _ask(f"{url}/rules")["groups"] for rule in group["rules"]]
        if all(rule["health"] != "unknown" for rule in rules) or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    yield from ((rule["name"], rule["health"]) for rule in rules)


def _ask(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - a process of our own
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        raise ValueError(f"{url}: {error.read().decode()}") from error
