"""`clearway tune`: a scenario file with a `[tune]` table says what is to be good, and which keys may change.

[tune]
objective = { "lookups.latency_p99_us" = "lower" }         # one figure, and which way is better
limits = { goodput_gbps = { at_least = "90Gbps" } }        # figures that must keep a limit; optional
trials = 40                                                # values tried, the scenario's own first
seeds = 3                                                  # simulated for each, the same for all
confirm = 10                                               # seeds of their own that the best is tested on
batch = 4                                                  # trials chosen at a time

[tune.range]
"transport.*.base_target" = { from = "5us", to = "50us", scale = "log" }   # anything in between
"transport.bulk.beta" = { from = 0.2, to = 0.9 }
"transport.bulk.reach" = { from = 64, to = 1024, factor = 2 }   # a step or a factor, as those of [sweep]
"switch.default.overflow" = ["drop", "trim"]                    # one of these

`file` reads such a file, with `goals` and `space` for its parts. `search` asks Optuna's sampler for values,
which `measuring` has simulated through the store of `sweeps`; `trials` judges what came of them.
`confirmation` holds the best against the scenario's own values on seeds that the search has not seen.
`tuning` does all of it in order; `words`, `table`, `page` and `shown` tell it, `best` writes the scenario
that has the best values, and `api` is what Python code calls.
"""
