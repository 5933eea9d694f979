"""A scenario on real hosts: a plan for their agents, and what they measured as a run.

`plan` writes what `clearwayd testbed` reads, `controller` runs it, `reading` takes what it prints, and
`record` makes the figures and tables of a run of that. `local` puts the hosts into namespaces of this
machine, which `network` makes and removes.
"""
