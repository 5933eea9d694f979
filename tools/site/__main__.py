"""The command line of the site: `python -m tools.site`, which writes `target/site`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tools.site.stage import BrokenLinksError, Stage

_ROOT = Path(__file__).parent.parent.parent


def main() -> int:
    """Make the site; return the status that the process ends with."""
    sources, made = _ROOT / "target" / "site-sources", _ROOT / "target" / "site"
    try:
        Stage(_ROOT, sources).fill()
    except BrokenLinksError as broken:
        print(broken, file=sys.stderr)
        return 1
    shutil.rmtree(made, ignore_errors=True)
    options = ["--fail-on-warning", "--fresh-env", "--quiet", "--jobs", "auto", "--builder", "html"]
    folders: list[str | Path] = [
        "--conf-dir",
        Path(__file__).parent,
        "--doctree-dir",
        _ROOT / "target" / "site-doctrees",
    ]
    status = subprocess.run([sys.executable, "-m", "sphinx", *options, *folders, sources, made], check=False)  # noqa: S603
    if status.returncode == 0:
        print(f"site: {(made / 'index.html').relative_to(_ROOT)}")
    return status.returncode


if __name__ == "__main__":
    sys.exit(main())
