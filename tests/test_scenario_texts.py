"""The scenarios that a paper's page shows: each is a file that gives the runs of its figure."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import clearway as cw
import pytest
from clearway import _clearway, api, documents, report
from clearway.measurement import Measurement
from clearway.paper import papers, reading, reproduce
from clearway.paper.experiment import Experiment
from clearway.paper.page import page
from clearway.paper.result import Reproduced
from clearway.paper.scenario_texts import text_of
from clearway.sweeps import sweep

from tests.conftest import SMALL

pytestmark = pytest.mark.slow

_PAPERS = ("swift", "fastpass", "swing")


def experiments(name: str) -> list[Experiment]:
    return list(reading.experiments(papers.paper_named(name), [], full=False))


def resolved(scenario: _clearway.Scenario | Measurement) -> dict[str, object]:
    found: dict[str, object] = json.loads(scenario.resolved)
    return found


@pytest.mark.parametrize("name", _PAPERS)
def test_a_text_gives_the_points_of_its_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every point of every run, as it is resolved: what is copied is what was run."""
    for experiment in experiments(name):
        monkeypatch.chdir(experiment.path.parent)
        (ready,) = reproduce.prepare([experiment])
        for run, points in ready.points:
            if run.measure is not None:
                continue
            text = text_of(experiment, run)
            if len(points) == 1:
                found = [resolved(api.load_scenario(text, [], None))]
            else:
                found = [resolved(point.scenario) for point in sweep.plan(text).points]
            wanted = [resolved(point.scenario) for point in points]
            for each in (*found, *wanted):
                each.pop("name")
            assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, wanted)), (
                experiment.id,
                run.name,
            )


def test_a_text_says_what_it_is_and_how_it_is_run() -> None:
    (figure,) = (each for each in experiments("swift") if each.id == "fig20")
    text = text_of(figure, figure.runs[0])
    first, second, third, *_ = text.splitlines()
    assert first == f"# {figure.figure}: {figure.title}"
    assert second == f"# {figure.runs[0].label}"
    assert re.fullmatch(r"# clearway (run FILE|sweep FILE: \d+ points, seeds: 1 to \d+)", third)
    relays = [text_of(each, run) for each in experiments("swing") for run in each.runs]
    assert any("# The files that it names are in clearway/papers/swing." in each for each in relays)


@pytest.mark.parametrize("name", _PAPERS)
def test_the_page_has_each_text_with_a_button(name: str) -> None:
    done = [Reproduced(each, {}, [], 0, 0) for each in experiments(name) if not each.plots][:3]
    done = done or [Reproduced(experiments(name)[0], {}, [], 0, 0)]
    shown = page(papers.paper_named(name), [replaced(each) for each in done], full=False)
    blocks = re.findall(r'<button type="button" class="copy">Copy</button><pre>(.*?)</pre>', shown, re.DOTALL)
    wanted = [
        text_of(each.experiment, run) for each in done for run in each.experiment.runs if not run.measure
    ]
    assert [unescape(block) for block in blocks] == wanted
    assert 'querySelectorAll("button.copy")' in shown
    assert "default-src 'none'" in shown


def replaced(each: Reproduced) -> Reproduced:
    """Take from an experiment what needs runs to be drawn."""
    return replace(each, experiment=replace(each.experiment, plots=[], frontier=None))


def test_a_report_has_its_scenario_with_a_button(workspace: Path) -> None:
    run = cw.run(SMALL)
    shown = report.page([("one", run)])
    (block,) = re.findall(r'class="copy">Copy</button><pre>(.*?)</pre>', shown, re.DOTALL)
    (workspace / "copied.toml").write_text(unescape(block), encoding="utf-8")
    assert cw.run(workspace / "copied.toml").digest == run.digest


def test_values_at_dotted_keys() -> None:
    document = {"a": {"b": 1}, "list": [{"x": 1}, {"x": 2}], "gone": {"here": 1, "not": 2}}
    values = {"a.c": 2, "a.new.deep": 3, "list[1].x": 9, "gone.not": None, "gone.never": None}
    changed = documents.with_values(document, values)
    assert changed == {
        "a": {"b": 1, "c": 2, "new": {"deep": 3}},
        "list": [{"x": 1}, {"x": 9}],
        "gone": {"here": 1},
    }
    assert document["list"] == [{"x": 1}, {"x": 2}], "what is given is left as it is"
