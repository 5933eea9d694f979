"""Tables as frames of the libraries that people know them by, which are optional."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clearway.columns import Columns
from clearway.errors import ClearwayError

if TYPE_CHECKING:
    import pandas
    import polars


def to_pandas(columns: Columns, attributes: Mapping[str, Any]) -> pandas.DataFrame:
    """Return a table as a pandas frame, with what is known of its columns in `attrs`."""
    try:
        import pandas as pd  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ClearwayError("to_pandas needs pandas", "pip install pandas") from error
    frame = pd.DataFrame(columns)
    frame.attrs.update(attributes)
    return frame


def to_polars(columns: Columns) -> polars.DataFrame:
    """Return a table as a Polars frame."""
    try:
        import polars as pl  # noqa: PLC0415 - optional
    except ImportError as error:
        raise ClearwayError("to_polars needs polars", "pip install polars") from error
    return pl.DataFrame(columns)
