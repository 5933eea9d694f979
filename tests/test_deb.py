"""The Debian package of the daemon: what is in it, and that it unpacks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "target" / "daemon" / "clearwayd"


def done(*command: str | Path) -> str:
    """Run a command in the tree and return what it prints."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for program in ("cargo-deb", "dpkg-deb"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if not PROGRAM.exists():
        pytest.skip("target/daemon/clearwayd is missing: make build")
    folder = tmp_path_factory.mktemp("deb")
    made_of = ("--profile", "daemon", "-p", "clearway-host", "--no-build", "--no-strip")
    done("cargo", "deb", "--quiet", *made_of, "--output", folder)
    (made,) = folder.glob("clearwayd_*.deb")
    return made


def test_the_package_has_its_files_and_no_others(package: Path) -> None:
    listed = done("dpkg-deb", "--contents", package)
    files = sorted(line.split()[-1] for line in listed.splitlines() if not line.endswith("/"))
    documents = "./usr/share/doc/clearwayd"
    assert files == sorted(
        [
            "./usr/bin/clearwayd",
            "./etc/clearway/agent.toml",
            "./usr/lib/systemd/system/clearwayd-agent.service",
            "./usr/lib/systemd/system/clearwayd-relay@.service",
            f"{documents}/HOST.md",
            f"{documents}/LOSSLESS.md",
            f"{documents}/OPERATING.md",
            f"{documents}/copyright",
            f"{documents}/examples/clearway.rules.yml",
            f"{documents}/examples/grafana.json",
            f"{documents}/examples/prometheus.yml",
        ]
    )


def test_its_scripts_make_the_user_and_neither_start_nor_enable(package: Path, tmp_path: Path) -> None:
    done("dpkg-deb", "--control", package, tmp_path)
    for script in ("postinst", "prerm", "postrm"):
        done("sh", "-n", tmp_path / script)
    made = (tmp_path / "postinst").read_text()
    assert "adduser --quiet --system --group" in made
    assert "deb-systemd-invoke start" not in made
    assert (tmp_path / "conffiles").read_text() == "/etc/clearway/agent.toml\n"


def test_it_unpacks_and_its_program_reads_its_settings(package: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("dpkg unpacks as root only")
    admin = tmp_path / "var/lib/dpkg"
    for folder in ("updates", "info"):
        (admin / folder).mkdir(parents=True)
    (admin / "status").touch()
    done("dpkg", f"--root={tmp_path}", "--force-script-chrootless", "--unpack", package)
    settings = tmp_path / "etc/clearway/agent.toml"
    # So a file of settings is named until the package is configured.
    new = f"{settings}.dpkg-new"
    agent = [str(tmp_path / "usr/bin/clearwayd"), "agent", "--config", new, "--log", "text"]
    told = subprocess.run(agent, capture_output=True, text=True, check=False)
    # There are no certificates yet: all else in the file is understood.
    assert told.returncode == 2, told.stderr
    assert told.stderr.startswith(f"error: {settings.parent / 'keys'}"), told.stderr
    assert "clearwayd keys" in told.stderr
