"""A long link that may not lose a packet, with and without Swing's relays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearway.demonstration.part import Part, Rows
from clearway.demonstration.words import AMOUNT
from clearway.documents import quantity
from clearway.figures import readable
from clearway.report.chart import Chart
from clearway.report.charts import queue, throughput
from clearway.report.sources import Labelled
from clearway.runs import Run

_FIBRE = ("relay0>relay1", "dci0>dci1")  # with relays, and without
_INTO_SWITCH = ("relay1>dci1", "dci0>dci1")


def _pauses(run: Run, names: tuple[str, str], column: str) -> float:
    """Return what the table of pauses has for the first of these links that there is."""
    links = run.table("pauses")["link"].tolist()
    name = next(name for name in names if name in links)
    return float(run.table("pauses")[column][links.index(name)])


def _mean_pause_us(run: Run) -> float | None:
    pauses = _pauses(run, _FIBRE, "pauses")
    return _pauses(run, _FIBRE, "paused_us") / pauses if pauses else None


def _set_aside(run: Run) -> float:
    """Return the bytes that the switch behind the link keeps for it: its threshold, and the room above."""
    return _bytes(run.scenario["switch"]["long"]["pfc_xoff"]) + _pauses(run, _INTO_SWITCH, "headroom_bytes")


def _set_aside_in_relay(run: Run) -> float | None:
    """Return the bytes that the relay behind the fibre keeps for it; None if there is none."""
    relay = run.scenario["switch"].get("relay")
    return _bytes(relay["relay_buffer"]) if relay else None


def _bytes(written: object) -> float:
    size = quantity(written)
    assert size is not None
    return size.value


def _in_relay(run: Run) -> float | None:
    """Return the most bytes that waited in the relay behind the fibre; None if there is none."""
    there = _FIBRE[0] in run.table("pauses")["link"]
    return _pauses(run, _FIBRE, "account_peak_bytes") if there else None


def _rows(runs: Sequence[Run]) -> Rows:
    return [
        ("mean pause of the link *", [readable("time", _mean_pause_us(run)) for run in runs]),
        ("memory for it in the switch", [readable("bytes", _set_aside(run)) for run in runs]),
        (
            "most that waited there *",
            [readable("bytes", _pauses(run, _INTO_SWITCH, "account_peak_bytes")) for run in runs],
        ),
        ("memory for it in a relay", [readable("bytes", _set_aside_in_relay(run)) for run in runs]),
        ("most that waited there *", [readable("bytes", _in_relay(run)) for run in runs]),
    ]


def _more(runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "link": [
            {
                "label": label,
                "mean_pause_us": _mean_pause_us(run),
                "switch_memory_bytes": _set_aside(run),
                "switch_peak_bytes": _pauses(run, _INTO_SWITCH, "account_peak_bytes"),
                "relay_memory_bytes": _set_aside_in_relay(run),
                "relay_peak_bytes": _in_relay(run),
            }
            for label, run in zip(_FILES, runs, strict=True)
        ]
    }


def _conclude(runs: Sequence[Run]) -> str:
    pfc, twice, relay = runs
    less, more = (
        AMOUNT.beside(relay.summary["goodput_gbps"], run.summary["goodput_gbps"]) for run in (pfc, twice)
    )
    memory = readable("bytes", _set_aside_in_relay(relay))
    small, large = (readable("bytes", _set_aside(run)) for run in (pfc, twice))
    return f"Relays with {memory} carry {less} PFC with {small}, and {more} PFC with {large}."


def _charts(groups: Labelled) -> Sequence[Chart]:
    return [throughput(groups), queue(groups)]


_FILES = {
    "PFC": "long_link_pfc",
    "PFC, twice the memory": "long_link_pfc_twice",
    "Swing's relay": "long_link_relay",
}

LONG_LINK = Part(
    name="long_link",
    asks="Swing: 200 MB cross 80 km without loss, to a host half as fast as the link. How much gets through?",
    files=_FILES,
    keys=frozenset({"goodput_gbps", "loss_rate_whole", "unfinished_flows", "fct_max_us"}),
    rows=_rows,
    conclude=_conclude,
    charts=_charts,
    note="PFC: a switch whose buffer fills has its neighbour pause. In a round trip the link carries 20 MB.",
    more=_more,
)
