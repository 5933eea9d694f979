"""A Rust file as a tree of tokens: comments, texts, numbers and lifetimes left out, brackets as groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
      (?P<line_comment> //[^\n]* )
    | (?P<block_comment> /\* )
    | (?P<raw_text> [bc]?r(?P<hashes>\#*)" .*? "(?P=hashes) )
    | (?P<text> [bc]?"(?: \\. | [^"\\] )*" )
    | (?P<character> b?'(?: \\(?: u\{[^}]*\} | x[0-9a-fA-F]{2} | . ) | [^\\'\n] )' )
    | (?P<lifetime> '[A-Za-z_]\w* )
    | (?P<number> \d\w* )
    | (?P<word> (?:r\#)?[^\W\d]\w* )
    | (?P<symbol> :: | => | -> | \S )
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    """A word or a symbol."""

    text: str
    line: int

    @property
    def is_word(self) -> bool:
        """Whether it is an identifier or a keyword."""
        return self.text[0] == "_" or self.text[0].isalpha()


@dataclass(frozen=True)
class Group:
    """What stands between a pair of brackets."""

    opening: str
    line: int
    items: list[Token | Group] = field(default_factory=list)


Tree = Sequence[Token | Group]


def tree_of(source: str) -> Tree:
    """Read a file."""
    whole = Group("", 1)
    open_groups = [whole]
    for token in _tokens(source):
        if token.text in _CLOSING:
            group = Group(token.text, token.line)
            open_groups[-1].items.append(group)
            open_groups.append(group)
        elif token.text in _CLOSING.values():
            closed = open_groups.pop()
            if _CLOSING.get(closed.opening) != token.text:
                raise ValueError(f"line {token.line}: {token.text} closes nothing")
        else:
            open_groups[-1].items.append(token)
    if len(open_groups) > 1:
        raise ValueError(f"line {open_groups[-1].line}: {open_groups[-1].opening} is never closed")
    return whole.items


def _tokens(source: str) -> Iterator[Token]:
    """Yield words and symbols with the number of their line."""
    place, line = 0, 1
    while (match := _TOKEN.search(source, place)) is not None:
        line += source.count("\n", place, match.start())
        end = match.end()
        if match.lastgroup == "block_comment":
            end = _end_of_comment(source, match.start())
        elif match.lastgroup in ("word", "symbol"):
            yield Token(match[0], line)
        line += source.count("\n", match.start(), end)
        place = end


def _end_of_comment(source: str, start: int) -> int:
    """Find where a block comment ends; comments may be in comments."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(source, start):
        depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    raise ValueError("a comment is never closed")
