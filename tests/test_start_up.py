"""Starting: what is imported before a command runs, and what ends the process meanwhile."""

import os
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path

import clearway as cw
import pytest
import typer
from clearway.cli import COMMANDS, app

from tests.conftest import Clearway

pytestmark = pytest.mark.slow

LARGE = (
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "optuna",
    "clearway.runs",
    "clearway.paper",
    "clearway.sweeps",
)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_what_needs_no_command_imports_none(arguments: list[str]) -> None:
    process = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "clearway", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    imported = {
        line.rpartition("|")[2].strip() for line in process.stderr.splitlines() if "import time:" in line
    }
    assert "clearway.console" in imported
    assert not imported & set(LARGE)
    assert not {name for name in imported if name.startswith("clearway.commands")}


def test_a_command_imports_only_what_it_needs() -> None:
    asked = "import sys; from clearway.commands import run; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    imported = set(process.stdout.split())
    assert "clearway.runs" in imported
    assert not imported & {"clearway.paper", "clearway.report", "pandas", "polars", "pyarrow"}


@pytest.mark.parametrize("command", ["plan", "schema"])
def test_what_makes_no_run_needs_no_arrays(command: str) -> None:
    asked = f"import sys; from clearway.commands import {command}; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    imported = set(process.stdout.split())
    assert f"clearway.commands.{command}" in imported
    assert not imported & {"numpy", "clearway.runs"}


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_numpy_starts_no_threads_for_a_command() -> None:
    asked = (
        "import os; from clearway import __main__, cli\n"
        "cli.main = lambda: print(__import__('numpy').__name__, len(os.listdir('/proc/self/task')))\n"
        "__main__.main()"
    )
    program = [sys.executable, "-c", asked]
    alone = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    process = subprocess.run(program, capture_output=True, text=True, check=True, env=alone)
    assert process.stdout == "numpy 1\n"


def test_tables_are_written_and_read_without_pandas(small: Path) -> None:
    """It takes as long to import as the rest of a short command."""
    pytest.importorskip("pyarrow")
    asked = (
        "import sys, clearway as cw\n"
        f"cw.run({str(small)!r}).save('there')\n"
        "tables = {name: len(table) for name, table in cw.load_run('there').tables.items()}\n"
        "print(len(tables), 'pyarrow' in sys.modules, 'pandas' in sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert process.stdout == "7 True False\n"


def test_the_list_says_of_each_command_what_it_says_itself(clearway: Clearway) -> None:
    group = typer.main.get_command(app)
    for name, text in COMMANDS.items():
        command = group.get_command(typer.Context(group), name)  # type: ignore[attr-defined]
        assert command.help == text
    assert list(COMMANDS) == list(group.commands)  # type: ignore[attr-defined]
    assert "did you mean" in clearway("rnu").err.lower()


def test_all_names_of_the_package_are_there() -> None:
    for first in ("__version__", "schema"):
        asked = f"import clearway; clearway.{first}; print([getattr(clearway, n) for n in clearway.__all__])"
        subprocess.run([sys.executable, "-c", asked], check=True, capture_output=True)
    assert set(cw.__all__) <= set(dir(cw))
    with pytest.raises(AttributeError, match="nothing"):
        cw.nothing  # type: ignore[attr-defined] # noqa: B018


def test_signals_are_heard_before_anything_large_is_imported() -> None:
    (script,) = entry_points(group="console_scripts", name="clearway")
    assert script.value == "clearway.__main__:main"
    asked = "import sys, clearway.__main__; print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    imported = set(process.stdout.split())
    assert "clearway.stops" in imported
    assert not imported & {"typer", "rich", "clearway.cli", "clearway._clearway"}


STARTED = """
import os, signal
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from clearway import __main__, stops
begin = stops.begin
stops.begin = lambda: (begin(), os.write(1, b"."))
__main__.main()
"""
"""The command line as it is started, in a process that says when it hears signals."""


def stopped(number: signal.Signals, instant: float) -> tuple[int, str]:
    """Stop a command `instant` seconds after it began to hear signals; return its status and stderr."""
    process = subprocess.Popen(
        [sys.executable, "-c", STARTED, "run", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 30)
    if not ready:
        process.kill()
    assert process.stdout.read(1) == "."
    time.sleep(instant)
    process.send_signal(number)
    # Its standard input stays open: it would wait for the scenario for ever.
    status = process.wait(60)
    assert process.stderr is not None
    return status, process.stderr.read()


def test_signals_while_it_starts() -> None:
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] * 8
    instants = [index * 0.015 for index in range(len(numbers))]
    with ThreadPoolExecutor(2) as pool:
        for number, (status, said) in zip(numbers, pool.map(stopped, numbers, instants), strict=True):
            assert said == "error: interrupted, nothing written\n"
            assert status == 128 + number
