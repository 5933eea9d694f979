"""What `clearway tune` calls a difference: tunings of measurements whose chance and effect are known."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from clearway import documents
from clearway.statistics import CONFIDENCE, interval, p_value
from clearway.tuning import search
from clearway.tuning.confirmation import Confirmation, Difference, SetBack, _tested, confirm, seeds_of
from clearway.tuning.file import TuneFile, read
from clearway.tuning.measuring import Measured
from clearway.tuning.trials import best_of

from tests.test_tune import NOISY, tuned

pytest.importorskip("optuna")


def noisy(file: TuneFile, effect_us: float) -> Any:
    """Return what measures nothing but chance, and the effect of a target above 30 us."""

    def measure(of: Sequence[Mapping[str, Any]], seeds: Sequence[int]) -> list[Measured]:
        found = []
        for overrides in of:
            target = documents.quantity(overrides.get("transport.bulk.base_target", "25us"))
            assert target is not None
            shift = effect_us if target.value > 30 else 0.0
            draws = [random.Random(f"{seed} {overrides}").gauss(100, 5) - shift for seed in seeds]  # noqa: S311
            found.append(Measured(overrides, samples={file.objective.figure: draws}))
        return found

    return measure


def searched(file: TuneFile, effect_us: float, first: int) -> tuple[Confirmation | None, float | None]:
    """Tune; return what the seeds of the test say, and the p value that those of the search would have."""
    seeds, fresh = seeds_of(file, first)
    measure = noisy(file, effect_us)
    trials = search.search(file, first, lambda of, _: measure(of, seeds))
    best = best_of(trials, file.objective)
    assert best is not None
    if best.number == 0:
        return None, None
    own = trials[0].measured.samples[file.objective.figure]
    pairs = zip(best.measured.samples[file.objective.figure], own, strict=True)
    naive = p_value(interval([a - b for a, b in pairs]), interval([0.0, 0.0]))
    return confirm(file, best, fresh, measure), naive


def test_chance_is_rarely_called_a_difference() -> None:
    """Of 60 tunings of what has no effect: at 5 %, more than 8 would be a coincidence of 1 in 200."""
    file = read(tuned(NOISY, trials=24, seeds=6, confirm=6))
    results = [searched(file, 0.0, 1000 * number) for number in range(60)]
    claimed = [each for each, _ in results if each is not None and each.better(file)]
    naive = [p for _, p in results if p is not None and p <= 1 - CONFIDENCE]
    assert len(claimed) <= 8
    assert len(naive) > 6  # twice as many as that, if the seeds of the search were asked


def test_an_effect_is_found() -> None:
    file = read(tuned(NOISY, trials=16, seeds=3, confirm=8))
    told_of = [searched(file, 15.0, 1000 * number)[0] for number in range(10)]
    assert sum(each is not None and each.better(file) for each in told_of) >= 9


def test_seeds_of_the_test_are_none_of_the_search() -> None:
    file = read(NOISY)
    searched_with, tested_with = seeds_of(file, 7)
    assert (searched_with, tested_with) == ([7, 8], [9, 10, 11])


def test_keys_are_tested_together() -> None:
    """By itself each of two would be called a difference; Holm's correction takes that from both."""
    apart = [0.04, 0.03, 0.5]
    for p_values, expected in ((apart, [False] * 3), ([0.001, *apart[1:]], [True, False, False])):
        set_back = [SetBack("key", Measured({}), Difference(interval([1.0, 2.0]), p)) for p in p_values]
        unknown = SetBack("key", Measured({}), None)
        tested = _tested([unknown, *set_back])
        assert tested[0].difference is None
        assert [each.difference and each.difference.significant for each in tested[1:]] == expected
