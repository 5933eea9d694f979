"""Every scenario that ships runs, in small, and twice alike.

A scenario file that takes more than a second has an entry in `SMALLER`, which makes it take less.
"""

from pathlib import Path

import pytest

from tests.conftest import Clearway

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted([*ROOT.glob("scenarios/*.toml"), *ROOT.glob("python/clearway/scenarios/*.toml")])
SMALLER: dict[str, list[str]] = {
    "websearch.toml": ["duration=5ms", "warmup=1ms"],
}
"""What to set, by name of the file."""


@pytest.mark.parametrize("file", SCENARIOS, ids=[file.stem for file in SCENARIOS])
def test_runs_and_repeats(file: Path, clearway: Clearway) -> None:
    sets = [word for text in SMALLER.get(file.name, []) for word in ("--set", text)]
    first, second = (clearway("run", file, *sets, "--json") for _ in range(2))
    assert first.status == 0, first.err
    assert first.json["packet_hops"] > 0
    assert first.json["digest"] == second.json["digest"]


def test_small_overrides_are_of_files_that_are_there() -> None:
    assert set(SMALLER) <= {file.name for file in SCENARIOS}
