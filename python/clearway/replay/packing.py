"""Columns of numbers as a browser reads them: exact, in few bytes, compressed, and as text.

A block is the length of its head in four bytes, least significant first; the head as JSON; and one column
behind the other. A whole column has as many planes of bytes as its largest number needs: first the least
significant byte of each row, then the next. A column of floats has the eight bytes of each row, least
significant first. All is compressed with zlib (RFC 1950) and written in base64.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LEVEL = 6


def packed(head: Mapping[str, Any], columns: Mapping[str, NDArray[Any]]) -> str:
    """Return a block as base64. The head's `columns` say of each its name, rows and planes: 0 for zeros."""
    described, parts = [], []
    for name, values in columns.items():
        if values.dtype.kind == "f":
            described.append({"name": name, "rows": len(values), "floats": True})
            parts.append(np.ascontiguousarray(values, "<f8").tobytes())
        else:
            planes = (int(values.max()).bit_length() + 7) // 8 if len(values) else 0
            described.append({"name": name, "rows": len(values), "planes": planes})
            bytes_of_rows = np.ascontiguousarray(values, "<u8").view(np.uint8).reshape(-1, 8)
            parts.append(np.ascontiguousarray(bytes_of_rows[:, :planes].T).tobytes())
    text = json.dumps({**head, "columns": described}, separators=(",", ":"), allow_nan=False).encode()
    block = b"".join([len(text).to_bytes(4, "little"), text, *parts])
    return base64.b64encode(zlib.compress(block, _LEVEL)).decode("ascii")
