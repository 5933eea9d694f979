"""The command line of the checks: `python -m tools.supply CHECK [--fetch] [--strict]`."""

from __future__ import annotations

import argparse
import sys

from tools.supply.audit import audit
from tools.supply.oldest_python import oldest_python
from tools.supply.oldest_rust import oldest_rust
from tools.supply.outcome import report


def main() -> int:
    """Make one check; return the status that the process ends with."""
    parser = argparse.ArgumentParser(prog="python -m tools.supply", description=__doc__)
    parser.add_argument("check", choices=("audit", "oldest-rust", "oldest-python"))
    parser.add_argument("--fetch", action="store_true", help="fetch the advisories of crates")
    parser.add_argument("--strict", action="store_true", help="fail if something cannot be checked")
    wanted = parser.parse_args()
    match wanted.check:
        case "audit":
            outcomes = audit(fetch=wanted.fetch)
        case "oldest-rust":
            outcomes = oldest_rust()
        case _:
            outcomes = oldest_python()
    return report(outcomes, strict=wanted.strict)


if __name__ == "__main__":
    sys.exit(main())
