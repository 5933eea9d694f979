"""Makes the parts of `docs/DEVIATIONS.md` that say what became of the claims of a paper."""
