"""Files of other simulators, made into a scenario.

`formats` is the list of what can be read: a file for each format, which says how its files are recognised and
makes one of the `parts` of them: a network, flows, jobs, or settings of these. `workloads` and `placing` say
what ranks do and where they are, `joining` makes a scenario of all parts, and `writing` writes it with its
topology, its trace and the operations of its jobs. A new format is a file and a line in `formats`.
"""
