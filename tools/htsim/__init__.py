"""Runs uet-htsim and Clearway one after the other on the same files, and holds their figures side by side."""
