"""`clearway paper`: the figures and tables of a paper, run anew, with a verdict for each claim.

An experiment is a file `papers/PAPER/ID.toml`; docs/PAPERS.md says how one is written. `papers` finds it,
`reading` reads it into an `experiment`, with the `parameters` that all experiments of the paper share and the
`checker` that says what is wrong with a file. `reproduce` runs it. Its `expressions` name `measures` of the
runs, and `evaluation` says what they are worth; `claims`, `plots` and `frontier` use these values, `verdicts`
judges, and `page` draws the `result`.
"""
