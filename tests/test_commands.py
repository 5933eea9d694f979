"""What is left of the command line: schema, help, version, and the module as a command."""

import subprocess
import sys

import clearway as cw

from tests.conftest import Clearway, child, finished


def test_schema_is_the_one_of_the_api(clearway: Clearway) -> None:
    answer = clearway("schema")
    assert answer.status == 0
    assert answer.json == cw.schema()


def test_help_lists_every_command(clearway: Clearway) -> None:
    answer = clearway("--help")
    assert answer.status == 0
    for command in ("demo", "run", "compare", "report", "schema"):
        assert command in answer.out
        assert clearway(command, "--help").status == 0


def test_version(clearway: Clearway) -> None:
    assert clearway("--version").out == f"clearway {cw.__version__}\n"


def test_the_module_is_the_command() -> None:
    assert finished(child("--version")).out == f"clearway {cw.__version__}\n"
    asked = subprocess.run([sys.executable, "-m", "clearway", "schema"], capture_output=True, check=True)
    assert asked.stdout.startswith(b"{")
