"""`clearway compare`: what is better, by how much, and whether that means anything."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import clearway as cw
import pytest
from clearway.comparison import compare
from clearway.figures import FIGURES
from clearway.overview import Overview
from clearway.runs import Run
from clearway.seeds import Seeds

from tests.conftest import SMALL, Clearway, written


def made_up(name: str, seed: int = 1, scenario: dict[str, Any] | None = None, **summary: float | None) -> Run:
    return Run(name, seed, "1", f"v1:{seed}", 1, 1.0, dict(summary), scenario or {}, {})


def of(*runs: Run) -> tuple[str, Seeds]:
    return "", Seeds(runs)


def sure(run: Run) -> tuple[str, Seeds]:
    """What another seed gives as well: nothing is left to chance."""
    return of(run, replace(run, seed=run.seed + 1))


def test_a_factor_in_words_and_the_better_value_marked() -> None:
    compared = compare([sure(made_up("swift", rtt_p99_us=10.0)), sure(made_up("dctcp", rtt_p99_us=31.0))])
    assert compared.findings == ["swift: 3.1x lower p99 RTT than dctcp"]
    (row,) = compared.rows
    assert row.best == {0}
    assert row.readable(1) == "31 us"


def test_small_differences_in_per_cent_and_none_in_nothing() -> None:
    compared = compare([sure(made_up("a", goodput_gbps=10.0)), sure(made_up("b", goodput_gbps=11.5))])
    assert compared.findings == ["b: 15 % higher goodput than a"]
    alike = compare([sure(made_up("a", goodput_gbps=10.0)), sure(made_up("b", goodput_gbps=10.05))])
    assert alike.findings == []
    assert alike.rows[0].best == frozenset()


def test_none_at_all_against_some() -> None:
    compared = compare([sure(made_up("a", loss_rate=0.0)), sure(made_up("b", loss_rate=0.02))])
    assert compared.findings == ["a: lower loss (0 %, not 2 %) than b"]


def test_three_columns_and_a_missing_value() -> None:
    runs = [made_up("a", rtt_p99_us=10.0), made_up("b", rtt_p99_us=20.0), made_up("c", rtt_p99_us=None)]
    compared = compare([sure(run) for run in runs])
    assert compared.findings == ["a: 2x lower p99 RTT than b"]
    assert compared.rows[0].readable(2) == "-"


def test_a_difference_within_chance_is_said_to_be_none() -> None:
    first = of(*(made_up("a", seed, goodput_gbps=10.0 + seed) for seed in range(3)))
    second = of(*(made_up("b", seed, goodput_gbps=10.5 + seed) for seed in range(3)))
    third = of(*(made_up("c", seed, goodput_gbps=50.0 + seed) for seed in range(3)))
    (finding,) = compare([first, second]).findings
    assert finding.startswith("goodput: no significant difference between b (11.5 ± ")
    assert "c: 4.4x higher goodput than b, 4.6x than a" in compare([first, second, third]).findings


def test_of_one_seed_each_nothing_is_called_better() -> None:
    """It takes other seeds to know what chance does, and the comparison says so once."""
    swift = made_up("swift", rtt_p99_us=10.0, goodput_gbps=9.0)
    dctcp = made_up("dctcp", 2, rtt_p99_us=31.0, goodput_gbps=1.0)
    compared = compare([of(swift), of(dctcp)])
    assert compared.findings == []
    assert [row.best for row in compared.rows] == [frozenset(), frozenset()]
    assert compared.needs.startswith("With one seed each, a difference may be chance")
    assert repr(compared).count("--seeds 5") == compared._repr_html_().count("--seeds 5") == 1
    # What other seeds have shown to be the same needs nothing more, nor does a run beside itself or none.
    for items in ([sure(swift), sure(dctcp)], [of(swift), of(swift)], [of(swift)]):
        assert compare(items).needs == ""
    # The same seed twice is one seed.
    assert compare([of(swift, swift), of(dctcp, dctcp)]).groups[0].without_chance is False


def test_what_can_be_told_is_told_beside_a_single_seed() -> None:
    first = of(*(made_up("a", seed, goodput_gbps=10.0 + seed / 100) for seed in range(3)))
    second = of(*(made_up("b", seed, goodput_gbps=50.0 + seed / 100) for seed in range(3)))
    single = of(made_up("c", 7, goodput_gbps=100.0))
    compared = compare([first, second, single])
    assert compared.findings == ["b: 5x higher goodput than a"]
    assert compared.rows[0].best == frozenset(), "of c nothing is known"
    assert compared.needs.startswith("With one seed of c, a difference may be chance")
    # Chance on one side only: the other has an interval.
    assert compare([sure(made_up("c", goodput_gbps=100.0)), second]).rows[0].best == {0}


def test_many_figures_at_once_make_no_difference_of_chance() -> None:
    """Of twenty figures of the same scenario one differs at 5 %; among twenty that is what chance does."""
    spread = (-1.0, 0.0, 1.0)
    keys = [figure.key for figure in FIGURES if figure.better == "lower"][:20]

    def column(name: str, shift: float, far: float) -> tuple[str, Seeds]:
        runs = [
            replace(made_up(name, seed), summary=dict.fromkeys(keys, 50 + spread[seed])) for seed in range(3)
        ]
        for run in runs:
            run.summary[keys[0]] += shift
            run.summary[keys[1]] += far
        return of(*runs)

    alone = [
        ("", Seeds([replace(run, summary={keys[0]: run.summary[keys[0]]}) for run in group.runs]))
        for _, group in (column("a", 0, 0), column("b", 3, 0))
    ]
    assert compare(alone).rows[0].best == {0}
    compared = compare([column("a", 0, 0), column("b", 3, 0)])
    assert len(compared.rows) == 20
    assert [row.best for row in compared.rows] == [frozenset()] * 20
    # One that is far apart is found among any number.
    compared = compare([column("a", 0, 0), column("b", 3, 90)])
    assert [row.figure.key for row in compared.rows if row.best] == [keys[1]]


def test_a_value_that_is_missing_has_its_reason_below() -> None:
    some = made_up("some", jain=0.9)
    none = made_up("none", 2, jain=None)
    none.summary["absent"] = {"jain": "nobody sent", "loss_rate": "which no row shows"}
    compared = compare([of(some), of(none)])
    assert compared.notes(compared.rows) == ["- of none: nobody sent"]
    both = Seeds([some, none])
    assert both.absent() == {
        "jain": "in 1 of 2 seeds nobody sent",
        "loss_rate": "in 1 of 2 seeds which no row shows",
    }
    found = Seeds([none, none]).summary()
    assert found["jain"] is None
    assert found["absent"]["jain"] == "nobody sent"


def test_seeds_that_all_agree_have_no_interval() -> None:
    (row,) = compare([of(*(made_up("a", seed, flows=100.0) for seed in range(3)))]).rows
    assert row.readable(0) == "100"
    (row,) = compare([of(*(made_up("a", seed, jain=0.1) for seed in range(3)))]).rows
    assert row.readable(0) == "0.1"


def test_neither_way_better_means_no_best() -> None:
    (row,) = compare([sure(made_up("a", marks=1.0)), sure(made_up("b", marks=2.0))]).rows
    assert row.best == frozenset()


def test_labels_differ_whatever_the_names_are() -> None:
    same = made_up("same")
    groups = [("runs/x/one", Seeds([same])), ("runs/y/one", Seeds([same]))]
    assert compare(groups).labels == ["runs/x/one", "runs/y/one"]
    assert compare([groups[0], groups[0]]).labels == ["same #1", "same #2"]
    assert compare([groups[0], ("runs/two", Seeds([same]))]).labels == ["one", "two"]


def test_settings_that_differ_are_listed() -> None:
    first = made_up(
        "a", scenario={"name": "a", "network": {"hosts": 3, "mtu": "1kB"}, "traffic": [{"to": 1}]}
    )
    second = made_up("b", scenario={"name": "b", "network": {"hosts": 4, "mtu": "1kB"}, "traffic": [{}]})
    assert compare([of(first), of(second)]).settings == {"network.hosts": [3, 4], "traffic[0].to": [1, None]}


def test_transports_of_one_run_have_rows_of_their_own() -> None:
    both = {"fast": {"rtt_p99_us": 1.0}, "slow": {"rtt_p99_us": 9.0}}
    run = made_up("mixed", rtt_p99_us=5.0)
    mixed = replace(run, summary={**run.summary, "transports": both})
    labels = [row.label for row in compare([of(mixed)]).rows]
    assert labels == ["p99 RTT", "fast: p99 RTT", "slow: p99 RTT"]


def test_directories_and_files_in_any_mix(clearway: Clearway, small: Path, workspace: Path) -> None:
    other = written(
        workspace / "dctcp.toml", {**SMALL, "name": "other", "transport": {"bulk": {"protocol": "dctcp"}}}
    )
    assert clearway("run", small, "--out", "there").status == 0
    answer = clearway("compare", "there", other)
    assert answer.status == 0
    assert "small incast" in answer.out
    assert "other" in answer.out
    assert "transport.bulk.protocol" in answer.out
    needs = (
        "With one seed each, a difference may be chance, and none is called one: "
        "5 seeds on each side would tell, --seeds 5 or seeds=5 in Python."
    )
    assert needs in " ".join(answer.out.split())
    assert "than other" not in answer.out
    report = clearway("compare", "there", other, "--json").json
    assert [column["label"] for column in report["columns"]] == ["small incast", "other"]
    assert report["settings"]["transport.bulk.protocol"] == ["swift", "dctcp"]
    assert (report["needs"], report["findings"]) == (needs, [])


def test_seeds_of_files_and_of_directories(clearway: Clearway, small: Path) -> None:
    assert clearway("run", small, "--seeds", "3", "--out", "many").status == 0
    answer = clearway("compare", "many", small, "--seeds", "3")
    assert answer.status == 0
    assert "±" in answer.out
    columns = clearway("compare", "many", small, "--seeds", "3", "--json").json["columns"]
    assert columns[0]["digests"] == columns[1]["digests"]
    assert columns[0]["seeds"] == [7, 8, 9]


def test_one_run_is_enough_where_nothing_is_drawn(clearway: Clearway, workspace: Path) -> None:
    """No seed has a say in an incast on a star with fixed starts, and run directories keep that."""
    fixed = {**SMALL, "traffic": [{**SMALL["traffic"][0], "start": "0us"}]}
    file = written(workspace / "fixed.toml", fixed)
    assert clearway("run", file, "--out", "near").status == 0
    assert clearway("run", file, "--set", "network.delay=50us", "--out", "far").status == 0
    found = clearway("compare", "near", "far", "--json").json
    assert found["needs"] is None
    assert any("lower mean RTT than" in finding for finding in found["findings"])
    assert (
        clearway("compare", "near", "far", file, "--set", "traffic[0].start=0us..9us").out.count("--seeds")
        == 1
    )
    manifest = Path("near/manifest.json")
    manifest.write_text(manifest.read_text().replace('"without_chance": true', '"without_chance": 1'))
    assert "without_chance: found 1, expected true or false" in clearway("compare", "near", "far").err


def test_set_applies_to_the_files(clearway: Clearway, small: Path) -> None:
    answer = clearway("compare", small, "--set", "duration=1ms", "--json")
    assert answer.json["columns"][0]["summary"]["simulated_us"] <= 1000


def test_from_python(small: Path) -> None:
    one = cw.run(small)
    compared = cw.compare(one, small, seeds=2)
    assert [len(group.runs) for group in compared.groups] == [1, 2]
    with pytest.raises(cw.ClearwayError, match="no such file"):
        cw.compare("nowhere.toml")


def test_a_lower_bound_is_said_to_be_one_and_never_wins() -> None:
    done = made_up("done", fct_p99_us=30.0)
    open_ = replace(
        made_up("open", fct_p99_us=90.0), summary={"fct_p99_us": 90.0, "lower_bounds": ["fct_p99_us"]}
    )
    compared = compare([sure(done), sure(open_)])
    assert compared.findings == ["done: at least 3x lower p99 completion than open"]
    assert compared.rows[0].readable(1) == "\u2265 90 us"
    assert compared.rows[0].best == {0}
    # At least 20 us may be more than 30 us.
    less = replace(open_, summary={"fct_p99_us": 20.0, "lower_bounds": ["fct_p99_us"]})
    compared = compare([sure(done), sure(less)])
    assert compared.findings == [
        "p99 completion: not ranked, as the smallest is a lower bound: open (\u2265 20 us)"
    ]
    assert compared.rows[0].best == frozenset()
    # A mean of values of which one is a lower bound is one as well.
    seeds = Seeds([done, open_])
    assert seeds.summary()["fct_p99_us"]["lower_bound"] is True
    assert compare([("", seeds), of(done)]).rows[0].readable(0).startswith("\u2265 60 ")


def test_what_is_unfinished_is_named_and_nothing_leaves_a_ranking_silently() -> None:
    done = made_up("done", fct_mean_us=20.0, fct_p99_us=30.0, unfinished_flows=0)
    open_ = made_up("open", fct_mean_us=50.0, fct_p99_us=90.0, unfinished_flows=3)
    open_.summary["lower_bounds"] = ["fct_mean_us", "fct_p99_us"]
    compared = compare([sure(done), sure(open_)])
    assert compared.findings == ["done: at least 3x lower p99 completion than open (3 unfinished)"]
    labels = [row.label for row in compared.rows]
    assert labels.index("flows unfinished") < labels.index("mean completion")
    # So little longer that who is better cannot be said.
    open_.summary["fct_p99_us"] = 30.1
    assert compare([sure(done), sure(open_)]).findings == [
        "p99 completion: not ranked, as of lower bounds nothing more is known: open (≥ 30.1 us, 3 unfinished)"
    ]
    # Of a run by itself nothing is ranked.
    assert compare([of(open_)]).findings == []


def test_unfinished_flows_stand_beside_completions_even_if_there_are_none() -> None:
    (done,) = compare([sure(made_up("done", fct_mean_us=20.0, unfinished_flows=0))]).groups
    assert [label for label, _ in Overview.of(done.columns()).rows] == [
        "flows unfinished *",
        "mean completion *",
    ]
    (endless,) = compare([sure(made_up("endless", goodput_gbps=20.0, unfinished_flows=0))]).groups
    assert [label for label, _ in Overview.of(endless.columns()).rows] == ["goodput"]


def test_a_comparison_is_written_side_by_side_with_its_findings() -> None:
    compared = compare([sure(made_up("<a>", rtt_p99_us=10.0, marks=1)), sure(made_up("b", rtt_p99_us=31.0))])
    title, heads, row, finding = repr(compared).splitlines()
    assert (title, heads.split(), row.split()) == (
        "side by side",
        ["<a>", "b"],
        ["p99", "RTT", "10", "us", "31", "us"],
    )
    assert finding == "<a>: 3.1x lower p99 RTT than b"
    table = compared._repr_html_()
    assert "<th>&lt;a&gt;</th><th>b</th>" in table
    assert "<li>&lt;a&gt;: 3.1x lower p99 RTT than b</li>" in table


def test_where_no_flow_has_a_size_none_is_said_to_be_unfinished() -> None:
    sized = made_up("sized", fct_mean_us=20.0, unfinished_flows=3)
    endless = made_up("endless", fct_mean_us=None, unfinished_flows=0)
    row = compare([sure(sized), sure(endless)]).rows[0]
    assert (row.label, row.readable(0), row.readable(1)) == ("flows unfinished", "3", "-")
    assert row.best == frozenset()


def test_keys_that_only_some_scenarios_have_are_counted(workspace: Path, clearway: Clearway) -> None:
    written(workspace / "plain.toml", SMALL)
    routing = {"detect": "100us", "converge": "1ms"}
    written(workspace / "routed.toml", {**SMALL, "routing": routing})
    answer = clearway("compare", "plain.toml", "routed.toml")
    assert answer.status == 0
    assert "The scenarios differ in 3 keys that not all have: --json lists them\n" in answer.out
