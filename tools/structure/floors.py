"""The floors of the simulator: which of its folders may import which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from tools.structure.circles import Import

SOURCE = "crates/sim/src/"

MAY_IMPORT: Mapping[str, frozenset[str]] = {
    folder: frozenset(others.split())
    for folder, others in {
        "prefetch": "",
        "random": "",
        "model": "random",
        "topology": "model random",
        "job": "model random prefetch",
        "scenario": "model topology job random",
        "traffic": "model topology random",
        "engine": "model random prefetch",
        "net": "model topology random prefetch engine",
        "schemes": "model",
        "host": "model random engine net schemes",
        "simulation": "model topology random prefetch job traffic engine net schemes host",
        "preview": "model topology traffic host simulation",
        "record": "model topology random traffic engine net host simulation",
        "check": "model topology random job traffic engine net host simulation record scenario",
        "alone": "model record simulation",
        "run": "model topology simulation record alone",
    }.items()
}
"""For each folder or file of the simulator, what it may import beside itself. Tests may import anything."""


def arrows_up(imports: Iterable[Import]) -> list[str]:
    """Return a line for each import of the simulator that `MAY_IMPORT` does not allow."""
    found = []
    for each in sorted(set(imports)):
        importer, imported = _folder(each.importer), _folder(each.imported)
        if importer is None or imported is None or importer == imported or _is_test(each.importer):
            continue
        if imported not in MAY_IMPORT.get(importer, frozenset()):
            allowed = ", ".join(sorted(MAY_IMPORT.get(importer, ()))) or "nothing"
            found.append(
                f"{each.importer}:{each.line}: {each.name} is of {imported}; "
                f"{importer} may import {allowed} (tools/structure/floors.py)"
            )
    return found


def _folder(file: str) -> str | None:
    if not file.startswith(SOURCE) or file == f"{SOURCE}lib.rs":
        return None
    return PurePosixPath(file.removeprefix(SOURCE)).parts[0].removesuffix(".rs")


def _is_test(file: str) -> bool:
    return file.endswith("/tests.rs") or "/tests/" in file
