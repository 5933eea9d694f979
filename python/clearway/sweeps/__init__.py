"""`clearway sweep`: a scenario file with a `[sweep]` table is many points: all combinations of its axes.

[sweep]
"transport.bulk.base_target" = ["15us", "25us"]            # a list of values
"transport.bulk.ai" = { from = 0.25, to = 4, factor = 2 }  # a range: with step or factor, ends included
"transport.*.beta" = [0.4, 0.8]                            # a star: of every transport
seed = [1, 2, 3]                                           # seeds are an axis like any other

[[sweep.zip]]                                              # keys that change together are one axis
"network.rate" = ["25Gbps", "50Gbps"]
"network.hosts" = [26, 51]

[sweep.frontier]                                           # optional: which points are worth having
objectives = { jain = "higher", rtt_p99_us = "lower" }
decide = "rtt_p99_us"

`file` reads such a file, with `axes` and `ranges` for its table and `overrides` for what each point sets.
`making` runs the `points` that the `store` does not have. `figures` and `table` gather what they measured,
`frontier` says which are worth having, `sweep` does all of it in order, and `page` draws it.
"""
