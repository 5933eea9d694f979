"""What `clearwayd testbed` prints of a run, read: one JSON object a line, all times in nanoseconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.columns import LARGEST

_SHOWN = 80  # characters of a line that is shown in a message


class SenselessLineError(Exception):
    """A line that is not what `clearwayd testbed` prints."""


@dataclass(frozen=True)
class FlowEnd:
    """What the source of a flow says at its end, or at the end of the run."""

    start_ns: int | None
    """From the run's start by the source's clock; None if it never started."""
    end_ns: int | None
    """When its source knew that all had arrived; None if it is not complete."""
    bytes: int
    """Acknowledged."""
    retransmissions: int
    rtt_ns: float | None
    """The mean of its round trips."""
    error: str | None


@dataclass(frozen=True)
class Samples:
    """Every look at every flow that was active, in the order in which they came: equally long arrays."""

    flow: NDArray[np.int64]
    """The number of the flow in the plan."""
    time_ns: NDArray[np.int64]
    bytes: NDArray[np.int64]
    """Acknowledged so far."""
    rtt_ns: NDArray[np.float64]
    """NaN before the first."""
    cwnd: NDArray[np.float64]
    """In packets."""


@dataclass
class Measured:
    """What has been printed so far."""

    agents: list[dict[str, Any]] = field(default_factory=list)
    """Of each host its name, version, kernel, and the offset and round trip of its clock in nanoseconds."""
    started_at_ns: int | None = None
    """When the run started, by the monotonic clock of the machine that the controller is on."""
    spread_ns: int | None = None
    """Between the first and the last agent's start; None until the run has started."""
    flows: dict[int, FlowEnd] = field(default_factory=dict)
    hosts: list[dict[str, Any]] = field(default_factory=list)
    """Of each host name, processor time in nanoseconds, drops of its socket, and why its agent was lost."""
    members: list[dict[str, Any]] = field(default_factory=list)
    """Of each host that was an arbiter or an endpoint its name, and its status or why there is none."""
    is_complete: bool | None = None
    """None until the last line has come."""
    reason: str | None = None
    """Why the run is not complete."""
    latest_ns: int = 0
    """The latest time of any sample or flow."""
    _rows: list[tuple[int, int, int, float, float]] = field(default_factory=list)

    @property
    def has_started(self) -> bool:
        """Tell whether there can be anything to keep."""
        return self.spread_ns is not None

    def take(self, line: str) -> None:
        """Take a line. Unknown events and keys are left alone; a known one of another type is senseless."""
        try:
            event = json.loads(line)
            kind = event["event"]
            take = _TAKERS.get(kind)
            if take is not None:
                take(self, event)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            shown = line.strip()
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
            raise SenselessLineError(shown) from error

    def samples(self) -> Samples:
        """Return all samples."""
        columns = list(zip(*self._rows, strict=True)) or [()] * 5
        whole, real = np.int64, np.float64
        return Samples(
            np.array(columns[0], whole),
            np.array(columns[1], whole),
            np.array(columns[2], whole),
            np.array(columns[3], real),
            np.array(columns[4], real),
        )

    def _take_agents(self, event: Mapping[str, Any]) -> None:
        self.agents = [dict(host) for host in event["hosts"]]

    def _take_started(self, event: Mapping[str, Any]) -> None:
        self.started_at_ns = _or_none(event.get("at_ns"))
        self.spread_ns = _whole(event["spread_ns"])

    def _take_sample(self, event: Mapping[str, Any]) -> None:
        time_ns = _whole(event["t_ns"])
        for flow in event["flows"]:
            rtt = flow["rtt_ns"]
            rtt_ns = float("nan") if rtt is None else _number(rtt)
            row = (_whole(flow["id"]), time_ns, _whole(flow["bytes"]), rtt_ns, _number(flow["cwnd"]))
            self._rows.append(row)
        self.latest_ns = max(self.latest_ns, time_ns)

    def _take_flow(self, event: Mapping[str, Any]) -> None:
        mean, error = event["rtt"]["mean_ns"], event["error"]
        end = FlowEnd(
            _or_none(event["start_ns"]),
            _or_none(event["end_ns"]),
            _whole(event["bytes"]),
            _whole(event["retransmissions"]),
            None if mean is None else _number(mean),
            None if error is None else str(error),
        )
        self.flows[_whole(event["id"])] = end
        self.latest_ns = max(self.latest_ns, end.end_ns or 0)

    def _take_host(self, event: Mapping[str, Any]) -> None:
        _or_none(event["cpu_ns"])
        _or_none(event["socket_drops"])
        self.hosts.append({key: event[key] for key in ("host", "cpu_ns", "socket_drops", "lost")})

    def _take_fastpass(self, event: Mapping[str, Any]) -> None:
        status = event["status"]
        if status is not None:
            _whole(status["term"])
            for count in status["counts"].values():
                _whole(count)
        self.members.append({key: event[key] for key in ("host", "status", "lost")})

    def _take_end(self, event: Mapping[str, Any]) -> None:
        if not isinstance(event["complete"], bool):
            raise TypeError
        self.is_complete = event["complete"]
        self.reason = None if event["reason"] is None else str(event["reason"])


_TAKERS = {
    "agents": Measured._take_agents,
    "started": Measured._take_started,
    "sample": Measured._take_sample,
    "flow": Measured._take_flow,
    "host": Measured._take_host,
    "fastpass": Measured._take_fastpass,
    "end": Measured._take_end,
}


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < LARGEST / 2:
        raise TypeError
    return value


def _or_none(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _number(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < LARGEST:
        raise TypeError
    return float(value)
