"""The hosts of jobs' ranks, in the words of ATLAHS's merge_goals.py.

`multi-job`: each job has hosts of its own. `multi-tenant`: jobs share hosts, each of which has one NIC.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clearway.errors import ClearwayError
from clearway.importing.parts import PACKED, RANDOM, ROUND_ROBIN, Choices, Placement

SEED = 1
"""The seed of an imported scenario, and of hosts that are drawn while it is made."""


@dataclass(frozen=True)
class Placed:
    """Where the ranks of all jobs are."""

    keys: Sequence[dict[str, Any]]
    """Keys of [[job]] for each job."""
    hosts: int
    """The least number of hosts that this needs."""
    assumed: Sequence[str] = ()


def place(ranks: Sequence[int], hosts: int | None, choices: Choices, said: Placement | None) -> Placed:
    """Return where jobs of these numbers of ranks are, on a network of `hosts` hosts if there is one yet."""
    pattern = choices.placement or (said.pattern if said else None) or PACKED
    is_shared = choices.mode == "multi-tenant" if choices.mode else bool(said and said.shared)
    if not isinstance(pattern, str):
        return _listed(ranks, pattern, said)
    needed = max(ranks) if is_shared else sum(ranks)
    alone = len(ranks) == 1
    if pattern == RANDOM:
        if is_shared or alone:
            return Placed([{"placement": RANDOM} for _ in ranks], needed)
        return _drawn(ranks, max(needed, hosts or 0))
    if pattern == ROUND_ROBIN and is_shared:
        raise ClearwayError(
            "--placement round-robin: has no meaning where jobs share their hosts",
            "give --mode multi-job, or --placement packed or random",
        )
    if is_shared or alone:
        return Placed([{} for _ in ranks], needed)
    if pattern == ROUND_ROBIN:
        return Placed([{"placement": ranges(each)} for each in _dealt(ranks)], needed)
    firsts = [sum(ranks[:number]) for number in range(len(ranks))]
    pairs = zip(firsts, ranks, strict=True)
    return Placed([{"hosts": f"{first}..{first + count}"} for first, count in pairs], needed)


def _dealt(ranks: Sequence[int]) -> list[list[int]]:
    """Deal hosts to the jobs in turn, as long as each has ranks left."""
    places: list[list[int]] = [[] for _ in ranks]
    host = 0
    for turn in range(max(ranks)):
        for job, count in enumerate(ranks):
            if turn < count:
                places[job].append(host)
                host += 1
    return places


def _drawn(ranks: Sequence[int], hosts: int) -> Placed:
    order = list(range(hosts))
    random.Random(SEED).shuffle(order)  # noqa: S311 - no secret
    places = [order[sum(ranks[:job]) :][:count] for job, count in enumerate(ranks)]
    assumed = [f"the hosts of ranks are drawn by seed {SEED}, and stand in the scenario: jobs share none"]
    return Placed([{"placement": ranges(each)} for each in places], sum(ranks), assumed)


def _listed(ranks: Sequence[int], places: Sequence[Sequence[int]], said: Placement | None) -> Placed:
    assert said is not None, "only a file lists hosts"
    counts = [len(each) for each in places]
    if counts != list(ranks):
        raise said.source.error(
            1,
            f"pattern: lists {counts} hosts, and the jobs have {list(ranks)} ranks",
            "list the host of each rank, job by job, in the order of goal_files",
        )
    hosts = [host for each in places for host in each]
    return Placed([{"placement": ranges(each)} for each in places], max(hosts) + 1)


def ranges(hosts: Sequence[int]) -> list[int | str]:
    """Write hosts in their order, with half-open ranges for those in a row."""
    rows: list[list[int]] = []
    for host in hosts:
        if rows and host == rows[-1][1]:
            rows[-1][1] += 1
        else:
            rows.append([host, host + 1])
    return [first if end == first + 1 else f"{first}..{end}" for first, end in rows]
