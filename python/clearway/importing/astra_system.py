"""System files of ASTRA-sim (JSON): how ranks do collectives, and what they compute with.

Read as `Sys.cc` and `CollectiveImplLookup.cc` of astra-sim read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clearway.importing import collectives as kinds
from clearway.importing.json_source import is_object, json_of, line_of, wrong
from clearway.importing.parts import Algorithms, Choices, Format, counted
from clearway.importing.source import Source, brief

_COLLECTIVES: Mapping[str, str] = {
    "all-reduce-implementation": kinds.ALL_REDUCE,
    "all-gather-implementation": kinds.ALL_GATHER,
    "reduce-scatter-implementation": kinds.REDUCE_SCATTER,
    "all-to-all-implementation": kinds.ALL_TO_ALL,
}
_ALGORITHMS: Mapping[str, str] = {
    "ring": "ring",
    "oneRing": "ring",
    "halvingDoubling": "halving_doubling",
    "oneHalvingDoubling": "halving_doubling",
    "doubleBinaryTree": "double_tree",
}
_DIRECT = re.compile(r"(?:direct|oneDirect)(\d{0,5})")
_SIGNS = {*_COLLECTIVES, "scheduling-policy", "preferred-dataset-splits", "endpoint-delay"}
_READ = {*_COLLECTIVES, "preferred-dataset-splits", "roofline-enabled", "peak-perf", "local-mem-bw"}
_WITHOUT_EFFECT = {"boost-mode", "trace-enabled", "track-local-mem", "local-mem-trace-filename"}
_MOST_CHUNKS = 65_536


def _recognises(source: Source) -> bool:
    return is_object(source) and any(f'"{sign}"' in source.text for sign in _SIGNS)


def _read(source: Source, _: Choices) -> Algorithms:
    found = json_of(source)
    part = Algorithms(source, counted(settings=len(found)))
    names: dict[str, str] = {}
    windows: dict[str, int] = {}
    for key, kind in _COLLECTIVES.items():
        if key in found:
            names[kind], windows[kind] = _algorithm(source, found, key, part)
    part.names, part.windows = names, windows
    chunks = found.get("preferred-dataset-splits", 1)
    if type(chunks) is not int or not 1 <= chunks <= _MOST_CHUNKS:
        raise wrong(source, found, "preferred-dataset-splits", f"1 to {_MOST_CHUNKS} chunks")
    part.chunks = chunks
    if chunks > 1:
        part.lost.append(
            f"preferred-dataset-splits: {chunks} chunks follow each other through a collective at once; "
            "active-chunks-per-dimension and scheduling-policy are not here"
        )
    if found.get("roofline-enabled", 0):
        part.operations_per_s = 1e12 * _rate(source, found, "peak-perf", "TFLOP/s")
        part.memory_bytes_per_s = 1e9 * _rate(source, found, "local-mem-bw", "GB/s")
        part.assumed.append(
            "computing takes the time of the roofline: peak-perf in TFLOP/s, local-mem-bw in GB/s"
        )
    if found.get("endpoint-delay"):
        part.lost.append("endpoint-delay: the end of a message takes a rank no time")
    rest = [key for key in found if key not in _READ | _WITHOUT_EFFECT | {"endpoint-delay"}]
    if rest:
        part.lost.append(f"without a counterpart here: {', '.join(map(brief, rest))}")
    return part


def _algorithm(source: Source, found: dict[str, Any], key: str, part: Algorithms) -> tuple[str, int]:
    """Return the algorithm of a collective, and the window of a direct one."""
    listed = found[key]
    if not (isinstance(listed, list) and listed and all(isinstance(each, str) for each in listed)):
        raise wrong(source, found, key, 'a list of algorithms, one a dimension, such as ["ring"]')
    for name in listed:
        if name not in _ALGORITHMS and not _DIRECT.fullmatch(name):
            known = ", ".join([*_ALGORITHMS, "direct", "oneDirect"])
            raise source.error(
                line_of(source, key), f"{key}: {brief(name)} is unknown", f"ASTRA-sim knows {known}"
            )
    if len(listed) > 1:
        part.lost.append(
            f"{key}: {listed} are of {len(listed)} dimensions; here {listed[0]} goes over all ranks at once"
        )
    name, kind = listed[0], _COLLECTIVES[key]
    direct = _DIRECT.fullmatch(name)
    if direct:
        return "direct", int(direct[1] or 0)
    if kind == kinds.ALL_TO_ALL:
        part.lost.append(f"{key}: {name} passes data on from rank to rank there, and is direct here")
        return "direct", 0
    if _ALGORITHMS[name] == "double_tree" and kind != kinds.ALL_REDUCE:
        part.lost.append(f"{key}: {name} is for all-reduce alone; ring takes its place")
        return "ring", 0
    return _ALGORITHMS[name], 0


def _rate(source: Source, found: dict[str, Any], key: str, unit: str) -> float:
    value = found.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e9:
        raise wrong(source, found, key, f"more than 0 {unit}, which roofline-enabled needs")
    return float(value)


FORMAT = Format("astra-sim-system", "system of ASTRA-sim (JSON)", _recognises, _read)
