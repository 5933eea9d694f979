"""Quantiles against published tables, and differences that are or are not ones."""

import math

import pytest
from clearway.statistics import exact, interval, p_value, t_quantile, told_apart


@pytest.mark.parametrize(
    ("freedom", "published"),
    [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (4, 2.7764),
        (5, 2.5706),
        (9, 2.2622),
        (10, 2.2281),
        (19, 2.0930),
        (29, 2.0452),
        (30, 2.0423),
        (60, 2.0003),
        (120, 1.9799),
        (1_000_000, 1.9600),
    ],
)
def test_t_quantile_is_that_of_the_tables(freedom: int, published: float) -> None:
    assert t_quantile(0.975, freedom) == pytest.approx(published, abs=5e-5)


def test_t_quantile_rises_smoothly_between_whole_degrees_of_freedom() -> None:
    assert t_quantile(0.975, 3) < t_quantile(0.975, 2.5) < t_quantile(0.975, 2)
    assert t_quantile(0.5, 7) == pytest.approx(0, abs=1e-9)


def test_interval_of_a_textbook_sample() -> None:
    of = interval([4.0, 5.0, 6.0, 7.0, 8.0])
    assert of.mean == 6.0
    # t(0.975, 4) * sqrt(2.5 / 5)
    assert of.half_width == pytest.approx(2.776445 * 0.7071068, rel=1e-6)


def test_one_sample_has_no_interval() -> None:
    of = interval([3.0])
    assert (of.mean, of.half_width) == (3.0, None)


def test_how_likely_a_difference_is_by_chance() -> None:
    low, same, high = interval([1.0, 1.1, 0.9]), interval([1.05, 0.95, 1.1]), interval([2.0, 2.1, 1.9])
    # t = 1 / sqrt(2 * 0.01 / 3) = 12.247 with 4 degrees of freedom.
    assert p_value(low, high) == p_value(high, low) == pytest.approx(0.000255, rel=2e-3)
    assert p_value(low, same) == pytest.approx(0.67, abs=0.01)
    assert p_value(low, interval([2.0])) is None
    # What t's quantile is for, of a sample beside what has no part of chance.
    at_limit = exact(interval([low.mean + t_quantile(0.975, 2) * math.sqrt(low.variance / 3)]))
    assert p_value(low, at_limit) == pytest.approx(0.05)


def test_runs_without_any_spread_differ_if_their_means_do() -> None:
    assert p_value(interval([1.0, 1.0]), interval([1.0, 1.0])) == 1
    assert p_value(interval([1.0, 1.0]), interval([2.0, 2.0])) == 0
    assert p_value(exact(interval([1.0])), exact(interval([2.0]))) == 0


def test_of_many_tests_each_must_show_more() -> None:
    assert told_apart([0.04]) == [True]
    assert told_apart([0.04, 0.6]) == [False, False]
    # Holm's steps: 0.05 / 3, 0.05 / 2, 0.05.
    assert told_apart([0.04, 0.01, 0.02]) == [True, True, True]
    assert told_apart([0.04, 0.01, 0.03]) == [False, True, False]
    # What is certain is no test.
    assert told_apart([0.0, 0.0, 0.04]) == [True, True, True]
    assert told_apart([]) == []
