"""The references of commands, from the help of `clearway`, and of the Python package, from its docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clearway
import typer
from clearway.cli import app

_PAGES = Path(__file__).parent / "pages"


def commands_page() -> str:
    """Return the command reference."""
    introduction = (_PAGES / "commands.md").read_text(encoding="utf-8")
    command = typer.main.get_command(app)
    return "\n".join([introduction, *_command(command, command.context_class(command, info_name="clearway"))])


def _command(command: Any, context: Any) -> Iterator[str]:
    """Yield a command's usage, arguments, options and commands, and then those commands."""
    if context.parent is not None:
        yield from [f"{'#' * (1 + context.command_path.count(' '))} `{context.command_path}`", ""]
        yield from [_plain(inspect.cleandoc(command.help)), ""]
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from ["```text", f"{context.command_path} {pieces}", "```", ""]
    for parameter in command.get_params(context):
        if record := parameter.get_help_record(context):
            name, text = record
            yield from [f"`{_plain(name.strip())}`", f": {_plain(text) or 'Must be given.'}", ""]
    if not hasattr(command, "list_commands"):
        return
    names = command.list_commands(context)
    below = [command.get_command(context, name) for name in names]
    yield from ["Commands:", ""]
    for name, inner in zip(names, below, strict=True):
        path = f"{context.command_path} {name}"
        sentence = inspect.cleandoc(inner.help).splitlines()[0]
        yield f"- [`{path}`](#{path.replace(' ', '-')}): {_plain(sentence)}"
    yield ""
    for name, inner in zip(names, below, strict=True):
        yield from _command(inner, inner.context_class(inner, info_name=name, parent=context))


def _plain(text: str) -> str:
    r"""Return a help text without the backslashes that keep Rich from reading `\[...]` as markup."""
    return text.replace("\\[", "[")


def python_page() -> str:
    """Return the page of what the package exports: functions, then classes, then exceptions."""
    lines = [(_PAGES / "python.md").read_text(encoding="utf-8")]
    for title, directive, names in (
        ("Functions", "autofunction", [name for name in clearway.__all__ if _kind(name) == "function"]),
        ("Classes", "autoclass", [name for name in clearway.__all__ if _kind(name) == "class"]),
        ("Exceptions", "autoexception", [name for name in clearway.__all__ if _kind(name) == "exception"]),
    ):
        lines += [f"## {title}", ""]
        for name in names:
            lines += ["```{eval-rst}", f".. {directive}:: clearway.{name}"]
            lines += ["   :members:"] if directive == "autoclass" else []
            lines += ["```", ""]
    return "\n".join(lines)


def _kind(name: str) -> str:
    exported = getattr(clearway, name)
    if isinstance(exported, type):
        return "exception" if issubclass(exported, Exception) else "class"
    return "function" if callable(exported) else "constant"
