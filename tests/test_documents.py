"""The code in README and docs: scenarios can be run, Python runs, commands and their options are there.

The tutorial has a test of its own, which runs all of it.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from clearway import _clearway, documents
from clearway.cli import COMMANDS
from clearway.paper import papers, reading
from clearway.sweeps import sweep
from clearway.testbed.hosts import hosts_in, names_of
from clearway.tuning import file as tune_file

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
_BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """What stands between two fences."""

    place: str
    language: str
    text: str


def blocks(*languages: str) -> list[Block]:
    found = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for block in _BLOCK.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            found.append(Block(f"{path.name}:{line}", block["language"], block["text"]))
    return [block for block in found if block.language in languages]


def by_place(found: list[Block]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("block", found, ids=[block.place for block in found])


# TOML

STAR: dict[str, Any] = {
    "format": 1,
    "name": "what a fragment leaves out",
    "duration": "5ms",
    "network": {"topology": "star", "hosts": 8},
    "transport": {"bulk": {"protocol": "swift"}},
    "traffic": [{"pattern": "incast", "transport": "bulk", "to": 0}],
}
FASTPASS: dict[str, Any] = {
    **STAR,
    "network": {"topology": "fat_tree", "k": 8},
    "transport": {"data": {}},
    "traffic": [{"pattern": "incast", "from": "0..100", "to": 100}],
}
COMPLETED: dict[str, dict[str, Any]] = {
    "[host.slow]": STAR,
    "[record]\nreplay": {**STAR, "duration": "20ms"},
    "[routing]": STAR,
    "[switch.default]\nbuffer": STAR,
    "[transport.bulk]\nflow_scaling": STAR,
    "[transport.data]\nprotocol": FASTPASS,
    "[transport.uec]\nprotocol": STAR,
}
"""The scenarios that fragments are parts of, by how a fragment begins."""
IMAGINED = 'protocol = "aimd"'
"""What a page adds to the simulator, so that its scenario can only be run with the page's changes."""


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {
        key: merged(base[key], over[key]) for key in base.keys() & over.keys() if isinstance(over[key], dict)
    }
    return {**base, **over, **both}


@by_place(blocks("toml"))
def test_toml_can_be_run(block: Block, workspace: Path) -> None:
    if block.text.startswith("figure = "):
        (workspace / "id.toml").write_text(block.text)
        paper = replace(papers.paper_named("swift"), folder=workspace)
        assert (
            reading.read(paper, "id", full=False).figure == documents.parse(block.text, block.place)["figure"]
        )
        return
    if block.text.startswith("[[host]]"):
        (workspace / "hosts.toml").write_text(block.text)
        assert names_of(hosts_in(workspace / "hosts.toml")) == ["alpha", "beta"]
        return
    if "\n[endpoint]\n" in block.text or block.text.startswith("[relay]\n"):
        return  # a file of clearwayd, which a test of crates/host reads
    bases = [base for start, base in COMPLETED.items() if block.text.startswith(start)]
    text = block.text.replace(IMAGINED, 'protocol = "reno"')
    whole = documents.text_of(merged(bases[0], documents.parse(text, block.place))) if bases else text
    if "\n[tune]\n" in whole:
        assert tune_file.read(whole).parameters
        return
    assert _clearway.load_text(whole, block.place, workspace).duration_us > 0


# PYTHON


NOT_HERE = ("dask_jobqueue",)
"""Packages that a page asks its reader to install and no test does: that code is only compiled."""


@by_place(blocks("python"))
def test_python_runs(block: Block, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "scenarios").symlink_to(ROOT / "scenarios")
    if block.place.startswith("TUTORIAL"):
        return  # runs there
    code = compile(block.text, block.place, "exec")
    if not any(f"import {name}" in block.text or f"from {name} " in block.text for name in NOT_HERE):
        exec(code, {"__name__": "__main__"})  # noqa: S102 - ours
        assert not re.search(r"\bnan\b", capsys.readouterr().out), "an example prints figures that are there"


# COMMANDS


def commands() -> Iterator[Block]:
    for block in blocks("", "sh", "text"):
        for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
            if command := re.match(r"(?:\$ )?(?:\.venv/bin/)?(clearway [^#]*)", line):
                yield Block(block.place, "", command[1].strip())


def test_there_are_commands() -> None:
    assert {command.text.split()[1] for command in commands()} >= {
        "run",
        "compare",
        "sweep",
        "tune",
        "paper",
        "plan",
    }


@by_place(list(commands()))
def test_commands_are_there(block: Block) -> None:
    """A placeholder such as FILE or `...` stands for what it says; what is in brackets may be left out."""
    name, *words = shlex.split(re.sub(r"(?<= )\[([^\]]*)\]", r"\1", block.text))[1:]
    assert name in COMMANDS
    written = [word for word in words if word != "..."]
    app = typer.main.get_command(import_module(f"clearway.commands.{name}").app)
    options = parsed(app, name, written, elided=written != words)
    if name in ("run", "sweep") and "scenarios" in str(options["file"]):
        sets = [(key, value) for key, _, value in (each.partition("=") for each in options["sets"] or [])]
        file = ROOT / options["file"]
        assert _clearway.load(file, sets) if name == "run" else sweep.plan(file, sets).points
    if name == "tune" and "scenarios" in str(options["file"]):
        assert tune_file.read(ROOT / options["file"]).parameters
    if name == "paper":
        assert reading.experiments(papers.paper_named(options["name"]), options["figures"] or [], full=False)


def parsed(command: Any, name: str, words: list[str], *, elided: bool) -> dict[str, Any]:
    """Let the command read the words as it does, up to running, and return what it has read."""
    try:
        context = command.make_context(name, list(words))  # which it empties
    except Exception as error:
        if elided and type(error).__name__ == "MissingParameter":
            return {}  # what the dots stand for
        raise
    options: dict[str, Any] = context.params
    if hasattr(command, "list_commands"):
        inner = command.get_command(context, words[0])
        assert inner is not None, words
        options = parsed(inner, words[0], words[1:], elided=elided)
    return options


@pytest.mark.parametrize("path", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_make_knows_what_documents_make(path: Path) -> None:
    rules = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make (?:-C \w+ )?([\w-]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", rules, re.MULTILINE), target
