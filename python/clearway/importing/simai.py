"""SimAI's workloads: a line a layer, with what it computes and which collectives it does.

Read as `Workload.cc` of SimAI's astra-sim-alibabacloud reads them. A line has twelve words: name, dependency;
computing, collective and bytes of the forward pass, of the input's gradient, and of the weights' gradient;
and the time of the weights' update.
"""

from __future__ import annotations

import re

from clearway.importing import collectives as kinds
from clearway.importing.parts import Choices, Format, Workload, counted
from clearway.importing.simai_jobs import DATA, EXPERT, EXPERT_DATA, TENSOR, Layer, Pass, Shape, job_of
from clearway.importing.source import Line, Source, brief

_POLICIES = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER")
_OTHERS = ("DATA", "MODEL", "MICRO", "HYBRID_", "DISTRIBUTED_INFERENCE")
_COLLECTIVE = re.compile(r"(ALLREDUCE|ALLGATHER|REDUCESCATTER|ALLTOALL)(_EP|_DP_EP)?")
_KINDS = {
    "ALLREDUCE": kinds.ALL_REDUCE,
    "ALLGATHER": kinds.ALL_GATHER,
    "REDUCESCATTER": kinds.REDUCE_SCATTER,
    "ALLTOALL": kinds.ALL_TO_ALL,
}
_PASSES = ("forward pass", "input gradient", "weight gradient")
_WORDS = 12
_MOST_GPUS = 1 << 20
_MOST_LAYERS = 1_000_000
_LONGEST_NS = 10**15
_MOST_BYTES = 1 << 50
_HEAD = "model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 8 ga: 1 all_gpus: 8"


def _recognises(source: Source) -> bool:
    lines = source.lines()
    first, second = next(lines, None), next(lines, None)
    is_policy = first is not None and first.words[0].startswith(_OTHERS) and len(first.words[0]) > 3
    return is_policy and (second is None or len(second.words) == 1)


def _read(source: Source, _: Choices) -> Workload:
    lines = source.lines()
    head, count = next(lines, None), next(lines, None)
    if head is None or head.words[0] not in _POLICIES:
        found = brief(head.words[0]) if head else "nothing"
        raise source.error(
            1,
            f"parallelism: found {found}, expected {' or '.join(_POLICIES)}",
            "make it by AICB for training",
        )
    if count is None or len(count.words) != 1:
        raise source.error(
            head.number if count is None else count.number, "expected the number of layers", "write it: 1"
        )
    said = source.whole(count.number, "layers", count.words[0], 1, _MOST_LAYERS)
    shape = _shape(source, head)
    layers = [_layer(source, line) for line in lines]
    if len(layers) != said:
        raise source.error(
            count.number,
            f"layers: announces {said}, and the file has {len(layers)}: it may be cut short",
            "take the whole file, or correct the number",
        )
    part = Workload(source, counted(ranks=shape.ranks, layers=said), ranks=shape.ranks)
    _remark(part, head, shape)
    part.make = lambda context: job_of(part, shape, layers, context)
    return part


def _shape(source: Source, head: Line) -> Shape:
    """Read how many GPUs there are, and how many of them share a layer and an expert."""
    words = list(head.words)

    def number(key: str, otherwise: int | None = None) -> int:
        place = words.index(key) + 1 if key in words else 0
        if not place and otherwise is not None:
            return otherwise
        if not place or place >= len(words):
            what = "has no value" if place else "is missing"
            raise source.error(head.number, f"{key} {what}", f"write it in the first line: {_HEAD}")
        return source.whole(head.number, key.rstrip(":"), words[place], 1, _MOST_GPUS)

    ranks, tensor = number("all_gpus:"), number("model_parallel_NPU_group:")
    expert = number("ep:", 1)
    if ranks % tensor or ranks // tensor % expert:
        raise source.error(
            head.number,
            f"all_gpus: found {ranks}, which makes no whole groups of {tensor} (model_parallel_NPU_group) "
            f"with {expert} experts (ep)",
            "make all_gpus a multiple of their product",
        )
    return Shape(ranks, tensor, expert, number("pp:", 1))


def _layer(source: Source, line: Line) -> Layer:
    words = line.words
    if len(words) != _WORDS:
        raise source.error(
            line.number,
            f"layer: found {len(words)} words, expected {_WORDS}",
            "write it: name -1 556000 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1",
        )
    passes = [_pass(source, line, number) for number in range(3)]
    update = source.whole(line.number, "update time", words[11], 0, _LONGEST_NS)
    return Layer(passes[0], passes[1], passes[2], update)


def _pass(source: Source, line: Line, number: int) -> Pass:
    computing, collective, size = line.words[2 + 3 * number : 5 + 3 * number]
    name = _PASSES[number]
    ns = source.whole(line.number, f"computing of the {name}", computing, 0, _LONGEST_NS)
    count = source.whole(line.number, f"bytes of the {name}", size, 0, _MOST_BYTES)
    if collective == "NONE":
        return Pass(ns)
    match = _COLLECTIVE.fullmatch(collective)
    if match is None:
        raise source.error(
            line.number,
            f"collective of the {name}: found {brief(collective)}, expected NONE, or {', '.join(_KINDS)} "
            "with _EP or _DP_EP or without",
            "correct the line",
        )
    own = DATA if number == len(_PASSES) - 1 else TENSOR
    group = {None: own, "_EP": EXPERT, "_DP_EP": EXPERT_DATA}[match[2]]
    return Pass(ns, _KINDS[match[1]], group, count)


def _remark(part: Workload, head: Line, shape: Shape) -> None:
    part.assumed += [
        "times are in ns, and bytes those of the whole array",
        "a collective without a suffix is of the tensor-parallel group, for gradients of weights of the "
        "data-parallel one; tensor-parallel ranks follow each other, then those of an expert group",
        "all-reduce, all-gather and reduce-scatter are rings, where SimAI has the flows of NCCL",
    ]
    part.lost.append(
        "forward and backward pass once; gradients of weights are reduced beside the backward pass"
    )
    words = list(head.words)
    if shape.stages > 1:
        part.lost.append(
            f"pp {shape.stages}: all layers are on each rank, as in SimAI's own simulation; no pp_comm"
        )
    for key in ("checkpoints:", "checkpoint_initiates:"):
        if key in words and words[words.index(key) + 1 :][:1] not in ([], ["0"]):
            part.lost.append(f"{key.rstrip(':')}: no layer is computed again")


FORMAT = Format("simai", "workload of SimAI (AICB)", _recognises, _read)
