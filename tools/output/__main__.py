"""Writes the page anew: `python -m tools.output`."""

from __future__ import annotations

from tools.output.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.name)
