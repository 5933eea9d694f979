"""What each rank of a job computes and exchanges over time."""

from __future__ import annotations

from clearway.plotting.panels import Lanes
from clearway.report.sources import Labelled
from clearway.report.timeline import PANELS, RANKS, of_jobs

CELLS = 2400
"""Parts of equal length into which the time of a job is cut, each drawn in one colour."""


def timelines(groups: Labelled) -> list[Lanes]:
    """Return a panel for each job that has a timeline; of several seeds those of the first."""
    found = [
        (f"{label}: {job.title}" if len(groups) > 1 else job.title, job)
        for label, group in groups
        for job in of_jobs(group.runs[0], CELLS)
    ]
    more = f" The first {PANELS} of {len(found)} jobs." if len(found) > PANELS else ""
    note = (
        "Above in each row what a rank computes, below what it sends and waits for; where several are under "
        f"way, the one that takes the most of the time is shown. At most {RANKS} ranks.{more}"
    )
    return [Lanes(title, note, job) for title, job in found[:PANELS]]
