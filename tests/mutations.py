"""Damage: what may be wrong with a file or a directory of results, drawn from a seed."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ODD_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 0.5, 2**53, 2**63, 2**64, 10**30, 10**400, 1e308, -1e308, 5e-324),
    *("", "x", "7", "nan", "\ud800", "\x00", "\x1b[31m", "a\nb", "../x", "/", "." * 300, "integer", "text"),
    *([], [1], ["x"], [None], [[]], {}, {"x": 1}, {"": {}}, {"file": "manifest.json"}),
]
"""Values that are not what stands in a place, most of them."""
_CONSTANTS = ("NaN", "Infinity", "-Infinity", "1e999", "[" * 2000, '{"a":' * 2000, "01", "'x'", "", "\ufeff")


def damage(folder: Path, seed: int) -> str:
    """Damage one file below a folder, or a few; return what was done."""
    draw = random.Random(seed)  # noqa: S311 - no secret
    done = []
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        if not files:
            break
        # JSON is small and says most: half of the damage is there.
        chosen = draw.choice([path for path in files if path.suffix == ".json"] or files)
        path = draw.choice((chosen, draw.choice(files)))
        ways = _OF_ANY + (_OF_JSON * 3 if path.suffix == ".json" else _OF_TABLES)
        way = draw.choice(ways)
        way(path, draw)
        done.append(f"{path.relative_to(folder)}: {way.__name__.strip('_')}")
    return ", ".join(done)


def _deleted(path: Path, _draw: random.Random) -> None:
    path.unlink()


def _emptied(path: Path, _draw: random.Random) -> None:
    path.write_bytes(b"")


def _truncated(path: Path, draw: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: draw.randrange(len(content) + 1)])


def _bytes_changed(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(draw.choice((1, 1, 8, 64))):
        if content:
            content[draw.randrange(len(content))] = draw.randrange(256)
    path.write_bytes(content)


def _garbage(path: Path, draw: random.Random) -> None:
    path.write_bytes(draw.randbytes(draw.choice((1, 100, 5000))))


def _doubled(path: Path, _draw: random.Random) -> None:
    path.write_bytes(path.read_bytes() * 2)


def _a_directory(path: Path, _draw: random.Random) -> None:
    path.unlink()
    path.mkdir()


def _a_loop(path: Path, _draw: random.Random) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _another_file(path: Path, draw: random.Random) -> None:
    other = draw.choice(sorted(other for other in path.parent.iterdir() if other.is_file()))
    if other != path:
        shutil.copyfile(other, path)


def _value_replaced(path: Path, draw: random.Random) -> None:
    _edit(path, draw, lambda holder, key: _set(holder, key, draw.choice(ODD_VALUES)))


def _value_removed(path: Path, draw: random.Random) -> None:
    _edit(path, draw, lambda holder, key: holder.pop(key))


def _value_nested(path: Path, draw: random.Random) -> None:
    _edit(path, draw, lambda holder, key: _set(holder, key, draw.choice(([holder[key]], {key: holder[key]}))))


def _value_as_text(path: Path, draw: random.Random) -> None:
    _edit(path, draw, lambda holder, key: _set(holder, key, str(holder[key])))


def _value_of_another(path: Path, draw: random.Random) -> None:
    document = _parsed(path)
    places = list(_places(document))
    if len(places) > 1:
        (one, key), (other, further) = draw.sample(places, 2)
        one[key] = copy.deepcopy(other[further])
        path.write_text(_written(document))


def _key_renamed(path: Path, draw: random.Random) -> None:
    def rename(holder: Any, key: Any) -> None:
        if isinstance(holder, dict):
            holder[draw.choice(("x", "", "../x", "fct_us", "lower_bounds", "."))] = holder.pop(key)

    _edit(path, draw, rename)


def _text_put_in(path: Path, draw: random.Random) -> None:
    content = path.read_text(encoding="utf-8", errors="replace")
    separators = [place for place, character in enumerate(content) if character in ":,"] or [0]
    start = draw.choice(separators) + 1
    end = start + draw.choice((0, 2, 5, 30))
    path.write_text(content[:start] + draw.choice(_CONSTANTS) + content[end:], encoding="utf-8")


def _cell_replaced(path: Path, draw: random.Random) -> None:
    lines = path.read_bytes().split(b"\n")
    line = draw.randrange(len(lines))
    cells = lines[line].split(b",")
    cells[draw.randrange(len(cells))] = draw.choice(
        (b"", b"x", b"-1", b"1e308", b"inf", b"9" * 40, b'"', b"\xff")
    )
    lines[line] = b",".join(cells)
    path.write_bytes(b"\n".join(lines))


def _row_removed(path: Path, draw: random.Random) -> None:
    lines = path.read_bytes().split(b"\n")
    del lines[draw.randrange(len(lines))]
    path.write_bytes(b"\n".join(lines))


_Way = Callable[[Path, random.Random], None]
_OF_ANY: list[_Way] = [
    _deleted,
    _emptied,
    _truncated,
    _bytes_changed,
    _garbage,
    _doubled,
    _a_directory,
    _a_loop,
    _another_file,
]
_OF_JSON: list[_Way] = [
    _value_replaced,
    _value_removed,
    _value_nested,
    _value_as_text,
    _value_of_another,
    _key_renamed,
    _text_put_in,
]
_OF_TABLES: list[_Way] = [_cell_replaced, _row_removed]


def _parsed(path: Path) -> Any:
    """Read a document; one that is damaged already is an empty one."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}


def _written(document: Any) -> str:
    return json.dumps(document, indent=2)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list with each key or place in it, however deep."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _edit(path: Path, draw: random.Random, change: Callable[[Any, Any], object]) -> None:
    document = _parsed(path)
    if places := list(_places(document)):
        change(*draw.choice(places))
        path.write_text(_written(document))


def _set(holder: Any, key: Any, value: Any) -> None:
    holder[key] = value
