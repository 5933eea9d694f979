"""The wheel, as a person without Rust installs it: built, installed into an empty environment, run there."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import clearway as cw
import pytest

from tests.conftest import SMALL, written

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
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = ["install", "--quiet", "--disable-pip-version-check", str(wheel)]
    subprocess.run([folder / "bin" / "python", "-m", "pip", *install], env=alone(folder), check=True)
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
