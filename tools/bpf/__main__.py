"""Check that the committed BPF object is what its sources build to; with `--build`, build it anew.

Nobody who builds Clearway needs clang, as the object is committed beside its sources. So it may differ from
them: a file with the digests of the sources that it was built from, and the compiler's name, says of which
it is. Where the same compiler is at hand, what it makes of the sources must be the object, byte for byte.
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
OBJECT = FOLDER / "swift.bpf.o"
MADE_OF = FOLDER / "made_of.json"
SOURCES = ["kernel.h", "swift.bpf.c", "swift_window.h"]
FLAGS = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror"]
REMEDY = "build it anew: python -m tools.bpf --build (needs clang)"
PACKAGES = "install them (Debian and Ubuntu: apt-get install clang llvm libbpf-dev)"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def made_of() -> dict[str, str]:
    """Return the digests of the sources by name."""
    return {name: digest(FOLDER / name) for name in SOURCES}


def run(*command: str) -> str:
    """Run a compiler's command, and return what it says."""
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S603


def compiler() -> str | None:
    """Return what clang says of itself; none where it is missing, or llvm-strip is."""
    if shutil.which("clang") is None or shutil.which("llvm-strip") is None:
        return None
    return run("clang", "--version").splitlines()[0]


def build(to: Path) -> None:
    """Build the object, the same in every folder. Of what is for debugging only BTF is kept."""
    here = f"-ffile-prefix-map={Path.cwd()}=."
    run("clang", *FLAGS, here, "-c", str(FOLDER / "swift.bpf.c"), "-o", str(to))
    run("llvm-strip", "-g", str(to))


def check() -> str | None:
    """Return what is wrong with the object, if anything is."""
    noted = json.loads(MADE_OF.read_text())
    if noted["object"] != digest(OBJECT) or noted["sources"] != made_of():
        return f"{OBJECT} was not made of the sources beside it: {REMEDY}"
    if compiler() != noted["compiler"]:
        return None
    with tempfile.TemporaryDirectory() as folder:
        anew = Path(folder) / OBJECT.name
        build(anew)
        if anew.read_bytes() != OBJECT.read_bytes():
            return f"{OBJECT} is not what its sources build to: {REMEDY}"
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
        build(OBJECT)
        noted = {"compiler": said, "object": digest(OBJECT), "sources": made_of()}
        MADE_OF.write_text(json.dumps(noted, indent=2) + "\n")
        return 0
    problem = check()
    if problem is not None:
        print(f"error: {problem}", file=sys.stderr)
    return int(problem is not None)


if __name__ == "__main__":
    sys.exit(main())
