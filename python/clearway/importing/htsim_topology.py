"""htsim's topology files (.topo): fat trees of two or three tiers, by radix.

Read as `fat_tree_topology.cpp` of csg-htsim and uet-htsim reads them. A link's delay here is the link's
latency and half of the switch's at each end, so that the delay of every path is the same as there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from clearway.importing import units
from clearway.importing.parts import (
    HOST,
    MOST_HOSTS,
    MOST_LINKS,
    Choices,
    Failure,
    Format,
    Link,
    Network,
    Node,
    counted,
)
from clearway.importing.source import Line, Source

_HEADER = ("nodes", "tiers", "podsize")
_KEYS = {
    "downlink_speed_gbps": 10_000,
    "radix_down": MOST_HOSTS,
    "radix_up": MOST_HOSTS,
    "queue_down": 10**12,
    "queue_up": 10**12,
    "downlink_latency_ns": 10**10,
    "switch_latency_ns": 10**10,
    "oversubscribed": MOST_HOSTS,
    "bundle": MOST_HOSTS,
}
"""The attributes of a tier, and the largest value of each."""
_ROLES = {2: ("tor", "spine"), 3: ("tor", "aggregation", "spine")}
_NAMES = {"tor": "tor", "aggregation": "agg", "spine": "spine"}
_USUAL_NS = 1000
USUAL_GBPS = 100
"""The rate of links where a command line does not say it (HOST_NIC), as their delay of 1 us."""


@dataclass
class Tier:
    """What a file says of the switches of a tier: the lowest is 0."""

    line: int
    values: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def get(self, key: str, usual: int = 0) -> int:
        """Return what an attribute says, `usual` where it is not there."""
        return self.values.get(key, usual)


@dataclass(frozen=True)
class Tree:
    """A fat tree: how many switches there are, and how they are linked."""

    hosts: int
    down: tuple[int, ...]
    """Links of a switch of each tier to the tier below."""
    up: tuple[int, ...]
    """Links of a switch of each tier but the last to the tier above."""
    bundles: tuple[int, ...]
    """Parallel links from a switch of each tier to one of the tier below."""
    rates: tuple[int, ...]
    """Rates of the links below each tier, in bits per second."""
    delays: tuple[int, ...]
    """Delays of the links below each tier, in picoseconds."""
    pods: int = 1

    @property
    def tiers(self) -> int:
        """The number of tiers of switches."""
        return len(self.down)

    @property
    def tors_of_pod(self) -> int:
        """Switches of the lowest tier in each pod."""
        return self.hosts // self.down[0] // self.pods

    @property
    def aggs_of_pod(self) -> int:
        """Switches of the second tier in each pod."""
        return self.up[0] // self.bundles[1]

    def switches(self) -> tuple[int, ...]:
        """Return the number of switches of each tier."""
        counts = (self.tors_of_pod * self.pods, self.aggs_of_pod * self.pods)
        if self.tiers == 2:
            return counts
        return (*counts, self.aggs_of_pod * (self.up[1] // self.bundles[2]))

    def link_count(self) -> int:
        """Return the number of links, those of a bundle as one."""
        tors, aggs = self.switches()[:2]
        upper = aggs * (self.up[1] // self.bundles[2]) if self.tiers == 3 else 0
        return self.hosts + tors * self.aggs_of_pod + upper

    def nodes(self) -> Iterator[Node]:
        """Iterate over the hosts, and then the switches tier by tier."""
        yield from (Node(f"h{host}", HOST) for host in range(self.hosts))
        for role, count in zip(_ROLES[self.tiers], self.switches(), strict=True):
            yield from (Node(f"{_NAMES[role]}{number}", role) for number in range(count))

    def links(self) -> Iterator[Link]:
        """Iterate over the links from the hosts upwards; a bundle is one link of its rate."""
        tors, aggs = self.switches()[:2]
        tor, agg = self.hosts, self.hosts + tors
        for host in range(self.hosts):
            yield self._link(host, tor + host // self.down[0], 0)
        for number in range(tors):
            first = agg + number // self.tors_of_pod * self.aggs_of_pod
            for place in range(self.aggs_of_pod):
                yield self._link(tor + number, first + place, 1)
        if self.tiers == 3:
            for number in range(aggs):
                for place in range(self.up[1] // self.bundles[2]):
                    core = number % self.aggs_of_pod + self.aggs_of_pod * place
                    yield self._link(agg + number, agg + aggs + core, 2)

    def _link(self, lower: int, upper: int, tier: int) -> Link:
        bundle = self.bundles[tier]
        return Link((lower, upper), self.rates[tier] * bundle, self.delays[tier], parallel=bundle)

    def shape(self) -> dict[str, Any] | None:
        """Return the keys of [network] that make this network, if there are any."""
        if len(set(self.delays)) > 1:
            return None
        common = {"rate": units.rate(self.rates[0]), "delay": units.time(self.delays[0])}
        if self.tiers == 2:
            return self._leaf_spine(common)
        half = self.down[0]
        is_regular = (
            (self.up, self.down) == ((half, half), (half, half, 2 * half))
            and (self.pods, self.bundles) == (2 * half, (1, 1, 1))
            and len(set(self.rates)) == 1
            and half <= 32
        )
        return {"topology": "fat_tree", "k": 2 * half, **common} if is_regular else None

    def _leaf_spine(self, common: dict[str, Any]) -> dict[str, Any] | None:
        leaves, spines = self.switches()
        uplink = self.rates[1] * self.bundles[1]
        down = self.down[0] * self.rates[0]
        ratio = down / (spines * uplink)
        if not 0.1 <= ratio <= 100 or round(down / (spines * ratio)) != uplink:
            return None
        keys = {"topology": "leaf_spine", "leaves": leaves, "spines": spines, "hosts_per_leaf": self.down[0]}
        oversubscription = {} if ratio == 1 else {"oversubscription": ratio}
        return {**keys, **oversubscription, **common}

    def failed(self, failure: Failure) -> int | None:
        """Return the position of the link that htsim takes away for a failure."""
        if self.tiers != 3 or failure.switch >= self.switches()[1] or failure.link >= self.up[1]:
            return None
        place = failure.switch % self.aggs_of_pod
        # The core switch as htsim counts, which links some core switches only.
        step, rest = divmod(place * self.aggs_of_pod + failure.link - place, self.aggs_of_pod)
        uplinks = self.up[1] // self.bundles[2]
        if rest or step >= uplinks:
            return None
        return self.link_count() - (self.switches()[1] - failure.switch) * uplinks + step


def usual_tree(hosts: int) -> Tree | None:
    """Return the tree that htsim makes of a number of hosts without a file; None if it makes none."""
    rate, delay = USUAL_GBPS * 10**9, _USUAL_NS * 1000
    for k in range(2, 65, 2):
        half = k // 2
        if k**3 // 4 == hosts:
            ports = ((half, half, k), (half, half))
            return Tree(hosts, *ports, (1, 1, 1), (rate,) * 3, (delay,) * 3, k)
    for k in range(2, 2001, 2):
        if k * k // 2 == hosts:
            return Tree(hosts, (k // 2, k), (k // 2,), (1, 1), (rate,) * 2, (delay,) * 2)
    return None


def network_of(source: Source, tree: Tree) -> Network:
    """Make a network of a tree."""
    switches = sum(tree.switches())
    if max(tree.link_count(), tree.hosts) > MOST_LINKS:
        raise source.error(
            1,
            f"Nodes: makes {tree.link_count():,} links, expected at most {MOST_LINKS:,}",
            "use a smaller one",
        )
    return Network(
        source,
        counted(hosts=tree.hosts, switches=switches, links=tree.link_count()),
        nodes=list(tree.nodes()),
        links=list(tree.links()),
        shape=tree.shape(),
        hosts={host: host for host in range(tree.hosts)},
        failed=tree.failed,
    )


def _recognises(source: Source) -> bool:
    first = [line.words[0].lower() for line in source.lines("#")][:8]
    return bool(first) and first[0] in _HEADER and bool({"tiers", "podsize", "tier"} & set(first))


def _read(source: Source, _: Choices) -> Network:
    header, tiers = _split(source)
    for key in _HEADER:
        if key not in header:
            raise source.error(
                source.last, f"{key.capitalize()}: is missing", f"write it at the top: {key.capitalize()} 16"
            )
    count = header["tiers"]
    for number in range(count):
        if number not in tiers:
            raise source.error(
                source.last,
                f"Tier {number}: is missing, and Tiers says {count}: the file may be cut short",
                f"write a line Tier {number}, and its attributes below",
            )
    ordered = [tiers[number] for number in range(count)]
    network = network_of(source, _tree(source, header, ordered))
    return _with_remarks(network, ordered)


def _split(source: Source) -> tuple[dict[str, int], dict[int, Tier]]:
    """Return the values of the header, and each tier by its number."""
    header: dict[str, int] = {}
    tiers: dict[int, Tier] = {}
    current: Tier | None = None
    for line in source.lines("#"):
        key = line.words[0].lower()
        if key == "tier":
            number = _value(source, line, 2)
            if number in tiers:
                raise source.error(line.number, f"Tier {number}: is there twice", "remove one")
            current = tiers[number] = Tier(line.number)
        elif key in _HEADER:
            least, most = (2, 3) if key == "tiers" else (1, MOST_HOSTS)
            header[key] = _value(source, line, most, least)
        elif key not in _KEYS or current is None:
            what = "an attribute of a tier before any Tier" if key in _KEYS else "an unknown attribute"
            known = ", ".join(("tier", *_HEADER, *_KEYS))
            raise source.error(line.number, f"{line.words[0]}: is {what}", f"htsim knows {known}")
        elif key in current.values:
            raise source.error(line.number, f"{line.words[0]}: is there twice in this tier", "remove one")
        else:
            least = 0 if key.startswith(("queue", "downlink_lat", "switch_lat")) else 1
            current.values[key] = _value(source, line, _KEYS[key], least)
            current.lines[key] = line.number
    return header, tiers


def _value(source: Source, line: Line, most: int, least: int = 0) -> int:
    if len(line.words) != 2:
        raise source.error(
            line.number,
            f"{line.words[0]}: found {len(line.words) - 1} values, expected one whole number",
            "units are in the name: write the number alone",
        )
    return source.whole(line.number, line.words[0], line.words[1], least, most)


def _tree(source: Source, header: dict[str, int], tiers: list[Tier]) -> Tree:
    """Check that radices, pods and bundles make a tree, and return it."""
    last = len(tiers) - 1
    for number, tier in enumerate(tiers):
        for key in ("radix_down", "radix_up"):
            if key not in tier.values and not (key == "radix_up" and number == last):
                raise source.error(tier.line, f"{key}: is missing in tier {number}", f"write it: {key} 4")
        if number == last and "radix_up" in tier.values:
            raise source.error(tier.lines["radix_up"], "radix_up: the last tier has no uplinks", "remove it")
    if "downlink_speed_gbps" not in tiers[0].values:
        raise source.error(
            tiers[0].line, "Downlink_speed_Gbps: is missing in tier 0", "write it: Downlink_speed_Gbps 100"
        )
    first = tiers[0].get("downlink_speed_gbps")
    tree = Tree(
        hosts=header["nodes"],
        down=tuple(tier.get("radix_down") for tier in tiers),
        up=tuple(tier.get("radix_up") for tier in tiers[:-1]),
        bundles=tuple(tier.get("bundle", 1) for tier in tiers),
        rates=tuple(tier.get("downlink_speed_gbps", first) * 10**9 for tier in tiers),
        delays=_delays(tiers),
        pods=max(1, header["nodes"] // header["podsize"]),
    )
    _check(source, tree, header["podsize"], tiers)
    return tree


def _delays(tiers: list[Tier]) -> tuple[int, ...]:
    """Return the delay of the links below each tier, in picoseconds."""
    delays = []
    for number, tier in enumerate(tiers):
        link = tier.get("downlink_latency_ns") or _USUAL_NS
        below = tiers[number - 1].get("switch_latency_ns") if number else 0
        delays.append(link * 1000 + (tier.get("switch_latency_ns") + below) * 500)
    return tuple(delays)


def _check(source: Source, tree: Tree, podsize: int, tiers: list[Tier]) -> None:
    def refuse(tier: int, key: str, message: str, remedy: str) -> None:
        raise source.error(tiers[tier].lines.get(key, tiers[tier].line), f"{key}: {message}", remedy)

    if tree.hosts % podsize or podsize % tree.down[0] or (tree.tiers == 2 and tree.pods > 1):
        refuse(
            0,
            "radix_down",
            f"{tree.hosts} hosts in pods of {podsize} and switches of {tree.down[0]} do not come out even",
            "make Nodes a multiple of Podsize, and Podsize of Radix_Down; with two tiers there is one pod",
        )
    if tree.bundles[0] > 1:
        refuse(0, "bundle", "hosts have one link, in htsim as well", "remove it")
    for tier in range(1, tree.tiers):
        if tree.up[tier - 1] % tree.bundles[tier]:
            refuse(
                tier,
                "bundle",
                f"{tree.up[tier - 1]} uplinks of a switch below are no multiple of {tree.bundles[tier]}",
                "correct Radix_Up below or Bundle",
            )
        reached = (tree.tors_of_pod if tier == 1 else tree.pods) * tree.bundles[tier]
        if reached != tree.down[tier]:
            refuse(
                tier,
                "radix_down",
                f"found {tree.down[tier]}, but {reached} links come from the tier below",
                "correct Radix_Down, Bundle, or Radix_Up of the tier below",
            )
    for tier, said in enumerate(tiers[:-1]):
        lower, upper = tree.down[tier] * tree.rates[tier], tree.up[tier] * tree.rates[tier + 1]
        if said.get("oversubscribed", 1) * upper != lower and "oversubscribed" in said.values:
            refuse(
                tier,
                "oversubscribed",
                f"found {said.get('oversubscribed')}, but radices and speeds make it {lower / upper:g}",
                "correct it, or Radix_Up",
            )


def _with_remarks(network: Network, tiers: list[Tier]) -> Network:
    """Add what was assumed, and what the file says beside links."""
    if any(not tier.get("downlink_latency_ns") for tier in tiers):
        network.assumed.append("links without Downlink_Latency_ns have 1 us, htsim's own -hop_latency")
    if any(tier.get("switch_latency_ns") for tier in tiers):
        network.assumed.append("a link's delay has half of the latency of the switch at each end")
    if any(tier.get("bundle", 1) > 1 for tier in tiers):
        network.lost.append("Bundle: parallel links are one link of their rates together")
    buffers: dict[str, int] = {}
    for role, tier in zip(_ROLES[len(tiers)], tiers, strict=True):
        sizes = {tier.get(key) for key in ("queue_up", "queue_down") if tier.get(key)}
        if sizes:
            buffers[role] = max(sizes)
        if len(sizes) > 1:
            network.lost.append(f"Queue_Up and Queue_Down of a {role} switch: all its ports have the larger")
    return replace(network, buffers=buffers)


FORMAT = Format("htsim-topology", "htsim topology (.topo)", _recognises, _read)
