"""`clearwayd`, the program that the package carries: where it is, and the command that runs it.

A package built by pip itself, or for a system that is not Linux, carries none.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from clearway.errors import BAD_INPUT, ClearwayError, reason, shown

VARIABLE = "CLEARWAYD"
"""The variable of the environment that names a program to run instead of the package's own."""
_OWN = Path(__file__).parent / "bin" / "clearwayd"


def path() -> Path:
    """Return where the program should be."""
    named = os.environ.get(VARIABLE)
    return Path(named).absolute() if named else _OWN


def program() -> str:
    """Return the path of the program; raise if it is not there."""
    found = path()
    if found.is_file() and os.access(found, os.X_OK):
        return str(found)
    if found != _OWN:
        raise ClearwayError(
            f"{VARIABLE} names {shown(found)}, which is no program",
            "set it to the path of a clearwayd, or unset it to run the one that clearway carries",
        )
    raise ClearwayError(
        "this installation of clearway has no clearwayd",
        "it runs on Linux; in the source tree `make build` or `make wheel` puts it into the package",
    )


def main() -> None:
    """Run the program in the place of this process, with its arguments, or say why it cannot run."""
    try:
        found = program()
        # Python ignores these two, and the program would inherit that.
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(ignored, signal.SIG_DFL)
        os.execv(found, ["clearwayd", *sys.argv[1:]])  # noqa: S606 - without a shell
    except ClearwayError as error:
        said = str(error)
    except OSError as error:
        said = f"{shown(path())}: {reason(error)}"
    with suppress(OSError):  # of a standard error that is closed or full
        os.write(2, f"error: {said}\n".encode(errors="backslashreplace"))
    sys.exit(BAD_INPUT)
