"""What the last whole run of a paper gave: a file for each paper, written by a run and never by hand.

A claim's entry is good for the claim that was judged: its fingerprint is that of the claim and of all that
its runs are given. Where either has been changed since, the entry is void.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from clearway.machine import machine
from clearway.paper import claims, reading, reproduce
from clearway.paper.checker import Table
from clearway.paper.experiment import Experiment
from clearway.paper.papers import Paper
from clearway.paper.sampling import runs_in
from clearway.sweeps.store import Store

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """What became of a claim, as a person reads it."""

    fingerprint: str
    paper: str
    ours: str
    control: str
    """Empty where there is none."""
    seeds: str
    verdict: str
    reason: str


@dataclass(frozen=True)
class Record:
    """A whole run of a paper, in its quick form, and what was run of it by itself since."""

    date: str
    commit: str
    machine: str
    since: Sequence[str]
    """Which experiments were run by themselves since, when, and at what commit."""
    entries: Mapping[str, Entry]
    """By fingerprint."""

    def of(self, experiment: Experiment, claim: Table) -> Entry | None:
        """Return the entry of a claim; None if it was not run since it was changed."""
        return self.entries.get(fingerprint(experiment, claim))


def path_of(paper: str) -> Path:
    """Return where the record of a paper is."""
    return FOLDER / f"{paper}.json"


def read(paper: str) -> Record | None:
    """Read the record of a paper, if there is one."""
    if not path_of(paper).exists():
        return None
    found = json.loads(path_of(paper).read_text(encoding="utf-8"))
    entries = [Entry(**entry) for entry in found["claims"]]
    return Record(
        found["date"],
        found["commit"],
        found["machine"],
        found.get("since", []),
        {entry.fingerprint: entry for entry in entries},
    )


def write(paper: Paper, store: Path, jobs: int | None, only: Sequence[str] = ()) -> str:
    """Run all experiments of a paper, or `only` some of them, and keep what came out.

    Of experiments that are not run the entries stay as they are, and the record says what was run since.
    """
    ready = reproduce.prepare(reading.experiments(paper, only, full=False))
    done = reproduce.reproduce(ready, Store(store), jobs, lambda _: nullcontext())
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    found = {"date": today, "commit": _commit(), "machine": machine(), "since": []}
    every = [entry for each in done for entry in entries_of(each.experiment, each.claims)]
    entries = {entry.fingerprint: entry for entry in every}
    before = read(paper.name)
    if only and before is not None:
        since = f"{', '.join(only)} on {today}, at commit {found['commit']}, on {found['machine']}"
        found = {
            "date": before.date,
            "commit": before.commit,
            "machine": before.machine,
            "since": [*before.since, since],
        }
        entries = {**before.entries, **entries}
    document = {**found, "claims": [asdict(entry) for entry in entries.values()]}
    path_of(paper.name).write_text(
        json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    return path_of(paper.name).name


def entries_of(experiment: Experiment, judged: Sequence[claims.Judged]) -> list[Entry]:
    """Return the entries of an experiment's claims."""
    return [
        Entry(
            fingerprint(experiment, claim),
            found.readable(found.paper),
            found.readable(found.ours),
            "" if found.control is None else found.readable(found.control),
            found.seeds,
            found.verdict_in_words if found.machine is None else f"{found.verdict}, on that machine",
            found.reason,
        )
        for claim, found in zip(experiment.claims, judged, strict=True)
    ]


def fingerprint(experiment: Experiment, claim: Table) -> str:
    """Return what changes with a claim and with what its runs are given."""
    control = claim.get("control", {})
    names = runs_in([claim["ours"], claim.get("shape_of"), claim["paper"]])
    names |= {control} if isinstance(control, str) else set(control.values())
    runs = [
        (run.name, run.document, run.overrides, run.variants, run.measure)
        for run in experiment.runs
        if run.name in names
    ]
    text = json.dumps([experiment.id, claim, runs], sort_keys=True, default=_written)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _written(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _commit() -> str:
    """Name the commit that was run; with a plus sign if something was changed since."""
    described = subprocess.run(  # noqa: S603 - our own command
        [shutil.which("git") or "git", "describe", "--always", "--exclude=*", "--dirty=+"],
        cwd=FOLDER,
        check=True,
        capture_output=True,
        text=True,
    )
    return described.stdout.strip()
