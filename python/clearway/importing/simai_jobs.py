"""A job of a SimAI workload: each rank goes forward through the layers, and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from clearway.importing import collectives
from clearway.importing import operations as goal
from clearway.importing.choosing import collective_of
from clearway.importing.goal import job_name
from clearway.importing.operations import Operations
from clearway.importing.parts import Job, JobContext, Workload

TENSOR, DATA, EXPERT, EXPERT_DATA = "TP", "DP", "EP", "DP_EP"
"""Groups of ranks, as SimAI calls them."""

_GPU, _UPDATE = 0, 1  # processors: an update goes on beside the passes
_LEAST_BYTES = 4096  # of a collective that has any, as SimAI makes it in the forward pass


@dataclass(frozen=True)
class Shape:
    """The ranks of a workload, and how they are grouped."""

    ranks: int
    tensor: int
    """Ranks that share a layer."""
    expert: int
    """Ranks that share the experts of a layer."""
    stages: int
    """Stages of a pipeline."""

    def members(self, group: str, rank: int) -> Sequence[int]:
        """Return the ranks of the group in which a rank is."""
        place, replica = rank % self.tensor, rank // self.tensor
        replicas = range(self.ranks // self.tensor)
        if group == TENSOR:
            return range(rank - place, rank - place + self.tensor)
        if group == EXPERT:
            first = replica - replica % self.expert
            replicas = range(first, first + self.expert)
        elif group == EXPERT_DATA:
            replicas = replicas[replica % self.expert :: self.expert]
        return [place + self.tensor * other for other in replicas]


@dataclass(frozen=True)
class Pass:
    """Computing, and the collective behind it."""

    ns: int
    kind: str | None = None
    group: str = TENSOR
    size: int = 0


@dataclass(frozen=True)
class Layer:
    """A layer of a model."""

    forward: Pass
    inputs: Pass
    weights: Pass
    update: int
    """The time of the weights' update, in nanoseconds."""


class _Rank:
    """A rank that goes through the layers."""

    def __init__(self, rank: int, shape: Shape, context: JobContext, unlike: Counter[str]) -> None:
        self.operations = Operations()
        self._rank, self._shape, self._context, self._unlike = rank, shape, context, unlike
        self._tag = 0
        self._last: Sequence[int] = ()

    def go(self, layers: Sequence[Layer]) -> None:
        """Go forward and back; a pass waits for its collective, but for that of the weights' gradient."""
        for layer in layers:
            self._compute(layer.forward)
            self._last = self._exchange(layer.forward, _LEAST_BYTES)
        for layer in reversed(layers):
            self._compute(layer.inputs)
            self._last = self._exchange(layer.inputs, 0)
            self._compute(layer.weights)
            reduced = self._exchange(layer.weights, 0)
            if layer.update:
                self.operations.compute(layer.update, reduced, _UPDATE)

    def _compute(self, each: Pass) -> None:
        self._last = [self.operations.compute(each.ns, self._last, _GPU)]

    def _exchange(self, each: Pass, least: int) -> Sequence[int]:
        """Add the collective of a pass; return what has ended then."""
        if each.kind is None or not each.size:
            return self._last
        members = self._shape.members(each.group, self._rank)
        call = collective_of(
            each.kind, max(each.size, least), members, self._context.algorithms, self._unlike
        )
        self._tag += call.tags()
        tag = self._tag - call.tags()
        return collectives.add(self.operations, call, members.index(self._rank), tag, self._last)


def job_of(part: Workload, shape: Shape, layers: Sequence[Layer], context: JobContext) -> Job:
    """Make the job."""
    unlike: Counter[str] = Counter()
    passes = [each for layer in layers for each in (layer.forward, layer.inputs, layer.weights)]
    calls = [
        collective_of(each.kind, each.size, shape.members(each.group, 0), context.algorithms, Counter())
        for each in passes
        if each.kind and each.size
    ]
    expected = sum(call.count() for call in calls if len(call.members) > 1) + len(passes) + len(layers)
    goal.check_count(expected * shape.ranks, part.source.name)
    ranks = [_Rank(rank, shape, context, unlike) for rank in range(shape.ranks)]
    for each in ranks:
        each.go(layers)
    part.lost += [f"{count} times {reason}" for reason, count in unlike.items()]
    operations = [each.operations for each in ranks]
    return Job(
        {"name": job_name(part.source.path)},
        text=goal.text_of(operations),
        messages=sum(each.messages for each in operations),
        size=sum(each.size for each in operations),
        computing=sum(each.computing for each in operations),
    )
