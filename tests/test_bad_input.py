"""Bad input: a message that says what and what to do, status 2, nothing written."""

import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import clearway as cw
import pytest

from tests.conftest import SMALL, Clearway, child, finished, nothing_but, written


def refused(answer: Any, *words: str) -> None:
    assert answer.status == 2, answer
    assert answer.out == ""
    assert "Traceback" not in answer.err
    for word in words:
        assert word in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu"], ["rnu", "run"]),
        (["run"], ["FILE"]),
        (["run", "smal.toml"], ["smal.toml: no such file", "did you mean small.toml?"]),
        (["run", "large.toml"], ["large.toml: no such file\n  the scenarios there: small.toml"]),
        (["run", "nowhere/small.toml"], ["no such file", "no directory nowhere"]),
        (["run", "."], ["is a directory", "name the TOML file"]),
        (["run", "small.toml", "--sed", "1"], ["--sed", "--seed"]),
        (["run", "small.toml", "--seed", "x"], ["--seed"]),
        (["run", "small.toml", "--seed", "-1"], ["--seed"]),
        (["run", "small.toml", "--seed", str(2**53 + 1)], ["--seed", str(2**53)]),
        (["run", "small.toml", "--seeds", "0"], ["--seeds"]),
        (["run", "small.toml", "--seed", "1", "--seeds", "2"], ["exclude each other"]),
        (["run", "small.toml", "--set", "duration"], ["--set duration", "KEY=VALUE"]),
        (["run", "small.toml", "--set", "=5"], ["--set =5", "KEY=VALUE"]),
        (["run", "small.toml", "--set", "network.hosts="], ["--set network.hosts=", "KEY=VALUE"]),
        (["run", "small.toml", "--set", "network.hots=3"], ["network.hots", "hosts"]),
        (["run", "small.toml", "--set", "duration=5 parsecs"], ["duration", "5 parsecs"]),
        (["compare"], ["DIR|FILE"]),
        (["compare", "nothing"], ["nothing: no such file"]),
        (["report", "small.toml", "-o", "r.html"], ["small.toml: is a file, not a run directory"]),
        (["report", "nothing", "-o", "r.html"], ["nothing: no such run directory", "clearway run"]),
        (["report", ".", "-o", "r.html"], ["not a run directory", "manifest.json"]),
        (["report", ".", "-o", "."], ["is a directory", "name the file"]),
        (
            ["report", ".", "-o", "a/b/r.html"],
            ["a/b/r.html: cannot be written", "no such file or directory", "-o/--output"],
        ),
        (["report", "."], ["-o"]),
        (["schema", "extra"], ["extra"]),
    ],
)
def test_command_lines(
    arguments: list[str], words: list[str], clearway: Clearway, small: Path, workspace: Path
) -> None:
    refused(clearway(*arguments), *words)
    assert nothing_but(workspace, small.name)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["format"]),
        ('format = 1\nname = "x', ["2"]),
        ("format = 1\nformat = 1\n", ["bad.toml:2", "duplicate key"]),
        ("format = 99\n", ["format", "99"]),
        ("[[network]]\n", ["network"]),
        ("\x00", [""]),
        ("x = " + "[" * 5000, ["bad.toml"]),
    ],
)
def test_files_that_are_no_scenarios(
    text: str, words: list[str], clearway: Clearway, workspace: Path
) -> None:
    (workspace / "bad.toml").write_text(text)
    refused(clearway("run", "bad.toml"), "bad.toml", *words)
    assert nothing_but(workspace, "bad.toml")


def test_names_that_no_file_has(clearway: Clearway, small: Path, workspace: Path) -> None:
    """A name with a line break is no scenario's text, and one with a zero byte is no name."""
    refused(clearway("compare", "format = 1\nname = 'x'\n"), "no such file")
    refused(clearway("compare", small, "a\0b"), "a")
    with pytest.raises(cw.ClearwayError, match=r"scenario: found 'a\\x00b', expected a path"):
        cw.run("a\0b")
    assert nothing_but(workspace, small.name)


@pytest.mark.parametrize("command", ["run", "compare", "sweep"])
def test_what_has_no_end_is_not_read(command: str, clearway: Clearway, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    for path in ("/dev/zero", "pipe"):
        refused(clearway(command, path), path, "is a device or a pipe", "clearway run -")
    if command == "run":
        line = f"{shlex.quote(sys.executable)} -m clearway run - < /dev/zero"
        answer = subprocess.run(["/bin/sh", "-c", line], check=False, capture_output=True, text=True)
        assert answer.returncode == 2
        assert answer.stderr.startswith("error: standard input: longer than")
    assert nothing_but(workspace, "pipe")


def test_a_sweep_that_is_nested_too_deeply(clearway: Clearway, workspace: Path) -> None:
    (workspace / "bad.toml").write_text("x = " + "[" * 5000)
    refused(clearway("sweep", "bad.toml"), "bad.toml")


def test_file_that_is_not_text(clearway: Clearway, workspace: Path) -> None:
    (workspace / "bad.toml").write_bytes(b"\xff\xfe\x00name")
    refused(clearway("run", "bad.toml"), "bad.toml")


def changed(**tables: dict[str, Any]) -> dict[str, Any]:
    return {**SMALL, **{name: {**SMALL[name], **table} for name, table in tables.items()}}


IMPOSSIBLE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a receiver that is not there": (
        {**SMALL, "traffic": [{**SMALL["traffic"][0], "to": 5}]},
        ["traffic", "to", "5"],
    ),
    "a sender that is not there": (
        {**SMALL, "traffic": [{**SMALL["traffic"][0], "from": "0..9", "to": 4}]},
        ["traffic", "from"],
    ),
    "a transport that is not there": (
        {**SMALL, "traffic": [{**SMALL["traffic"][0], "transport": "bulky"}]},
        ["traffic", "transport", "bulky", "bulk"],
    ),
    "a protocol that is not there": (
        changed(transport={"bulk": {"protocol": "swifft"}}),
        ["swifft", "swift"],
    ),
    "no time at all": ({**SMALL, "duration": "0us"}, ["duration"]),
    "more warm-up than run": ({**SMALL, "warmup": "2ms"}, ["warmup"]),
    "one host": (
        {**changed(network={"hosts": 1}), "traffic": [{**SMALL["traffic"][0], "from": "0..1", "to": 0}]},
        ["hosts"],
    ),
    "an odd fat tree": (
        {
            **SMALL,
            "network": {"topology": "fat_tree", "k": 5, "rate": "10Gbps", "delay": "1us", "mtu": "1500B"},
        },
        ["network", "k"],
    ),
    "links without delay": (changed(network={"delay": "0us"}), ["network", "delay"]),
    "a file that is not there": (
        {**SMALL, "network": {"topology": "file", "file": "nowhere.toml", "mtu": "1500B"}},
        ["nowhere.toml: no such file or directory\n"],
    ),
    "a topology for a scenario": (
        {"node": [{"name": "a", "role": "host"}, {"name": "b", "role": "host"}]},
        ["this is a topology file", 'topology = "file"'],
    ),
    "an arrow for a link": (
        {**SMALL, "fault": [{"kind": "down", "link": "h0->tor0"}]},
        ["fault[0].link", '"a>b" for one way or "a-b" for both'],
    ),
    "a dead switch that nobody notices": (
        {**SMALL, "fault": [{"kind": "dead", "node": "tor0"}]},
        ["fault[0].kind", "needs the table [routing]", "give it detect and converge"],
    ),
    "a dead node that is not there": (
        {
            **SMALL,
            "routing": {"detect": "1us", "converge": "1us"},
            "fault": [{"kind": "dead", "node": "tor9"}],
        },
        ["fault[0].node", "tor0"],
    ),
    "routes before the death is known": (
        {**SMALL, "routing": {"detect": "10us", "converge": "9us"}},
        ["routing.converge", "give at least detect"],
    ),
    "a link that is faster for a fault": (
        {**SMALL, "fault": [{"kind": "slow", "link": "h0-tor0", "rate": "25Gbps"}]},
        ["fault[0].rate", "found 25Gbps, more than the link's 10Gbps"],
    ),
}


def test_a_flow_that_is_cut_off_for_good_is_named(clearway: Clearway, workspace: Path) -> None:
    scenario = {
        **SMALL,
        "stop_when_complete": True,
        "routing": {"detect": "1us", "converge": "10us"},
        "fault": [{"kind": "dead", "node": 2, "at": "20us"}],
    }
    file = written(workspace / "cut.toml", scenario)
    refused(
        clearway("run", file), "can never end: since 20us no way joins h2 and h4", "give that fault an until"
    )


@pytest.mark.parametrize("case", IMPOSSIBLE)
def test_impossible_scenarios(case: str, clearway: Clearway, workspace: Path) -> None:
    scenario, words = IMPOSSIBLE[case]
    file = written(workspace / "bad.toml", scenario)
    refused(clearway("run", file), "bad.toml", *words)
    assert nothing_but(workspace, "bad.toml")


def test_more_than_memory_is_refused_before_it_is_taken(clearway: Clearway, workspace: Path) -> None:
    huge = {
        **SMALL,
        "network": {"topology": "fat_tree", "k": 64, "rate": "10Gbps", "delay": "1us", "mtu": "1500B"},
        "traffic": [{"pattern": "all_to_all", "transport": "bulk"}],
    }
    file = written(workspace / "huge.toml", huge)
    refused(clearway("run", file), "memory")
    assert nothing_but(workspace, "huge.toml")


@pytest.mark.parametrize("where", ["small.toml", "small.toml/there", "full", "/proc/clearway"])
def test_out_that_cannot_be_is_refused_before_the_run(
    where: str, clearway: Clearway, endless: Path, small: Path, workspace: Path
) -> None:
    """The scenario takes hours: an answer at all means that it was not run."""
    (workspace / "full").mkdir()
    (workspace / "full" / "precious").touch()
    refused(clearway("run", endless, "--out", where), where)
    assert nothing_but(workspace, endless.name, small.name, "full")
    assert nothing_but(workspace / "full", "precious")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write and read anywhere")
def test_permissions(clearway: Clearway, endless: Path, small: Path, workspace: Path) -> None:
    (workspace / "locked").mkdir(mode=0o500)
    refused(clearway("run", endless, "--out", "locked/there"), "locked/there", "permission denied")
    small.chmod(0)
    refused(clearway("run", small), "small.toml: cannot be read: permission denied")


def limit_files() -> None:
    """A disk that is full after 2 kB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


@pytest.mark.parametrize("out", [["--out", "a/b"], [], ["--seeds", "2"]])
def test_full_disk_leaves_nothing(out: list[str], small: Path, workspace: Path) -> None:
    answer = finished(child("run", small, *out, prepare=limit_files))
    refused(answer, "cannot be written: file too large", "--out")
    assert nothing_but(workspace, small.name)


def test_full_disk_leaves_the_old_report(clearway: Clearway, small: Path, workspace: Path) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    Path("report.html").write_text("old")
    answer = finished(child("report", "there", "-o", "report.html", prepare=limit_files))
    refused(answer, "report.html: cannot be written")
    assert Path("report.html").read_text() == "old"
    assert nothing_but(workspace, small.name, "there", "report.html")


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_closed_standard_output_is_an_error_too(closed: str, workspace: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m clearway run nothing.toml {closed}"
    answer = subprocess.run(
        ["/bin/sh", "-c", command], check=False, capture_output=True, text=True, cwd=workspace
    )
    assert answer.returncode == 2
    assert answer.stderr == ("" if "2>" in closed else "error: standard output: closed\n")


def test_full_standard_output_is_an_error_too() -> None:
    with Path("/dev/full").open("w") as full:
        answer = finished(child("schema", stdout=full))
    assert answer.status == 2
    assert "no space left" in answer.err.lower()
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("arguments", [("schema",), ("run", "small.toml"), ("compare", "small.toml")])
def test_reader_that_goes_away_is_no_error_to_speak_of(arguments: tuple[str, ...], small: Path) -> None:
    assert small.exists()
    process = child(*arguments)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    assert process.wait(60) == 0


@pytest.mark.parametrize("file", ["manifest.json", "summary.json"])
@pytest.mark.parametrize("content", ["", "{", "[]", "{}"])
def test_damaged_directories(
    file: str, content: str, clearway: Clearway, small: Path, workspace: Path
) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    (workspace / "there" / file).write_text(content)
    if file == "summary.json" and content == "{}":
        assert clearway("compare", "there", "there").status == 0
        return
    refused(clearway("compare", "there"), "there", "run the scenario again")
    refused(clearway("report", "there", "-o", "r.html"), "there", "run the scenario again")
    assert not Path("r.html").exists()


def test_missing_table(clearway: Clearway, small: Path, workspace: Path) -> None:
    assert clearway("run", small, "--out", "there").status == 0
    next((workspace / "there").glob("flows.*")).unlink()
    refused(clearway("report", "there", "-o", "r.html"), "flows", "run the scenario again")
