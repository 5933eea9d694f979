"""The wheel, as a person without Rust installs it: built, installed into an empty environment, run there."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import clearway as cw
import pytest

from tests.conftest import SMALL, written

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build it; what `make build` has compiled is taken."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", folder],
        cwd=ROOT,
        check=True,
    )
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """An environment that has the wheel and what it needs, and no more."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    # Ours installs into it. What a command imports is compiled when it does.
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    install = ["install", "--quiet", "--disable-pip-version-check", "--no-compile", str(wheel)]
    subprocess.run([*pip, *install], env=alone(folder), check=True)
    return folder


def alone(folder: Path) -> dict[str, str]:
    """The variables of a shell that knows this environment only: no compiler, none of our paths."""
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HTTP", "http", "SSL"))
    }
    return kept | {"PATH": str(folder / "bin"), "HOME": str(folder), "LANG": "C.UTF-8"}


def test_one_wheel_is_for_all_pythons_and_has_all_files(wheel: Path) -> None:
    assert wheel.name.startswith(f"clearway-{cw.__version__}-cp310-abi3-")
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("_clearway.abi3.so", "_clearway.pyi", "py.typed", "papers/swift/parameters.toml"):
        assert f"clearway/{part}" in names
    package = ROOT / "python" / "clearway"
    for path in package.rglob("*.py"):
        assert f"clearway/{path.relative_to(package).as_posix()}" in names


def test_the_licences_of_all_that_it_carries_are_among_the_packages(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    folder = f"clearway-{cw.__version__}.dist-info/licenses"
    library = "python/clearway/report/vendor/LICENSE-uPlot"
    for name in ("LICENSE-APACHE", "LICENSE-MIT", library):
        assert archive.read(f"{folder}/{name}") == (ROOT / name).read_bytes()
    scripts = [name for name in archive.namelist() if name.endswith(".js") and "/vendor/" in name]
    assert scripts == ["clearway/report/vendor/uPlot.iife.min.js"]  # another one needs its licence here


def test_it_runs_where_nothing_else_is(empty: Path, workspace: Path) -> None:
    written(workspace / "small.toml", SMALL)

    def answer(*arguments: str) -> str:
        done = subprocess.run(
            [empty / "bin" / "clearway", *arguments],
            env=alone(empty),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert answer("--version") == f"clearway {cw.__version__}\n"
    assert json.loads(answer("run", "small.toml", "--json"))["digest"] == cw.run("small.toml").digest
    assert "fig18" in answer("paper", "swift", "--list")
    assert list((workspace / "runs").glob("*/flows.csv"))  # as there is no pyarrow


def test_the_daemon_moves_a_file(empty: Path, workspace: Path) -> None:
    """By the command beside `clearway`, in two processes."""
    program = str(empty / "bin" / "clearwayd")
    (workspace / "original").write_bytes(bytes(range(256)) * 100)
    assert subprocess.run([program, "keys", "keys", "here"], env=alone(empty), check=False).returncode == 0
    receiver = subprocess.Popen(
        [program, "receive", "--listen", "127.0.0.1:0", "--keys", "keys", "--out", "copy", "--once"],
        env=alone(empty),
        stdout=subprocess.PIPE,
        text=True,
    )
    with receiver:
        try:
            assert receiver.stdout
            address = receiver.stdout.readline().removeprefix("listening at ").strip()
            send = [program, "send", "--to", address, "--keys", "keys", "--file", "original", "--json"]
            send += ["--base-target", "5ms", "--endpoint-target", "20ms"]
            sent = subprocess.run(send, env=alone(empty), capture_output=True, text=True, check=False)
            assert sent.returncode == 0, sent.stderr
            assert receiver.wait(timeout=30) == 0
        finally:
            receiver.kill()
    assert (workspace / "copy").read_bytes() == (workspace / "original").read_bytes()


def test_the_daemon_gets_the_arguments_and_answers_with_its_status(empty: Path) -> None:
    program = str(empty / "bin" / "clearwayd")

    def status(words: str, *arguments: str) -> int:
        script = ["/bin/sh", "-c", f'exec "$@" {words}', "sh", program, *arguments]
        return subprocess.run(script, env=alone(empty), stderr=subprocess.DEVNULL, check=False).returncode

    assert status("", "--version") == 0
    assert status("", "--no-such-option") == 2
    assert status(">/dev/full", "--version") == 2
    assert status(">&-", "--version") == 2


def test_the_daemon_runs_where_the_name_of_the_wheel_says(wheel: Path) -> None:
    """Its C library is at least as old as that of the extension, which maturin has looked at."""
    tag = re.search(r"manylinux_2_(\d+)_", wheel.name)
    assert tag, wheel.name
    program = zipfile.ZipFile(wheel).read("clearway/bin/clearwayd")
    needed = {int(number) for number in re.findall(rb"GLIBC_2\.(\d+)", program)}
    assert needed
    assert max(needed) <= int(tag[1])
