"""The machine this runs on: what measured times are kept by, and what a page says of it."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

from clearway.execution import cores


@cache
def machine() -> str:
    """Say what machine this is, as far as its times depend on it: processor and number of cores."""
    count = cores()
    return f"{_processor()}, {count} core{'' if count == 1 else 's'}"


def identity() -> str:
    """Return what no other machine has: its name beside what it is."""
    return f"{platform.node()} {platform.machine()} {machine()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine() or "an unknown processor"
