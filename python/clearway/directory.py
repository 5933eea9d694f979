"""A run directory on disk: written whole or not at all, and read back.

Everything is written into a directory with a dot in front of its name, beside the one it is to become, and
renamed when it is complete. Whatever stops the writing removes it again.
"""

from __future__ import annotations

import csv
import errno
import importlib.util
import itertools
import json
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway.errors import ClearwayError, reason

Columns = dict[str, NDArray[Any]]
"""A table: equally long NumPy columns by name."""

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
FORMAT = 1
_PAGE_OPTION = "-o/--output"  # of the one command that writes a single file
_ROWS_AT_A_TIME = 20_000  # between two of which Ctrl-C is seen
_DTYPES: Mapping[str, Any] = {"integer": np.uint64, "float": np.float64, "text": np.str_}


def slug(name: str) -> str:
    """Turn a scenario's name into a file's."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "scenario"


def check_writable(target: Path, *, exact: bool, option: str = "--out") -> None:
    """Raise before a long run what would be raised after it: that `target` cannot be made.

    With `exact` it must not exist or be empty; without, it is a first choice that another name can replace.
    `option` is what the remedy tells a person to change.
    """
    if exact and target.is_symlink() and not target.exists():
        raise ClearwayError(f"{target}: is a broken link", f"choose another {option}")
    if exact and target.exists():
        if not target.is_dir():
            raise ClearwayError(f"{target}: is a file", "--out needs a directory that is new or empty")
        if any(target.iterdir()):
            raise ClearwayError(
                f"{target}: is not empty", "--out needs a directory that is new or empty: choose another"
            )
    ancestor = next(parent for parent in target.absolute().parents if parent.exists())
    if not ancestor.is_dir():
        raise ClearwayError(
            f"{ancestor}: is a file, so {target} cannot be made in it", f"choose another {option}"
        )
    probe = _beside(ancestor / target.name)
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise _unwritable(target, error, option) from error


class Staging:
    """A directory to write into that becomes the target when it is complete.

    Used in a `with`; left without `commit`, it is removed, and the parents that were made for it with it.
    """

    def __init__(self, target: Path, *, exact: bool) -> None:
        """Without `exact`, a name that is taken gets a number: `target-2`, `target-3` ..."""
        self._target = target.resolve()
        self._shown = target
        self._exact = exact
        self._parents: list[Path] = []
        self.path = _beside(self._target)

    def __enter__(self) -> Staging:
        """Make the directory."""
        try:
            missing = [parent for parent in self._target.parents if not parent.exists()]
            for parent in reversed(missing):
                with suppress(FileExistsError):  # another run may be making the same one
                    parent.mkdir()
                    self._parents.append(parent)
            self.path.mkdir()
        except OSError as error:
            self._remove()
            raise _unwritable(self._shown, error) from error
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """Remove what was not committed."""
        self._remove()
        if isinstance(error, OSError):
            raise _unwritable(self._shown, error) from error

    def commit(self) -> Path:
        """Rename to the target, whose name is returned.

        POSIX renames a directory onto nothing or onto an empty one, so no two runs can share a name.
        """
        for number in itertools.count(1):
            suffix = "" if number == 1 else f"-{number}"
            try:
                if self._exact or not self._target.with_name(self._target.name + suffix).exists():
                    self.path.rename(self._target.with_name(self._target.name + suffix))
                    return self._shown.with_name(self._shown.name + suffix) if suffix else self._shown
            except OSError as error:
                if self._exact or error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
                    raise
        raise AssertionError("there is always another number")

    def _remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        for parent in reversed(self._parents):
            with suppress(OSError):  # someone else uses it by now
                parent.rmdir()


def write_text(target: Path, text: str) -> None:
    """Write a file whole or not at all, in place of the one that is there."""
    staged = _beside(target.resolve())
    try:
        staged.write_text(text, encoding="utf-8")
        staged.replace(target.resolve())
    except OSError as error:
        raise _unwritable(target, error, _PAGE_OPTION) from error
    finally:
        staged.unlink(missing_ok=True)


def check_file_writable(target: Path) -> None:
    """Raise before the work what `write_text` would raise after it."""
    if target.is_dir():
        raise ClearwayError(f"{target}: is a directory", "name the file to write, for example report.html")
    probe = _beside(target.resolve())
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise _unwritable(target, error, _PAGE_OPTION) from error


def write_json(path: Path, value: object) -> None:
    """Write JSON for people and programs."""
    path.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ClearwayError(f"{path}: {reason(error)}", "run the scenario again") from error
    except ValueError as error:
        raise ClearwayError(f"{path}: not JSON: {error}", "run the scenario again") from error
    if not isinstance(value, dict):
        raise ClearwayError(f"{path}: expected a JSON object", "run the scenario again")
    return value


def write_table(directory: Path, name: str, columns: Columns) -> dict[str, Any]:
    """Write a table, as Parquet if pyarrow is installed, else as CSV; describe it for the manifest."""
    if parquet_available():
        file = f"{name}.parquet"
        _write_parquet(directory / file, columns)
    else:
        file = f"{name}.csv"
        _write_csv(directory / file, columns)
    kinds = {column: _kind(values) for column, values in columns.items()}
    return {"file": file, "rows": len(next(iter(columns.values()), ())), "columns": kinds}


def read_table(directory: Path, entry: Mapping[str, Any]) -> Columns:
    """Read a table that the manifest describes so."""
    path = directory / str(entry["file"])
    try:
        return _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path, entry["columns"])
    except (OSError, ValueError, KeyError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise ClearwayError(f"{path}: {why}", "run the scenario again") from error


def parquet_available() -> bool:
    """Tell whether tables are written as Parquet."""
    return importlib.util.find_spec("pyarrow") is not None


def _write_parquet(path: Path, columns: Columns) -> None:
    import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
    import pyarrow.parquet as pq  # noqa: PLC0415

    pq.write_table(
        pa.table(
            {
                name: pa.array(values.tolist() if values.dtype.kind == "U" else values)
                for name, values in columns.items()
            }
        ),
        path,
    )


def _read_parquet(path: Path) -> Columns:
    try:
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ClearwayError(f"{path}: reading Parquet needs pyarrow", "pip install pyarrow") from error
    table = pq.read_table(path)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    return {
        name: values.astype(np.str_) if values.dtype.kind == "O" else values
        for name, values in columns.items()
    }


def _write_csv(path: Path, columns: Columns) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        rows = zip(*(_cells(values) for values in columns.values()), strict=True)
        while chunk := list(itertools.islice(rows, _ROWS_AT_A_TIME)):
            writer.writerows(chunk)


def _cells(values: NDArray[Any]) -> Iterator[Any]:
    for start in range(0, len(values), _ROWS_AT_A_TIME):
        chunk = values[start : start + _ROWS_AT_A_TIME]
        cells = chunk.tolist()
        if chunk.dtype.kind == "f" and np.isnan(chunk).any():
            cells = ["" if value != value else value for value in cells]  # noqa: PLR0124 - NaN is not itself
        yield from cells


def _read_csv(path: Path, kinds: Mapping[str, str]) -> Columns:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        names = next(reader, [])
        if names != list(kinds):
            raise ValueError(f"expected the columns {', '.join(kinds)}")
        rows = list(reader)
    columns: Columns = {}
    for name, cells in zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True):
        numbers = ["nan" if cell == "" else cell for cell in cells] if kinds[name] == "float" else cells
        columns[name] = np.array(numbers, dtype=np.str_).astype(_DTYPES[kinds[name]])
    return columns


def _kind(values: NDArray[Any]) -> str:
    return {"u": "integer", "i": "integer", "f": "float"}.get(values.dtype.kind, "text")


def _beside(target: Path) -> Path:
    """Name something hidden next to the target, and so on the same file system."""
    return target.with_name(f".{target.name}-{secrets.token_hex(4)}")


def _unwritable(target: Path, error: OSError, option: str = "--out") -> ClearwayError:
    remedy = f"make room or choose another place with {option}"
    return ClearwayError(f"{target}: cannot be written: {reason(error)}", remedy)
