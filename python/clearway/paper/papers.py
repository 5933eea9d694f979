"""The papers there are: a folder each, with its parameters and a file for each experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from clearway.errors import ClearwayError
from clearway.paper import parameters
from clearway.paper.checker import nearest
from clearway.paper.parameters import Parameter


@dataclass(frozen=True)
class Paper:
    """A paper's folder."""

    name: str
    folder: Path
    parameters: Sequence[Parameter] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """The experiments there are: figures by number, then tables, then others."""
        names = [path.stem for path in self.folder.glob("*.toml") if path.name != parameters.FILE]
        return sorted(names, key=_order)


def folder_of_papers() -> Path:
    """Return where the papers are: in the package, to which `papers` in a checkout is a link."""
    return Path(str(resources.files("clearway"))) / "papers"


def paper_named(name: str) -> Paper:
    """Find a paper, with its parameters."""
    ready = sorted(path.parent.name for path in folder_of_papers().glob(f"*/{parameters.FILE}"))
    if name not in ready:
        raise ClearwayError(f"{name}: no such paper", nearest(name, ready))
    folder = folder_of_papers() / name
    return Paper(name, folder, list(parameters.read_parameters(folder / parameters.FILE)))


def _order(name: str) -> tuple[int, int, str]:
    """Return what sorts experiments: their kind, their number, their name."""
    kind = name.rstrip("0123456789")
    number = name[len(kind) :]
    rank = {"fig": 0, "table": 1, "section": 2}.get(kind, 3)
    return rank, int(number) if number else 0, name
