"""What the recommended point of a sweep cannot be told from, as seeds or their number leave it open."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clearway.statistics import Interval, exact, interval
from clearway.sweeps.frontier import Frontier
from clearway.sweeps.standing import Standing

from tests.conftest import Clearway, written

FRONTIER = Frontier({"jain": "higher", "rtt": "lower"}, {"jain": 0.9}, "rtt")


def point(jain: Sequence[float], rtt: Sequence[float]) -> dict[str, Interval]:
    return {"jain": interval(jain), "rtt": interval(rtt)}


def test_points_that_the_seeds_do_not_tell_from_the_best_are_named() -> None:
    rows = [
        point([0.95, 0.951, 0.949], [10.0, 11.0, 9.0]),
        point([0.96, 0.961, 0.959], [10.5, 11.5, 9.5]),
        point([0.97, 0.971, 0.969], [90.0, 91.0, 89.0]),
        point([0.5, 0.501, 0.499], [10.2, 11.2, 9.2]),
    ]
    found = Standing.of(FRONTIER, rows, 0)
    assert (found.rivals, found.untold, found.near) == ([1], [], [])
    assert found.in_words(FRONTIER, ["a", "b", "c", "d"]) == "By rtt, the seeds do not tell it from b."
    assert Standing.of(FRONTIER, rows, 2).rivals == []
    assert Standing.of(FRONTIER, rows, None) == Standing()


def test_a_limit_within_the_interval_may_be_kept_or_not() -> None:
    """Below the limit in the mean, but not for certain; and the recommended one above it, but not either."""
    rows = [point([0.91, 0.95, 0.89], [10.0, 11.0, 9.0]), point([0.88, 0.92, 0.86], [9.0, 10.0, 8.0])]
    found = Standing.of(FRONTIER, rows, 0)
    assert (found.rivals, found.near) == ([1], ["jain"])
    words = found.in_words(FRONTIER, ["a", "b"])
    assert words.endswith("from b. Its interval reaches beyond the limit of jain.")
    # One that is better for certain, but breaks a limit only in the mean.
    rows = [point([0.95, 0.951, 0.949], [10.0, 11.0, 9.0]), point([0.88, 0.92, 0.86], [1.0, 2.0, 0.5])]
    found = Standing.of(FRONTIER, rows, 0)
    assert (found.rivals, found.better) == ([], [1])
    assert found.in_words(FRONTIER, ["a", "b"]) == "Better by rtt, and perhaps within the limits: b."


def test_of_one_seed_nothing_can_be_told_unless_nothing_is_left_to_chance() -> None:
    rows = [point([0.95], [10.0]), point([0.96], [90.0])]
    found = Standing.of(FRONTIER, rows, 0)
    assert (found.rivals, found.untold) == ([], [1])
    assert found.in_words(FRONTIER, ["a", "b"]) == (
        "Whether the others are worse cannot be told from one seed: "
        "seed = [1, 2, 3, 4, 5] under [sweep] would tell."
    )
    certain = [{key: exact(of) for key, of in row.items()} for row in rows]
    assert Standing.of(FRONTIER, certain, 0) == Standing([], [], [], [])


_SWEPT: dict[str, Any] = {
    "format": 1,
    "name": "swept",
    "duration": "1ms",
    "network": {"topology": "star", "hosts": 4},
    "transport": {"t": {"protocol": "swift"}},
    "traffic": [{"pattern": "incast", "from": "0..3", "to": 3}],
}
_SWEEP = """
[sweep]
"transport.t.base_target" = ["10us", "40us"]
{seeds}
[sweep.frontier]
objectives = {{ rtt_mean_us = "lower", goodput_gbps = "higher" }}
decide = "rtt_mean_us"
"""


def test_a_sweep_says_what_would_tell(clearway: Clearway, workspace: Path) -> None:
    drawn = {**_SWEPT, "traffic": [{**_SWEPT["traffic"][0], "start": "0us..50us"}]}
    told = "seed = [1, 2, 3, 4, 5] under [sweep] would tell"

    def swept(name: str, scenario: dict[str, Any], seeds: str = "") -> tuple[str, Any]:
        file = written(workspace / name, scenario)
        file.write_text(file.read_text() + _SWEEP.format(seeds=seeds))
        shown, found = clearway("sweep", file), clearway("sweep", file, "--json")
        assert shown.status == found.status == 0, found.err
        return " ".join(shown.out.split()), found.json["frontier"]

    words, found = swept("drawn.toml", drawn)
    assert (told in words, len(found["untold"])) == (True, 1)
    # Without a draw one seed is every seed.
    words, found = swept("sure.toml", _SWEPT)
    assert ("Recommended: " in words, told in words) == (True, False)
    assert (found["untold"], found["rivals"]) == ([], [])
    words, found = swept("seeds.toml", drawn, "seed = [1, 2, 3]")
    assert (told in words, found["untold"], found["rivals"]) == (False, [], [])
