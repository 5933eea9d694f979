"""The command line as a process: `clearway`, and `python -m clearway`."""

import os

from clearway import stops


def main() -> None:
    """Run the command line and end the process; signals are heard before anything large is imported."""
    stops.begin()
    # NumPy would start a thread for each further core, for matrices that no command has: 50 ms on two cores.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from clearway import cli  # noqa: PLC0415 - after the line above

    cli.main()


if __name__ == "__main__":
    main()
