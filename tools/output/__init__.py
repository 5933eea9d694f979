"""Makes `docs/OUTPUT.md`, which says what all that a run leaves means."""
