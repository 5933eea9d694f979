"""Runs uet-htsim and Clearway on the same files: `python -m tools.htsim CHECKOUT`.

CHECKOUT is a clone of https://github.com/ultraethernet/uet-htsim, which is built first. Both simulators then
run in turn, each on one core, and a table shows the figures of both. Exit status 1: a bar is not kept; 2:
there is nothing to compare.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.htsim import figures, table
from tools.htsim.cases import CASES, Case
from tools.htsim.checkout import CannotRunError, build, remark
from tools.htsim.running import run_clearway, run_htsim


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.htsim",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT", help="a clone of ultraethernet/uet-htsim")
    parser.add_argument("--quick", action="store_true", help="leave out the networks of 8192 hosts")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep all files there; it must be new")
    options = parser.parse_args(words)
    try:
        checkout = options.checkout.resolve()
        folder = build(checkout)
        said = remark(checkout)
        if said:
            print(f"warning: {said}", file=sys.stderr)
        cases = [case for case in CASES if not (options.quick and case.large)]
        if options.keep:
            return _compare(cases, folder, _new(options.keep))
        with tempfile.TemporaryDirectory(prefix="clearway-htsim-") as work:
            return _compare(cases, folder, Path(work))
    except CannotRunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _new(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise CannotRunError(f"--keep {folder}: {error.strerror}") from error
    return folder.resolve()


def _compare(cases: Sequence[Case], folder: Path, work: Path) -> int:
    given: list[table.Verdict] = []
    for number, case in enumerate(cases):
        place = work / str(number)
        place.mkdir()
        ended, htsim_took = run_htsim(case, folder, place)
        if len(ended.flows) != ended.started:
            raise CannotRunError(f"{case.name}: {len(ended.flows)} of {ended.started} flows of htsim ended")
        simulated, took = run_clearway(case, ended.settled, folder, place)
        of_htsim, of_clearway = figures.of_htsim(ended), figures.of_clearway(case, simulated)
        shown = table.lines(case, (of_htsim, htsim_took), (of_clearway, took, simulated.hops))
        print("\n".join(shown), end="\n\n", flush=True)
        given += table.verdicts(case, of_htsim, of_clearway)
    print(table.summary(given))
    return 0 if all(verdict.holds for verdict in given) else 1


if __name__ == "__main__":
    sys.exit(main())
