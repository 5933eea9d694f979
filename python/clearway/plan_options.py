"""Options of planners as a person writes them: texts in, whole numbers of the smallest unit out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from clearway.errors import ClearwayError

TIME = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
BYTES = {
    **{"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20},
    **{"GB": 10**9, "GiB": 2**30, "TB": 10**12, "TiB": 2**40},
}
RATE = {"bps": 1, "kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12}
LENGTH = {"m": 1, "km": 10**3}

BEYOND_MTU = 38
"""Bytes: preamble 8, header 14, frame check sequence 4, gap 12."""

US = TIME["us"]
MS = TIME["ms"]

_QUANTITY = re.compile(r"([0-9]+)(?:\.([0-9]+))?([^0-9.].*)", re.ASCII | re.DOTALL)
_WHOLE = re.compile(r"\+?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", re.ASCII)
_MOST_DIGITS = 24
_RATES = (1_000, 10**13)
_MOST = 2**64 - 1


def spell(value: int, units: Mapping[str, int]) -> str:
    """Write a number of the smallest unit exactly, and as shortly as the decimal units allow."""
    if value == 0 and units is TIME:
        return "0us"  # no unit is shortest; this is the one people write
    best = f"{value}{next(iter(units))}"
    for name, scale in units.items():
        whole, rest = divmod(value, scale)
        if whole == 0 or "i" in name:
            continue
        decimals = f".{rest:0{len(str(scale)) - 1}}".rstrip("0") if rest else ""
        if len(text := f"{whole}{decimals}{name}") <= len(best):
            best = text
    return best


class Options:
    """What a person gave, option by option: what is wrong is noted, and a value that fits stands in."""

    def __init__(self, given: Mapping[str, str]) -> None:
        """Take options of which nothing is known to be wrong."""
        self.given = given
        self._problems: list[tuple[str, str]] = []

    def problem(self, name: str, detail: str) -> None:
        """Note what is wrong with an option."""
        self._problems.append((name, detail))

    def check(self, spelled: Callable[[str], str]) -> None:
        """Raise if anything is wrong; a message names each option as `spelled` writes it."""
        if self._problems:
            raise ClearwayError("\n".join(f"{spelled(name)}: {fault}" for name, fault in self._problems))

    def quantity(self, name: str, units: Mapping[str, int], example: str) -> int | None:
        """Read a number with its unit; None if it is not given or is wrong."""
        if (text := self.given.get(name)) is None:
            return None
        match = _QUANTITY.fullmatch(text)
        scale = units.get(match[3]) if match and match.start(3) <= _MOST_DIGITS else None
        if match is None or scale is None:
            wanted = f"a number with its unit, such as {example} (units: {', '.join(units)})"
            self.problem(name, f"found {quoted(text)}, expected {wanted}")
            return None
        decimals = match[2] or "0"
        value, rest = divmod(int(match[1] + decimals) * scale, int("1" + "0" * len(decimals)))
        if rest:
            self.problem(name, f"found {quoted(text)}, expected a whole number of {next(iter(units))}")
        elif value > _MOST:
            self.problem(name, f"found {quoted(text)}, which is more than is held")
        else:
            return value
        return None

    def _within(self, name: str, units: Mapping[str, int], example: str, least: int, most: int) -> int | None:
        value = self.quantity(name, units, example)
        if value is None or least <= value <= most:
            return value
        noun = "a time" if units is TIME else "a size" if units is BYTES else "a rate"
        wanted = f"{noun} from {spell(least, units)} to {spell(most, units)}"
        self.problem(name, f"found {spell(value, units)}, expected {wanted}")
        return None

    def time(self, name: str, default: int, most: int) -> int:
        """Read a time up to `most`, in picoseconds."""
        found = self._within(name, TIME, "1us", 0, most)
        return default if found is None else found

    def size(self, name: str, least: int, most: int) -> int | None:
        """Read a size of this range; None if it is not given or is wrong."""
        return self._within(name, BYTES, "9000B", least, most)

    def frame(self, name: str) -> int | None:
        """Read an MTU, and return the frame that it is on the wire."""
        mtu = self.size(name, 256, 65_535)
        return None if mtu is None else mtu + BEYOND_MTU

    def rate(self) -> int:
        """Read the rate of a link, which must be given, in bits a second."""
        if "rate" not in self.given:
            self.problem("rate", "is missing: how fast the link is, such as 400Gbps")
        return self.rate_or("rate", _RATES[0])

    def rate_or(self, name: str, default: int) -> int:
        """Read the rate of a link."""
        return self._within(name, RATE, "400Gbps", *_RATES) or default

    def share(self, name: str, default: float) -> float:
        """Read a share from 0 to 1."""
        found = self._number(name, 0.0, 1.0, "a share of the rate")
        return default if found is None else found

    def number(self, name: str, default: float, least: float, most: float) -> float:
        """Read a number of this range."""
        found = self._number(name, least, most, "a number")
        return default if found is None else found

    def _number(self, name: str, least: float, most: float, noun: str) -> float | None:
        text = self.given.get(name)
        if text is None:
            return None
        if _NUMBER.fullmatch(text) and least <= float(text) <= most:
            return float(text)
        self.problem(name, f"found {quoted(text)}, expected {noun} from {least:.10g} to {most:.10g}")
        return None

    def count(self, name: str, default: int, least: int, most: int) -> int:
        """Read a whole number of this range."""
        text = self.given.get(name)
        if text is None:
            return default
        if _WHOLE.fullmatch(text) and least <= int(text) <= most:
            return int(text)
        self.problem(name, f"found {quoted(text)}, expected a whole number from {least} to {most}")
        return default


def quoted(text: str) -> str:
    """Write what was found, in quotes."""
    return json.dumps(text, ensure_ascii=False)
