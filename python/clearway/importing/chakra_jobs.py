"""A job of Chakra's traces: a collective if they have nothing else, and otherwise operations of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from clearway.importing import collectives, units
from clearway.importing import operations as goal
from clearway.importing.chakra_calls import Calls
from clearway.importing.chakra_trace import (
    COLLECTIVE,
    COMPUTE,
    INVALID,
    LOAD,
    METADATA,
    RECEIVE,
    SEND,
    STORE,
    Node,
    Trace,
)
from clearway.importing.collectives import Collective
from clearway.importing.operations import Operations
from clearway.importing.parts import Algorithms, Job, JobContext, Workload

_GPU, _CPU = 0, 1  # the processors of a rank
_MOST_TAG = (1 << 31) - 1
_MOST_BYTES = 1 << 50
_LONGEST_US = 10**12
_OF_THE_SIMULATOR = {
    (collectives.ALL_REDUCE, "ring"),
    (collectives.ALL_REDUCE, "halving_doubling"),
    (collectives.ALL_REDUCE, "double_tree"),
    (collectives.REDUCE_SCATTER, "ring"),
    (collectives.REDUCE_SCATTER, "halving_doubling"),
    (collectives.ALL_GATHER, "ring"),
    (collectives.ALL_GATHER, "halving_doubling"),
    (collectives.ALL_TO_ALL, "direct"),
    (collectives.BROADCAST, "binomial"),
    (collectives.REDUCE, "binomial"),
}
"""Collectives that [[job]] has by themselves."""

_Channel = tuple[int, int, int]  # from, to, tag


def remarks_on(part: Workload, traces: Sequence[Trace]) -> None:
    """Say what reading traces assumes, and what of them has no place in a job."""
    nodes = [node for trace in traces for node in trace.nodes.values()]
    kinds = {node.kind for node in nodes}
    if COMPUTE in kinds:
        part.assumed.append("durations are in us, as Chakra has them")
    if COLLECTIVE in kinds:
        part.assumed.append(
            "comm_size is the whole array, and of an all-gather the part of one rank, as ASTRA-sim has it"
        )
        part.lost.append(
            "ASTRA-sim lets a rank do one collective or send at a time; here all that may go on do"
        )
    memory = sum(node.kind in (LOAD, STORE) for node in nodes)
    if memory:
        part.lost.append(f"memory: {memory} nodes that load or store take no time")
    part.lost.append("start times: a node starts when those that it waits for have ended")


def job_of(name: str, part: Workload, traces: Sequence[Trace], context: JobContext) -> Job:
    """Make the job; raises `ClearwayError` for nodes that make none."""
    calls = Calls(len(traces), context)
    nodes = [trace.in_order() for trace in traces]
    found = [
        {node.number: calls.call(trace, node, rank) for node in order if node.kind == COLLECTIVE}
        for rank, (trace, order) in enumerate(zip(traces, nodes, strict=True))
    ]
    calls.check_all_came(traces)
    single = _single(nodes, found)
    if single:
        job = Job(
            {"name": name, **_keys(single)}, messages=_messages(single), size=2 * single.size * len(traces)
        )
    else:
        goal.check_count(
            sum(len(order) for order in nodes)
            + sum(call.count() for each in found for call, *_ in each.values()),
            f"{part.source.name} and {len(traces) - 1} more",
        )
        job = _expanded(name, part, traces, nodes, found, context.algorithms)
    _remark(part, calls)
    return job


def _remark(part: Workload, calls: Calls) -> None:
    part.lost += [f"{count} times {reason}" for reason, count in calls.unlike.items()]
    if calls.rooted:
        part.assumed.append("the root of a broadcast, reduce, scatter or gather is the first of its ranks")
    if calls.empty:
        part.lost.append(
            f"comm_size is 0 {calls.empty} times: such a collective sends messages without bytes"
        )


def _single(
    nodes: Sequence[Sequence[Node]], found: Sequence[dict[int, tuple[Collective, int, int]]]
) -> Collective | None:
    """Return the collective that each rank does and nothing else, if [[job]] has it."""
    others = sum(node.kind not in (COLLECTIVE, METADATA, INVALID) for order in nodes for node in order)
    if others or any(len(each) != 1 for each in found):
        return None
    call, *_ = next(iter(found[0].values()))
    is_of_all = list(call.members) == list(range(len(nodes)))
    is_known = (call.kind, call.algorithm) in _OF_THE_SIMULATOR and call.size and len(nodes) > 1
    return call if is_of_all and is_known else None


def _keys(call: Collective) -> dict[str, Any]:
    keys = {
        "kind": "collective",
        "collective": call.kind,
        "algorithm": call.algorithm,
        "bytes": units.size(call.size),
        "ranks": len(call.members),
    }
    if call.kind == collectives.ALL_TO_ALL:
        return {**keys, "window": call.window or len(call.members) - 1}
    return {**keys, "chunks": call.chunks} if call.chunks > 1 else keys


def _messages(call: Collective) -> int:
    """Return the most messages of all ranks."""
    return call.count() // 2 * len(call.members)


def _expanded(
    name: str,
    part: Workload,
    traces: Sequence[Trace],
    nodes: Sequence[Sequence[Node]],
    found: Sequence[dict[int, tuple[Collective, int, int]]],
    algorithms: Algorithms | None,
) -> Job:
    ranks = []
    sent: dict[_Channel, list[tuple[int, Trace, Node]]] = {}
    received: dict[_Channel, list[tuple[int, Trace, Node]]] = {}
    timeless = 0
    for rank, (trace, order) in enumerate(zip(traces, nodes, strict=True)):
        operations = Operations()
        ends: dict[int, Sequence[int]] = {}
        for node in order:
            after = list(dict.fromkeys(end for other in node.waits for end in ends[other]))
            if node.kind == COLLECTIVE:
                call, me, tag = found[rank][node.number]
                ends[node.number] = collectives.add(operations, call, me, tag, operations.join(after))
            elif node.kind in (SEND, RECEIVE):
                peer, tag, size = _message(trace, node, rank, len(traces))
                if node.kind == SEND:
                    ends[node.number] = [operations.send(size, peer, tag, after)]
                    sent.setdefault((rank, peer, tag), []).append((size, trace, node))
                else:
                    ends[node.number] = [operations.receive(size, peer, tag, after)]
                    received.setdefault((peer, rank, tag), []).append((size, trace, node))
            elif node.kind == COMPUTE:
                ns = _computing(trace, node, algorithms)
                timeless += ns == 0
                cpu = _CPU if node.attributes.get("is_cpu_op") else _GPU
                ends[node.number] = [operations.compute(ns, after, cpu)]
            elif node.kind in (INVALID, METADATA, LOAD, STORE):
                ends[node.number] = operations.join(after)
            else:
                raise trace.error(node, f"type: found {node.kind}, expected 0 to 7", "correct the trace")
        ranks.append(operations)
    _check_pairs(sent, received)
    if timeless:
        part.lost.append(f"computing: {timeless} nodes say no duration, and take no time")
    return Job(
        {"name": name},
        text=goal.text_of(ranks),
        messages=sum(each.messages for each in ranks),
        size=sum(each.size for each in ranks),
        computing=sum(each.computing for each in ranks),
    )


def _message(trace: Trace, node: Node, rank: int, ranks: int) -> tuple[int, int, int]:
    """Return the other rank, the tag and the size of a message."""
    own, other = ("comm_src", "comm_dst") if node.kind == SEND else ("comm_dst", "comm_src")
    said, peer = node.integer(own), node.integer(other)
    if said not in (None, rank):
        raise trace.error(node, f"{own}: found {said}, and this is rank {rank}", "take the trace of its rank")
    if peer is None or not 0 <= peer < ranks or peer == rank:
        found = "nothing" if peer is None else peer
        message = f"{other}: found {found}, expected another rank from 0 to {ranks - 1}"
        raise trace.error(node, message, "take the traces of all ranks, or correct this one")
    tag, size = node.integer("comm_tag") or 0, node.integer("comm_size")
    if not 0 <= tag <= _MOST_TAG:
        raise trace.error(node, f"comm_tag: found {tag}, expected 0 to {_MOST_TAG}", "correct the trace")
    if size is None or not 0 <= size <= _MOST_BYTES:
        found = "nothing" if size is None else size
        raise trace.error(
            node, f"comm_size: found {found}, expected bytes from 0 to 2^50", "correct the trace"
        )
    return peer, tag, size


def _computing(trace: Trace, node: Node, algorithms: Algorithms | None) -> int:
    """Return nanoseconds: those of the trace, or of ASTRA-sim's roofline if its system file asks for that."""
    if algorithms and algorithms.operations_per_s and not node.attributes.get("is_cpu_op"):
        count, size = node.integer("num_ops") or 0, node.integer("tensor_size") or 0
        if count <= 0 or size <= 0:
            return 0
        rate = min(algorithms.operations_per_s, count / size * algorithms.memory_bytes_per_s)
        return int(count / rate * 1e9)
    if node.micros > _LONGEST_US:
        raise trace.error(node, f"duration_micros: found {node.micros}, a time of days", "correct the trace")
    return node.micros * 1000


def _check_pairs(
    sent: dict[_Channel, list[tuple[int, Trace, Node]]],
    received: dict[_Channel, list[tuple[int, Trace, Node]]],
) -> None:
    """Raise if a message is not received, or is not sent, or not in its size."""
    for channel in sorted(sent.keys() | received.keys()):
        source, target, tag = channel
        sends = sorted(sent.get(channel, []), key=_size)
        receives = sorted(received.get(channel, []), key=_size)
        pairs: Iterator[Any] = zip_longest(sends, receives)
        for send, receive in pairs:
            if send is None or receive is None or send[0] != receive[0]:
                size, trace, node = send or receive
                what = "is received by nobody" if send else "is sent by nobody"
                raise trace.error(
                    node,
                    f"the message of {size} bytes from rank {source} to rank {target} with tag {tag} {what}",
                    "take the traces of one run: each send has a receive of its size",
                )


def _size(message: tuple[int, Trace, Node]) -> int:
    return message[0]
