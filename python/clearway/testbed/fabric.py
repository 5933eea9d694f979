"""What `clearwayd fabric` is told of a scenario's network, and what it says at the end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway import _clearway
from clearway.columns import Columns
from clearway.testbed.queues import Port, Ports
from clearway.testbed.reading import Measured

PRIORITY = 0
"""The lossless priority: that of packets that say nothing of it."""
_AROUND_MTU = 14 + 24  # the header of Ethernet; check sequence, preamble and gap
_LOSSY_BYTES = 1_000_000  # room of a port for frames that are of no host's traffic
_SAMPLE = np.dtype(
    [
        ("time", "<i8"),
        ("link", "<u4"),
        ("frames", "<u8"),
        ("octets", "<u8"),
        ("received", "<u8"),
        ("waiting", "<u8"),
        ("lost", "<u8"),
    ]
)


@dataclass(frozen=True)
class Node:
    """A host, a switch or a relay."""

    name: str
    role: str


@dataclass(frozen=True)
class Link:
    """One direction of a link."""

    source: int
    destination: int
    rate_bps: int
    delay_ns: int
    pfc: Mapping[str, int | None] | None
    """Flow control at the destination."""
    shares_buffer: bool = False


@dataclass(frozen=True)
class Links:
    """The network of a scenario."""

    nodes: Sequence[Node]
    directed: Sequence[Link]
    """Link 2i + 1 leads back where link 2i comes from."""

    @classmethod
    def of(cls, scenario: _clearway.Scenario, mtu: int) -> Links:
        """Return the network of a scenario, with thresholds for frames of this MTU."""
        found = json.loads(scenario.network(mtu + _AROUND_MTU))
        links = [
            Link(
                each["from"],
                each["to"],
                each["rate_bps"],
                each["delay_ns"],
                each["pfc"],
                shares_buffer=each["buffer_is_shared"],
            )
            for each in found["links"]
        ]
        return cls([Node(each["name"], each["role"]) for each in found["nodes"]], links)

    @cached_property
    def hosts(self) -> list[int]:
        """The hosts, which are the first nodes."""
        return [number for number, node in enumerate(self.nodes) if node.role == "host"]

    @cached_property
    def relays(self) -> list[int]:
        """The relays."""
        return [number for number, node in enumerate(self.nodes) if node.role == "relay"]

    def name(self, link: int) -> str:
        """Return a link's name, as a simulated run has it."""
        of = self.directed[link]
        return f"{self.nodes[of.source].name}>{self.nodes[of.destination].name}"

    def named(self, name: str) -> int:
        """Return the number of the link of this name."""
        return next(link for link in range(len(self.directed)) if self.name(link) == name)

    def adapter(self, host: int) -> Link:
        """Return the link that a host sends to."""
        return next(link for link in self.directed if link.source == host)

    def of_relay(self, node: int) -> tuple[int, int]:
        """Return the links out of a relay: to its switch, and to the far relay."""
        out = [number for number, link in enumerate(self.directed) if link.source == node]
        local, fibre = sorted(
            out, key=lambda link: self.nodes[self.directed[link].destination].role == "relay"
        )
        return local, fibre

    def plan(self, mtu: int, sample_every_ns: int, storms: Sequence[Mapping[str, int]]) -> str:
        """Write the network as `clearwayd fabric` reads it."""
        kinds = {"host": "host", "relay": "relay"}
        return json.dumps(
            {
                "version": 1,
                "priorities": [PRIORITY],
                "mtu": mtu,
                "sample_every_ns": sample_every_ns,
                "nodes": [{"name": node.name, "kind": kinds.get(node.role, "switch")} for node in self.nodes],
                "links": [self._link(number) for number in range(len(self.directed))],
                "storms": list(storms),
            }
        )

    def _link(self, number: int) -> dict[str, Any]:
        of = self.directed[number]
        role = self.nodes[of.source].role
        device_ = {"host": f"n{of.source}", "relay": device(number)}.get(role)
        # A relay has flow control of its own.
        pfc = None if self.nodes[of.destination].role == "relay" else of.pfc
        return {
            "from": of.source,
            "to": of.destination,
            "rate_bps": of.rate_bps,
            "delay_ns": of.delay_ns,
            "response_ns": of.pfc["response_ns"] if of.pfc else 0,
            "device": device_,
            "pfc": pfc
            and {
                "xoff": pfc["xoff_bytes"],
                "hysteresis": pfc["hysteresis_bytes"],
                "headroom": pfc["headroom_bytes"],
                "quanta": pfc["quanta"],
            },
            "buffer": _LOSSY_BYTES,
        }


def device(link: int) -> str:
    """Return the name of the device from which a relay sends to a link."""
    return f"r{link}"


def address(host: int) -> str:
    """Return the hardware address of a host, by which switches know it."""
    return f"02:c1:00:00:{host >> 8:02x}:{host & 255:02x}"


def read(file: Path, measured: Measured, links: Links) -> Ports | None:
    """Return what the network wrote of its links; None where it is nothing, or the run has not started."""
    if measured.started_at_ns is None or not file.is_file():
        return None
    data = file.read_bytes()
    rows = np.frombuffer(data[: len(data) // _SAMPLE.itemsize * _SAMPLE.itemsize], _SAMPLE)
    if not len(rows):
        return None
    of_link = [rows[rows["link"] == link] for link in range(len(links.directed))]
    return [_port(number, of_link, links, measured.started_at_ns) for number in range(len(of_link))]


def _port(number: int, of_link: Sequence[NDArray[Any]], links: Links, started_at_ns: int) -> Port:
    own, link = of_link[number], links.directed[number]
    waiting = own["waiting"].astype(np.float64)
    if links.nodes[link.source].role == "relay":
        # What a relay stores waits for this link, too: all that came in at its other port and has not left.
        other = next(
            at
            for at, each in enumerate(links.directed)
            if each.destination == link.source and at != number ^ 1
        )
        length = min(len(own), len(of_link[other]))
        own, came = own[:length], of_link[other]["received"][:length].astype(np.float64)
        waiting = np.maximum(came - own["octets"].astype(np.float64), 0.0)
    return Port(
        link=links.name(number),
        rate_gbps=link.rate_bps / 1e9,
        delay_us=link.delay_ns / 1000,
        time_us=(own["time"] - started_at_ns) / 1000,
        frames=own["frames"].astype(np.float64),
        wire_bytes=own["octets"].astype(np.float64),
        waiting=waiting,
        drops=own["lost"].astype(np.float64),
    )


def pauses(links: Links, figures: Mapping[str, Any], relays: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Return the table of what each link was paused, as a simulated run has it."""
    rows = []
    of_links: Sequence[Mapping[str, int]] = figures.get("links", [])
    for number, (link, counted) in enumerate(zip(links.directed, of_links, strict=False)):
        if link.pfc is None:
            continue
        back = of_links[number ^ 1]
        account, headroom, room = (
            counted["account_peak"],
            counted["headroom_peak"],
            link.pfc["headroom_bytes"],
        )
        destination = links.nodes[link.destination]
        if destination.role == "relay":
            account, headroom, room = _of_relay(relays.get(destination.name, {}), links, number), 0, 0
        said = back["pauses"] + back["resumes"]
        paused_us, begun = counted["paused_ns"] / 1000, counted["pauses_begun"]
        if links.nodes[link.source].role == "relay":
            # It obeys by itself, and nobody here sees for how long.
            paused_us, begun = float("nan"), back["pauses"]
        rows.append((links.name(number), "", paused_us, begun, said, 0, account, headroom, room))
    names = (
        "link class paused_us pauses pfc_frames pfc_frames_lost account_peak_bytes headroom_peak_bytes"
        " headroom_bytes"
    )
    kinds = [np.str_, np.str_, np.float64, *[np.uint64] * 6]
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    return {
        name: np.array(values, kind) for name, kind, values in zip(names.split(), kinds, columns, strict=True)
    }


def _of_relay(status: Mapping[str, Any], links: Links, link: int) -> int:
    """Return the most that ever waited in a relay of what a link brought."""
    is_fibre = links.nodes[links.directed[link].source].role == "relay"
    port = "remote" if is_fibre else "local"
    peaks = [lane["process"]["peak"] for lane in status.get("lanes", []) if lane.get("from") == port]
    return max(peaks, default=0)
