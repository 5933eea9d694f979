"""The page of a paper: verdicts, figures beside the paper's numbers, parameters with their sources."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from clearway import documents
from clearway.figures import readable
from clearway.machine import machine
from clearway.paper import plots
from clearway.paper.claims import Judged
from clearway.paper.evaluation import SEED
from clearway.paper.experiment import Experiment, PlannedRun
from clearway.paper.frontier import frontier_of, frontier_rows
from clearway.paper.papers import Paper
from clearway.paper.parameters import Parameter
from clearway.paper.result import Reproduced, tallies
from clearway.paper.scenario_texts import text_of
from clearway.report.chart import Chart
from clearway.report.copyable import copyable
from clearway.report.page import table
from clearway.report.sheet import Bars, Sheet
from clearway.sweeps.frontier_charts import frontier_charts
from clearway.sweeps.overrides import label_of

_INSIDE_NUMBER = re.compile(r"(?<=[\d±]) (?=[%±\d]|(?:[num]?s|[kMG]?B|[kMGT]b/s)\b)")
_SEEDS = (
    "Ours is the mean over the seeds, with half the width of its 95 % interval where they differ; of losses "
    "counted over all seeds together, the ends of the interval are in parentheses. A claim holds "
    "if all of the interval is within the bar, and straddles it if a part is."
)


def page(paper: Paper, done: Sequence[Reproduced], *, full: bool) -> str:
    """Return the page."""
    sheet = Sheet(f"{paper.name.capitalize()}: the paper's figures, run anew")
    claims = [claim for each in done for claim in each.claims]
    sheet.sections.append(_overview(claims, full=full))
    sheet.sections.extend(_figure(sheet, each) for each in done)
    sheet.sections.append(_parameters(paper.parameters))
    sheet.sections.append(_provenance(done))
    return sheet.page()


def _overview(claims: Sequence[Judged], *, full: bool) -> str:
    if not claims:
        return ""
    paper, extensions = (
        "".join(f"<span>{_badge(verdict)} {count}</span>" for verdict, count in counts.items())
        for counts in tallies(claims)
    )
    beyond = (
        f'<p>Beyond the paper, counted apart:</p><div class="tally">{extensions}</div>' if extensions else ""
    )
    scale = "the paper's scale" if full else "a reduced scale (--full runs the paper's)"
    return (
        f"<section><h2>Verdicts</h2><p>At {scale}. {_SEEDS}</p>"
        f'<div class="tally">{paper}</div>{beyond}'
        f"{_claims(claims, figures=True, reasons=False)}</section>"
    )


def _claims(claims: Sequence[Judged], *, figures: bool, reasons: bool) -> str:
    heads = ["Figure"] if figures else []
    heads += ["Claim", "Paper", "Ours, 95 % interval", "Bar", "Seeds", "Verdict"]
    rows = []
    for claim in claims:
        cells = []
        if figures:
            cells.append(
                f'<th scope="row"><a href="#{escape(claim.experiment)}">{escape(claim.figure)}</a></th>'
            )
        reason = f'<span class="reason">{escape(claim.reason)}</span>' if reasons and claim.reason else ""
        cells.append(f"<td>{escape(claim.text)}{reason}</td>")
        cells.append(f'<td class="number" data-name="Paper">{_numbers(claim.readable(claim.paper))}</td>')
        control = (
            f'<span class="reason">control: {_numbers(claim.readable(claim.control))}</span>'
            if claim.control is not None
            else ""
        )
        cells.append(
            f'<td class="number" data-name="Ours">{_numbers(claim.readable(claim.ours))}{control}</td>'
        )
        cells.append(f'<td data-name="Bar">{_numbers(claim.asked)}</td>')
        cells.append(f'<td class="number" data-name="Seeds">{escape(claim.seeds)}</td>')
        where = '<span class="reason">on this machine</span>' if claim.machine is not None else ""
        cells.append(f"<td>{_badge(claim.verdict)}{where}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return table("".join(f'<th scope="col">{head}</th>' for head in heads), rows, "claims")


def _numbers(text: str) -> str:
    """Keep each number, its interval and its unit on one line."""
    return _INSIDE_NUMBER.sub("&nbsp;", escape(text))


def _badge(verdict: str) -> str:
    return f'<span class="badge {verdict.replace(" ", "-")}">{escape(verdict)}</span>'


def _figure(sheet: Sheet, each: Reproduced) -> str:
    experiment = each.experiment
    notes = "".join(
        f'<p class="note">{what}{escape(text)}</p>'
        for what, text in (
            ("The paper: ", experiment.setup),
            ("Here: ", experiment.model),
            ("Timed on: ", machine() if experiment.timed else ""),
        )
        if text
    )
    claims = _claims(each.claims, figures=False, reasons=True) if each.claims else ""
    frontier = f'<p class="note">{escape(each.conclusion)}</p>' if experiment.frontier is not None else ""
    return (
        f'<section class="figure" id="{escape(experiment.id)}"><h2>{escape(experiment.figure)}: '
        f"{escape(experiment.title)}</h2>{notes}{claims}{frontier}{sheet.drawn(drawings(each))}"
        f"{_scenarios(experiment)}</section>"
    )


def drawings(each: Reproduced) -> list[Chart | Bars]:
    """Draw the plots of an experiment, the paper's points among them, and its frontier if it has one."""
    drawn = [plots.drawn(plot, each.runs) for plot in each.experiment.plots]
    return [*drawn, *(_frontier(each.experiment, each) if each.experiment.frontier is not None else [])]


def _frontier(experiment: Experiment, each: Reproduced) -> list[Chart]:
    assert experiment.frontier is not None
    frontier = frontier_of(experiment.frontier, experiment.id)
    combinations, rows = frontier_rows(experiment, each.runs)
    ours = experiment.frontier.get("reference")
    reference = next((index for index, axes in enumerate(combinations) if axes == ours), None)
    texts = [
        "\n".join([label_of(axes), *(f"{name}: {readable('plain', value)}" for name, value in row.items())])
        for axes, row in zip(combinations, rows, strict=True)
    ]
    return frontier_charts({name: name for name in frontier.objectives}, rows, frontier, texts, reference)


def _scenarios(experiment: Experiment) -> str:
    """Show what was run, folded away: a scenario as a file to copy, a measurement with its arguments."""
    blocks = []
    for run in experiment.runs:
        shown = _arguments(run) if run.measure is not None else copyable(text_of(experiment, run))
        blocks.append(f"<h3>{escape(run.label)}</h3>{shown}")
    if not blocks:
        return ""
    return f"<details><summary>Scenarios</summary>{''.join(blocks)}</details>"


def _arguments(run: PlannedRun) -> str:
    """Show what a measurement on this machine was given."""
    seeds = len({variant[SEED] for variant in run.variants})
    sets = "".join(f"{key} = {json.dumps(value)}\n" for key, value in run.overrides.items())
    axes = "".join(
        f"{key}: {', '.join(dict.fromkeys(str(variant[key]) for variant in run.variants))}\n"
        for key in run.variants[0]
        if key != SEED
    )
    document = documents.tables_of({key: value for key, value in run.document.items() if key != "name"})
    parts = [document, f"\nset:\n{sets}" if sets else "", f"\nseeds: 1 to {seeds}\n{axes}"]
    return f"<pre>{escape(''.join(parts))}</pre>"


def _parameters(parameters: Sequence[Parameter]) -> str:
    rows = []
    for entry in parameters:
        fitted = f" Fitted on {', '.join(entry.fitted_on)}." if entry.fitted_on else ""
        rows.append(
            f'<tr><th scope="row"><code>{escape(entry.key)}</code></th>'
            f'<td class="number">{escape(_written(entry.value))}</td><td>{escape(entry.source)}</td>'
            f"<td>{escape(entry.why + fitted)}</td></tr>"
        )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("Key", "Value", "Source", "Why"))
    return (
        "<section><h2>Parameters</h2><p>One set for all figures. What a figure sets otherwise is in its "
        f"scenarios.</p>{table(heads, rows, 'prose')}</section>"
    )


def _provenance(done: Sequence[Reproduced]) -> str:
    rows = []
    for each in done:
        runs = [run for made in each.runs.values() for _, run in made.points]
        hops = sum(run.packet_hops for run in runs)
        wall = sum(run.wall_s for run in runs)
        cells = (str(len(runs)), readable("count", hops), readable("time", wall * 1e6))
        values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{escape(each.experiment.figure)}</th>{values}</tr>')
    heads = "".join(
        f'<th scope="col">{head}</th>' for head in ("", "runs", "packet-hops", "time of all runs")
    )
    return f"<section><h2>What it took</h2>{table(heads, rows)}</section>"


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
