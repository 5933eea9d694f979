"""The page about a tuning: what came out, the objective trial by trial and over each key, and the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from clearway.report.chart import Chart, Floats, Line
from clearway.report.page import table
from clearway.report.sheet import Bar, Bars, Sheet
from clearway.statistics import Interval
from clearway.sweeps.figures import name_of
from clearway.sweeps.frontier_charts import apart
from clearway.sweeps.overrides import label_of, short_keys
from clearway.sweeps.page import axis_label, title_of, unit_of
from clearway.tuning import words
from clearway.tuning.confirmation import Confirmation
from clearway.tuning.file import TuneFile
from clearway.tuning.space import Parameter
from clearway.tuning.trials import Trial

_MOST_ROWS = 500


def page(
    file: TuneFile,
    title: str,
    trials: Sequence[Trial],
    best: Trial | None,
    confirmation: Confirmation | None,
    importances: Mapping[str, float],
    sentences: Sequence[str],
) -> str:
    """Return the page."""
    sheet = Sheet(title)
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    sheet.sections.append(
        f'<section class="figure"><h2>What came out</h2><ul class="findings">{items}</ul></section>'
    )
    if confirmation is not None:
        sheet.sections.append(_confirmed(file, confirmation))
    drawings: list[Chart | Bars] = [_by_trial(file, trials, best)]
    drawings += [_over(file, each, trials, best) for each in file.parameters]
    if importances:
        drawings.append(_importances(importances))
    sheet.sections.append(sheet.drawn(drawings))
    sheet.sections.append(_trials(file, trials, best))
    return sheet.page()


def _confirmed(file: TuneFile, of: Confirmation) -> str:
    """Lay out what the seeds of the test say, a row a set of values."""
    heads = "<th></th>" + "".join(f'<th scope="col">{escape(name_of(name))}</th>' for name in file.figures)
    rows = [("the scenario's own values", of.own), ("the best", of.best)]
    rows += [(f"the best, {words.set_back(file, each)}", each.measured) for each in of.set_back]
    body = [
        f"<tr{' class=' + chr(34) + 'chosen' + chr(34) if each is of.best else ''}>"
        f'<th scope="row">{escape(label)}</th>'
        + "".join(f"<td>{escape(each.written(name))}</td>" for name in file.figures)
        + "</tr>"
        for label, each in rows
    ]
    note = f"{len(of.seeds)} seeds that the search has not seen: means with their 95 % intervals."
    heading = f'<h2>On other seeds</h2><p class="note">{escape(note)}</p>'
    return f'<section class="figure">{heading}{table(heads, body)}</section>'


def _by_trial(file: TuneFile, trials: Sequence[Trial], best: Trial | None) -> Chart:
    """Draw the objective of each trial, and the best of those so far."""
    lines = _marked(file, trials, best, {each.number: float(each.number) for each in trials})
    so_far, known = [], None
    for each in trials:
        if each.eligible and (known is None or each.rank(file.objective) < known.rank(file.objective)):
            known = each
        if known is not None and known.objective is not None:
            so_far.append((each.number, float(known.objective.mean)))
    if so_far:
        xs, ys = (np.array(column, dtype=float) for column in zip(*so_far, strict=True))
        lines.append(Line("best so far", 2, xs, ys))
    return Chart(
        f"{title_of(file.objective.figure)} by trial",
        f"Trial 0 has the scenario's own values. {_note(file, trials)}",
        "trial",
        axis_label(file.objective.figure, "bytes"),
        lines,
        "no trial has the objective",
        log_y=_wide([float(each.objective.mean) for each in trials if each.objective is not None]),
        zoom=True,
    )


def _over(file: TuneFile, parameter: Parameter, trials: Sequence[Trial], best: Trial | None) -> Chart:
    """Draw the objective over the values of a key; those that are no numbers by their place in the list."""
    own = file.own[parameter.key]
    values = {each.number: each.measured.overrides.get(parameter.key, own) for each in trials}
    numbers = {number: parameter.number(value) for number, value in values.items() if value is not None}
    known = {number: value for number, value in numbers.items() if value is not None}
    listed = ""
    if len(known) < len(numbers):
        places = {str(value): place for place, value in enumerate(parameter.values)}
        known = {
            number: float(places[str(value)]) for number, value in values.items() if str(value) in places
        }
        listed = " " + ", ".join(f"{place} is {value}" for value, place in places.items()) + "."
    unit = "" if listed else unit_of(parameter.ends[0])
    return Chart(
        f"{title_of(file.objective.figure)} over {parameter.key}",
        f"Every trial.{listed} {_note(file, trials)}",
        f"{parameter.key} ({unit})" if unit else parameter.key,
        axis_label(file.objective.figure, "bytes"),
        _marked(file, trials, best, known),
        "no trial has the objective",
        log_x=not listed and (parameter.log or _wide(list(known.values()))),
        log_y=_wide([float(each.objective.mean) for each in trials if each.objective is not None]),
        zoom=True,
    )


def _marked(
    file: TuneFile, trials: Sequence[Trial], best: Trial | None, at: Mapping[int, float]
) -> list[Line]:
    """Draw trials as marks at places: those beyond a limit, those within, the scenario's own, the best."""
    there = [each for each in trials if each.objective is not None and each.number in at]
    own = [each for each in there if each.number == 0]
    chosen = [each for each in there if best is not None and each.number == best.number and each.number]
    rest = [each for each in there if each not in own and each not in chosen]
    groups = {
        "breaks a limit": (7, [each for each in rest if not each.eligible]),
        "keeps the limits" if file.limits else "tried": (0, [each for each in rest if each.eligible]),
        _own_label(own, best): (3, own),
        "the best": (1, chosen),
    }
    lines = []
    for label, (colour, members) in groups.items():
        if not members:
            continue
        order = sorted(members, key=lambda each: at[each.number])
        of: list[Interval] = [each.objective for each in order if each.objective is not None]
        ys: Floats = np.array([float(each.mean) for each in of])
        texts = [_text(file, each) for each in order]
        xs = apart([at[each.number] for each in order])
        lines.append(Line(label, colour, xs, ys, scatter=True, texts=texts))
    return lines


def _own_label(own: Sequence[Trial], best: Trial | None) -> str:
    if own and best is not None and best.number == 0:
        return "the scenario's own values, the best"
    return "the scenario's own values" + (", which break a limit" if own and not own[0].eligible else "")


def _text(file: TuneFile, of: Trial) -> str:
    """Say what a mark is."""
    values = label_of(of.measured.overrides) if of.measured.overrides else "the scenario's own values"
    lines = [f"trial {of.number}: {values}"]
    lines += [f"{name_of(figure)}: {of.measured.written(figure)}" for figure in file.figures]
    return "\n".join([*lines, *([of.complaint] if of.complaint else [])])


def _note(file: TuneFile, trials: Sequence[Trial]) -> str:
    over = f"Means of {file.seeds} seeds. " if file.seeds > 1 else ""
    missing = sum(each.objective is None for each in trials)
    left = f" {missing} of {len(trials)} trials have no value." if missing else ""
    return f"{over}Point at a mark to see what it is.{left}"


def _importances(importances: Mapping[str, float]) -> Bars:
    names = dict(zip(importances, short_keys(list(importances)), strict=True))
    return Bars(
        "What sets the best trials apart",
        "Each key's share in being among the best quarter of the trials (PED-ANOVA). A hint where to look, "
        "and no test: it knows nothing of chance, and little of values that the search soon left alone.",
        [Bar(names[key], share, f"{share * 100:.0f} %") for key, share in importances.items()],
    )


def _trials(file: TuneFile, trials: Sequence[Trial], best: Trial | None) -> str:
    """Lay out the trials, each with its values and what it is worth."""
    heads = '<th scope="col">trial</th>' + "".join(
        f'<th scope="col" title="{escape(key)}">{escape(short)}</th>'
        for key, short in zip(file.keys, short_keys(file.keys), strict=True)
    )
    heads += "".join(f'<th scope="col">{escape(name_of(name))}</th>' for name in file.figures)
    complaints = any(each.complaint for each in trials)
    heads += '<th scope="col">not eligible, as</th>' if complaints else ""
    rows = []
    for each in trials[:_MOST_ROWS]:
        values = {**file.own, **each.measured.overrides}
        cells = ["-" if values[key] is None else str(values[key]) for key in file.keys]
        cells += [each.measured.written(name) for name in file.figures]
        cells += [each.complaint] if complaints else []
        kind = ' class="chosen"' if best is not None and each.number == best.number else ""
        body = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr{kind}><th scope="row">{each.number}</th>{body}</tr>')
    more = len(trials) - _MOST_ROWS
    note = f"<p>And {more} rows more: the table beside this page has them all.</p>" if more > 0 else ""
    return f"<section><h2>Trials</h2>{table(heads, rows)}{note}</section>"


def _wide(values: Sequence[float]) -> bool:
    """Tell whether values are so far apart that they need a logarithmic axis."""
    return bool(values) and min(values) > 0 and max(values) > 20 * min(values)
