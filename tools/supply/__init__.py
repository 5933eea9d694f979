"""Checks of what Clearway is built from and may be installed with.

`python -m tools.supply audit` asks cargo-deny and pip-audit whether the dependencies may be used,
`oldest-rust` compiles everything with the oldest Rust that `Cargo.toml` promises, and `oldest-python` runs
tests with the oldest versions that `pyproject.toml` promises. What a machine cannot check is said with the
reason, and never counts as passed.
"""
