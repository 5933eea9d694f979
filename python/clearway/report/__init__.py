"""One self-contained HTML page about one run or several."""

from clearway.report.page import labelled, page

__all__ = ["labelled", "page"]
