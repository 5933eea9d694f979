"""What goes wrong for a reason that its reader can act on."""

import os

CLAIM_FAILED = 1
"""The exit status where a claim did not hold."""
BAD_INPUT = 2
"""The exit status where nothing was done, and its reader can do something about it."""


class ClearwayError(Exception):
    """What went wrong, and what to do about it. The command line prints both and exits with status 2."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        """Keep the message and the remedy apart: the second stands on a line of its own."""
        super().__init__(message if remedy is None else f"{message}\n  {remedy}")
        self.message = message
        self.remedy = remedy


def shown(path: str | os.PathLike[str]) -> str:
    r"""Write a path for people and for files: bytes of it that are not UTF-8 as `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def check_text(text: str, where: str) -> None:
    """Raise if a text of the command line is not UTF-8; `where` says which it is."""
    if not text.isascii() and shown(text) != text:
        raise ClearwayError(f"{where}: not UTF-8", "write it in UTF-8")


def reason(error: OSError) -> str:
    """Say what the operating system said, without its number and without what a library made of it."""
    return (os.strerror(error.errno) if error.errno else str(error)).lower()
