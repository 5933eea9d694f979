"""Times, rates and sizes: as ns-3 writes them, and as scenarios do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

PS_PER_S = 10**12
LONGEST_S = 1000
"""The longest time of a scenario, in seconds."""

_QUANTITY = re.compile(r"(\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|\.\d+)([A-Za-z/]*)")
_PS: Mapping[str, int | Decimal] = {
    "s": PS_PER_S,
    "ms": 10**9,
    "us": 10**6,
    "ns": 1000,
    "ps": 1,
    "fs": Decimal("0.001"),
    "": PS_PER_S,
}
_PREFIXES = {"": 1, "k": 1000, "K": 1000, "M": 10**6, "G": 10**9, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3}
_BPS = {
    prefix + each: scale * bits
    for prefix, scale in _PREFIXES.items()
    for each, bits in {"bps": 1, "b/s": 1, "Bps": 8, "B/s": 8}.items()
} | {"": 1}


def ns3_time(text: str) -> int | None:
    """Read a time as ns-3's `Time` does, without a unit in seconds.

    Returns picoseconds, or None if it is no time or longer than a scenario can have.
    """
    return _scaled(text, _PS, LONGEST_S * PS_PER_S)


def ns3_rate(text: str) -> int | None:
    """Read a rate as ns-3's `DataRate` does, without a unit in bits per second.

    Returns bits per second, or None if it is no rate or higher than a link can have.
    """
    return _scaled(text, _BPS, 10**15)


def _scaled(text: str, units: Mapping[str, int] | Mapping[str, int | Decimal], most: int) -> int | None:
    match = _QUANTITY.fullmatch(text)
    if match is None or match[2] not in units:
        return None
    value = Decimal(match[1]) * units[match[2]]
    return round(value) if value <= most else None


def time(ps: int) -> str:
    """Write a time in the largest unit that holds it whole."""
    if ps == 0:
        return "0us"
    return _written(ps, (("s", PS_PER_S), ("ms", 10**9), ("us", 10**6), ("ns", 1000), ("ps", 1)))


def rate(bps: int) -> str:
    """Write a rate in the largest unit that holds it whole."""
    return _written(bps, (("Tbps", 10**12), ("Gbps", 10**9), ("Mbps", 10**6), ("kbps", 1000), ("bps", 1)))


def size(count: int) -> str:
    """Write bytes in the largest unit that holds them whole."""
    if count == 0:
        return "0B"
    return _written(count, (("GB", 10**9), ("MiB", 1024**2), ("MB", 10**6), ("kB", 1000), ("B", 1)))


def _written(value: int, units: tuple[tuple[str, int], ...]) -> str:
    return next(f"{value // scale}{name}" for name, scale in units if value % scale == 0)
