"""The phrases that no file may have."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.words.__main__ import files_of, problems
from tools.words.phrases import PHRASES, Phrase
from tools.words.search import found_in

ROOT = Path(__file__).parent.parent

CLEAN = """\
//! Slots of a time, so many that a `u32` does not hold them.

/// Whether the list is full: of fields that is what they hold.
pub full: bool,

/// Returns the duration of `slots` slots, saturating at the longest [`Span`].
#[inline]
pub fn span(self, slots: u64) -> Span {

/// Appends a value. Returns `false`, and drops it, if the list is full.
pub fn push(&mut self, value: T) -> bool {

/// Returns the mean; `None` for an empty sample. It waits for so long that it
/// is dropped, and so on. The same round trip is measured twice.
/// The same of a second line begins no comment.
pub fn mean(&self) -> Option<f64> {

/// Turns towards the island: `island(1)`.
fn turn() { returns(3) }
"""


@pytest.mark.parametrize("phrase", PHRASES, ids=[phrase.pattern for phrase in PHRASES])
def test_each_phrase_is_caught_in_its_example_and_no_other_is(phrase: Phrase) -> None:
    found = found_in(phrase.example, f"a{phrase.suffix or '.rs'}")
    assert [each.phrase for each in found] == [phrase]


@pytest.mark.parametrize("phrase", PHRASES, ids=[phrase.pattern for phrase in PHRASES])
def test_what_is_to_be_written_has_no_phrase(phrase: Phrase) -> None:
    assert found_in(f"/// {phrase.instead}\npub x: u32,\n", "a.rs") == []


@pytest.mark.parametrize("name", ["a.rs", "a.py", "a.md", "a.toml"])
def test_a_clean_text_has_none(name: str) -> None:
    assert found_in(CLEAN, name) == []


def test_a_phrase_has_line_and_column() -> None:
    text = "/// One.\n\n    /// Takes a slot. It is of so many bytes,\n    /// or of so much room.\n"
    assert [(each.line, each.column, each.words) for each in found_in(text, "a.rs")] == [
        (3, 32, "so many"),
        (4, 15, "so much"),
    ]


def test_the_first_words_of_a_comment_are_where_it_begins() -> None:
    text = "    a: u32,\n    /// The same of each source.\n    b: u32,\n"
    assert [(each.line, each.column) for each in found_in(text, "a.rs")] == [(2, 9)]
    assert found_in(text, "a.py") == []


def test_a_problem_says_where_it_is_what_is_wrong_and_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# Page\n\nIt waits for so many slots.\n", encoding="utf-8")
    assert problems(tmp_path, [tmp_path / "page.md"]) == [
        "page.md:3:14: 'so many': it stands for an argument or a value that has a name; "
        "write: the argument's name (`slots` slots), or: this many, that many"
    ]


def test_the_command_looks_at_tracked_files_and_ends_with_a_status(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    (tmp_path / "a.py").write_text('"""Waits for so many slots."""\n', encoding="utf-8")
    command = [sys.executable, "-m", "tools.words", str(tmp_path)]
    untracked = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert (untracked.returncode, untracked.stderr) == (0, "")
    subprocess.run([*git, "add", "a.py"], check=True)
    tracked = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert tracked.returncode == 1
    assert tracked.stderr.startswith("a.py:1:14: 'so many': ")


def test_no_file_has_any() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    assert problems(ROOT, files_of(ROOT)) == []
