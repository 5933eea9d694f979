"""A scenario of the parts that files hold: who is missing, what goes together, and what follows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from clearway.errors import ClearwayError
from clearway.importing import units
from clearway.importing.formats import read, standing_for
from clearway.importing.parts import (
    AnyPart,
    Choices,
    Flow,
    Flows,
    Format,
    Job,
    Link,
    Network,
    Placement,
    Settings,
    Workload,
    counted,
    found_file,
    kind_of,
)
from clearway.importing.placing import ranges
from clearway.importing.source import Source
from clearway.importing.workloads import Jobs, jobs_of, star

_SPARE = 10  # how many times the time that the busiest host needs at full rate a run may take
_LEAST_PS = 10**10  # 10 ms
_USUAL_BYTES = "1MB"
_MESSAGE_PS = 10**8  # 100 us: what a message of a job may take beside the time of its bytes


@dataclass(frozen=True)
class Read:
    """A file that was read."""

    source: Source
    format: Format
    part: AnyPart


@dataclass
class Scenario:
    """What is to be written: keys and tables, and the lists that stand in files of their own."""

    reads: Sequence[Read]
    network: Network
    keys: dict[str, Any]
    """The tables of the scenario but the network's, whose rest depends on whether it has a file."""
    network_keys: dict[str, Any]
    flows: Sequence[Flow]
    """By the numbers of the scenario's hosts, and in its time."""
    jobs: Sequence[Job]
    """With the keys that say where their ranks are."""
    needs_topology: bool
    assumed: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    """What stands beside a key, by its dotted name."""


def gather(paths: Sequence[Path], choices: Choices, wanted: Sequence[Format | None]) -> list[Read]:
    """Read the files, and those that one with settings names and nobody gave.

    `wanted` has the format of each file; where it is None, the file says it itself.
    """
    reads: list[Read] = []
    for path, format_of in zip(paths, wanted, strict=True):
        _add(reads, standing_for(path), choices, format_of)
    for placement in [each for each in reads if isinstance(each.part, Placement)]:
        _add_jobs(reads, placement, choices)
    settings = [each for each in reads if isinstance(each.part, Settings)]
    for each in settings:
        assert isinstance(each.part, Settings)
        for kind, named in each.part.named.items():
            if not any(kind_of(other.part) == kind for other in reads):
                found = found_file(each.source.path, named)
                if found is None:
                    raise ClearwayError(
                        f"{each.source.name}: names {named}, which is not there",
                        f"give the file of the {kind} too: clearway import {each.source.name} FILE",
                    )
                _add(reads, Source(found), choices, None)
    return reads


def _add_jobs(reads: list[Read], placement: Read, choices: Choices) -> None:
    """Add the files of jobs that a placement names, in its order; the same job may be there twice."""
    assert isinstance(placement.part, Placement)
    jobs = [each for each in reads if isinstance(each.part, Workload)]
    if jobs:
        raise ClearwayError(
            f"{placement.source.name}: names its jobs itself, and {jobs[0].source.name} was given, too",
            f"give {placement.source.name} without files of jobs",
        )
    for named in placement.part.named:
        found = found_file(placement.source.path, named)
        if found is None:
            raise ClearwayError(
                f"{placement.source.name}: names {named}, which is not there",
                "copy it beside this file, or correct goal_files",
            )
        format_of, part = read(Source(found), choices, None)
        if not isinstance(part, Workload):
            raise ClearwayError(f"{found}: is no job ({format_of.about})", "correct goal_files")
        reads.append(Read(Source(found), format_of, part))


def _add(reads: list[Read], source: Source, choices: Choices, wanted: Format | None) -> None:
    if any(source.path.absolute() in each.part.files for each in reads):
        return  # read already, with another file of the same workload
    format_of, part = read(source, choices, wanted)
    kind = kind_of(part)
    for other in reads:
        if kind_of(other.part) == kind and not isinstance(part, Workload):
            message = f"{source.name}: is a second file of {kind}, beside {other.source.name}"
            raise ClearwayError(f"{message} ({other.format.about})", "import one of them, then the other")
    reads.append(Read(source, format_of, part))


def join(reads: Sequence[Read], choices: Choices) -> Scenario:
    """Make a scenario of what was read."""
    parts = [each.part for each in reads]
    flows = next((part for part in parts if isinstance(part, Flows)), None)
    settings = next((part for part in parts if isinstance(part, Settings)), None)
    jobs = jobs_of(parts, choices)
    network = _network(parts, flows, jobs)
    whole = _without_failures(network, flows) if flows else network
    zero = _zero(flows)
    tables = settings.rules.tables(whole, zero) if settings and settings.rules else {}
    faults = [*_losses(whole), *tables.pop("fault", [])]
    scenario = Scenario(
        reads=reads,
        network=whole,
        keys={},
        network_keys=tables.pop("network", {}),
        flows=_trace(flows, whole, zero) if flows else (),
        jobs=jobs.jobs,
        needs_topology=whole.shape is None or bool(faults),
    )
    scenario.assumed += jobs.assumed
    _remark(scenario, parts, flows, zero)
    _fill(scenario, tables)
    if faults:
        scenario.keys["fault"] = faults
    return scenario


def _network(parts: Sequence[AnyPart], flows: Flows | None, jobs: Jobs) -> Network:
    network = next((part for part in parts if isinstance(part, Network)), None)
    if network is None and flows is not None and flows.usual is not None:
        network = flows.usual()
    if network is None and jobs.source is not None:
        network = star(jobs.source, jobs.hosts)
    if network is None:
        given = ", ".join(part.source.name for part in parts)
        raise ClearwayError(f"{given}: no file has the network", "give the file of the topology too")
    hosts = len(network.hosts)
    if hosts < 2:
        raise network.source.error(1, f"the network has {hosts} hosts, expected at least 2", "add hosts")
    if flows is not None and flows.count not in (None, hosts):
        raise ClearwayError(
            f"{flows.source.name}: is for {flows.count} hosts, and {network.source.name} has {hosts}",
            "take two files that belong together",
        )
    if hosts < jobs.hosts:
        raise ClearwayError(
            f"{network.source.name}: has {hosts} hosts, and the jobs need {jobs.hosts}",
            "take a larger network, or let jobs share hosts: --mode multi-tenant",
        )
    return network


def _without_failures(network: Network, flows: Flows) -> Network:
    """Take the links away that the file of flows says are gone."""
    links: list[Link | None] = list(network.links)
    for failure in flows.failures:
        place = network.failed(failure) if network.failed else None
        if place is None or links[place] is not network.links[place]:
            raise flows.source.error(
                failure.line,
                f"failure: AGG {failure.switch} has no link {failure.link} to a core switch by htsim's count",
                "htsim ends here too: correct the line, or remove it",
            )
        link = network.links[place]
        rest = link.rate - link.rate // link.parallel
        links[place] = replace(link, rate=rest, parallel=link.parallel - 1) if rest else None
    if not flows.failures:
        return network
    summary = f"{network.summary}, less {counted(links=len(flows.failures))} that failed"
    return replace(network, links=[link for link in links if link], shape=None, summary=summary)


def _zero(flows: Flows | None) -> int:
    """Return where the scenario's time begins, in picoseconds of the file's."""
    if flows is None or not flows.from_second:
        return 0
    earliest = min(flow.start for flow in flows.flows)
    return earliest - earliest % units.PS_PER_S


def _losses(network: Network) -> list[dict[str, Any]]:
    return [
        {"kind": "loss", "link": network.link_name(link), "probability": link.loss}
        for link in network.links
        if link.loss
    ]


def _trace(flows: Flows, network: Network, zero: int) -> list[Flow]:
    """Return the flows by the numbers and the time of the scenario."""
    return [
        replace(
            flow,
            start=flow.start - zero,
            source=_host(flows, flow, flow.source, network),
            target=_host(flows, flow, flow.target, network),
        )
        for flow in flows.flows
    ]


def _host(flows: Flows, flow: Flow, number: int, network: Network) -> int:
    if number not in network.hosts:
        raise flows.source.error(
            flow.line,
            f"node {number}: is no host of {network.source.name}",
            "correct the line, or take two files that belong together",
        )
    return network.hosts[number]


def _remark(scenario: Scenario, parts: Sequence[AnyPart], flows: Flows | None, zero: int) -> None:
    """Gather what was assumed and what is lost, of all parts."""
    has_network = any(isinstance(part, Network) for part in parts)
    for part in (*parts, *(() if has_network else (scenario.network,))):
        scenario.assumed += part.assumed
        scenario.lost += part.lost
        if isinstance(part, Settings) and part.rules:
            scenario.lost += part.rules.lost_in(scenario.network)
    scenario.assumed = list(dict.fromkeys(scenario.assumed))
    scenario.lost = list(dict.fromkeys(scenario.lost))
    if zero:
        scenario.assumed.append(f"time 0 is {units.time(zero)} of the files")
    if flows is None and not scenario.jobs:
        scenario.assumed.append(f"no file has flows: each host sends {_USUAL_BYTES} to another, at once")


def _fill(scenario: Scenario, tables: Mapping[str, Any]) -> None:
    """Fill in the top and the tables, in the order in which a scenario has them."""
    endless = [flow for flow in scenario.flows if not flow.size]
    said = tables.get("duration")
    keys = scenario.keys
    keys["duration"] = units.time(said or _duration(scenario))
    scenario.comments["duration"] = "at most" if said else "at most: no file says it"
    if endless:
        scenario.comments["duration"] = "no file says it"
    else:
        keys["stop_when_complete"] = True
    switch = dict(tables.get("switch") or {})
    for role, size in scenario.network.buffers.items():
        switch.setdefault(role, {})["buffer"] = units.size(size)
    if any(switch.values()):
        keys["switch"] = switch
    keys["transport"] = tables.get("transport") or {"bulk": {"protocol": "swift"}}
    if "transport" not in tables:
        scenario.comments["transport.bulk.protocol"] = (
            "no file says it" if scenario.jobs else "no file says it: in htsim it is the program"
        )
    if scenario.flows or not scenario.jobs:
        keys["traffic"] = _traffic(scenario.flows, endless)
    if scenario.jobs:
        keys["job"] = [dict(job.keys) for job in scenario.jobs]


def _traffic(flows: Sequence[Flow], endless: Sequence[Flow]) -> list[dict[str, Any]]:
    """Return the tables of traffic: the trace, and the flows without end, which a trace cannot hold."""
    if not flows:
        return [{"pattern": "permutation", "bytes": _USUAL_BYTES}]
    tables: list[dict[str, Any]] = [{"pattern": "trace"}] if len(flows) > len(endless) else []
    groups: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for flow in endless:
        groups[flow.target, flow.start][flow.source] += 1
    for (target, start), sources in groups.items():
        for count in sorted(set(sources.values())):
            alike = sorted(source for source, times in sources.items() if times == count)
            table = {"pattern": "incast", "from": ranges(alike), "to": target, "start": units.time(start)}
            tables.append({**table, **({"flows_per_pair": count} if count > 1 else {})})
    return tables


def _duration(scenario: Scenario) -> int:
    """Return a time in which all flows and jobs can complete, in picoseconds: whole milliseconds.

    Of jobs it is the time of one operation after the other.
    """
    slowest = min(link.rate for link in scenario.network.links)
    work: Counter[tuple[str, int]] = Counter()
    for flow in scenario.flows:
        work["from", flow.source] += flow.size
        work["to", flow.target] += flow.size
    most = max(work.values(), default=10**6)
    last = max((flow.start for flow in scenario.flows), default=0)
    most += sum(job.size for job in scenario.jobs)
    waiting = sum(job.computing + job.messages * _MESSAGE_PS for job in scenario.jobs)
    needed = last + waiting + max(_LEAST_PS, _SPARE * most * 8 * units.PS_PER_S // slowest)
    return min(-(-needed // 10**9) * 10**9, units.LONGEST_S * units.PS_PER_S)
