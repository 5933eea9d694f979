"""The page around the charts: tables as HTML, data as JSON, script and style inlined. It needs no network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources

from clearway import _clearway, comparison
from clearway.figures import readable
from clearway.report.charts import Chart, charts
from clearway.runs import Run, Seeds

_COLOURS = 8  # that style.css defines
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def page(runs: Sequence[tuple[str, Run]]) -> str:
    """Return the page about these runs, each with the label it goes by."""
    compared = comparison.compare([(label, Seeds([run])) for label, run in runs], labelled=True)
    drawn = charts(runs)
    labels = [label for label, _ in runs]
    slots = {
        "title": escape(
            " and ".join(labels) if len(labels) <= 3 else f"{labels[0]} and {len(labels) - 1} more"
        ),
        "legend": _legend(labels) if len(labels) > 1 else "",
        "findings": _findings(compared),
        "summary": _summary(compared),
        "charts": "\n".join(card(number, chart) for number, chart in enumerate(drawn)),
        "settings": _settings(compared),
        "provenance": _provenance(runs),
        "version": escape(_clearway.VERSION),
        # A label may hold anything, "</script>" too.
        "data": json.dumps([chart.as_json() for chart in drawn], separators=(",", ":")).replace(
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


def labelled(runs: Sequence[tuple[str, Run]]) -> list[tuple[str, Run]]:
    """Give runs that come from directories of these names labels that differ."""
    labels = comparison.labels_of([(source, run.name) for source, run in runs])
    return [(label, run) for label, (_, run) in zip(labels, runs, strict=True)]


def asset(name: str) -> str:
    """Read a file of the page."""
    return resources.files("clearway.report").joinpath(name).read_text(encoding="utf-8")


def swatch(run: int) -> str:
    """Show a run's colour."""
    return f'<i class="swatch" style="--colour: var(--series-{run % _COLOURS + 1})"></i>'


def _legend(labels: Sequence[str]) -> str:
    buttons = (
        f'<button type="button" data-run="{run}" aria-pressed="true">{swatch(run)}{escape(label)}</button>'
        for run, label in enumerate(labels)
    )
    return f'<nav class="runs" aria-label="Runs to show">{"".join(buttons)}</nav>'


def _findings(compared: comparison.Comparison) -> str:
    if not compared.findings:
        return ""
    items = "".join(f"<li>{escape(finding)}</li>" for finding in compared.findings)
    return f'<ul class="findings">{items}</ul>'


def _summary(compared: comparison.Comparison) -> str:
    heads = "".join(
        f'<th scope="col">{swatch(run)}{escape(label)}</th>' for run, label in enumerate(compared.labels)
    )
    rows = []
    for row in compared.rows:
        cells = (
            f'<td class="best">{escape(row.readable(column))}</td>'
            if column in row.best
            else f"<td>{escape(row.readable(column))}</td>"
            for column in range(len(row.values))
        )
        rows.append(f'<tr><th scope="row">{escape(row.label)}</th>{"".join(cells)}</tr>')
    return table(f"<th></th>{heads}", rows)


def _settings(compared: comparison.Comparison) -> str:
    if not compared.settings:
        return ""
    heads = "".join(f'<th scope="col">{escape(label)}</th>' for label in compared.labels)
    rows = []
    for key, values in compared.settings.items():
        cells = (f"<td>{escape(comparison.setting(value))}</td>" for value in values)
        rows.append(f'<tr><th scope="row"><code>{escape(key)}</code></th>{"".join(cells)}</tr>')
    return f"<section><h2>What the scenarios differ in</h2>{table(f'<th></th>{heads}', rows)}</section>"


def _provenance(runs: Sequence[tuple[str, Run]]) -> str:
    rows = []
    for label, run in runs:
        cells = (
            run.name,
            str(run.seed),
            run.digest,
            readable("count", run.packet_hops),
            readable("time", run.wall_s * 1e6),
            run.version,
        )
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(label)}</th>{values}</tr>')
    heads = ("", "scenario", "seed", "digest", "packet-hops", "wall time", "version")
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
    return f'<section class="card"><h2>{escape(chart.title)}</h2><p>{escape(chart.note)}</p>{body}</section>'
