"""The algorithm of a collective: what settings say, and otherwise the usual one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from clearway.importing import collectives as kinds
from clearway.importing.collectives import Collective
from clearway.importing.parts import Algorithms

_USUAL: Mapping[str, str] = {
    kinds.ALL_REDUCE: "ring",
    kinds.REDUCE_SCATTER: "ring",
    kinds.ALL_GATHER: "ring",
    kinds.BROADCAST: "binomial",
    kinds.REDUCE: "binomial",
    kinds.BARRIER: "dissemination",
}
_UNCUT = (kinds.ALL_TO_ALL, kinds.BARRIER, kinds.SCATTER, kinds.GATHER)


def collective_of(
    kind: str, size: int, members: Sequence[int], algorithms: Algorithms | None, unlike: Counter[str]
) -> Collective:
    """Return the collective of a size in bytes; what is not as the settings say is counted in `unlike`."""
    algorithm = _USUAL.get(kind, "direct")
    if algorithms is None:
        return Collective(kind, algorithm, size, members)
    algorithm = algorithms.names.get(kind, algorithm)
    if algorithm == "halving_doubling" and len(members) & (len(members) - 1):
        unlike[f"halvingDoubling among {len(members)} ranks, which are no power of two, is a ring"] += 1
        algorithm = "ring"
    chunks = 1 if kind in _UNCUT else min(algorithms.chunks, max(size, 1))
    return Collective(kind, algorithm, size, members, chunks, algorithms.windows.get(kind, 0))
