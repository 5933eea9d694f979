"""`clearway run`, and the directory it leaves."""

import csv
import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import clearway as cw
import numpy as np
import pytest
from clearway import columns as on_disk
from clearway import documents

from tests.conftest import SMALL, Clearway, child, finished, nothing_but, written

TABLES = {"flows", "links", "rtt", "queues", "windows", "rtt_series", "throughput"}


def test_a_scenario_from_standard_input(small: Path) -> None:
    with small.open() as text:
        answer = finished(child("run", "-", "--json", "--out", "there", stdin=text))
    assert answer.status == 0
    assert json.loads(answer.out)["digest"] == cw.run(small).digest
    bad = finished(child("run", "-", stdin=subprocess.DEVNULL))
    assert bad.status == 2
    assert "format" in bad.err


def test_prints_figures_with_units_and_names_the_directory(clearway: Clearway, small: Path) -> None:
    answer = clearway("run", small)
    assert answer.status == 0
    assert "goodput" in answer.out
    assert "Gb/s" in answer.out
    assert "digest v" in answer.out
    assert "written to runs/small-incast-7" in answer.out
    assert answer.err == ""


def test_second_run_gets_a_number(clearway: Clearway, small: Path, workspace: Path) -> None:
    for _ in range(3):
        assert clearway("run", small).status == 0
    assert nothing_but(workspace / "runs", "small-incast-7", "small-incast-7-2", "small-incast-7-3")


def test_json_is_one_object_and_nothing_else(clearway: Clearway, small: Path) -> None:
    answer = clearway("run", small, "--json")
    assert set(answer.json) == {
        "name",
        "seed",
        "digest",
        "packet_hops",
        "wall_s",
        "measured",
        "interrupted_at_us",
        "summary",
        "out",
    }
    assert answer.json["name"] == "small incast"
    assert answer.json["seed"] == 7
    assert answer.json["packet_hops"] > 0
    assert answer.err == ""


def test_directory_holds_manifest_summary_and_tables(clearway: Clearway, small: Path) -> None:
    answer = clearway("run", small, "--out", "there", "--json")
    manifest = json.loads(Path("there/manifest.json").read_text())
    assert manifest["digest"] == answer.json["digest"]
    assert manifest["version"] == cw.__version__
    assert manifest["scenario"]["network"]["hosts"] == 5
    assert manifest["scenario"]["seed"] == 7
    assert json.loads(Path("there/summary.json").read_text()) == answer.json["summary"]
    assert set(manifest["tables"]) == TABLES
    for entry in manifest["tables"].values():
        assert (Path("there") / entry["file"]).exists()


def test_tables_come_back_as_they_were(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = cw.run(small)
    for parquet in (False, True):
        monkeypatch.setattr(on_disk, "parquet_available", lambda answer=parquet: answer)
        if parquet:
            pytest.importorskip("pyarrow")
        back = cw.load_run(run.save(f"saved-{parquet}"))
        assert isinstance(back, cw.Run)
        assert set(back.tables) == set(run.tables) == TABLES
        for name, columns in run.tables.items():
            for column, values in columns.items():
                np.testing.assert_array_equal(back.tables[name][column], values)
                assert back.tables[name][column].dtype.kind == values.dtype.kind


@pytest.mark.parametrize(("scenario", "table"), [("cable_dies", "faults"), ("training", "timeline")])
def test_tables_with_text_come_back_as_they_were(workspace: Path, scenario: str, table: str) -> None:
    run = cw.run(Path(__file__).parent.parent / "scenarios" / f"{scenario}.toml")
    back = cw.load_run(run.save(workspace / "saved"))
    assert isinstance(back, cw.Run)
    assert table in run.tables
    for name, columns in run.tables.items():
        for column, values in columns.items():
            np.testing.assert_array_equal(back.tables[name][column], values)


def test_csv_has_units_in_its_head_and_nothing_where_nothing_was_measured(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_disk, "parquet_available", lambda: False)
    cw.run(small, {"duration": "20us"}).save("saved")
    with Path("saved/flows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"flow", "transport", "start_us", "bytes", "fct_us", "slowdown", "goodput_gbps"} <= set(rows[0])
    assert {row["fct_us"] for row in rows} == {""}


def test_set_and_seed_override_the_file(clearway: Clearway, small: Path) -> None:
    answer = clearway(
        "run", small, "--set", "network.hosts=9", "--set", "duration=1ms", "--seed", "3", "--json"
    )
    assert answer.json["seed"] == 3
    manifest = json.loads((Path(answer.json["out"]) / "manifest.json").read_text())
    assert manifest["scenario"]["network"]["hosts"] == 9
    assert manifest["scenario"]["duration"] == "1ms"


def test_seeds_give_means_and_intervals(clearway: Clearway, small: Path) -> None:
    answer = clearway("run", small, "--seeds", "3", "--out", "many", "--json")
    assert answer.json["seeds"] == [7, 8, 9]
    assert len(set(answer.json["digests"])) == 3
    goodput = answer.json["summary"]["goodput_gbps"]
    assert goodput["seeds"] == 3
    single = [json.loads(Path(f"many/seed-{seed}/summary.json").read_text()) for seed in (7, 8, 9)]
    assert goodput["mean"] == pytest.approx(np.mean([one["goodput_gbps"] for one in single]))
    assert json.loads(Path("many/summary.json").read_text()) == answer.json["summary"]
    assert "±" in clearway("run", small, "--seeds", "3").out


def test_every_seed_of_several_is_the_run_of_that_seed_alone(clearway: Clearway, small: Path) -> None:
    several = clearway("run", small, "--seeds", "3", "--json").json["digests"]
    alone = [clearway("run", small, "--seed", str(seed), "--json").json["digest"] for seed in (7, 8, 9)]
    assert several == alone


def test_two_runs_have_one_digest_and_another_seed_another(clearway: Clearway, workspace: Path) -> None:
    spread = {**SMALL["traffic"][0], "start": "0us..100us"}
    file = written(workspace / "spread.toml", {**SMALL, "traffic": [spread]})
    first = clearway("run", file, "--json").json
    again = clearway("run", file, "--json").json
    other = clearway("run", file, "--seed", "8", "--json").json
    assert first["digest"] == again["digest"] != other["digest"]
    assert first["summary"] == again["summary"]


def test_name_with_markup_and_slashes_is_a_name_like_any_other(clearway: Clearway, workspace: Path) -> None:
    file = written(workspace / "odd.toml", {**SMALL, "name": "../[bold]a/b[/bold] ü"})
    answer = clearway("run", file)
    assert answer.status == 0
    assert "../[bold]a/b[/bold] ü" in answer.out
    assert nothing_but(workspace / "runs", "bold-a-b-bold-7")


def test_out_may_be_an_empty_directory_or_one_to_be_made(
    clearway: Clearway, small: Path, workspace: Path
) -> None:
    (workspace / "empty").mkdir()
    assert clearway("run", small, "--out", "empty").status == 0
    assert clearway("run", small, "--out", "a/b/c").status == 0
    assert Path("empty/manifest.json").exists()
    assert Path("a/b/c/manifest.json").exists()


def test_in_a_pipe_there_is_no_progress_bar(small: Path) -> None:
    answer = finished(child("run", small))
    assert answer.status == 0
    assert answer.err == ""
    assert "\x1b" not in answer.out


def test_on_a_terminal_there_is_one(endless: Path) -> None:
    """The bar names what it shows: simulated time, packet-hops a second."""
    ours, theirs = pty.openpty()
    process = child("run", endless, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    give_up = time.monotonic() + 30
    while b"hops/s" not in shown and time.monotonic() < give_up:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    os.close(ours)
    assert b"endless" in shown
    assert b"hops/s" in shown


def test_warns_of_what_is_hardly_meant_and_runs_it(clearway: Clearway, small: Path) -> None:
    answer = clearway("run", small, "--set", "transport.bulk.base_target=2us", "--out", "there", "--json")
    assert answer.status == 0
    assert answer.json["summary"]["flows"] == 4  # one object and nothing else on standard output
    (warning,) = answer.err.splitlines()
    # There 2 x (1602 B at 10 Gb/s + 1 us), back 2 x (102 B at 10 Gb/s + 1 us); a switch adds 1 us.
    assert warning.startswith(
        "warning: transport.bulk.base_target: 2us + 1 switches x hop_scaling = 3us is below "
    )
    assert "the 6.727us" in warning
    assert "raise base_target to 5.727us or more" in warning
    run = cw.load_run("there")
    assert isinstance(run, cw.Run)
    assert [f"warning: {text}" for text in run.warnings] == [warning]
    quiet = clearway("run", small, "--set", "transport.bulk.base_target=5727ns", "--out", "quiet")
    assert quiet.err == ""


def test_seeds_of_a_scenario_without_chance_are_noted(clearway: Clearway, workspace: Path) -> None:
    flow = {"pattern": "incast", "transport": "bulk", "from": "0..2", "to": 4, "bytes": "10kB"}
    certain = written(workspace / "certain.toml", {**SMALL, "traffic": [{**flow, "start": "0us"}]})
    note = "note: all 3 seeds of small incast gave the same result"
    assert note in clearway("run", certain, "--seeds", 3).err
    assert note in clearway("run", certain, "--seeds", 3, "--json").err
    assert note in clearway("compare", certain, "--seeds", 3).err
    drawn = written(workspace / "drawn.toml", {**SMALL, "traffic": [{**flow, "start": "0us..50us"}]})
    assert "note:" not in clearway("run", drawn, "--seeds", 3).err
    assert "note:" not in clearway("run", certain).err


def test_keys_and_tables_are_removed_before_others_are_set(clearway: Clearway, small: Path) -> None:
    """What is removed has its default; `--set` puts in its place what it says."""

    def resolved(*arguments: str) -> Any:
        answer = clearway("run", small, *arguments, "--json")
        assert answer.status == 0, answer.err
        return json.loads((Path(answer.json["out"]) / "manifest.json").read_text())["scenario"]

    assert resolved()["network"]["rate"] == "10Gbps"
    assert resolved("--unset", "network.rate")["network"]["rate"] == "100Gbps"
    assert "queues" in resolved()["record"]
    assert "queues" not in resolved("--unset", "record")["record"]
    both = resolved("--unset", "record", "--set", "record.operations=true", "--unset", "network.rate")
    assert "queues" not in both["record"]
    assert both["record"]["operations"] is True
    assert both["network"]["rate"] == "100Gbps"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--unset", "network.rate=1"), "--unset network.rate=1: expected KEY"),
        (("--unset", " "), "expected KEY"),
        (("--unset", "network.hots"), "network.hots"),
        (("--unset", "transport.bulk.protocol"), "protocol"),
        (("--unset", "transport"), "transport"),
    ],
)
def test_what_cannot_be_removed(
    arguments: tuple[str, ...], words: str, clearway: Clearway, small: Path, workspace: Path
) -> None:
    for command in ("run", "compare"):
        answer = clearway(command, small, *arguments)
        assert answer.status == 2
        assert words in answer.err
    assert nothing_but(workspace, small.name)


def test_an_axis_cannot_be_removed(clearway: Clearway, workspace: Path) -> None:
    file = workspace / "sweep.toml"
    file.write_text(documents.tables_of({**SMALL, "record": {}, "sweep": {"network.rate": ["1Gbps"]}}))
    answer = clearway("sweep", file, "--unset", "network.rate")
    assert answer.status == 2
    assert "--unset network.rate: " in answer.err
    assert "is an axis" in answer.err
    assert clearway("sweep", file, "--unset", "network.delay").status == 0
