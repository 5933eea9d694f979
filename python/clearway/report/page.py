"""The page around the charts: tables as HTML, data as JSON, script and style inlined. It needs no network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from clearway import _clearway, comparison
from clearway.figures import figure_of, readable
from clearway.overview import Overview
from clearway.report.chart import Chart
from clearway.report.charts import charts
from clearway.report.opening import opening
from clearway.report.recorded import recorded
from clearway.report.scenarios import scenarios
from clearway.report.slowdowns import HEADINGS, slowdowns
from clearway.report.sources import COLOURS, Labelled, Look, looks
from clearway.report.timeline import timelines
from clearway.runs import Run
from clearway.seeds import Seeds
from clearway.selection import EVERYTHING, Selected, Selection

_SLOT = re.compile(r"\{\{(\w+)\}\}")


def page(items: Sequence[tuple[str, Run | Seeds]], selection: Selection = EVERYTHING) -> str:
    """Return the page about these runs, each with the label it goes by; seeds are one run with intervals.

    The table of figures has the rows that the selection leaves; charts are not chosen.
    """
    groups = [(label, Seeds([item]) if isinstance(item, Run) else item) for label, item in items]
    compared = comparison.compare(groups, labelled=True, selection=selection)
    drawn = [*charts(groups), *recorded(groups)]
    shown = [chart for chart in drawn if chart.lines]
    labels = [label for label, _ in groups]
    slots = {
        "title": escape(
            " and ".join(labels) if len(labels) <= 3 else f"{labels[0]} and {len(labels) - 1} more"
        ),
        "legend": _legend(groups),
        "happened": opening(groups) if len(groups) > 1 else "",
        "intervals": _intervals(groups),
        "findings": _findings(compared),
        "summary": _summary(compared, groups) + _interval(compared),
        "charts": "\n".join(card(number, chart) for number, chart in enumerate(shown)),
        "timelines": timelines(groups),
        "missing": _missing([chart for chart in drawn if not chart.lines]),
        "slowdowns": _slowdowns(groups),
        "settings": _settings(compared),
        "scenarios": scenarios(groups),
        "provenance": provenance(groups),
        "version": escape(_clearway.VERSION),
        # A label may hold anything, "</script>" too.
        "data": json.dumps([chart.as_json() for chart in shown], separators=(",", ":")).replace(
            "<", "\\u003c"
        ),
    }
    return filled("page.html", slots)


def filled(template: str, slots: Mapping[str, str]) -> str:
    """Fill the slots of a template, with style and script inlined."""
    slots = {
        **slots,
        "style": asset("style.css"),
        "script": asset("page.js"),
        "uplot": asset("vendor/uPlot.iife.min.js"),
        "uplot_style": asset("vendor/uPlot.min.css"),
        "uplot_licence": asset("vendor/LICENSE-uPlot"),
    }
    return _SLOT.sub(lambda match: slots[match.group(1)], asset(template))


def labelled(items: Sequence[tuple[str, Run | Seeds]]) -> list[tuple[str, Run | Seeds]]:
    """Give runs that come from directories of these names labels that differ."""
    labels = comparison.labels_of([(source, item.name) for source, item in items])
    return [(label, item) for label, (_, item) in zip(labels, items, strict=True)]


def asset(name: str) -> str:
    """Read a file of the page."""
    return resources.files("clearway.report").joinpath(name).read_text(encoding="utf-8")


def swatch(colour: int) -> str:
    """Show a colour."""
    return f'<i class="swatch" style="--colour: var(--series-{colour % COLOURS + 1})"></i>'


def _swatches(of_group: Mapping[str, Look]) -> str:
    return "".join(swatch(look.colour) for look in of_group.values())


def _legend(groups: Labelled) -> str:
    if len(groups) < 2:
        return ""
    buttons = (
        f'<button type="button" data-run="{run}" aria-pressed="true">{_swatches(of_group)}{escape(label)}'
        "</button>"
        for run, ((label, _), of_group) in enumerate(zip(groups, looks(groups), strict=True))
    )
    return f'<nav class="runs" aria-label="Runs to show">{"".join(buttons)}</nav>'


def _intervals(groups: Labelled) -> str:
    """Say what the intervals are, where there are any."""
    several = [f"{label}: {len(group.runs)} seeds" for label, group in groups if len(group.runs) > 1]
    if not several:
        return ""
    if len(groups) == 1:
        several = [f"{len(groups[0][1].runs)} seeds"]
    meaning = (
        "Figures are means over the seeds, ± half of their 95 % interval; lines are means, and the band or "
        "bar around a line is this interval."
    )
    return f'<p class="intervals">{escape("; ".join(several))}. {meaning}</p>'


def _interval(compared: comparison.Comparison) -> str:
    """Say what interval the figures cover."""
    said = compared.interval
    return f'<p class="intervals">{escape(said[0].upper() + said[1:])}.</p>' if said else ""


def _findings(compared: comparison.Comparison) -> str:
    items = "".join(f"<li>{escape(finding)}</li>" for finding in compared.findings)
    needs = f'<p class="intervals">{escape(compared.needs)}</p>' if compared.needs else ""
    return (f'<ul class="findings">{items}</ul>' if items else "") + needs


def _summary(compared: comparison.Comparison, groups: Labelled) -> str:
    if len(groups) == 1:
        return opening(groups) + _overview(groups[0][1], looks(groups)[0], compared.selected)
    heads = "".join(
        f'<th scope="col">{_swatches(of_group)}{escape(label)}</th>'
        for label, of_group in zip(compared.labels, looks(groups), strict=True)
    )
    rows = []
    for row in compared.rows:
        cells = (
            f'<td class="best">{escape(row.readable(column))}</td>'
            if column in row.best
            else f"<td>{escape(row.readable(column))}</td>"
            for column in range(len(row.values))
        )
        rows.append(f'<tr><th scope="row">{escape(row.heading)}</th>{"".join(cells)}</tr>')
    return table(f"<th></th>{heads}", rows)


def _overview(group: Seeds, of_group: Mapping[str, Look], selected: Selected) -> str:
    """Show a single run: a column for the whole and one for each transport."""
    names = ["", *of_group]
    left = [
        (name, column)
        for name, column in zip(names, group.columns(), strict=False)
        if selected.has_group(name)
    ]
    shown = Overview.of([column for _, column in left])
    heads = "".join(
        f'<th scope="col">{swatch(of_group[name].colour) if name else ""}{escape(heading)}</th>'
        for (name, _), heading in zip(left, shown.headings, strict=True)
    )
    rows = []
    for key, (label, cells) in zip(shown.keys, shown.rows, strict=True):
        if selected.has_figure(figure_of(key)):
            values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            rows.append(f'<tr><th scope="row">{escape(label)}</th>{values}</tr>')
    return table(f"<th></th>{heads}", rows)


def _missing(empty: Sequence[Chart]) -> str:
    """Say what other charts there could be, and how to get them."""
    items = "".join(
        f"<li><b>{escape(chart.title)}</b>: {escape(chart.remedy)}</li>" for chart in empty if chart.remedy
    )
    return f'<section class="missing"><h2>Not shown</h2><ul>{items}</ul></section>' if items else ""


def _slowdowns(groups: Labelled) -> str:
    rows = []
    found = slowdowns(groups)
    for size, fared in found:
        for number, each in enumerate(fared):
            first = f'<th scope="rowgroup" rowspan="{len(fared)}">{escape(size)}</th>' if number == 0 else ""
            label = f'<td class="label">{swatch(each.look.colour)}{escape(each.label)}</td>'
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in each.cells())
            rows.append(f"<tr>{first}{label}{cells}</tr>")
    if not rows:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("flow size", "", *HEADINGS))
    return (
        "<section><h2>Slowdown by flow size</h2><p>Completion time over that of an empty network. Unfinished "
        "flows count with their age: a figure that depends on them is a lower bound, ≥.</p>"
        f"{table(heads, rows)}</section>"
    )


def _settings(compared: comparison.Comparison) -> str:
    """Show what all scenarios have and differ in, and what only some have folded away."""
    rows: dict[bool, list[str]] = {True: [], False: []}
    for key, values in compared.settings.items():
        cells = (f"<td>{escape(comparison.setting(value))}</td>" for value in values)
        of_all = None not in values
        rows[of_all].append(f'<tr><th scope="row"><code>{escape(key)}</code></th>{"".join(cells)}</tr>')
    heads = "".join(f'<th scope="col">{escape(label)}</th>' for label in compared.labels)
    shown = table(f"<th></th>{heads}", rows[True]) if rows[True] else ""
    if rows[False]:
        count = len(rows[False])
        summary = f"{count} {'key' if count == 1 else 'keys'} that not all of them have"
        inside = table(f"<th></th>{heads}", rows[False])
        shown += f"<details><summary>{summary}</summary>{inside}</details>"
    return f"<section><h2>What the scenarios differ in</h2>{shown}</section>" if shown else ""


def provenance(groups: Labelled) -> str:
    """Show of each run what it takes to have it again, and its digest."""
    runs = [(label, run) for label, group in groups for run in group.runs]
    named = any(label != run.name for label, run in runs)
    rows = []
    for label, run in runs:
        cells = (
            *([run.name] if named else []),
            str(run.seed),
            run.digest,
            readable("count", run.packet_hops),
            readable("time", run.wall_s * 1e6),
            run.version,
        )
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(label)}</th>{values}</tr>')
    heads = ("", *(["scenario"] if named else []), "seed", "digest", "packet-hops", "wall time", "version")
    return table("".join(f'<th scope="col">{head}</th>' for head in heads), rows)


def table(head: str, rows: Sequence[str], kind: str = "") -> str:
    """Lay out rows of cells; the style sheet knows the kind."""
    body = "".join(rows)
    of_kind = f' class="{kind}"' if kind else ""
    inside = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table{of_kind}>{inside}</table></div>'


def card(number: int, chart: Chart) -> str:
    """Make room for the chart of this number."""
    body = (
        f'<div class="chart" data-chart="{number}" role="img" aria-label="{escape(chart.title)}"></div>'
        if chart.lines
        else f'<p class="empty">{escape(chart.remedy)}</p>'
    )
    note = escape(chart.full_note)
    return f'<section class="card"><h2>{escape(chart.title)}</h2><p>{note}</p>{body}</section>'
