"""What happened in a run, in some ten sentences, each made of figures that the run recorded, with units.

The terminal, the report and a notebook show the same ones. What a run has no figure for gets no sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearway.columns import Columns
from clearway.figures import readable, times

_MOST_FAULTS = 3  # that have a sentence of their own
_MOST_WARNINGS = 2
_MOST_JOBS = 2

Tables = Mapping[str, Columns]

_COLUMNS: Mapping[str, frozenset[str]] = {
    name: frozenset(columns.split())
    for name, columns in {
        "flows": "flow from to start_us bytes retransmissions delivered_bytes fct_us ideal_us age_us",
        "jobs": "name iterations asked end_us iteration_mean_us alone_us slowdown",
        "links": "link rate_gbps utilisation queue_mean_bytes queue_peak_bytes",
        "pauses": "link class paused_us pauses",
        "faults": "fault kind place at_us until_us lost_frames lost_bytes goodput_before_gbps "
        "goodput_least_gbps recovery_us iteration_slowdown",
    }.items()
}
"""What a table has to have for its sentences: one that lacks some, as of another version, gets none."""


def what_happened(
    summary: Mapping[str, Any], tables: Tables, warnings: Sequence[str], interruption: str = ""
) -> list[str]:
    """Return the sentences about a run, of its summary, its tables, its warnings and what cut it short."""
    flows = _table(tables, "flows")
    return [
        *([_sentence(interruption)] if interruption else []),
        *_completions(flows, summary),
        *_operations(summary),
        *_jobs(_table(tables, "jobs")),
        *_slowest(flows),
        *_losses(summary),
        *_repeats(flows, summary),
        *_pauses(tables, summary),
        *_busiest(_table(tables, "links"), summary),
        *_faults(_table(tables, "faults")),
        *_timeslots(summary),
        *_packets(summary),
        *_limited([f"Warning: {warning}" for warning in warnings], _MOST_WARNINGS, "warning"),
    ]


def _table(tables: Tables, name: str) -> Columns:
    rows = tables.get(name, {})
    return rows if _COLUMNS[name] <= set(rows) else {}


def _completions(flows: Columns, summary: Mapping[str, Any]) -> list[str]:
    """Say how many flows with a size completed, by when, and what those without a size delivered."""
    if not flows:
        return []
    sized = flows["bytes"] > 0
    lines = [_sized(flows, sized, summary)] if sized.any() else []
    if not sized.all():
        delivered = _bytes(flows["delivered_bytes"][~sized].sum())
        lines.append(f"{_of((~sized).sum(), 'flow')} without a size delivered {delivered}{_ended(summary)}.")
    return lines


def _sized(flows: Columns, sized: Any, summary: Mapping[str, Any]) -> str:
    done = sized & np.isfinite(flows["fct_us"])
    open_ = sized & np.isfinite(flows["age_us"])
    parts = [f"{_count(done.sum())} of {_of(sized.sum(), 'flow')} completed"]
    if done.any():
        parts[0] += f", the last at {_time((flows['start_us'] + flows['fct_us'])[done].max())}"
    if open_.any():
        oldest = _time(flows["age_us"][open_].max())
        parts.append(f"{_count(open_.sum())} under way at the end, the oldest for {oldest}")
    if waiting := int(sized.sum() - done.sum() - open_.sum()):
        parts.append(f"{_count(waiting)} not started by then")
    return f"{'; '.join(parts)}{_ended(summary)}."


def _ended(summary: Mapping[str, Any]) -> str:
    end = summary.get("simulated_us")
    return "" if end is None else f"; the run ended at {_time(end)}"


def _operations(summary: Mapping[str, Any]) -> list[str]:
    """Say how many operations of the measured interval completed, and what share was too late."""
    done, left = summary.get("operations"), summary.get("unfinished_operations") or 0
    if not done and not left:
        return []
    issued = (done or 0) + left
    line = f"{_count(done or 0)} of {_of(issued, 'operation')} issued{_measured(summary)} completed"
    failed = summary.get("failed_operations")
    if failed:
        line += f"; {readable('share', failed)} of those that were due failed"
    return [f"{line}."]


def _jobs(jobs: Columns) -> list[str]:
    """Say how many jobs ended all their iterations, by when, and name those that did not."""
    if not jobs or not len(jobs["end_us"]):
        return []
    done = np.isfinite(jobs["end_us"])
    line = f"{_count(done.sum())} of {_of(len(done), 'job')} ended all iterations"
    if done.any():
        last = int(np.nanargmax(jobs["end_us"]))
        line += f", the last ({jobs['name'][last]}) at {_time(jobs['end_us'][last])}"
    lines = [f"{line}."]
    for place in np.flatnonzero(~done)[:_MOST_JOBS]:
        ended, asked = _count(jobs["iterations"][place]), _of(jobs["asked"][place], "iteration")
        lines.append(f"Job {jobs['name'][place]} had ended {ended} of {asked} when the run ended.")
    if np.isfinite(jobs["slowdown"]).any():
        place = int(np.nanargmax(jobs["slowdown"]))
        mean, alone = _time(jobs["iteration_mean_us"][place]), _time(jobs["alone_us"][place])
        lines.append(
            f"Slowest job: {jobs['name'][place]}, {mean} an iteration, "
            f"{times(jobs['slowdown'][place])} as long as alone ({alone})."
        )
    return lines


def _slowest(flows: Columns) -> list[str]:
    """Name the flow with the largest slowdown; one that is not complete counts with its age."""
    if not flows:
        return []
    took = np.where(np.isfinite(flows["fct_us"]), flows["fct_us"], flows["age_us"])
    with np.errstate(invalid="ignore", divide="ignore"):
        slowdowns = took / flows["ideal_us"]
    known = np.isfinite(slowdowns)
    if not known.any():
        return []
    place = int(np.argmax(np.where(known, slowdowns, -1.0)))
    ends = f"host {flows['from'][place]} to host {flows['to'][place]}, {_bytes(flows['bytes'][place])}"
    factor = f"{times(slowdowns[place])} its ideal of {_time(flows['ideal_us'][place])}"
    how = "took {}, {}" if np.isfinite(flows["fct_us"][place]) else "was unfinished after {}, at least {}"
    how = how.format(_time(took[place]), factor)
    return [f"Slowest flow for its size: flow {flows['flow'][place]} ({ends}) {how}."]


def _losses(summary: Mapping[str, Any]) -> list[str]:
    """Say what ports and hosts dropped and trimmed, and which share of the data was lost in the whole run."""
    found = [
        f"{part} {_of(summary[key], what)}{more}"
        for key, part, what, more in (
            ("drops", "ports dropped", "frame", " as they had no room"),
            ("host_drops", "hosts dropped", "frame", " as their receive queues were full"),
            ("trims", "ports cut", "packet", " down to their headers"),
        )
        if summary.get(key)
    ]
    lines = [_sentence(f"{', '.join(found)}{_measured(summary)}")] if found else []
    lost = summary.get("loss_rate_whole")
    if lost:
        lines.append(f"{readable('share', lost)} of all data packets that were sent were lost.")
    elif lost is not None:
        lines.append("No data packet was lost." if found else _nothing_lost(summary))
    return lines


def _nothing_lost(summary: Mapping[str, Any]) -> str:
    none = summary.get("drops") == 0
    dropped = f", and no port dropped a frame{_measured(summary)}" if none else ""
    return f"No data packet was lost{dropped}."


def _repeats(flows: Columns, summary: Mapping[str, Any]) -> list[str]:
    """Say how many packets were sent again, and how often a sender's timer ran out."""
    if not flows:
        return []
    again, timeouts = int(flows["retransmissions"].sum()), summary.get("timeouts_whole")
    if not again and not timeouts:
        return []
    senders = int((flows["retransmissions"] > 0).sum())
    line = f"{_of(again, 'packet')} of {_of(senders, 'flow')} {'was' if again == 1 else 'were'} sent again"
    if timeouts is not None:
        line += "; " + (
            f"retransmission timeouts ran out {_often(timeouts)}"
            if timeouts
            else "no retransmission timeout ran out"
        )
    return [f"{line}."]


def _pauses(tables: Tables, summary: Mapping[str, Any]) -> list[str]:
    """Say how often flow control paused links, which of them for longest, and whether a circle was left."""
    pauses, lines = _table(tables, "pauses"), []
    if pauses and len(pauses["pauses"]):
        if total := int(pauses["pauses"].sum()):
            place = int(np.argmax(pauses["paused_us"]))
            of_class = f" (class {pauses['class'][place]})" if pauses["class"][place] else ""
            end = summary.get("simulated_us")
            share = f", {readable('share', pauses['paused_us'][place] / end)} of the run" if end else ""
            lines.append(
                f"Flow control paused links {_often(total)} (PAUSE), {pauses['link'][place]}{of_class} "
                f"for longest: {_time(pauses['paused_us'][place])} in all{share}."
            )
        else:
            lines.append("Flow control never paused a link.")
    if deadlocked := summary.get("deadlocked_links"):
        lines.append(f"{_of(deadlocked, 'link')} waited for each other in a circle at the end: a deadlock.")
    return lines


def _busiest(links: Columns, summary: Mapping[str, Any]) -> list[str]:
    """Name the port that was used most, with its queue, and that of the longest queue if it is another."""
    if not links or not np.isfinite(links["utilisation"]).any():
        return []
    place = int(np.nanargmax(links["utilisation"]))
    if not links["utilisation"][place] > 0:
        return []
    used = readable("share", links["utilisation"][place])
    rate = readable("rate", links["rate_gbps"][place])
    line = f"Busiest port: {links['link'][place]}, {used} of its {rate} used{_measured(summary)}"
    peaks = links["queue_peak_bytes"]
    longest = int(np.argmax(peaks))
    held = f"; its queue held at most {_bytes(peaks[place])}"
    if np.isfinite(links["queue_mean_bytes"][place]):
        held += f", and {_bytes(links['queue_mean_bytes'][place])} on average"
    if peaks[longest] > peaks[place]:
        held += f"; the longest queue was {_bytes(peaks[longest])} at {links['link'][longest]}"
    return [f"{line}{held}."]


def _faults(faults: Columns) -> list[str]:
    """Say of each fault when it was, what it lost, and what became of goodput meanwhile."""
    lines = []
    for row in range(len(faults.get("fault", ()))):
        until = faults["until_us"][row]
        when = f"from {_time(faults['at_us'][row])}" + (
            f" to {_time(until)}" if np.isfinite(until) else " to the end"
        )
        lost = f"{_of(faults['lost_frames'][row], 'frame')} ({_bytes(faults['lost_bytes'][row])}) lost"
        lines.append(
            f"Fault {faults['fault'][row]} ({faults['kind'][row]}, {faults['place'][row]}) {when}: "
            f"{lost}{_goodput(faults, row)}."
        )
    return _limited(lines, _MOST_FAULTS, "fault")


def _goodput(faults: Columns, row: int) -> str:
    """Say how far goodput fell by a fault, and when it was back; nothing where none was before."""
    before, least = faults["goodput_before_gbps"][row], faults["goodput_least_gbps"][row]
    if not np.isfinite(before) or not np.isfinite(least) or before <= 0:
        return ""
    was, lowest = readable("rate", before), readable("rate", least)
    fell = f"; goodput of the whole network was {was} before and {lowest} at its lowest"
    recovery = faults["recovery_us"][row]
    if not np.isfinite(recovery):
        return f"{fell}, and was not back at 90 % when the run ended"
    back = "never below 90 %" if recovery == 0 else f"back at 90 % after {_time(recovery)}"
    slower = faults["iteration_slowdown"][row]
    iteration = f"; the iteration of a job took {times(slower)} the one before" if np.isfinite(slower) else ""
    return f"{fell}, {back}{iteration}"


def _timeslots(summary: Mapping[str, Any]) -> list[str]:
    """Say whether endpoints had to send without their arbiter."""
    if fallbacks := summary.get("fallbacks"):
        return [f"Endpoints began to send without timeslots {_often(fallbacks)}, as no arbiter answered."]
    return []


def _packets(summary: Mapping[str, Any]) -> list[str]:
    """Say where the record of packets ends, if that is before it was to."""
    until = summary.get("packets_until_us")
    if until is None:
        return []
    count = _of(summary["packets"], "packet")
    return [f"The record of packets ends at {_time(until)} with {count}, its limit (record.packets.limit)."]


def _limited(lines: list[str], most: int, what: str) -> list[str]:
    """Keep the first lines; one more says how many there are beside them."""
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"{_of(more, f'more {what}')}."]


def _measured(summary: Mapping[str, Any]) -> str:
    """Say over which time figures of the measured interval count; nothing where it is all of the run."""
    start, end = summary.get("measured_from_us"), summary.get("measured_until_us")
    if start is None or end is None or (start == 0 and end == summary.get("simulated_us")):
        return ""
    return f" between {_time(start)} and {_time(end)}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _often(number: float) -> str:
    return "once" if number == 1 else f"{_count(number)} times"


def _of(number: float, what: str) -> str:
    """Count things of which the plural ends with an s."""
    return f"{_count(number)} {what}" + ("" if number == 1 else "s")


def _count(number: float) -> str:
    return readable("count", float(number))


def _time(us: float) -> str:
    return readable("time", float(us))


def _bytes(number: float) -> str:
    return readable("bytes", float(number))
