"""The packets of a run, with what else of it they need: nodes and links by number, and classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clearway.columns import Columns
from clearway.documents import quantity
from clearway.runs import Run

Integers = NDArray[np.int64]
CONTROL = ("request", "allocation", "reset", "watchdog", "trial", "answer")
"""The kinds of Fastpass's control packets."""


@dataclass(frozen=True)
class PacketRecord:
    """The packets of a run."""

    run: Run
    rows: Columns
    """The table `packets`."""
    links: list[str]
    """The names of all links, by number."""
    nodes: list[str]
    """The names of all nodes, by number: in the order in which links begin or end at them."""
    link: Integers
    """The number of each packet's link."""
    ends: tuple[Integers, Integers]
    """The nodes that each link comes from, and those that it goes to."""
    rates: Integers
    """The rate of each link in bits a second."""
    delays: Integers
    """The delay of each link in picoseconds."""
    framing: int
    """Bytes that a link adds to a frame."""

    @property
    def is_pause(self) -> NDArray[np.bool_]:
        """Tell of each packet whether it is a PAUSE or a RESUME."""
        kind = self.rows["kind"]
        return np.isin(kind, ("pause", "resume"))

    @cached_property
    def control(self) -> Mapping[int, bytes]:
        """The bytes of Fastpass's control packets behind their IP headers, by row.

        There are none of a run from before these were kept.
        """
        if "control_packets" not in self.run.tables:
            return {}
        pieces = self.run.table("control_packets")
        contents: dict[int, bytes] = {}
        for packet, digits in zip(pieces["packet"].tolist(), pieces["contents"].tolist(), strict=True):
            contents[packet] = contents.get(packet, b"") + bytes.fromhex(digits)
        return contents

    @property
    def is_control(self) -> NDArray[np.bool_]:
        """Tell of each packet whether it is a control packet of Fastpass."""
        kind = self.rows["kind"]
        return np.isin(kind, CONTROL)

    def nodes_of(self, column: str) -> Integers:
        """Return for each packet the number of a node that is named in a column."""
        return numbers(self.rows[column], self.nodes)

    def classes(self) -> Integers:
        """Return for each packet the number of its class, in the scenario's order; 0 where there are none."""
        names = list(self.run.scenario.get("class", {}))
        return numbers(self.rows["class"], names) if names else np.zeros(len(self.link), np.int64)

    def said(self) -> str:
        """Say of which run the packets are, and where the record was cut short."""
        text = f"Clearway run {self.run.name}, seed {self.run.seed}, digest {self.run.digest}"
        until = self.run.summary.get("packets_until_us")
        if until is None:
            return text
        return f"{text}; the record ends at {until} us, where it has its limit of packets"


def packet_record(run: Run) -> PacketRecord:
    """Take the packets of a run; an error says how to record them."""
    rows, links = run.table("packets"), run.table("links")
    names = links["link"].tolist()
    ends = [name.split(">") for name in names]
    nodes = list(dict.fromkeys(node for pair in ends for node in pair))
    place = {node: number for number, node in enumerate(nodes)}
    framing = quantity(run.scenario["network"]["framing"])
    return PacketRecord(
        run=run,
        rows=rows,
        links=names,
        nodes=nodes,
        link=numbers(rows["link"], names),
        ends=(
            np.array([place[pair[0]] for pair in ends], np.int64),
            np.array([place[pair[1]] for pair in ends], np.int64),
        ),
        rates=np.rint(links["rate_gbps"] * 1e9).astype(np.int64),
        delays=np.rint(links["delay_us"] * 1e6).astype(np.int64),
        framing=int(framing.value) if framing else 0,
    )


def numbers(texts: NDArray[np.str_], names: list[str]) -> Integers:
    """Return the place of each text among the names."""
    found, inverse = np.unique(texts, return_inverse=True)
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[name] for name in found.tolist()], np.int64)[inverse]
