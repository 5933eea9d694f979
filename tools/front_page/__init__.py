"""What README shows of the demo: its pictures and what it prints, renewed from a run.

`python -m tools.front_page`, or `make front-page`, runs `clearway demo`, draws docs/swift.svg,
docs/fastpass.svg and docs/swing.svg from its runs, and puts what it prints into README.md.
"""
