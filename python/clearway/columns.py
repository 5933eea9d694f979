"""Tables on disk: columns as Parquet where pyarrow is installed, else as CSV; what is read is checked."""

from __future__ import annotations

import csv
import importlib.util
import io
import itertools
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearway import _clearway, files, stops
from clearway.errors import ClearwayError, reason
from clearway.figures import readable

Columns = dict[str, NDArray[Any]]
"""A table: equally long NumPy columns by name."""

KINDS: Mapping[str, Any] = {"integer": np.uint64, "float": np.float64, "text": np.str_}
"""What a column is of, and the type that NumPy has for it."""
LARGEST = 2.0**64
"""No number in a run directory is as large: times are below 2^63 ps, counts below 2^64."""
TIME = "time_us"
"""The one column of floats that is never empty."""
REMEDY = "run the scenario again"
_CELL = 8  # bytes of memory, at least
_ROWS_AT_A_TIME = 20_000  # between two of which Ctrl-C is seen


class MissingColumnError(ClearwayError, KeyError):
    """A column that a table has not got."""

    __str__ = Exception.__str__


class SavedColumns(Columns):
    """A table as read from a file; an error names the file if it has no such column."""

    def __init__(self, path: Path, columns: Columns) -> None:
        """Keep the path for errors."""
        super().__init__(columns)
        self.path = path

    def __missing__(self, name: str) -> NDArray[Any]:
        """Say what is missing where."""
        raise MissingColumnError(f"{self.path}: has no column {name}", f"there is {', '.join(self)}")


@dataclass(frozen=True)
class Described:
    """What a manifest says of a table."""

    file: str
    rows: int
    kinds: Mapping[str, str]
    """The kind of each column: integer, float or text."""


def where(columns: Mapping[str, NDArray[Any]], chosen: NDArray[Any]) -> Columns:
    """Return the rows that are chosen."""
    rows = {name: values[chosen] for name, values in columns.items()}
    return SavedColumns(columns.path, rows) if isinstance(columns, SavedColumns) else rows


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


def read_table(directory: Path, described: Described) -> Columns:
    """Read a table; an error names the file, and the column where it is not as described."""
    path = directory / described.file
    needed, available = described.rows * len(described.kinds) * _CELL, _clearway.memory_limit()
    if needed > available:
        raise ClearwayError(
            f"{path}: has {described.rows:,} rows, which need {readable('bytes', needed)} of memory, "
            f"{readable('bytes', available)} are available",
            "record less often under [record], or read it on a larger machine",
        )
    try:
        read = _read_parquet if path.suffix == ".parquet" else _read_csv
        raw = read(path, described.rows)
        return SavedColumns(path, _as_described(raw, described))
    except (OSError, ValueError, csv.Error) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise ClearwayError(f"{path}: {why}", REMEDY) from error


def parquet_available() -> bool:
    """Tell whether tables are written as Parquet."""
    return importlib.util.find_spec("pyarrow") is not None


def _as_described(raw: Columns, described: Described) -> Columns:
    """Return the columns in NumPy's types for their kinds; raise if they are not as described."""
    if list(raw) != list(described.kinds):
        raise ValueError(f"expected the columns {', '.join(described.kinds)}")
    if any(len(values) != described.rows for values in raw.values()):
        raise ValueError(f"expected {described.rows} rows")
    return {name: _checked(name, raw[name], kind) for name, kind in described.kinds.items()}


def _checked(name: str, values: NDArray[Any], kind: str) -> NDArray[Any]:
    """Return a column in NumPy's type for its kind; raise if it is of another, or out of all bounds."""
    if values.dtype.kind != "U" and (values.dtype.kind in "ui") != (kind == "integer"):
        raise ValueError(f"column {name}: found {values.dtype}, expected {kind}")
    if values.dtype.kind == "U" and kind == "float":
        values = np.where(values == "", "nan", values)
    try:
        typed = values.astype(KINDS[kind])
    except (ValueError, OverflowError):
        raise ValueError(f"column {name}: expected {kind} in each row") from None
    if kind == "integer" and values.dtype.kind == "i" and (values < 0).any():
        raise ValueError(f"column {name}: found a negative number")
    if name == TIME and not np.isfinite(typed).all():
        raise ValueError(f"column {name}: expected a time in each row")
    if kind == "float" and (np.abs(typed) >= LARGEST).any():
        raise ValueError(f"column {name}: found a number that is too large")
    return typed


def _write_parquet(path: Path, columns: Columns) -> None:
    with stops.put_off():
        import pyarrow as pa  # noqa: PLC0415 - optional, and slow to import
        import pyarrow.parquet as pq  # noqa: PLC0415

    def rows(start: int) -> pa.Table:
        parts = (values[start : start + _ROWS_AT_A_TIME] for values in columns.values())
        return pa.Table.from_arrays([_as_arrow(values) for values in parts], names=list(columns))

    first = rows(0)
    with ExitStack() as open_ones:
        # pyarrow complains of a writer that an interruption leaves half made.
        with stops.put_off():
            # A file, as pyarrow takes a path for UTF-8.
            file = open_ones.enter_context(path.open("wb"))
            writer = open_ones.enter_context(pq.ParquetWriter(file, first.schema))
        writer.write_table(first)
        for start in range(_ROWS_AT_A_TIME, len(next(iter(columns.values()), ())), _ROWS_AT_A_TIME):
            writer.write_table(rows(start))


def _as_arrow(values: NDArray[Any]) -> Any:
    """Take a column into Arrow from its bytes: `pyarrow.array` imports pandas, to see if it is of that."""
    import pyarrow as pa  # noqa: PLC0415

    if values.dtype.kind != "U":
        numbers = pa.py_buffer(np.ascontiguousarray(values))
        return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, numbers])
    texts = [text.encode() for text in values.tolist()]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def _read_parquet(path: Path, rows: int) -> Columns:
    try:
        with stops.put_off():
            import pyarrow as pa  # noqa: PLC0415
            import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError as error:
        raise ClearwayError(f"{path}: reading Parquet needs pyarrow", "pip install pyarrow") from error
    try:
        with files.opened(path, files.LARGEST_TABLE, REMEDY) as file, pq.ParquetFile(file) as parquet:
            if parquet.metadata.num_rows != rows:
                raise ValueError(f"expected {rows} rows")
            table = parquet.read()
        return {name: _as_numpy(name, table.column(name)) for name in table.column_names}
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error


def _as_numpy(name: str, column: Any) -> NDArray[Any]:
    """Take a column of numbers or of text, without gaps."""
    import pyarrow as pa  # noqa: PLC0415

    kind = column.type
    if not column.null_count and (kind in (pa.string(), pa.float64()) or pa.types.is_integer(kind)):
        none = np.empty(0, np.str_ if kind == pa.string() else kind.to_pandas_dtype())
        return np.concatenate([none, *(_values(chunk) for chunk in column.chunks if len(chunk))])
    values: NDArray[Any] = column.to_numpy()
    if column.null_count or values.dtype.kind not in "uifO":
        raise ValueError(f"column {name}: found {column.type}, expected numbers or text in each row")
    if values.dtype.kind == "O" and not all(isinstance(value, str) for value in values):
        raise ValueError(f"column {name}: found {column.type}, expected text in each row")
    return values.astype(np.str_) if values.dtype.kind == "O" else values


def _values(chunk: Any) -> NDArray[Any]:
    """Take numbers or texts, of which none is missing, out of Arrow's bytes: `to_numpy` imports pandas."""
    _, numbers, *texts = chunk.buffers()
    first, after = chunk.offset, chunk.offset + len(chunk)
    if not texts:
        return np.frombuffer(numbers, chunk.type.to_pandas_dtype(), after)[first:]
    ends = np.frombuffer(numbers, np.int32, after + 1)[first:]
    letters = np.frombuffer(texts[0] or b"", np.uint8)[ends[0] : ends[-1]]
    lengths = np.diff(ends)
    width = max(int(lengths.max()), 1)
    cells = np.zeros((len(lengths), width), np.uint8)
    cells[np.arange(width) < lengths[:, None]] = letters
    found = cells.view(f"S{width}")[:, 0]
    return found.astype(np.str_) if letters.max(initial=0) < 128 else np.char.decode(found, "utf-8")


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


def _read_csv(path: Path, most_rows: int) -> Columns:
    with files.opened(path, files.LARGEST_TABLE, REMEDY) as file:
        reader = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        names = next(reader, [])
        rows = list(itertools.islice(reader, most_rows + 1))  # one more shows that there are too many
    if len(set(names)) != len(names):
        raise ValueError("two columns have one name")
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return {name: np.array(column, dtype=np.str_) for name, column in zip(names, cells, strict=True)}


def _kind(values: NDArray[Any]) -> str:
    return {"u": "integer", "i": "integer", "f": "float"}.get(values.dtype.kind, "text")
