"""Every scenario that ships runs, in small, and twice alike.

A scenario file that takes more than a fraction of a second has an entry in `BRIEF`, which makes it take less.
"""

from pathlib import Path

import pytest

from tests.conftest import BRIEF, Clearway

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted([*ROOT.glob("scenarios/*.toml"), *ROOT.glob("python/clearway/scenarios/*.toml")])


@pytest.mark.parametrize("file", SCENARIOS, ids=[file.stem for file in SCENARIOS])
def test_runs_and_repeats(file: Path, clearway: Clearway) -> None:
    brief = BRIEF.get(file.stem, {})
    sets = [word for key, value in brief.items() for word in ("--set", f"{key}={value}")]
    first, second = (clearway("run", file, *sets, "--json") for _ in range(2))
    assert first.status == 0, first.err
    assert first.json["packet_hops"] > 0
    assert first.json["digest"] == second.json["digest"]


def test_small_overrides_are_of_files_that_are_there() -> None:
    assert BRIEF.keys() <= {file.stem for file in SCENARIOS}
