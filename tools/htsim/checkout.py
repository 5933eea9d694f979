"""A checkout of ultraethernet/uet-htsim: where it is, whether it is the tested one, and how it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

# The commit with which the figures of docs/PERFORMANCE.md and docs/ULTRA_ETHERNET.md were taken.
TESTED = "40ccb0526bb6297eeb22ab33f9934fb35278dbaf"
# htsim's sources, and the folder in which its program and its examples are.
_SOURCES = Path("htsim/sim")
FOLDER = _SOURCES / "datacenter"
PROGRAM = "htsim_uec"
_BUILD_PATIENCE_S = 3600.0


class CannotRunError(Exception):
    """There is nothing to compare with; the message is the reason."""


def build(checkout: Path) -> Path:
    """Build htsim, which it does with -O3, and return the folder of its program and its examples."""
    sources = checkout / _SOURCES
    if not (sources / "CMakeLists.txt").is_file():
        raise CannotRunError(
            f"{checkout} is no checkout of uet-htsim: git clone https://github.com/ultraethernet/uet-htsim"
        )
    missing = [program for program in ("cmake", "make") if shutil.which(program) is None]
    if not any(shutil.which(name) for name in (os.environ.get("CXX"), "c++", "g++", "clang++") if name):
        missing.append("a C++ compiler")
    if missing:
        raise CannotRunError(f"uet-htsim cannot be built here: missing {', '.join(missing)}")
    _demand(["cmake", "-S", str(sources), "-B", str(sources / "build"), "-DCMAKE_BUILD_TYPE=Release"])
    _demand(["cmake", "--build", str(sources / "build"), "--parallel", "2", "--target", PROGRAM])
    return checkout / FOLDER


def remark(checkout: Path) -> str | None:
    """Return a warning where this is another commit than the tested one, or nobody can say which."""
    command = ["git", "-C", str(checkout), "rev-parse", "HEAD"]
    documents = f"the figures of the documents are those of {TESTED[:7]}"
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own command
    except (OSError, subprocess.CalledProcessError):
        return f"the commit of {checkout} is not known; {documents}"
    at = done.stdout.strip()
    return None if at == TESTED else f"{checkout} is at {at[:7]}; {documents}"


def _demand(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, text=True, check=False, timeout=_BUILD_PATIENCE_S
        )
    except subprocess.TimeoutExpired as error:
        raise CannotRunError(
            f"{' '.join(command[:2])}: was not done after {_BUILD_PATIENCE_S:g} s"
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-5:]
        raise CannotRunError(f"{' '.join(command[:2])} failed:\n" + "\n".join(said))
