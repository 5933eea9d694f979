"""What `ss` and `iperf3` say, as figures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.hosts.machine import UnavailableError

_WORD = re.compile(r"(\w+):([\d.]+)")


@dataclass(frozen=True)
class Socket:
    """A TCP socket that is open."""

    control: str
    """The name of its congestion control."""
    srtt_ms: float
    acked_bytes: int


@dataclass(frozen=True)
class Transfer:
    """What one iperf3 has measured."""

    flow_mbps: tuple[float, ...]
    """What arrived, a figure a flow."""
    retransmissions: int


def sockets(text: str, controls: Sequence[str]) -> list[Socket]:
    """Read `ss -tinOH`: the sockets with one of these congestion controls that have measured a round trip."""
    found = []
    for line in text.splitlines():
        control = next((word for word in line.split() if word in controls), None)
        values = dict(_WORD.findall(line))
        if control is not None and "rtt" in values and "bytes_acked" in values:
            found.append(Socket(control, float(values["rtt"]), int(values["bytes_acked"])))
    return found


def transfer(text: str) -> Transfer:
    """Read what `iperf3 -J` prints; raise `UnavailableError` with what it says if that is an error."""
    try:
        told: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise UnavailableError(f"iperf3 printed no JSON: {text[:80]!r}") from error
    if "error" in told:
        raise UnavailableError(f"iperf3: {told['error']}")
    end = told["end"]
    return Transfer(
        tuple(_mbps(stream["receiver"]) for stream in end["streams"]),
        int(end["sum_sent"].get("retransmits", 0)),
    )


def _mbps(receiver: Mapping[str, float]) -> float:
    # Its own `bits_per_second` is over the sender's time.
    seconds = receiver["end"] - receiver["start"]
    return receiver["bytes"] * 8e-6 / seconds if seconds else 0.0


def jain(shares: Sequence[float]) -> float:
    """Return Jain's index of fairness: 1 if all shares are equal, 1/n if one of n has everything."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 0.0
