"""What a flow of a run waited for: the parts add up, and what cannot be answered is refused with a remedy."""

import json
from pathlib import Path

import numpy as np
import pytest
from clearway import why
from clearway.runs import Run

from tests.conftest import SMALL, Clearway, written


@pytest.fixture
def there(small: Path, clearway: Clearway) -> Path:
    """A run directory."""
    assert clearway("run", small, "--out", "there").status == 0
    return Path("there")


@pytest.mark.parametrize("threads", [1, 2])
def test_the_parts_add_up_to_the_completion_time(there: Path, clearway: Clearway, threads: int) -> None:
    run = Run.load(there)
    for flow in range(4):
        answer = clearway("why", there, "--flow", flow, "--threads", threads, "--json")
        assert answer.status == 0
        said = answer.json
        assert said["flow"] == flow
        lengths = [part["ps"] for part in said["parts"]]
        assert sum(lengths) == said["completion_ps"] == round(run.flows["fct_us"][flow] * 1e6)
        assert lengths == sorted(lengths, reverse=True)
        assert all(part["cause"] in why.CAUSES for part in said["parts"])
        assert sum(part["share"] for part in said["parts"]) == pytest.approx(1)
        assert [hop["link"] for hop in said["last_packet"]["journey"]] == [f"h{flow}>tor0", "tor0>h4"]


def test_a_person_sees_the_longest_part_first(there: Path, clearway: Clearway) -> None:
    answer = clearway("why", there, "--flow", 2)
    assert answer.status == 0
    title, *rows = [line.strip() for line in answer.out.splitlines() if line.strip()]
    assert title.startswith("small incast: flow 2, host 2 to host 4, took ")
    shares = [float(row.split()[-2]) for row in rows if row.endswith("%")]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert "tor0>h4" in answer.out
    assert rows[-1].startswith("complete with packet 66, sent after ")


def test_without_a_number_it_is_the_slowest_flow(there: Path, clearway: Clearway) -> None:
    run = Run.load(there)
    slowest = int(np.argmax(run.flows["slowdown"]))
    assert clearway("why", there, "--json").json["flow"] == slowest


def test_what_was_recorded_says_the_same_as_the_run_did(there: Path, clearway: Clearway) -> None:
    """A manifest that says another digest is of another simulator: its run cannot be explained."""
    manifest = json.loads((there / "manifest.json").read_text())
    manifest["digest"] = "v2:" + "0" * 32
    (there / "manifest.json").write_text(json.dumps(manifest))
    answer = clearway("why", there, "--flow", 0)
    assert answer.status == 2
    assert "simulated again, it comes out differently" in answer.err
    assert "run its scenario again" in answer.err


def test_flows_that_cannot_be_explained_are_refused(there: Path, workspace: Path, clearway: Clearway) -> None:
    answer = clearway("why", there, "--flow", 4)
    assert (answer.status, answer.out) == (2, "")
    assert "has no flow 4" in answer.err
    assert "0 to 3" in answer.err
    cut = written(workspace / "cut.toml", {**SMALL, "duration": "100us"})
    assert clearway("run", cut, "--out", "cut").status == 0
    answer = clearway("why", "cut", "--flow", 0)
    assert answer.status == 2
    assert "was not complete when the run ended" in answer.err
    assert "longer duration" in answer.err
    answer = clearway("why", "cut")
    assert answer.status == 2
    assert "no flow of it is complete\n  give its scenario a longer duration" in answer.err
    traffic = [{key: value for key, value in SMALL["traffic"][0].items() if key != "bytes"}]
    endless = written(workspace / "endless.toml", {**SMALL, "traffic": traffic, "stop_when_complete": False})
    assert clearway("run", endless, "--out", "endless").status == 0
    answer = clearway("why", "endless", "--flow", 0)
    assert answer.status == 2
    assert "has no size" in answer.err
    answer = clearway("why", "endless")
    assert answer.status == 2
    assert "no flow of it is complete\n  its flows have no size" in answer.err


def test_directories_that_are_no_run_are_refused(small: Path, clearway: Clearway) -> None:
    assert clearway("why", "nowhere").status == 2
    assert clearway("run", small, "--seeds", 2, "--out", "seeds").status == 0
    answer = clearway("why", "seeds")
    assert answer.status == 2
    assert "several seeds" in answer.err
    assert "name one: seeds/" in answer.err


def test_files_that_the_scenario_names_are_sought_where_one_says(workspace: Path, clearway: Clearway) -> None:
    folder = workspace / "flows"
    folder.mkdir()
    (folder / "flows.csv").write_text("start,from,to,bytes\n0us,0,4,30kB\n0us,1,4,30kB\n")
    traffic = [{"pattern": "trace", "transport": "bulk", "file": "flows.csv"}]
    scenario = written(folder / "trace.toml", {**SMALL, "traffic": traffic})
    assert clearway("run", scenario, "--out", "there").status == 0
    answer = clearway("why", "there", "--flow", 1)
    assert answer.status == 2
    assert "flows.csv" in answer.err
    assert clearway("why", "there", "--flow", 1, "--files", "flows").status == 0
