"""Files of other simulators, made into a scenario.

`formats` is the list of what can be read: a file for each format, which says how its files are recognised and
makes one of the `parts` of them, a network, flows or settings. `joining` makes a scenario of the parts,
`writing` writes it with its topology and its trace. A new format is a file and a line in `formats`.
"""
