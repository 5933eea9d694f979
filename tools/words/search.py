"""Finds phrases in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from tools.words.phrases import PHRASES, Phrase

# What stands before the first words of a doc comment: a line that is none, or the file's beginning.
_FIRST = r"(?:\A|^(?![ \t]*//[/!])[^\n]*\n)[ \t]*//[/!] (?P<phrase>"


@dataclass(frozen=True)
class Found:
    """A phrase in a text."""

    line: int
    column: int
    words: str
    phrase: Phrase


def found_in(text: str, name: str) -> list[Found]:
    """Return the phrases that a file of this name may not have and that its text has, in their order."""
    return sorted(_found_in(text, name), key=lambda found: (found.line, found.column))


def _found_in(text: str, name: str) -> Iterator[Found]:
    for phrase in PHRASES:
        if not name.endswith(".rs" if phrase.begins_doc else phrase.suffix):
            continue
        for match in _pattern(phrase).finditer(text):
            words, start = (
                (match["phrase"], match.start("phrase")) if phrase.begins_doc else (match[0], match.start())
            )
            start += len(words) - len(words.lstrip())
            line_begins = text.rfind("\n", 0, start) + 1
            first_line = words.strip().split("\n")[0]
            yield Found(text.count("\n", 0, start) + 1, start - line_begins + 1, first_line, phrase)


@cache
def _pattern(phrase: Phrase) -> re.Pattern[str]:
    return re.compile(f"{_FIRST}{phrase.pattern})" if phrase.begins_doc else phrase.pattern, re.MULTILINE)
