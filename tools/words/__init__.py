"""Checks the English: phrases that a stranger does not understand without the line before.

`python -m tools.words` looks through the tracked Rust, Python, Markdown and TOML files, prints each phrase
with its place, what is wrong with it and what to write, and ends with status 1 if there is one.

`phrases` is the list: to add a phrase, add an entry and an example. `search` finds them in a text.
"""
