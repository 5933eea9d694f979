"""A scenario's network before a run: described, in tables, and drawn."""
