"""Runs both simulators, each by itself, and takes their times."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import clearway

from tools.htsim.cases import Case
from tools.htsim.checkout import PROGRAM, CannotRunError
from tools.htsim.output import Ended, NotUnderstoodError, Settled, read

# What a packet of htsim weighs beside its payload, and what an acknowledgement weighs.
_HEADER = 64
# Bytes of packets after which a receiver acknowledges (`_bytes_unacked_threshold` of `uec.cpp`).
_UNACKED = 16_384


@dataclass(frozen=True)
class Took:
    """What a process took: seconds on the wall, and of a processor."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True)
class Simulated:
    """A run of Clearway, and the packet-hops of it."""

    run: clearway.Run
    hops: int


def run_htsim(case: Case, folder: Path, work: Path) -> tuple[Ended, Took]:
    """Run htsim on a case; its log goes to the folder `work`."""
    said = work / "htsim.txt"
    command = [str(folder / PROGRAM), *case.arguments(), "-o", str(work / "htsim.log")]
    took = _run(command, said, folder)
    try:
        return read(said.read_text(encoding="utf-8")), took
    except NotUnderstoodError as error:
        raise CannotRunError(f"{PROGRAM} {' '.join(case.arguments())}: {error}") from error


def run_clearway(case: Case, settled: Settled, folder: Path, work: Path) -> tuple[Simulated, Took]:
    """Import the files of a case, and run them on one thread with the parameters that htsim has settled."""
    scenario, runs = work / "scenario.toml", work / "run"
    files = [str(folder / name) for name in (case.matrix, case.topology) if name]
    clearway_itself = [sys.executable, "-m", "clearway"]
    command = [*clearway_itself, "import", *files, "--output", str(scenario)]
    _run(command, work / "import.txt", folder)
    said = work / "clearway.json"
    sets = [word for key, value in parameters(case, settled).items() for word in ("--set", f"{key}={value}")]
    command = [*clearway_itself, "run", str(scenario), *sets, "--threads", "1", "--out", str(runs), "--json"]
    took = _run(command, said, folder)
    hops = int(json.loads(said.read_text(encoding="utf-8"))["packet_hops"])
    run = clearway.load_run(runs)
    assert isinstance(run, clearway.Run), "one seed was run"
    return Simulated(run, hops), took


def parameters(case: Case, settled: Settled) -> dict[str, str]:
    """Return the keys that no file of htsim has: it gets them as options, or has them as defaults."""
    return {
        "network.mtu": f"{settled.packet - _HEADER}B",
        "network.framing": "0B",
        "switch.default.buffer": f"{settled.queue}B",
        "switch.default.overflow": "trim",
        "switch.default.ecn": "red",
        "switch.default.ecn_min": f"{settled.ecn[0]}B",
        "switch.default.ecn_max": f"{settled.ecn[1]}B",
        "switch.default.ecn_pmax": "1",
        "transport.bulk.protocol": "nscc",
        "transport.bulk.base_rtt": f"{settled.base_rtt_us}us",
        "transport.bulk.ack_every": str(-(-_UNACKED // settled.packet)),
        "transport.bulk.spray": "mixed",
        "transport.bulk.paths": str(case.paths),
    }


def _run(command: Sequence[str], said: Path, folder: Path) -> Took:
    """Run a command in `folder`; what it prints goes to a file."""
    started = time.perf_counter()
    with said.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder)  # noqa: S603 - ours
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - started
    if process.returncode != 0:
        last = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-5:]
        raise CannotRunError(f"{' '.join(command)}: exit status {process.returncode}\n" + "\n".join(last))
    return Took(wall_s, used.ru_utime + used.ru_stime)
