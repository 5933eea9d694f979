"""The command line as a process: `clearway`, and `python -m clearway`."""

from clearway import stops


def main() -> None:
    """Run the command line and end the process; signals are heard before anything large is imported."""
    stops.begin()
    from clearway import cli  # noqa: PLC0415 - after the line above

    cli.main()


if __name__ == "__main__":
    main()
