"""Which program the command `clearwayd` is, and what it says where that cannot run."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from clearway import daemon

_COMMAND = [sys.executable, "-c", "from clearway.daemon import main; main()"]


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def said_by_the_command(capfd: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as end:
        daemon.main()
    assert end.value.code == 2
    return capfd.readouterr().err


def test_a_package_without_the_daemon_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], workspace: Path
) -> None:
    monkeypatch.delenv(daemon.VARIABLE, raising=False)
    monkeypatch.setattr(daemon, "_OWN", workspace / "clearwayd")
    said = said_by_the_command(capfd)
    assert said.startswith("error: this installation of clearway has no clearwayd")
    assert "make build" in said


@pytest.mark.parametrize("name", ["nowhere", ".", "text"])
def test_a_variable_that_names_no_program_is_told_of(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], workspace: Path, name: str
) -> None:
    (workspace / "text").write_text("no program")
    monkeypatch.setenv(daemon.VARIABLE, name)
    said = said_by_the_command(capfd)
    assert said.startswith(f"error: CLEARWAYD names {workspace / name}, which is no program\n")
    assert "unset it" in said


def test_a_program_for_another_machine_is_told_of(monkeypatch: pytest.MonkeyPatch, workspace: Path) -> None:
    other = script(workspace / "other", "\x7fELF of another machine")
    monkeypatch.setenv(daemon.VARIABLE, str(other))
    done = subprocess.run(_COMMAND, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {other}: exec format error\n")


def test_the_variables_program_runs_with_the_arguments(
    monkeypatch: pytest.MonkeyPatch, workspace: Path
) -> None:
    script(workspace / "mine", '#!/bin/sh\necho "$# $2"\nexit 7\n')
    monkeypatch.setenv(daemon.VARIABLE, "mine")
    done = subprocess.run([*_COMMAND, "send", "two words"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (7, "2 two words\n", "")


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(daemon.VARIABLE, "")
    assert daemon.path().parts[-3:] == ("clearway", "bin", "clearwayd")
