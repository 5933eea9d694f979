"""Config files of ATLAHS's merge_goals.py: GOAL files, and where the ranks of each are."""

from __future__ import annotations

from clearway.importing.json_source import is_object, json_of, line_of, wrong
from clearway.importing.parts import (
    MOST_HOSTS,
    PACKED,
    RANDOM,
    ROUND_ROBIN,
    Choices,
    Format,
    Placement,
    counted,
)
from clearway.importing.source import Source

_KEYS = ("mode", "goal_files", "pattern", "share-nic")
_MODES = ("multi-job", "multi-tenant")
_PATTERNS = {"packed": PACKED, "round_robin": ROUND_ROBIN, "round-robin": ROUND_ROBIN, "random": RANDOM}


def _recognises(source: Source) -> bool:
    return is_object(source) and '"goal_files"' in source.text


def _read(source: Source, _: Choices) -> Placement:
    found = json_of(source)

    for key in found:
        if key not in _KEYS:
            raise source.error(
                line_of(source, key), f"{key}: is unknown", f"merge_goals.py knows {', '.join(_KEYS)}"
            )
    mode, files, pattern = found.get("mode"), found.get("goal_files"), found.get("pattern")
    if mode not in _MODES:
        raise wrong(source, found, "mode", " or ".join(_MODES))
    if not (isinstance(files, list) and files and all(isinstance(each, str) and each for each in files)):
        raise wrong(source, found, "goal_files", "a list of GOAL files")
    if isinstance(pattern, str) and pattern in _PATTERNS:
        pattern = _PATTERNS[pattern]
    elif not (isinstance(pattern, list) and pattern and all(_are_hosts(each) for each in pattern)):
        raise wrong(
            source,
            found,
            "pattern",
            f"{', '.join(_PATTERNS)}, or for each job a list of the hosts of its ranks",
        )
    part = Placement(
        source, f"{mode}, {counted(jobs=len(files))}", pattern=pattern, shared=mode == _MODES[1], named=files
    )
    if part.shared and found.get("share-nic") is not True:
        part.lost.append("share-nic false: a host has one NIC, which its ranks share")
    return part


def _are_hosts(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(type(host) is int and 0 <= host < MOST_HOSTS for host in value)
    )


FORMAT = Format("goal-merge", "config of ATLAHS's merge_goals.py", _recognises, _read)
