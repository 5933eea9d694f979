"""Compiles the examples of docs/ADDING.md, so that the page is true.

`python -m tools.adding` copies the tracked files to a temporary folder, adds there what the page says of new
files and of changes, counts for a scheme, a topology and a pattern the files that each changes beside its own
(three are allowed), and runs the tests that the examples bring. With `--fit` it ends before the tests.

`page` reads the page.
"""
