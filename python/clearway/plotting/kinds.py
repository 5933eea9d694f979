"""The kinds of figure: what each shows, what must have been recorded for it, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from clearway.errors import ClearwayError
from clearway.plotting.fairness import fairness
from clearway.plotting.jobs import timelines
from clearway.plotting.loads import loads
from clearway.plotting.panels import Curves, Panel, Ranking
from clearway.plotting.pauses import pauses
from clearway.report import charts, flows, recorded
from clearway.report.chart import Chart
from clearway.report.sources import Labelled
from clearway.runs import HOW_TO_RECORD, Run

SWEEP = "sweep"
"""The one kind that is about sweeps and not about runs."""
_WIDE = 20.0  # from this factor between the ends of an axis on, it is logarithmic


@dataclass(frozen=True)
class Kind:
    """A kind of figure about runs."""

    shows: str
    needs: str
    """The keys that a scenario has to have for it."""
    table: str
    """The table of a run that it is made from."""
    remedy: str
    """The advice to whom a run has not that table."""
    panels: Callable[[Labelled], Sequence[Panel]]
    or_table: str = ""
    """Another table that will do in its place, if there is one."""

    def is_recorded_by(self, run: Run) -> bool:
        """Tell whether a run has what it is made from."""
        return self.table in run.tables or (bool(self.or_table) and self.or_table in run.tables)


def _slowdown(groups: Labelled) -> list[Panel]:
    found, unfinished = charts.by_flow_size(groups, charts.STATISTICS)
    names = list(charts.STATISTICS)
    lines = [replace(line, label=source.label, dash=names.index(name)) for name, source, line in found]
    return [
        Curves(
            charts.slowdown_chart(lines, "Mean, median and 99th percentile.", unfinished), statistics=names
        )
    ]


def _completion_cdf(groups: Labelled) -> list[Panel]:
    return [_steps(charts.completion_cdf(groups))]


def _rtt_cdf(groups: Labelled) -> list[Panel]:
    return [_steps(charts.rtt_cdf(groups))]


def _steps(chart: Chart) -> Curves:
    """Draw a distribution in steps, over a logarithmic axis where it is wide."""
    ends = [(float(line.x[0]), float(line.x[-1])) for line in chart.lines]
    wide = bool(ends) and min(low for low, _ in ends) > 0
    wide = wide and max(high for _, high in ends) > _WIDE * min(low for low, _ in ends)
    return Curves(replace(chart, log_x=wide), steps=True)


def _queue(groups: Labelled) -> list[Panel]:
    return [Curves(charts.queue(groups))]


def _throughput(groups: Labelled) -> list[Panel]:
    """Draw goodput by transport, and below it what each class sent where runs have recorded that."""
    panels: list[Panel] = [Curves(charts.throughput(groups))]
    of_classes = [(label, group) for label, group in groups if any(_has_classes(run) for run in group.runs)]
    if of_classes:
        panels.append(Curves(recorded.links(of_classes)))
    return panels


def _has_classes(run: Run) -> bool:
    return "links_series" in run.tables and len(set(run.tables["links_series"]["class"])) > 1


def _flows(groups: Labelled) -> list[Panel]:
    return [Curves(chart) for chart in flows.of_flows(groups)]


def _classes(groups: Labelled) -> list[Panel]:
    return [Curves(chart) for chart in flows.of_classes(groups)]


def _pause(groups: Labelled) -> list[Panel]:
    ranking: Ranking = pauses(groups)
    return [ranking]


def _fairness(groups: Labelled) -> list[Panel]:
    return [Curves(fairness(groups))]


_FLOWS = "the table of flows is always there"
_SIZES = "[[traffic]] with a size"
_PFC = "run it with flow control, such as --set switch.default.pfc=static"
_JOB = "add a [[job]], and timeline = true under [record]"


def _recording(what: str) -> str:
    return f"{what} under [record]"


KINDS: dict[str, Kind] = {
    "fct-slowdown": Kind(
        "completion time over the ideal one by flow size: mean, median and p99",
        _SIZES,
        "flows",
        _FLOWS,
        _slowdown,
    ),
    "fct-cdf": Kind("cumulative distribution of completion times", _SIZES, "flows", _FLOWS, _completion_cdf),
    "rtt-cdf": Kind(
        "cumulative distribution of round-trip times", "nothing more", "rtt", "run it for longer", _rtt_cdf
    ),
    "queue": Kind(
        "bytes waiting over time at the port with the longest queue",
        _recording("queues"),
        "queues",
        HOW_TO_RECORD["queues"],
        _queue,
    ),
    "throughput": Kind(
        "goodput over time by transport; where links and [class.NAME] are there, also what each class sent",
        _recording("throughput"),
        "throughput",
        HOW_TO_RECORD["throughput"],
        _throughput,
    ),
    "flows": Kind(
        "goodput, window or rate, and round-trip time of chosen flows over time",
        _recording("flows"),
        "flows_series",
        HOW_TO_RECORD["flows_series"],
        _flows,
    ),
    "classes": Kind(
        "goodput, bytes sent and round-trip time of each traffic class over time",
        _recording("classes"),
        "classes_series",
        HOW_TO_RECORD["classes_series"],
        _classes,
    ),
    "pause": Kind(
        "share of the run for which flow control paused each link, of those paused the most",
        'pfc = "static" or "dynamic" under [switch.default]',
        "pauses",
        _PFC,
        _pause,
    ),
    "fairness": Kind(
        "Jain's index over time, of goodput by flow, or of the rates at which flows may send",
        _recording("flows or windows"),
        "flows_series",
        f"{HOW_TO_RECORD['windows']}, or {HOW_TO_RECORD['flows_series'].removeprefix('add ')}",
        _fairness,
        or_table="windows",
    ),
    "job-timeline": Kind(
        "what each rank of a job computes and exchanges over time",
        f"[[job]], and {_recording('timeline')}",
        "timeline",
        _JOB,
        timelines,
    ),
    "link-heatmap": Kind(
        "load of every switch port over time, tier by tier",
        _recording("links"),
        "links_series",
        HOW_TO_RECORD["links_series"],
        loads,
    ),
}
"""The kinds about runs, by name, in the order in which they are listed."""

SHOWN: dict[str, tuple[str, str]] = {
    **{name: (kind.shows, kind.needs) for name, kind in KINDS.items()},
    SWEEP: (
        "a figure over the swept parameter, with 95 % intervals over seeds",
        "a directory of clearway sweep",
    ),
}
"""The description of each kind and its needs, by name."""


def kind_named(name: str) -> Kind:
    """Return the kind about runs with this name; raise for one that there is not."""
    if name == SWEEP:
        raise ClearwayError(
            "kind sweep: is about sweeps, found runs", "give it directories of clearway sweep"
        )
    if name not in KINDS:
        raise ClearwayError(f"no kind {name}", f"there is {', '.join(SHOWN)}")
    return KINDS[name]


def panels_of(name: str, groups: Labelled) -> list[Panel]:
    """Make the panels of a kind; raise for a run without what it needs, and where there is nothing to see."""
    kind = kind_named(name)
    for label, group in groups:
        if not any(kind.is_recorded_by(run) for run in group.runs):
            where = group.path or group.runs[0].path or label
            raise ClearwayError(
                f"{where}: recorded no table {kind.or_table or kind.table}, from which {name} is drawn",
                kind.remedy,
            )
    panels = [panel for panel in kind.panels(groups) if not is_empty(panel)]
    if not panels:
        labels = ", ".join(label for label, _ in groups)
        raise ClearwayError(f"{labels}: nothing to draw as {name}", _why_empty(kind, groups))
    return panels


def is_empty(panel: Panel) -> bool:
    """Tell whether there is nothing to be seen in a panel."""
    match panel:
        case Curves(chart=chart):
            return not chart.lines
        case Ranking(series=series):
            return not series
        case _:
            return False


def _why_empty(kind: Kind, groups: Labelled) -> str:
    for panel in kind.panels(groups):
        if isinstance(panel, Curves) and panel.chart.remedy:
            return panel.chart.remedy
    return "no link was ever paused" if kind.table == "pauses" else kind.remedy
