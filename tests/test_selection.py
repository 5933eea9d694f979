"""Rows of a comparison that are asked for: what is left out, and that nothing else changes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway import report
from clearway.comparison import Comparison, compare
from clearway.errors import ClearwayError
from clearway.figures import FIGURES
from clearway.selection import Selection

from tests.conftest import SMALL, Clearway, written
from tests.test_compare import made_up, of, sure

TWO: dict[str, Any] = {
    **SMALL,
    "name": "two classes",
    "class": {"first": {"priority": 0}, "second": {"priority": 1}},
    "transport": {
        "fast": {"protocol": "swift", "class": "first"},
        "slow": {"protocol": "dctcp", "class": "second"},
    },
    "traffic": [{**SMALL["traffic"][0], "transport": name} for name in ("fast", "slow")],
    "record": {},
}
"""Two transports, each in a class of its own."""


def shown(compared: Comparison) -> list[str]:
    return [row.label for row in compared.rows]


def many(name: str, shift: float) -> tuple[str, cw.Seeds]:
    """Twenty figures of three seeds, of which the first is shifted."""
    keys = [figure.key for figure in FIGURES if figure.better == "lower" and figure.headline][:10]
    keys += [figure.key for figure in FIGURES if figure.better == "lower" and not figure.headline][:10]
    runs = []
    for seed in range(3):
        run = made_up(name, seed)
        run.summary.update(dict.fromkeys(keys, 50.0 + (-1.0, 0.0, 1.0)[seed]))
        run.summary[keys[0]] += shift
        runs.append(run)
    return of(*runs)


def test_no_choice_makes_a_difference_significant() -> None:
    """By itself the figure would be told apart at 5 %, and among twenty that are tested with it is not."""
    first, second = many("a", 0.0), many("b", 3.0)
    key = next(iter(first[1].runs[0].summary))
    alone = [
        ("", cw.Seeds([replace(run, summary={key: run.summary[key]}) for run in group.runs]))
        for _, group in (first, second)
    ]
    assert compare(alone).rows[0].best == {0}
    (row,) = compare([first, second], selection=Selection(figures=(key,))).rows
    assert row.best == frozenset()
    whole = {row.label: row for row in compare([first, second]).rows}
    for pattern in (key, "*_us", "*"):
        chosen = compare([first, second], selection=Selection(figures=(pattern,)))
        assert [row.apart for row in chosen.rows] == [whole[row.label].apart for row in chosen.rows]


def test_figures_by_key_by_label_and_by_pattern() -> None:
    runs = [sure(made_up(name, rtt_p99_us=x, rtt_mean_us=x, marks=x)) for name, x in (("a", 1.0), ("b", 9.0))]
    for asked, left in {
        ("rtt_p99_us",): ["p99 RTT"],
        ("P99 rtt",): ["p99 RTT"],
        ("rtt_*",): ["mean RTT", "p99 RTT"],
        ("marks", "rtt_mean*"): ["mean RTT", "ECN marks"],
        (): ["mean RTT", "p99 RTT", "ECN marks"],
    }.items():
        compared = compare(runs, selection=Selection(figures=asked))
        assert shown(compared) == left
    compared = compare(runs, selection=Selection(figures=("rtt_mean_us",)))
    assert compared.findings == ["a: 9x lower mean RTT than b"]
    marks = compare(runs, selection=Selection(figures=("marks",)))
    assert marks.findings == []
    assert "ECN marks" in repr(marks), "what is asked for is shown, main figure or not"


def test_transports_and_classes(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "two.toml", TWO)
    assert clearway("run", file, "--out", "there").status == 0
    compared = cw.compare("there", "there")
    assert {row.group for row in compared.rows} == {"", "fast", "slow"}
    fast = [row.label for row in compared.rows if row.group == "fast"]
    for left in (cw.compare("there", transports="fast"), cw.compare("there", classes=["first"])):
        assert shown(left) == fast
    both = cw.compare("there", transports=["fast", "slow"], classes="second", figures="goodput*")
    assert shown(both) == ["slow: goodput"]
    answer = clearway("compare", "there", "--class", "second", "--figure", "fct_*")
    assert answer.status == 0
    assert "slow: mean completion" in answer.out
    assert "fast" not in answer.out
    assert "goodput" not in answer.out


def test_json_has_the_figures_that_are_left(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "two.toml", TWO)
    assert clearway("run", file, "--out", "one").status == 0
    assert clearway("run", file, "--seeds", "2", "--out", "two").status == 0
    found = clearway("compare", "one", "two", "--figure", "fct_m*_us", "--transport", "slow", "--json").json
    assert found["selection"] == {"figures": ["fct_m*_us"], "transports": ["slow"], "classes": []}
    for column in found["columns"]:
        assert list(column["summary"]) == ["transports"]
        assert list(column["summary"]["transports"]) == ["slow"]
        figures = set(column["summary"]["transports"]["slow"]) - {"absent", "lower_bounds"}
        assert figures == {"fct_mean_us", "fct_max_us"}
    whole = clearway("compare", "one", "--figure", "drops", "--json").json["columns"][0]["summary"]
    assert whole["drops"] == 0
    assert "fct_mean_us" not in whole
    assert clearway("compare", "one", "--json").json["selection"] is None


def test_a_page_has_the_rows_that_are_left(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "two.toml", TWO)
    assert clearway("run", file, "--out", "one").status == 0
    assert clearway("run", file, "--set", "seed=8", "--out", "two").status == 0

    def overview(*arguments: str) -> str:
        assert clearway("report", *arguments, "-o", "page.html").status == 0
        page = Path("page.html").read_text(encoding="utf-8")
        return page[page.index('<section class="overview">') : page.index('<div class="charts">')]

    assert "slow: mean completion" in overview("one", "two")
    left = overview("one", "two", "--transport", "fast", "--figure", "goodput*")
    assert ">fast: goodput<" in left
    assert left.count('<th scope="row">') == 1
    one = overview("one", "--transport", "fast", "--figure", "goodput*", "--figure", "unfinished*")
    assert one.count('<th scope="row">') == 2
    assert (">fast<" in one, ">slow<" in one, ">all<" in one) == (True, False, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--figure", "fct_p9_us"), ["figure fct_p9_us", "did you mean", "fct_p99_us"]),
        (("--figure", "rebuild_us"), ["figure rebuild_us: none of the rows has this key or label"]),
        (("--figure", "goodput", "--figure", "zzz*"), ["figure zzz*", "there is"]),
        (("--transport", "fats"), ["transport fats: not in these runs", "did you mean fast?"]),
        (("--class", "frist"), ["class frist: not in these runs", "did you mean first?"]),
        (("--class", "nobody"), ["class nobody: no transport has its data in it"]),
        (("--class", "first", "--transport", "slow"), ["no transport of slow is in class first"]),
        (("--figure", ""), ["--figure: found nothing"]),
        (("--figure", " "), ["--figure: found nothing"]),
    ],
)
def test_what_is_not_there_is_named(
    arguments: tuple[str, ...], words: list[str], clearway: Clearway, workspace: Path
) -> None:
    document = {
        **TWO,
        "class": {**TWO["class"], "nobody": {"priority": 2}},
        "transport": {**TWO["transport"], "fast": {**TWO["transport"]["fast"], "ack_class": "nobody"}},
    }
    assert clearway("run", written(workspace / "two.toml", document), "--out", "there").status == 0
    for command in (("compare", "there", "there"), ("report", "there", "-o", "page.html")):
        answer = clearway(*command, *arguments)
        assert answer.status == 2
        assert answer.out == ""
        for word in words:
            assert word in answer.err
    assert not Path("page.html").exists()


def test_a_run_with_one_transport_has_no_rows_of_it(small: Path) -> None:
    with pytest.raises(ClearwayError, match="the rows of the whole run are its own"):
        cw.compare(small, transports="bulk")
    with pytest.raises(ClearwayError, match=r"have no \[class\.NAME\] tables"):
        cw.compare(small, classes="bulk")


def test_a_figure_that_cannot_be_is_told_before_anything_is_run(
    clearway: Clearway, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **_more: object) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("clearway.execution.execute_each", fail)
    assert (
        "figure gooodput: no figure has this key or label"
        in clearway("compare", small, "--figure", "gooodput").err
    )
    with pytest.raises(ClearwayError, match="did you mean goodput_gbps"):
        cw.compare(small, figures="gooodput_gbps")


@pytest.mark.parametrize("name", ["figures", "transports", "classes"])
@pytest.mark.parametrize("value", [5, [5], [""], "", {"a": 1}, "\ud800"])
def test_names_that_are_none(name: str, value: Any, small: Path) -> None:
    call: Callable[..., Any] = cw.compare
    with pytest.raises(ClearwayError, match=name):
        call(small, **{name: value})


def test_a_measured_run_is_held_against_its_simulation_in_what_is_left() -> None:
    """What is said of real hosts is of the figures that are asked for."""
    model = sure(made_up("model", rtt_mean_us=10.0, goodput_gbps=5.0))
    real = of(replace(made_up("real", rtt_mean_us=30.0, goodput_gbps=5.0), testbed={"carrier": "udp"}))
    assert len(compare([model, real]).findings) == 2
    (finding,) = compare([model, real], selection=Selection(figures=("rtt_*",))).findings
    assert finding.startswith("mean RTT: real (measured) has 30 us")


def test_the_page_from_python_takes_a_selection(small: Path) -> None:
    run = cw.run(small)
    page = report.page([("one", run)], Selection(figures=("goodput*",)))
    assert page.count('<tr><th scope="row">goodput</th>') == 1
    assert "mean RTT" not in page[page.index('<section class="overview">') : page.index('class="charts"')]
