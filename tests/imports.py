"""What the tests of `clearway import` share: real files, and scenarios as they were written."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from clearway import documents

from tests.conftest import Clearway, nothing_but

DATA = Path(__file__).parent / "data" / "import"
CSG, UET, HPCC, CONWEAVE = (DATA / name for name in ("csg-htsim", "uet-htsim", "hpcc", "conweave"))
LOGGOPSIM, ATLAHS, ASTRA, SIMAI = (DATA / name for name in ("loggopsim", "atlahs", "astra-sim", "simai"))


def imported(clearway: Clearway, *arguments: object) -> dict[str, Any]:
    """Import files, and return what --json says."""
    answer = clearway("import", *arguments, "--json")
    assert answer.status == 0, answer.err
    said: dict[str, Any] = answer.json
    return said


def scenario(path: Path = Path("scenario.toml")) -> dict[str, Any]:
    """Read a scenario that was written."""
    return documents.parse(path.read_text(encoding="utf-8"), str(path))


def topology(path: Path = Path("scenario.topology.toml")) -> dict[str, Any]:
    """Read a topology that was written."""
    return scenario(path)


def trace(path: Path = Path("scenario.trace.csv")) -> list[tuple[str, int, int, str]]:
    """Read a trace that was written."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            (row["start"], int(row["from"]), int(row["to"]), row["bytes"]) for row in csv.DictReader(file)
        ]


def runs(clearway: Clearway, duration: str = "20us", path: str = "scenario.toml") -> dict[str, Any]:
    """Run a scenario for a moment; return its summary."""
    answer = clearway("run", path, "--set", f"duration={duration}", "--out", f"run-of-{duration}", "--json")
    assert answer.status == 0, answer.err
    said: dict[str, Any] = answer.json
    assert said["packet_hops"] > 0
    return said


def refused(clearway: Clearway, workspace: Path, text: str, message: str, remedy: str) -> None:
    """Import a file of this text: it is refused with this message and remedy, and nothing is written."""
    (workspace / "wrong").write_text(text)
    answer = clearway("import", "wrong", "-o", "made/for/it.toml")
    assert answer.status == 2
    assert answer.err.startswith(f"error: wrong{message}")
    assert remedy in answer.err.split("\n  ", 1)[1]
    assert nothing_but(workspace, "wrong")
