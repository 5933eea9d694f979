"""`clearway paper`: the figures and tables of a paper, run anew, with a verdict for each claim.

An experiment is a file `papers/PAPER/ID.toml`; docs/PAPERS.md says how one is written. `experiment` reads it,
`measures` has what is taken from runs, `evaluation` brings both together, `verdicts` judges, `reproduce` runs
it all, and `page` draws it.
"""
