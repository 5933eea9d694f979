"""The sources of the site: Markdown files laid out as the generator reads them, each link made to fit."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import clearway

from tools.site import commands, links, scenario
from tools.site.links import Link

HOME = PurePosixPath("README.md")
CHANGES = PurePosixPath("CHANGELOG.md")
EXAMPLES = PurePosixPath("scenarios")

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Start": ("tutorial", "why", "replay", "training"),
    "How to": (
        "coming_from",
        "jobs",
        "storage",
        "target_delay",
        "lossless",
        "faults",
        "ultra_ethernet",
        "fastpass",
        "three_systems",
        "cluster",
        "tuning",
        "plots",
        "host",
        "testbed",
        "operating",
        "quic",
        "papers",
        "adding",
    ),
    "Reference": ("scenario/index", "output", "commands", "python", "source/scenarios/index"),
    "Background": (
        "architecture",
        "life_of_a_packet",
        "design",
        "deviations",
        "performance",
        "performance_tried",
        "changelog",
    ),
}
"""The pages by the headings of the table of contents. The generator refuses a page that is in none."""

_PICTURES = {".svg", ".png"}
_LANGUAGES = {".toml": "toml", ".rs": "rust", ".py": "python", ".csv": "text"}
_HIDDEN = {".pyc", ".so"}


class BrokenLinksError(Exception):
    """Links that lead nowhere, a line each."""


class Stage:
    """Writes the sources of a site, and for each file that a page links to, a page that shows it."""

    def __init__(self, root: Path, target: Path) -> None:
        """Take the source tree's root and the folder to fill."""
        self.root = root
        self.target = target
        self.pages = {HOME: "index", CHANGES: "changelog"}
        for path in sorted((root / "docs").glob("*.md")):
            self.pages[PurePosixPath("docs", path.name)] = path.stem.lower()
        self.waiting = list(self.pages)
        self.broken: list[str] = []

    def fill(self) -> None:
        """Write every page; raise `BrokenLinksError` if a link leads to no file."""
        shutil.rmtree(self.target, ignore_errors=True)
        self._page_of(EXAMPLES)
        while self.waiting:
            source = self.waiting.pop(0)
            self._write(self.pages[source], self._text(source))
        for path, text in scenario.pages(clearway.schema()).items():
            self._write(path.removesuffix(".md"), text)
        self._write("commands", commands.commands_page())
        self._write("python", commands.python_page())
        if self.broken:
            raise BrokenLinksError("\n".join(self.broken))

    def _write(self, page: str, text: str) -> None:
        path = self.target / f"{page}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _text(self, source: PurePosixPath) -> str:
        path = self.root / source
        if path.is_dir():
            return self._folder(source)
        text = path.read_text(encoding="utf-8")
        if source.suffix != ".md":
            language = _LANGUAGES.get(source.suffix, "text")
            fence = "`" * 10
            return (
                f"---\norphan: true\n---\n# {source.name}\n\n`{source}`\n\n{fence}{language}\n{text}{fence}\n"
            )
        text = links.linked_code(links.rewritten(text, source, self._link), self._page_of_code)
        if source == HOME:
            return text + _contents()
        return text if source in (CHANGES, *self._documents()) else f"---\norphan: true\n---\n{text}"

    def _documents(self) -> list[PurePosixPath]:
        return [source for source in self.pages if source.parent == PurePosixPath("docs")]

    def _folder(self, source: PurePosixPath) -> str:
        """Return a page that lists the files of a folder with what each says at its top."""
        title = "Example scenarios" if source == EXAMPLES else f"{source.name}/"
        lines = ["---", "orphan: true", "---"] if source != EXAMPLES else []
        lines += [f"# {title}", "", f"The files of `{source}`.", ""]
        for path in sorted((self.root / source).iterdir(), key=lambda path: (path.is_dir(), path.name)):
            if path.suffix in _HIDDEN or path.name.startswith((".", "__")):
                continue
            below = source / path.name
            lines += [f"**[{path.name}]({self._page_of(below)})**", f": {_top_comment(path)}", ""]
        return "\n".join(lines)

    def _link(self, link: Link) -> str:
        """Return where a link leads on the site."""
        path = self.root / link.path
        if not path.exists():
            self.broken.append(f"{link.source}:{link.line}: there is no {link.path}")
            return ""
        if path.suffix in _PICTURES:
            (self.target / link.path.parent).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, self.target / link.path)
            return f"/{link.path}"
        return self._page_of(link.path) + (f"#{link.anchor}" if link.anchor else "")

    def _page_of_code(self, path: PurePosixPath) -> str:
        """Return the page of a file that code in a document names, or nothing if it names none."""
        is_shown = ".." not in path.parts and path.suffix in (".md", *_LANGUAGES)
        return self._page_of(path) if is_shown and (self.root / path).is_file() else ""

    def _page_of(self, source: PurePosixPath) -> str:
        """Return the page that shows a file or folder; it will be written if it is not known yet."""
        if source not in self.pages:
            shown = source / "index" if (self.root / source).is_dir() else source
            self.pages[source] = f"source/{shown}"
            self.waiting.append(source)
        return f"/{self.pages[source]}.md"


def _contents() -> str:
    lines = []
    for caption, pages in SECTIONS.items():
        lines += ["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```"]
    return "\n".join([*lines, ""])


def _top_comment(path: Path) -> str:
    """Return the comment at the top of a file, in one line."""
    if path.is_dir() or path.suffix not in (".toml", ".py"):
        return "A folder." if path.is_dir() else "A file that a scenario names."
    said = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        said.append(line.removeprefix("#").strip())
    return " ".join(said).replace("<", "&lt;").replace("*", r"\*") or "Says nothing of itself."
