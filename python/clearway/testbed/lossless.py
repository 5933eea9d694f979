"""A lossless network between the hosts of a local testbed: `clearwayd fabric`, and the relays that it has.

    host ── eth0 ┐                                            ┌ eth0 ── host
                 fabric: adapters, switches, links, all with PFC
    l0 ── relay ── r0 ┘ └ r0 ── relay ── l0        each relay in a namespace of its own

Every device here is a TAP device of that process. All traffic is of one lossless priority.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clearway import _clearway, daemon, stops
from clearway.documents import quantity
from clearway.errors import ClearwayError
from clearway.testbed import controller, fabric, network
from clearway.testbed.controller import FailedRunError
from clearway.testbed.fabric import PRIORITY, Links
from clearway.testbed.local import MOST_HOSTS
from clearway.testbed.network import Network
from clearway.testbed.owner import owned
from clearway.testbed.plan import FASTPASS
from clearway.testbed.processes import end, first_line
from clearway.testbed.reading import Measured
from clearway.testbed.running import Seen

_SAMPLE_EVERY_NS = 5_000_000
_SAMPLES = 10_000  # of a long run, of each link
_DRAINS_S = 8.0
"""For a relay to end: it sends what it stores first, for 5 s at most."""
_HOST_QUEUE_BYTES = 512_000_000
_AHEAD = 2
"""What a host's queue lets go in a time, of what its adapter sends in it."""
"""Room at a host's own device: a window over a long link is large, and sent at once."""


@dataclass(frozen=True)
class Lossless:
    """A lossless network that can be made."""

    links: Links
    mtu: int
    sample_every_ns: int
    relay: Mapping[str, Any]
    """What the scenario says of relays, as resolved."""
    warnings: Sequence[str] = ()
    """What of the scenario is otherwise in a software network."""
    storms: Sequence[Mapping[str, int]] = field(default_factory=list)
    """Links that are paused at random, as `clearwayd fabric` reads them."""
    meanwhile: Callable[[Sequence[Relay]], AbstractContextManager[None]] = lambda _: nullcontext()
    """What goes on beside, with the relays."""
    relay_keys: Sequence[str] = ()
    """Further lines of the relays' files."""
    of_host_ns: int = 20_000_000
    """What a relay's process may take until it sees a frame: here all share a few cores."""


def of(scenario: _clearway.Scenario, carrier: str, hosts: int | None) -> Lossless:
    """Return the lossless network of a scenario; raises `ClearwayError` where it cannot be made."""
    if carrier in FASTPASS:
        raise ClearwayError(
            f"--lossless: {carrier} has queues of its own at hosts", "choose tcp:NAME, quic:swift or udp:..."
        )
    if hosts is not None:
        raise ClearwayError(
            "--hosts: the network of --lossless is the scenario's, with all its hosts", "leave it out"
        )
    resolved = json.loads(scenario.resolved)
    payload = quantity(resolved["network"]["mtu"])
    mtu = network.mtu_for(int(payload.value) if payload else 1400)
    links = Links.of(scenario, mtu)
    _check(resolved, links)
    if len(links.hosts) > MOST_HOSTS:
        raise ClearwayError(
            f"--lossless: the network has {len(links.hosts)} hosts, and a testbed at most {MOST_HOSTS}",
            "take a smaller one: --set network...",
        )
    sample_every_ns = max(_SAMPLE_EVERY_NS, round(scenario.duration_us * 1000 / _SAMPLES))
    relay = resolved["switch"].get("relay") or {}
    return Lossless(links, mtu, sample_every_ns, relay, _warnings_of(resolved, links))


def _check(resolved: Mapping[str, Any], links: Links) -> None:
    """Raise for what a software network has not."""
    if not any(link.pfc for link in links.directed):
        raise ClearwayError(
            "--lossless: no switch of the scenario has flow control",
            'add pfc = "static" under [switch.default]',
        )
    if (resolved["switch"].get("long") or {}).get("pfc") == "relay":
        raise ClearwayError(
            "switch.long.pfc: a software switch has no relay inside",
            'give it boxes: role = "relay", or relays = true',
        )
    if any(link.pfc and link.pfc["xoff_bytes"] is None for link in links.directed):
        raise ClearwayError(
            "switch: pfc is dynamic, and a software switch has static thresholds",
            'write pfc = "static" and pfc_xoff: --set switch.default.pfc=static',
        )


def _warnings_of(resolved: Mapping[str, Any], links: Links) -> list[str]:
    said = []
    if resolved.get("class"):
        said.append("[class]: on hosts all traffic is of one lossless priority")
    if any(link.shares_buffer for link in links.directed):
        said.append("a software switch shares no buffer: each link has its own room")
    return said


@contextmanager
def between(
    made_of: Lossless, hosts: int, folder: Path
) -> Iterator[tuple[Network, Callable[[Measured], Seen]]]:
    """Have the network while the body runs; `hosts` are at most those of the scenario."""
    links = made_of.links
    count = len(links.hosts)
    if hosts > count:
        raise ClearwayError(
            f"the network has {count} hosts, and the traffic needs {hosts}", "add hosts to it"
        )
    made = Network(owned("switch"), [owned(f"h{host}") for host in range(count)])
    relays = {node: owned(links.nodes[node].name) for node in links.relays}
    samples = folder / "samples"
    text = links.plan(made_of.mtu, made_of.sample_every_ns, made_of.storms)
    (folder / "fabric.json").write_text(text, encoding="utf-8")
    with ExitStack() as stack:
        stack.enter_context(network.namespaces([made.switch, *made.hosts, *relays.values()]))
        network.join_for_control(made)
        running = stack.enter_context(_fabric(made, folder, samples))
        for host in range(count):
            _place_host(made, links, host, made_of.mtu)
        started = [stack.enter_context(_relay(made_of, made, node, relays[node], folder)) for node in relays]
        beside = stack.enter_context(ExitStack())
        beside.enter_context(made_of.meanwhile(started))

        def seen(measured: Measured) -> Seen:
            beside.close()
            told = {relay.name: relay.status() for relay in started}
            said = {
                "fabric": running(),
                "relays": told,
                "ended": {relay.name: list(relay.ended) for relay in started},
            }
            tables = {"pauses": fabric.pauses(links, said["fabric"], told)}
            return Seen(fabric.read(samples, measured, links), tables, said)

        yield made, seen


@contextmanager
def _fabric(made: Network, folder: Path, samples: Path) -> Iterator[Callable[[], Mapping[str, Any]]]:
    """Have the software network while the body runs. What is returned ends it, and says what it counted."""
    words = [daemon.program(), "fabric", str(folder / "fabric.json"), "--samples", str(samples)]
    with (folder / "fabric.log").open("w+b") as said:
        process = _start(made.switch, controller.dies_with_us(words), said)
        try:
            if first_line(process) != b"ready\n":
                raise FailedRunError(f"the software network: {_tail(folder / 'fabric.log')}")

            def ended() -> Mapping[str, Any]:
                process.terminate()
                assert process.stdout is not None
                told: Mapping[str, Any] = json.loads(process.stdout.read() or "{}")
                return told

            yield ended
        finally:
            with stops.put_off():
                end([process])


def _place_host(made: Network, links: Links, host: int, mtu: int) -> None:
    """Give a host its adapter, and tell it of the others, as nobody here answers who asks for an address."""
    name = made.hosts[host]
    _place(made, f"n{host}", name, "eth0", fabric.address(host))
    network.give_address(name, "eth0", Network.data(host))
    for other in range(len(made.hosts)):
        if other != host:
            at = f"{Network.data(other)} lladdr {fabric.address(other)}"
            network.ip(name, f"neigh add {at} dev eth0 nud permanent")
    # The adapter sends at its rate; it is never to wait for a timer of the host.
    network.shape(name, "eth0", _AHEAD * links.adapter(host).rate_bps / 1e9, _HOST_QUEUE_BYTES, mtu)
    network.tune(name)


def _place(made: Network, device: str, namespace: str, name: str, address: str | None = None) -> None:
    network.ip(made.switch, f"link set {device} netns {namespace} name {name}")
    network.ip(namespace, f"link set {name} addrgenmode none")
    if address is not None:
        network.ip(namespace, f"link set {name} address {address}")
    network.ip(namespace, f"link set {name} up")


class Relay:
    """A relay between two devices of its own namespace; it can be ended and started again."""

    def __init__(self, name: str, namespace: str, config: str, folder: Path) -> None:
        """Write its file; it does not run yet."""
        self.name = name
        self._namespace = namespace
        self._config, self._log = folder / f"{name}.toml", folder / f"{name}.log"
        self._config.write_text(config, encoding="utf-8")
        self._words = [daemon.program(), "relay", "--local", "l0", "--remote", "r0"]
        self._process: subprocess.Popen[bytes] | None = None
        self.ended: list[Mapping[str, Any]] = []
        """What each of its processes that were ended had counted by then."""

    def start(self) -> None:
        """Start it; raises what it says if it cannot."""
        self._process = self._started()

    def _started(self, *options: str) -> subprocess.Popen[bytes]:
        # It ends by itself when its devices go, and those go with us.
        words = [*self._words, "--config", str(self._config), *options]
        with self._log.open("ab") as said:
            process = _start(self._namespace, words, said)
        if not first_line(process).startswith(b"relaying"):
            raise FailedRunError(f"{self.name}: {_tail(self._log)}")
        return process

    def replace(self) -> None:
        """Have a new process take its place, to which it hands over; raises if either fails."""
        former = self._process
        assert former is not None
        self.ended.append(self.status())
        with stops.put_off():
            self._process = self._started("--replace")
            try:
                status = former.wait(_DRAINS_S)
            except subprocess.TimeoutExpired:
                end([former])
                raise FailedRunError(f"{self.name}: the process that was replaced does not end") from None
        if status != 0:
            raise FailedRunError(f"{self.name}: the process that was replaced ended with status {status}")

    def stop(self) -> None:
        """End it in order; the kernel passes everything on from then on."""
        if self._process is not None:
            self.ended.append(self.status())
            with stops.put_off():
                end([self._process], _DRAINS_S)
            self._process = None

    def status(self) -> Mapping[str, Any]:
        """Return what it is doing; nothing if it does not say."""
        with suppress(ClearwayError):
            command = Network.inside(self._namespace, [*self._words, "--status", "--json"])
            return dict(json.loads(network.run(command)))
        return {}

    def lost(self) -> list[str]:
        """Return the lines of its log that tell of lost frames."""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return [line for line in lines if " ERROR " in line]


@contextmanager
def _relay(made_of: Lossless, made: Network, node: int, namespace: str, folder: Path) -> Iterator[Relay]:
    """Have a relay at work while the body runs."""
    local, fibre = made_of.links.of_relay(node)
    _place(made, fabric.device(local), namespace, "l0")
    _place(made, fabric.device(fibre), namespace, "r0")
    relay = Relay(made_of.links.nodes[node].name, namespace, relay_config(made_of, local, fibre), folder)
    relay.start()
    try:
        yield relay
    finally:
        relay.stop()


def relay_config(made_of: Lossless, local: int, fibre: int) -> str:
    """Write the file of a relay: the link, and what the scenario says of relays."""
    of_fibre, of_local = made_of.links.directed[fibre], made_of.links.directed[local]
    lines = [
        "[relay]",
        f'rate = "{of_fibre.rate_bps}bps"',
        f'delay = "{of_fibre.delay_ns}ns"',
        f'local_delay = "{of_local.delay_ns}ns"',
        f'response = "{response_ns(made_of, local)}ns"',
        f"priorities = [{PRIORITY}]",
        f'mtu = "{made_of.mtu}B"',
    ]
    if (buffer := quantity(made_of.relay.get("relay_buffer"))) is not None:
        lines.append(f'remote_buffer = "{int(buffer.value)}B"')
    return "\n".join([*lines, *made_of.relay_keys]) + "\n"


def response_ns(made_of: Lossless, local: int) -> int:
    """Return how long a PAUSE of a relay takes to work: its switch, and the host that it is on."""
    told = made_of.links.directed[local ^ 1].pfc or {}
    return (told.get("response_ns") or 0) + made_of.of_host_ns


def _start(namespace: str, words: Sequence[str], said: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own command
        Network.inside(namespace, words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=said,
        start_new_session=True,
    )


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace").strip() or "it does not say that it is ready"
