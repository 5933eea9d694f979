"""The documentation site: pages made from `docs/`, the schema, the command line and the docstrings."""
