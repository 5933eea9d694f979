"""Text on a page with a button that copies it; the page's script does the copying, and needs no network."""

from __future__ import annotations

from html import escape


def copyable(text: str) -> str:
    """Show text as it is, with a button that copies it."""
    button = '<button type="button" class="copy">Copy</button>'
    return f'<div class="copyable">{button}<pre>{escape(text)}</pre></div>'
