"""The formats that can be imported: a new one is a file beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from clearway.errors import ClearwayError
from clearway.importing import (
    astra_network,
    astra_system,
    chakra,
    chakra_groups,
    goal,
    goal_merge,
    htsim_matrix,
    htsim_topology,
    ns3_config,
    ns3_flows,
    ns3_topology,
    simai,
)
from clearway.importing.parts import AnyPart, Choices, Format
from clearway.importing.source import Source

FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        chakra.FORMAT,
        htsim_matrix.FORMAT,
        htsim_topology.FORMAT,
        ns3_config.FORMAT,
        ns3_topology.FORMAT,
        ns3_flows.FORMAT,
        goal.FORMAT,
        goal_merge.FORMAT,
        astra_network.FORMAT,
        astra_system.FORMAT,
        chakra_groups.FORMAT,
        simai.FORMAT,
    )
}
"""By name; a file is asked of each in this order."""


def format_named(name: str) -> Format:
    """Return the format of a name."""
    if name not in FORMATS:
        raise ClearwayError(f"--format {name}: is unknown", f"the formats are {', '.join(FORMATS)}")
    return FORMATS[name]


def standing_for(path: Path) -> Source:
    """Return the file that a path stands for: itself, or the first of those that have it as their prefix."""
    return Source(path if path.exists() else chakra.first_of(path) or path)


def read(source: Source, choices: Choices, wanted: Format | None = None) -> tuple[Format, AnyPart]:
    """Read a file in the format that is wanted, or in the first that recognises it."""
    found = wanted or next((each for each in FORMATS.values() if each.recognises(source)), None)
    if found is None:
        listed = "; ".join(f"{each.name}: {each.about}" for each in FORMATS.values())
        raise source.error(
            1,
            "is of no format that is known, or cut short",
            f"say which it is with --format. {listed}",
        )
    return found, found.read(source, choices)
