"""`clearway import` of files in GOAL's text format, and of the config that merges them."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Clearway, nothing_but
from tests.imports import ASTRA, ATLAHS, CSG, LOGGOPSIM, imported, refused, runs, scenario

TREE = LOGGOPSIM / "binary_tree_32.goal"
PAIR, THREE = ATLAHS / "pair.goal", ATLAHS / "three.goal"


def jobs() -> list[dict[str, Any]]:
    """The jobs of the scenario that was written."""
    found: list[dict[str, Any]] = scenario()["job"]
    return found


def test_loggopsims_own_example_runs_in_a_network_of_its_size(clearway: Clearway, workspace: Path) -> None:
    said = imported(clearway, TREE)
    assert said["files"] == ["scenario.toml"]
    assert (said["hosts"], said["switches"], said["links"]) == (32, 1, 32)
    assert said["jobs"] == [{"name": "binary_tree_32", "messages": 31}]
    assert "traffic" not in scenario()
    (job,) = jobs()
    assert (workspace / job["file"]).resolve() == TREE
    summary = runs(clearway, "14ms")["summary"]
    assert (summary["iterations"], summary["unfinished_jobs"]) == (1, 0)
    # Five messages one after the other, each of a frame over two links of 1 us.
    assert 10 < summary["iteration_mean_us"] < 15


def test_the_file_is_named_where_it_is(clearway: Clearway, workspace: Path) -> None:
    (workspace / "in").mkdir()
    (workspace / "in" / "a.goal").write_text(PAIR.read_text())
    imported(clearway, "in/a.goal", "-o", "out/of/it.toml")
    assert scenario(Path("out/of/it.toml"))["job"][0]["file"] == "../../in/a.goal"
    runs(clearway, "1ms", "out/of/it.toml")
    imported(clearway, "in/a.goal", "-o", "in/a.toml")
    assert scenario(Path("in/a.toml"))["job"][0]["file"] == "a.goal"


def test_a_file_that_was_read_is_not_replaced(clearway: Clearway, workspace: Path) -> None:
    (workspace / "x.goal").write_text(PAIR.read_text())
    answer = clearway("import", "x.goal", ASTRA / "custom" / "custom_allreduce", "-o", "x.toml", "--force")
    assert answer.status == 2
    assert "x.goal: is a file that was read" in answer.err
    assert (workspace / "x.goal").read_text() == PAIR.read_text()
    assert nothing_but(workspace, "x.goal")


def test_computing_is_in_ns(clearway: Clearway) -> None:
    said = imported(clearway, PAIR)
    assert any(each.startswith("calc is in ns") for each in said["assumed"])
    assert any(each.startswith("nic:") for each in said["not_carried_over"])
    assert any(each.startswith("L, o, g, G, O and S") for each in said["not_carried_over"])
    summary = runs(clearway, "1ms")["summary"]
    # 1 us of computing, a message of a frame over two links of 1 us, and its acknowledgement.
    assert 5 < summary["iteration_mean_us"] < 6


@pytest.mark.parametrize(
    ("options", "hosts", "keys"),
    [
        ([], 5, [{"hosts": "0..2"}, {"hosts": "2..5"}]),
        (["--placement", "packed"], 5, [{"hosts": "0..2"}, {"hosts": "2..5"}]),
        (["--placement", "round-robin"], 5, [{"placement": [0, 2]}, {"placement": [1, "3..5"]}]),
        (["--placement", "round_robin"], 5, [{"placement": [0, 2]}, {"placement": [1, "3..5"]}]),
        (["--mode", "multi-tenant"], 3, [{}, {}]),
        (
            ["--mode", "multi-tenant", "--placement", "random"],
            3,
            [{"placement": "random"}, {"placement": "random"}],
        ),
    ],
)
def test_several_files_are_several_jobs(
    options: list[str], hosts: int, keys: list[dict[str, Any]], clearway: Clearway
) -> None:
    said = imported(clearway, PAIR, THREE, *options)
    assert said["hosts"] == hosts
    assert [{key: job[key] for key in job if key not in ("name", "file")} for job in jobs()] == keys
    assert [job["name"] for job in jobs()] == ["pair", "three"]
    assert runs(clearway, "2ms")["summary"]["iterations"] == 2


def test_hosts_that_are_drawn_are_nobody_elses(clearway: Clearway) -> None:
    said = imported(clearway, TREE, TREE, "--placement", "random")
    places = [ranks_of(job["placement"]) for job in jobs()]
    assert sorted(host for each in places for host in each) == list(range(64))
    assert places[0] != sorted(places[0])
    assert any("drawn by seed 1" in each for each in said["assumed"])
    assert [job["name"] for job in jobs()] == ["binary_tree_32 1", "binary_tree_32 2"]
    first = Path("scenario.toml").read_text()
    imported(clearway, TREE, TREE, "--placement", "random", "--force")
    assert Path("scenario.toml").read_text() == first
    runs(clearway, "14ms")


def ranks_of(placement: list[int | str]) -> list[int]:
    """The host of each rank, without ranges."""
    rows = [each if isinstance(each, str) else f"{each}..{each + 1}" for each in placement]
    return [host for row in rows for host in range(*(int(end) for end in row.split("..")))]


def test_one_job_draws_its_hosts_in_the_simulator(clearway: Clearway) -> None:
    imported(clearway, PAIR, "--placement", "random")
    assert jobs()[0]["placement"] == "random"


def test_a_network_with_room_is_taken(clearway: Clearway) -> None:
    imported(clearway, TREE, CSG / "leaf_spine_tiny.topo")
    assert scenario()["network"]["topology"] == "leaf_spine"
    summary = runs(clearway, "14ms")["summary"]
    assert summary["iterations"] == 1


def test_a_network_without_room_is_refused(clearway: Clearway, workspace: Path) -> None:
    answer = clearway("import", TREE, TREE, CSG / "leaf_spine_tiny.topo")
    assert answer.status == 2
    assert "leaf_spine_tiny.topo: has 32 hosts, and the jobs need 64" in answer.err
    assert "--mode multi-tenant" in answer.err
    assert nothing_but(workspace)
    imported(clearway, TREE, TREE, CSG / "leaf_spine_tiny.topo", "--mode", "multi-tenant")


def test_flows_go_on_beside_jobs(clearway: Clearway) -> None:
    said = imported(clearway, PAIR, CSG / "perm_16n_16c_2MB.cm")
    assert (said["flows"], said["hosts"]) == (16, 16)
    summary = runs(clearway, "5ms")["summary"]
    assert (summary["completed"], summary["iterations"]) == (16, 1)


def test_a_config_of_merge_goals_names_its_files(clearway: Clearway) -> None:
    said = imported(clearway, ATLAHS / "merge.json")
    assert [each["format"] for each in said["read"]] == ["goal-merge", "goal", "goal"]
    assert [job["placement"] for job in jobs()] == [[0, 4], [3, "1..3"]]
    assert said["hosts"] == 5
    assert runs(clearway, "2ms")["summary"]["iterations"] == 2


def test_a_word_of_the_command_line_goes_before_that_of_a_config(clearway: Clearway, workspace: Path) -> None:
    text = (ATLAHS / "merge.json").read_text()
    start, end = text.index('"pattern"'), text.index('"share-nic"')
    tenants = text.replace("multi-job", "multi-tenant")
    (workspace / "merge.json").write_text(f'{tenants[: start + 3]}"pattern": "random",\n{tenants[end + 3 :]}')
    for path in (PAIR, THREE):
        (workspace / path.name).write_text(path.read_text())
    said = imported(clearway, "merge.json")
    assert any(each.startswith("share-nic false") for each in said["not_carried_over"])
    assert [job["placement"] for job in jobs()] == ["random", "random"]
    imported(clearway, "merge.json", "--mode", "multi-job", "--placement", "packed", "--force")
    assert [job["hosts"] for job in jobs()] == ["0..2", "2..5"]


MERGE = (ATLAHS / "merge.json").read_text()
WRONG: dict[str, tuple[str, str, str]] = {
    "no ranks": ("num_ranks 0\n", ":1: num_ranks: found 0, expected a whole number from 1", "correct"),
    "ranks in words": (
        "// two\nnum_ranks two\n",
        ":2: num_ranks: found two, expected a whole number",
        "correct the line",
    ),
    "cut short": (PAIR.read_text()[:90], ":6: found l2, expected an operation", "take the whole of it"),
    "a rank that is missing": (
        "num_ranks 2\nrank 0 {\n}\n",
        ":3: the file ends before rank 1 of 2: is it cut off?",
        "take the whole of it",
    ),
    "an operation": (
        PAIR.read_text().replace("recv", "receive"),
        ":10: found receive, expected",
        "correct the file",
    ),
    "any source": (PAIR.read_text().replace("from 0", "from -1"), ":10: found -1, any", "correct the file"),
    "a send that nobody receives": (
        PAIR.read_text().replace("recv 4096b", "recv 4095b"),
        ":10: rank 1 l1 (line 10, recv 4095b from 0 tag 7) waits for a message that nobody sends",
        "correct the file",
    ),
    "no config": (MERGE[:50], ":4: is no JSON", "take the whole file"),
    "a key of a config": (MERGE.replace("share-nic", "share"), ":11: share: is unknown", "knows mode"),
    "a mode": (MERGE.replace("multi-job", "both"), ':2: mode: found "both", expected multi-job', "correct"),
    "no files": (
        MERGE.replace('"pair.goal",', "").replace('"three.goal"', ""),
        ":3: goal_files: found []",
        "correct",
    ),
    "a pattern": (MERGE.replace("[0, 4]", "[0, -4]"), ":7: pattern: found", "correct the line"),
    "a file that is not there": (MERGE, ": names pair.goal, which is not there", "correct goal_files"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_line_and_a_remedy(
    name: str, clearway: Clearway, workspace: Path
) -> None:
    refused(clearway, workspace, *WRONG[name])


def test_places_that_do_not_fit(clearway: Clearway, workspace: Path) -> None:
    for path in (PAIR, THREE):
        (workspace / path.name).write_text(path.read_text())
    (workspace / "merge.json").write_text(MERGE.replace("[0, 4]", "[0, 4, 5]"))
    answer = clearway("import", "merge.json")
    assert answer.status == 2
    assert "merge.json:1: pattern: lists [3, 3] hosts, and the jobs have [2, 3] ranks" in answer.err
    assert "list the host of each rank" in answer.err
    both = clearway("import", "merge.json", "pair.goal")
    assert both.status == 2
    assert "merge.json: names its jobs itself, and pair.goal was given, too" in both.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--placement", "spread"], ["--placement spread: is unknown", "packed, round-robin and random"]),
        (["--mode", "single"], ["--mode single: is unknown", "multi-job and multi-tenant"]),
        (
            ["--mode", "multi-tenant", "--placement", "round-robin"],
            ["--placement round-robin: has no meaning", "--mode multi-job"],
        ),
    ],
)
def test_words_that_are_wrong(
    options: list[str], words: list[str], clearway: Clearway, workspace: Path
) -> None:
    answer = clearway("import", PAIR, THREE, *options)
    assert answer.status == 2
    for word in words:
        assert word in " ".join(answer.err.split())
    assert nothing_but(workspace)
