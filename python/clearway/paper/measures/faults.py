"""Measures of links that fail: which of them an arbiter takes for failed."""

from __future__ import annotations

import math
import re

from clearway.errors import ClearwayError
from clearway.paper.measures.registry import of_run
from clearway.runs import Run

_NAMED = re.compile(r"(?:from |to )?\S+")
_FROM_HOST, _TO_HOST = re.compile(r"(h\d+)>.*"), re.compile(r".*>(h\d+)")


@of_run
def named_faults(run: Run) -> float:
    """Take how well the links that the first arbiter takes for failed at the end are those with a fault.

    Of all links, each in one direction, that are the one or the other, the share that are both: 1 if just
    those are named, 0 if none of them is.
    """
    arbiters = run.table("arbiters")
    if arbiters["role"][0] == "dead":
        raise ClearwayError(f"{run.name}: the first arbiter is dead at the end, and takes no link for failed")
    named = set(_NAMED.findall(str(arbiters["failed_links"][0])))
    faults = [str(fault["link"]) for fault in run.scenario.get("fault", []) if "link" in fault]
    faulty = {way for link in faults for way in _ways(link)}
    either = faulty | named
    return len(faulty & named) / len(either) if either else math.nan


def _ways(link: str) -> list[str]:
    """Name the directions of a fault's link as an arbiter does: "a>b" is one, "a-b" two."""
    if ">" in link:
        ways = [link]
    else:
        first, _, second = link.partition("-")
        ways = [f"{first}>{second}", f"{second}>{first}"]
    return [_TO_HOST.sub(r"to \1", _FROM_HOST.sub(r"from \1", way)) for way in ways]
