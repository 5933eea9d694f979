"""Options that several commands have, and what is read of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clearway import console
from clearway.arguments import LARGEST_SEED, MOST_JOBS, MOST_SEEDS, MOST_THREADS
from clearway.errors import ClearwayError, check_text

if TYPE_CHECKING:
    from clearway.cluster.client import Cluster
    from clearway.selection import Selection

SetsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the scenario: --set network.hosts=10"),
]
UnsetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--unset",
        metavar="KEY",
        help="Remove a key or a table of the scenario, before --set: --unset transport.bulk.ai",
    ),
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", min=0, max=LARGEST_SEED, help="Root of all randomness.")
]
SeedsOption = Annotated[
    int | None,
    typer.Option("--seeds", min=1, max=MOST_SEEDS, help="Run N seeds: mean and 95 % interval."),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Directory to write, new or empty; by default one under runs/.")
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, max=MOST_JOBS, help="Runs at once; by default one a core.")
]
OnOption = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="ADDRESS",
        help="Run on the workers of a Dask scheduler, such as tcp://10.0.0.1:8786, instead of here.",
    ),
]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads",
        min=1,
        max=MOST_THREADS,
        help="Threads of each run; by default 1, and all cores for a single large run.",
    ),
]
StoreOption = Annotated[
    Path, typer.Option("--store", metavar="DIR", help="Where finished runs are kept and found again.")
]
FiguresOption = Annotated[
    list[str] | None,
    typer.Option(
        "--figure",
        metavar="NAME",
        help="Only rows of this figure, by key or label; * is any letters: --figure 'rtt_*'. Repeatable.",
    ),
]
TransportsOption = Annotated[
    list[str] | None,
    typer.Option("--transport", metavar="NAME", help="Only rows of this transport. Repeatable."),
]
ClassesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--class",
        metavar="NAME",
        help="Only rows of the transports whose data is in this traffic class. Repeatable.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


@contextmanager
def place(on: str | None, jobs: int | None) -> Iterator[Cluster | None]:
    """Connect to the cluster that --on names, if it does; Dask is imported for that alone."""
    if on is None:
        yield None
        return
    if jobs is not None:
        raise ClearwayError("--on and --jobs exclude each other", "the workers say how many runs they take")
    from clearway.cluster.client import connected  # noqa: PLC0415 - slow to import

    with connected(on) as cluster:
        if cluster.workers == 0:
            console.show_warning(f"{on} has no workers yet: waiting for the first")
        yield cluster


def selected(figures: list[str] | None, transports: list[str] | None, classes: list[str] | None) -> Selection:
    """Take which rows of a comparison are asked for."""
    from clearway.selection import Selection  # noqa: PLC0415 - most commands have no use for it

    for option, names in (("--figure", figures), ("--transport", transports), ("--class", classes)):
        for name in names or []:
            check_text(name, f"{option} {name}")
            if not name.strip():
                raise ClearwayError(f"{option}: found nothing, expected a name")
    return Selection(tuple(figures or ()), tuple(transports or ()), tuple(classes or ()))


def parsed(sets: list[str] | None, unsets: list[str] | None) -> list[tuple[str, str | None]]:
    """Split each KEY=VALUE; first come the keys to remove, with None."""
    pairs: list[tuple[str, str | None]] = []
    for text in unsets or []:
        check_text(text, f"--unset {text}")
        if "=" in text or not text.strip():
            raise ClearwayError(f"--unset {text}: expected KEY", "for example --unset transport.bulk.ai")
        pairs.append((text.strip(), None))
    for text in sets or []:
        check_text(text, f"--set {text}")
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise ClearwayError(
                f"--set {text}: expected KEY=VALUE",
                "for example --set network.hosts=10 or --set duration=5ms",
            )
        pairs.append((key.strip(), value.strip()))
    return pairs
