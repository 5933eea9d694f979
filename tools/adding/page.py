"""What docs/ADDING.md says is to be added: new files, and changes of others, chapter by chapter."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_PART = re.compile(
    r"^# (?P<chapter>[^\n]+)$|^## (?P<section>[^\n]+)$|^```(?P<kind>rust|diff)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_PATH = re.compile(r"`([\w./]+\.rs)`")
_CHANGED = re.compile(r"^--- a/(\S+)$", re.MULTILINE)


@dataclass
class Chapter:
    """An example: what it adds, and what it changes."""

    title: str
    files: dict[str, str] = field(default_factory=dict)
    """The texts of new files, by path."""
    diffs: list[str] = field(default_factory=list)

    @property
    def changed(self) -> set[str]:
        """The files that it changes, without the list of tests."""
        paths = {path for diff in self.diffs for path in _CHANGED.findall(diff)}
        return {path for path in paths if not path.endswith("tests/main.rs")}


def chapters(page: str) -> list[Chapter]:
    """Return the chapters in their order. A new file is the first that its section's heading names."""
    found: list[Chapter] = []
    heading = ""
    for part in _PART.finditer(page):
        if part["chapter"] is not None:
            found.append(Chapter(part["chapter"]))
        elif part["section"] is not None:
            heading = part["section"]
        elif part["kind"] == "diff":
            found[-1].diffs.append(part["text"])
        else:
            path = _PATH.search(heading)
            if path is None:
                raise ValueError(f"the section {heading!r} has a file and names none")
            found[-1].files[path[1]] = part["text"]
    return found
