"""Writes the parts anew: `python -m tools.verdicts`; with `--run PAPER` that paper is run before."""

from __future__ import annotations

import argparse
from pathlib import Path

from clearway.paper.papers import paper_named
from clearway.sweeps.store import STORE

from tools.verdicts import record
from tools.verdicts.parts import PAGE, with_parts

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.verdicts", description=__doc__)
    parser.add_argument("--run", metavar="PAPER", help="run this paper first: minutes of work")
    parser.add_argument("--only", metavar="ID", nargs="+", default=[], help="of it, only these experiments")
    parser.add_argument("--jobs", type=int, help="how many runs at a time; by default one on each core")
    parser.add_argument("--store", type=Path, default=STORE, help="where runs are kept")
    options = parser.parse_args()
    if options.only and not options.run:
        parser.error("--only says which experiments of a paper are run: give --run PAPER, too")
    if options.run:
        print(record.write(paper_named(options.run), options.store, options.jobs, options.only))
    PAGE.write_text(with_parts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE.name)
