"""The links of a Markdown file: where they lead in the source tree, and what they become on the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_CODE = re.compile(
    r"^(?P<fence>`{3,})[^\n]*\n.*?^(?P=fence)`*[ ]*$|(?P<ticks>`+)[^`].*?(?<!`)(?P=ticks)(?!`)", re.M | re.S
)
_PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+")
_LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s]+)(?P<after>\))")


@dataclass(frozen=True)
class Link:
    """A relative link: the file and line that have it, the path from the root, and the anchor."""

    source: PurePosixPath
    line: int
    path: PurePosixPath
    anchor: str


def links_of(root: Path, source: PurePosixPath) -> list[Link]:
    """Return the relative links of a Markdown file."""
    found: list[Link] = []

    def note(link: Link) -> str:
        found.append(link)
        return ""

    rewritten((root / source).read_text(encoding="utf-8"), source, note)
    return found


def broken_links(root: Path, sources: list[PurePosixPath]) -> Iterator[str]:
    """Say which relative links lead to no file, a line each."""
    for source in sources:
        for link in links_of(root, source):
            if not (root / link.path).exists():
                yield f"{source}:{link.line}: there is no {link.path}"


def linked_code(text: str, page_of: Callable[[PurePosixPath], str]) -> str:
    """Return a Markdown text in which code that is a path with a page becomes a link to the page.

    A path is one from the root. Code between fences, and in the text of a link, is left alone.
    """

    def replace(found: re.Match[str]) -> str:
        path = found.group().strip("`")
        is_text_of_link = text[: found.start()].endswith("[")
        page = (
            ""
            if found["fence"] or is_text_of_link or not _PATH.fullmatch(path)
            else page_of(PurePosixPath(path))
        )
        return f"[{found.group()}]({page})" if page else found.group()

    return _CODE.sub(replace, text)


def rewritten(text: str, source: PurePosixPath, becomes: Callable[[Link], str]) -> str:
    """Return a Markdown text with each relative link replaced by what `becomes` says; code is left alone."""
    code = [found.span() for found in _CODE.finditer(text)]

    def replace(found: re.Match[str]) -> str:
        target = found["target"]
        in_code = any(start <= found.start() < end for start, end in code)
        if in_code or target.startswith("#") or re.match(r"[a-z]+:", target):
            return found.group()
        path, _, anchor = target.partition("#")
        line = text.count("\n", 0, found.start()) + 1
        new = becomes(Link(source, line, _normal(source.parent / path), anchor))
        return f"{found['before']}{new}{found['after']}"

    return _LINK.sub(replace, text)


def _normal(path: PurePosixPath) -> PurePosixPath:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return PurePosixPath(*parts)
