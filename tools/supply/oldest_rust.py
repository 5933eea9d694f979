"""Whether everything but clearway-quic compiles with the oldest Rust that Cargo.toml promises.

That Rust is taken from rustup, or else from Debian's packages, which are unpacked below target/ and not
installed.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tools.supply.outcome import ROOT, Outcome, State, ask

_UNPACKED = ROOT / "target" / "oldest" / "rust"
# s2n-quic, which the tests of clearway-quic need, asks for a newer Rust.
_LEFT_OUT = ("--exclude", "clearway-quic")
_PROMISED = re.compile(r'^rust-version = "(\d+\.\d+)"', re.MULTILINE)


def oldest_rust() -> list[Outcome]:
    """Compile all crates, their tests and benches, with the oldest Rust."""
    promised = _PROMISED.search((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    assert promised
    version = promised[1]
    check = f"all crates but clearway-quic with Rust {version}"
    environment = _of_rustup(version) or _of_debian(version)
    if environment is None:
        reason = f"neither rustup nor Debian's packages have it here: rustup toolchain install {version}"
        return [Outcome(check, State.NOT_CHECKED, reason)]
    said = ask(["rustc", "--version"], environment)
    if f" {version}." not in said.out:
        return [Outcome(check, State.NOT_CHECKED, f"rustc --version: {said.last_words(3)}")]
    command = ["cargo", "check", "--quiet", "--locked", "--workspace", "--all-targets", *_LEFT_OUT]
    answer = ask(command, environment | {"CARGO_TARGET_DIR": str(ROOT / "target" / "oldest" / "target")})
    if answer.succeeded:
        return [Outcome(check, State.PASSED)]
    return [Outcome(check, State.FAILED, answer.last_words())]


def _of_rustup(version: str) -> dict[str, str] | None:
    """Return an environment in which cargo is this version, if rustup has it."""
    found = ask(["rustup", "which", "--toolchain", version, "rustc"])
    if not found.succeeded:
        return None
    return _with_path(Path(found.out.strip()).parent)


def _of_debian(version: str) -> dict[str, str] | None:
    """Return an environment with cargo of Debian's packages, unpacked on the first call."""
    programs = _UNPACKED / "usr" / "bin"
    if not (programs / "rustc").is_file() and not _unpack(version):
        return None
    libraries = {path.parent for path in _UNPACKED.glob("**/*.so*") if "rustlib" not in path.parts}
    return _with_path(programs) | {"LD_LIBRARY_PATH": os.pathsep.join(map(str, sorted(libraries)))}


def _with_path(programs: Path) -> dict[str, str]:
    return dict(os.environ) | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}


def _unpack(version: str) -> bool:
    """Download the packages of this Rust and what they need that is not here; tell whether it went well."""
    shutil.rmtree(_UNPACKED, ignore_errors=True)
    _UNPACKED.mkdir(parents=True)
    for wanted in _packages_of(version):
        listed = ask(["apt-get", "install", "--print-uris", "-qq", "-y", "--no-install-recommends", *wanted])
        files = [line.split()[1] for line in listed.out.splitlines() if line.startswith("'")]
        # A name, an escaped version and an architecture: libllvm19_1%3a19.1.7_amd64.deb
        named = ["{}={}".format(*file.replace("%3a", ":").split("_")) for file in files]
        if not named or not ask(["apt-get", "download", "-qq", *named], place=_UNPACKED).succeeded:
            continue
        archives = sorted(_UNPACKED.glob("*.deb"))
        unpacked = all(ask(["dpkg-deb", "--extract", archive, _UNPACKED]).succeeded for archive in archives)
        for archive in archives:
            archive.unlink()
        if unpacked:
            return True
    return False


def _packages_of(version: str) -> list[list[str]]:
    """Return what to ask for, an entry for each family of packages with this Rust; one is for browsers."""
    if not ask(["apt-cache", "madison", "rustc"]).out:
        ask(["apt-get", "update", "-qq"])  # a new machine has no lists; only root may fetch them
    wanted = []
    for family in ("", "-web"):
        rows = ask(["apt-cache", "madison", f"rustc{family}"]).out.splitlines()
        versions = [row.split("|")[1].strip() for row in rows]
        for exact in (each for each in versions if each.startswith(f"{version}.")):
            names = (f"rustc{family}", f"cargo{family}", f"libstd-rust{family}-dev")
            wanted.append([f"{name}={exact}" for name in names])
    return wanted
