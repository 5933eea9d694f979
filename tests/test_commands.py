"""What is left of the command line: schema, help, version, and the module as a command."""

import subprocess
import sys

import clearway as cw
from clearway import arguments

from tests.conftest import Clearway, child, finished


def test_schema_is_the_one_of_the_api(clearway: Clearway) -> None:
    answer = clearway("schema")
    assert answer.status == 0
    assert answer.json == cw.schema()


def test_help_lists_every_command(clearway: Clearway) -> None:
    answer = clearway("--help")
    assert answer.status == 0
    for command in [
        "demo",
        "run",
        "show",
        "compare",
        "sweep",
        "tune",
        "paper",
        "plan",
        "plot",
        "replay",
        "report",
        "schema",
        "import",
        "why",
    ]:
        assert command in answer.out
        assert clearway(command, "--help").status == 0


def test_help_says_what_exit_statuses_mean(clearway: Clearway) -> None:
    words = " ".join(clearway("--help").out.split())
    assert "Exit status: 0 done; 1 a claim or a check did not hold" in words
    assert "2 bad input, nothing was done" in words


def test_help_says_where_a_run_goes(clearway: Clearway) -> None:
    for command in ("demo", "run"):
        assert "by default one under runs/" in " ".join(
            clearway(command, "--help").out.replace("│", " ").split()
        )


def test_no_command_shows_the_help_and_no_error(clearway: Clearway) -> None:
    answer = clearway()
    assert "Usage: clearway" in answer.out + answer.err
    assert "error" not in (answer.out + answer.err).lower()


def test_seeds_end_where_those_of_a_scenario_do() -> None:
    assert cw.schema()["properties"]["seed"]["x-max"] == arguments.LARGEST_SEED


def test_version(clearway: Clearway) -> None:
    assert clearway("--version").out == f"clearway {cw.__version__}\n"


def test_the_module_is_the_command() -> None:
    assert finished(child("--version")).out == f"clearway {cw.__version__}\n"
    asked = subprocess.run([sys.executable, "-m", "clearway", "schema"], capture_output=True, check=True)
    assert asked.stdout.startswith(b"{")
