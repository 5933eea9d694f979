"""Check that the committed BPF objects are what their sources build to; with `--build`, build them anew.

Nobody who builds Clearway needs clang, as the objects are committed beside their sources. So they may differ
from them: a file with the digests of the sources and of the objects, and the compiler's name, says what was
built from what. Where the same compiler is at hand, what it makes of the sources must be the objects, byte
for byte.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path("crates/host/bpf")
PROGRAMS = ["rates", "relay", "swift"]
MADE_OF = FOLDER / "made_of.json"
SOURCES = ["kernel.h", "rates.bpf.c", "relay.bpf.c", "swift.bpf.c", "swift_window.h"]
FLAGS = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror"]
REMEDY = "build them anew: python -m tools.bpf --build (needs clang)"
PACKAGES = "install them (Debian and Ubuntu: apt-get install clang llvm libbpf-dev)"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compiled(program: str) -> Path:
    """Return the place of a program's object."""
    return FOLDER / f"{program}.bpf.o"


def digests(names: list[str]) -> dict[str, str]:
    """Return the digests of files beside the sources by name; of one that is missing there is none."""
    return {name: digest(FOLDER / name) for name in names if (FOLDER / name).exists()}


def noted_now() -> dict[str, dict[str, str]]:
    """Return the digests of the objects and of the sources."""
    return {"objects": digests([compiled(program).name for program in PROGRAMS]), "sources": digests(SOURCES)}


def run(*command: str) -> str:
    """Run a compiler's command, and return what it says."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603


def compiler() -> str | None:
    """Return what clang says of itself; none where it is missing, or llvm-strip is."""
    if shutil.which("clang") is None or shutil.which("llvm-strip") is None:
        return None
    return run("clang", "--version").splitlines()[0]


def build(program: str, to: Path) -> None:
    """Build an object, the same in every folder. Of what is for debugging only BTF is kept."""
    here = f"-ffile-prefix-map={Path.cwd()}=."
    run("clang", *FLAGS, here, "-c", str(FOLDER / f"{program}.bpf.c"), "-o", str(to))
    run("llvm-strip", "-g", str(to))


def check() -> str | None:
    """Return what is wrong with the objects, if anything is."""
    noted = json.loads(MADE_OF.read_text())
    if {name: noted.get(name) for name in ("objects", "sources")} != noted_now():
        return f"the objects in {FOLDER} were not made of the sources beside them: {REMEDY}"
    if compiler() != noted["compiler"]:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for program in PROGRAMS:
            anew = Path(folder) / compiled(program).name
            build(program, anew)
            if anew.read_bytes() != compiled(program).read_bytes():
                return f"{compiled(program)} is not what its sources build to: {REMEDY}"
    return None


def main() -> int:
    """Check, or build."""
    if sys.argv[1:] not in ([], ["--build"]):
        print("usage: python -m tools.bpf [--build]", file=sys.stderr)
        return 2
    if sys.argv[1:]:
        said = compiler()
        if said is None:
            print(f"error: clang or llvm-strip is missing: {PACKAGES}", file=sys.stderr)
            return 2
        for program in PROGRAMS:
            build(program, compiled(program))
        MADE_OF.write_text(json.dumps({"compiler": said, **noted_now()}, indent=2) + "\n")
        return 0
    problem = check()
    if problem is not None:
        print(f"error: {problem}", file=sys.stderr)
    return int(problem is not None)


if __name__ == "__main__":
    sys.exit(main())
