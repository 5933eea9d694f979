"""Explanations of flows: a run is simulated again, and what one flow of it waits for is written down.

Runs are deterministic, so a run directory is all that is needed, and nothing has to be recorded beforehand.
That it was the same run again is checked by its digest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearway import _clearway, documents
from clearway.errors import ClearwayError
from clearway.execution import fitting
from clearway.runs import Run

CAUSES = {
    "serialisation": "sending its packets, and the last one over each link",
    "propagation": "the links' delay",
    "queue": "behind other frames at a port",
    "pause": "at a port that was paused (PFC)",
    "window": "for its window",
    "credit": "for credit of its receiver",
    "pacing": "for its pacing",
    "timeslot": "for a timeslot of the arbiter",
    "nic": "while its NIC sent other frames",
    "host": "for its host's stack",
    "retransmission": "until lost packets were sent again",
    "receiver": "for the receiver's stack",
}
"""What a flow may wait for, by the name that `--json` gives it, in words."""


@dataclass(frozen=True)
class Part:
    """A part of a completion time."""

    cause: str
    """One of `CAUSES`."""
    link: str | None
    """The link whose port it is about; None where it is about no port."""
    ps: int
    """Its length in picoseconds."""


@dataclass(frozen=True)
class Explanation:
    """The completion time of a flow, in parts."""

    flow: int
    start_ps: int
    completion_ps: int
    parts: tuple[Part, ...]
    """The longest first; together they are `completion_ps`."""
    last_packet: dict[str, Any]
    """The packet with which the flow was complete: its number, when it was sent, its way."""

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        parts = [
            {
                "cause": part.cause,
                "link": part.link,
                "ps": part.ps,
                "share": part.ps / self.completion_ps if self.completion_ps else 0.0,
            }
            for part in self.parts
        ]
        return {
            "flow": self.flow,
            "start_ps": self.start_ps,
            "completion_ps": self.completion_ps,
            "parts": parts,
            "last_packet": self.last_packet,
        }


def explain(
    run: Run,
    flow: int,
    files: Path,
    threads: int | None = None,
    progress: Callable[[float, float, int], bool | None] | None = None,
) -> Explanation:
    """Simulate a run again, and say what a flow of it waited for; `files` has what its scenario names."""
    check_complete(run, flow)
    # Series of the slowest flows would be another run, and nobody looks at them here.
    record = {key: value for key, value in run.scenario.get("record", {}).items() if key != "flows"}
    text = documents.text_of({**run.scenario, "record": record})
    scenario = _clearway.load_text(text, run.name, files, [], run.seed)
    fitting([scenario])
    answer = json.loads(scenario.explain(flow, progress, threads))
    if answer["digest"] != run.digest:
        by = "" if run.version == _clearway.VERSION else f": it is of version {run.version}"
        raise ClearwayError(
            f"{run.path or run.name}: simulated again, it comes out differently{by}",
            "run its scenario again with this version",
        )
    explained = answer["explained"]
    parts = [Part(part["cause"], part["link"], part["ps"]) for part in explained["parts"]]
    return Explanation(
        flow=explained["flow"],
        start_ps=explained["start_ps"],
        completion_ps=explained["completion_ps"],
        parts=tuple(sorted(parts, key=lambda part: -part.ps)),
        last_packet=explained["last_packet"],
    )


def check_complete(run: Run, flow: int) -> None:
    """Raise what a person can act on if a flow has no completion time that could be explained."""
    place = run.path or run.name
    if run.testbed is not None:
        raise ClearwayError(f"{place}: is of real hosts, expected a simulated run", "simulate its scenario")
    if run.interrupted_at_us is not None:
        raise ClearwayError(
            f"{place}: was interrupted, expected a whole run",
            "run its scenario to its end",
        )
    count = len(run.flows["flow"])
    if not 0 <= flow < count:
        last = f"its flows are 0 to {count - 1}" if count else "it has no flows"
        raise ClearwayError(f"{place}: has no flow {flow}", last)
    if run.flows["bytes"][flow] == 0:
        raise ClearwayError(
            f"{place}: flow {flow} has no size, so it is never complete",
            "name a flow of traffic that gives bytes or sizes",
        )
    if np.isnan(run.flows["fct_us"][flow]):
        raise ClearwayError(
            f"{place}: flow {flow} was not complete when the run ended",
            "give its scenario a longer duration",
        )


def slowest(run: Run) -> int:
    """Return the flow that took longest for what it takes alone."""
    slowdowns = run.flows["slowdown"]
    if not np.isfinite(slowdowns).any():
        remedy = "give its scenario a longer duration"
        if not run.flows["bytes"].any():
            remedy = "its flows have no size, so they are never complete: give bytes or sizes to its traffic"
        raise ClearwayError(f"{run.path or run.name}: no flow of it is complete", remedy)
    return int(np.nanargmax(slowdowns))
