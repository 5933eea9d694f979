"""What goes wrong for a reason that its reader can act on."""

import os


class ClearwayError(Exception):
    """What went wrong, and what to do about it. The command line prints both and exits with status 2."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        """Keep the message and the remedy apart: the second stands on a line of its own."""
        super().__init__(message if remedy is None else f"{message}\n  {remedy}")
        self.message = message
        self.remedy = remedy


def reason(error: OSError) -> str:
    """Say what the operating system said, without its number and without what a library made of it."""
    return (os.strerror(error.errno) if error.errno else str(error)).lower()
