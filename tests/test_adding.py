"""The check of docs/ADDING.md, on small made-up pages."""

import subprocess
from pathlib import Path

import pytest

from tools.adding.__main__ import add, main, problems_of
from tools.adding.page import Chapter, chapters

PAGE = """# Adding a pattern

Words.

## 1. The pattern: `src/ring.rs`

```rust
//! A ring.
```

```diff
--- a/src/list.rs
+++ b/src/list.rs
@@ -7,2 +7,3 @@
 mod one;
+mod ring;
 mod two;
```

## 2. Run it

```
not a file
```

# Adding an agent

Nothing yet.
"""


def test_a_page_is_read_chapter_by_chapter() -> None:
    pattern, agent = chapters(PAGE)
    assert (pattern.title, agent.title) == ("Adding a pattern", "Adding an agent")
    assert pattern.files == {"src/ring.rs": "//! A ring.\n"}
    assert pattern.changed == {"src/list.rs"}
    assert (agent.files, agent.diffs) == ({}, [])


def test_a_file_without_a_path_is_an_error() -> None:
    with pytest.raises(ValueError, match="names none"):
        chapters("# Adding\n\n## 1. Somewhere\n\n```rust\n//! Lost.\n```\n")


def tree(folder: Path, lines: str) -> Path:
    (folder / "src").mkdir()
    (folder / "src/list.rs").write_text(lines, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)  # noqa: S607
    return folder


def test_changes_are_found_wherever_they_have_moved(tmp_path: Path) -> None:
    there = tree(tmp_path, "mod zero;\nmod half;\nmod one;\nmod two;\n")
    assert add(chapters(PAGE)[0], there) == []
    assert (there / "src/list.rs").read_text(
        encoding="utf-8"
    ) == "mod zero;\nmod half;\nmod one;\nmod ring;\nmod two;\n"
    assert (there / "src/ring.rs").read_text(encoding="utf-8") == "//! A ring.\n"


def test_a_change_that_does_not_fit_is_named(tmp_path: Path) -> None:
    [line] = add(chapters(PAGE)[0], tree(tmp_path, "mod three;\n"))
    assert line.startswith("docs/ADDING.md: Adding a pattern: src/list.rs: ")


@pytest.mark.parametrize(("lines", "status"), [("mod one;\nmod two;\n", 0), ("mod three;\n", 1)])
def test_that_changes_fit_is_known_without_compiling(
    lines: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tree(tmp_path, lines)
    (there / "docs").mkdir()
    (there / "docs/ADDING.md").write_text(PAGE, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=there, check=True)  # noqa: S607
    monkeypatch.setattr("sys.argv", ["adding", "--fit", str(there)])
    assert main() == status
    assert (there / "src/list.rs").read_text(encoding="utf-8") == lines


@pytest.mark.parametrize(("title", "is_too_much"), [("Adding a topology", True), ("Adding an agent", False)])
def test_what_a_topology_changes_is_counted(title: str, is_too_much: bool) -> None:
    diffs = [f"--- a/src/{name}.rs\n" for name in "abcd"]
    assert bool(problems_of([Chapter(title, diffs=diffs)])) == is_too_much
    assert problems_of([Chapter(title, diffs=[*diffs[:3], "--- a/crates/sim/tests/main.rs\n"])]) == []
