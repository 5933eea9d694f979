"""Tables and sentences in a terminal, at any width; figures with the digits that they deserve."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from clearway import console, documents
from clearway.figures import Kind, readable
from clearway.tables import Column, draw, parts, widths
from rich.console import Console

from tests.conftest import SMALL, Clearway, written


def printed(columns: list[Column], width: int, keys: int = 1, title: str = "") -> str:
    file = io.StringIO()
    draw(Console(file=file, width=width), columns, keys=keys, title=title)
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_no_line_is_too_long_and_no_word_is_cut(width: int) -> None:
    draws = np.random.default_rng(width)
    words = ["loss", "completion", "retransmissions", "warm-up", "of", "p99.9", "(Jain)", "goodput"]

    def text(most: int) -> str:
        return " ".join(draws.choice(words, draws.integers(1, most + 1)))

    for _ in range(50):
        columns = [Column("", [text(5) for _ in range(3)], prose=True)]
        columns += [
            Column(text(4), [f"{draws.uniform(1, 1e4):.4g} ± {draws.uniform(1, 9):.2g} us" for _ in range(3)])
            for _ in range(draws.integers(1, 8))
        ]
        lines = printed(columns, width).splitlines()
        assert max(len(line) for line in lines) <= width
        seen = {word for line in lines for word in line.split()}
        for column in columns:
            assert set(column.heading.split()) <= seen
            for cell in column.cells:
                assert set(cell.split()) <= seen
                assert column.prose or any(cell in line for line in lines)


def test_columns_without_room_go_below_with_the_keys_again() -> None:
    columns = [Column("target", ["15us", "25us"], prose=True), Column("ai", ["0.5", "1"], prose=True)]
    columns += [Column(f"figure {number}", ["12.34 Gb/s", "1.5 Gb/s"]) for number in range(9)]
    below = list(parts(columns, 80, keys=2))
    assert len(below) > 1
    assert all(part[:2] == columns[:2] for part in below)
    assert [column for part in below for column in part[2:]] == columns[2:]
    assert printed(columns, 80, keys=2).count("target") == len(below)


def test_a_word_wider_than_the_screen_is_left_to_the_terminal_whole() -> None:
    columns = [Column("", ["x" * 100], prose=True), Column("goodput", ["1.5 Gb/s"])]
    assert printed(columns, 40).splitlines() == ["x" * 100, "  goodput: 1.5 Gb/s"]


def test_where_no_column_has_room_each_row_is_several_lines() -> None:
    columns = [
        Column("target", ["15us", "25us"], prose=True),
        Column("", ["slow start", ""], prose=True),
        Column("goodput", ["12.34 ± 0.12 Gb/s", "1.5 Gb/s"]),
        Column("", ["1 ms", "-"]),
    ]
    assert printed(columns, 24, keys=2, title="what it is").splitlines() == [
        "what it is",
        "target 15us, slow start",
        "  goodput:",
        "    12.34 ± 0.12 Gb/s",
        "  1 ms",
        "target 25us",
        "  goodput: 1.5 Gb/s",
        "  -",
    ]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, ...]]:
    """Command lines that print every kind of table, all of runs that are there already."""
    folder = tmp_path_factory.mktemp("tables")
    transports = {"bulk": {"protocol": "swift"}, "interactive-operations": {"protocol": "dctcp"}}
    traffic = [{**SMALL["traffic"][0], "transport": name} for name in transports]
    mixed = written(
        folder / "mixed.toml", {**SMALL, "record": {}, "transport": transports, "traffic": traffic}
    )
    axes = {
        "sweep": {"seed": [1, 2], "transport.bulk.base_target": ["15us", "25us"], "network.hosts": [5, 6]}
    }
    (folder / "sweep.toml").write_text(documents.tables_of({**SMALL, "record": {}, **axes}))
    return {
        "run": ("run", str(mixed)),
        "seeds": ("run", str(mixed), "--seeds", "3"),
        "compare": ("compare", str(mixed), str(mixed), "--seeds", "3"),
        "sweep": ("sweep", str(folder / "sweep.toml"), "--store", str(folder / "store")),
        "list": ("paper", "swift", "--list"),
        "plan": ("plan", "dci-buffer", "--rate", "400Gbps", "--distance", "80km", "--buffer", "100MB"),
    }


@pytest.mark.parametrize("width", [20, 40, 60, 80])
@pytest.mark.parametrize("name", ["run", "seeds", "compare", "sweep", "list", "plan"])
def test_no_figure_of_a_command_is_cut(
    name: str,
    width: int,
    tables: dict[str, tuple[str, ...]],
    clearway: Clearway,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the width, each figure stands in a line, with its unit, and each word somewhere."""
    drawn: list[Column] = []

    def watched(on: Console, columns: Sequence[Column], **options: Any) -> None:
        drawn.extend(columns)
        draw(on, columns, **options)

    for module in ("screen", "tables"):
        monkeypatch.setattr(f"clearway.{module}.draw", watched)
    monkeypatch.setenv("COLUMNS", str(width))
    answer = clearway(*tables[name])
    assert answer.status == 0, answer.err
    assert "…" not in answer.out
    lines = answer.out.splitlines()
    words = {word.strip(":,") for line in lines for word in line.split()}
    assert sum(len(column.cells) for column in drawn) > 10
    for column in drawn:
        for text in (column.heading, *column.cells):
            assert {word.strip(":,") for word in text.split()} <= words
            assert column.prose or text == column.heading or any(text in line for line in lines), text


def test_a_column_that_lacks_little_is_given_it() -> None:
    columns = [Column("", ["Experiment A"], prose=True), Column("", ["word " * 40], prose=True)]
    assert widths(columns, 80)[0] == len("Experiment A")


def test_the_commands_keep_to_the_width_and_to_words(
    clearway: Clearway, small: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    transports = {"bulk": {"protocol": "swift"}, "interactive-operations": {"protocol": "dctcp"}}
    traffic = [{**SMALL["traffic"][0], "transport": name} for name in transports]
    mixed = written(workspace / "mixed.toml", {**SMALL, "transport": transports, "traffic": traffic})
    answers = [
        clearway("run", small, "--seeds", "3", "--out", "seeds"),
        clearway("run", mixed, "--out", "several"),
        clearway("compare", "seeds", "several", small, mixed),
    ]
    for answer in answers:
        assert answer.status == 0
        rows = [line for line in answer.out.splitlines() if line.startswith(" ")]
        assert max(len(row) for row in rows) <= 80
        for word in ("retransmissions", "completion", "p99.9"):
            assert any(word in row for row in rows)
    assert "interactive-operations" in answers[1].out


def test_sentences_on_a_terminal_break_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "40")
    sentence = "no significant difference between the goodput of one and the goodput of the other"
    path = f"written to {os.sep}{'directory' * 6}"
    for stream, lines in ((Terminal(), 3), (io.StringIO(), 1)):
        monkeypatch.setattr("sys.stdout", stream)
        console.say(sentence)
        found = [line.strip() for line in stream.getvalue().splitlines()]
        assert (len(found), " ".join(found)) == (lines, sentence)
        console.say(path)
        assert path in stream.getvalue()


@pytest.mark.parametrize(
    ("kind", "value", "half_width", "text"),
    [
        ("rate", 1681.0, 102.6, "1.68 ± 0.10 Tb/s"),
        ("count", 1398.2, 83.04, "1,398 ± 83"),
        ("count", 12_345_678.0, None, "12,345,678"),
        ("count", 12.5, None, "12.5"),
        ("count", 12_345.0, 678.0, "12,340 ± 680"),
        ("time", 412.3456, 0.0996, "412.35 ± 0.10 us"),
        ("time", 10.0, 2.5, "10.0 ± 2.5 us"),
        ("time", 0.5, 1200.0, "0.0 ± 1.2 ms"),
        ("time", -0.01, 1.2, "0.0 ± 1.2 us"),
        ("plain", 5_732_250.0, None, "5,732,000"),
        ("plain", 0.91889, None, "0.9189"),
        ("share", 0.00065821, 0.0, "0.06582 %"),
        ("share", 1.7e-8, None, "0.0000017 %"),
        ("share", 1e-7, None, "0.00001 %"),
        ("bytes", 48_237.0, None, "48.24 kB"),
    ],
)
def test_figures_have_the_digits_they_deserve(
    kind: Kind, value: float, half_width: float | None, text: str
) -> None:
    assert readable(kind, value, half_width) == text
