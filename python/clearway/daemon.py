"""The command `clearwayd`: the program that the package carries, in the place of this process.

A package built by pip itself, or for a system that is not Linux, carries none.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

_PROGRAM = Path(__file__).parent / "bin" / "clearwayd"
_MISSING = (
    b"error: this installation of clearway has no clearwayd\n"
    b"  it runs on Linux; in the source tree `make build` or `make wheel` puts it into the package\n"
)


def main() -> None:
    """Run the program with the arguments of this process, or say that there is none."""
    if not _PROGRAM.is_file():
        with suppress(OSError):  # of a standard error that is closed or full
            os.write(2, _MISSING)
        sys.exit(2)
    # Python ignores these two, and the program would inherit that.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.execv(_PROGRAM, ["clearwayd", *sys.argv[1:]])  # noqa: S606 - without a shell
