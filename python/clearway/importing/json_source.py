"""Files of JSON: an object, and the line on which a key of it stands."""

from __future__ import annotations

import json
from typing import Any

from clearway.errors import ClearwayError
from clearway.importing.source import Source, brief

_REMEDY = "take a file of the tool that made it"


def is_object(source: Source) -> bool:
    """Return whether a file looks like an object of JSON."""
    return source.text.lstrip()[:1] == "{"


def json_of(source: Source) -> dict[str, Any]:
    """Read a file that is one object of JSON."""
    try:
        found = json.loads(source.text)
    except json.JSONDecodeError as error:
        message = f"is no JSON: {error.msg.lower()}; it may be cut short"
        raise source.error(error.lineno, message, "correct the line, or take the whole file") from None
    except (RecursionError, ValueError):
        raise source.error(1, "is no JSON that can be read", _REMEDY) from None
    if not isinstance(found, dict):
        raise source.error(1, "expected an object of JSON: {...}", _REMEDY)
    return found


def wrong(source: Source, found: dict[str, Any], key: str, expected: str) -> ClearwayError:
    """Make the error that says what a key should have."""
    shown = brief(json.dumps(found[key])) if key in found else "nothing"
    message = f"{key}: found {shown}, expected {expected}"
    return source.error(line_of(source, key), message, "correct the line")


def line_of(source: Source, key: str) -> int:
    """Return the line on which a key stands, 1 if it is written in another way."""
    place = source.text.find(f'"{key}"')
    return source.text.count("\n", 0, max(place, 0)) + 1
