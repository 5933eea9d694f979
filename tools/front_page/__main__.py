"""The command line: `python -m tools.front_page [ROOT]`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.front_page.pictures import pictures

_DEMO = re.compile(r"^```\nclearway demo\n\n.*?^```$", re.MULTILINE | re.DOTALL)


def with_demo(page: str, printed: str) -> str:
    """Put what the demo prints below its command in a page."""
    lines = "\n".join(line.rstrip() for line in printed.splitlines())
    found, count = _DEMO.subn(lambda _: f"```\nclearway demo\n\n{lines}\n```", page)
    assert count == 1, f"{count} blocks of the page begin with `clearway demo`"
    return found


def main() -> None:
    """Run the demo and renew what shows it."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    with tempfile.TemporaryDirectory() as place:
        demo = subprocess.run(
            [sys.executable, "-m", "clearway", "demo"],
            cwd=place,
            env=os.environ | {"COLUMNS": "120"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for name, text in pictures(Path(place) / "runs" / "demo").items():
            (root / "docs" / name).write_text(text, encoding="utf-8")
    page = root / "README.md"
    page.write_text(with_demo(page.read_text(encoding="utf-8"), demo.stdout), encoding="utf-8")


if __name__ == "__main__":
    main()
