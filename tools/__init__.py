"""Tools for those who work on Clearway; the package does not need them."""
