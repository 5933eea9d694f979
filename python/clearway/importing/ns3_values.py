"""The values of a config file of HPCC's or ConWeave's ns-3, read as numbers, times and rates."""

from __future__ import annotations

from dataclasses import dataclass, field

from clearway.importing import units
from clearway.importing.source import Source, brief


@dataclass
class Config:
    """The values of a config file, by key."""

    source: Source
    values: dict[str, list[str]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def whole(self, key: str, usual: int, most: int = 10**9) -> int:
        """Return a whole number, `usual` where the key is not there."""
        if key not in self.values:
            return usual
        return self.source.whole(self.lines[key], key, self.values[key][0], 0, most)

    def number(self, key: str, most: int = 10**9) -> float | None:
        """Return a number, None where the key is not there."""
        if key not in self.values:
            return None
        return float(self.source.number(self.lines[key], key, self.values[key][0], most))

    def time(self, key: str, unit: int) -> int | None:
        """Return a time in picoseconds, None where the key is not there.

        `unit` is the file's unit of it, in picoseconds.
        """
        if key not in self.values:
            return None
        most = units.LONGEST_S * units.PS_PER_S // unit
        return round(self.source.number(self.lines[key], key, self.values[key][0], most) * unit)

    def rate(self, key: str) -> int | None:
        """Return a rate in bits per second, None where the key is not there."""
        if key not in self.values:
            return None
        found = units.ns3_rate(self.values[key][0])
        if not found:
            what = f"{key}: found {brief(self.values[key][0])}, expected a rate with its unit"
            raise self.source.error(self.lines[key], what, f"write it: {key} 50Mb/s")
        return found
