"""Quantiles against published tables, and differences that are or are not ones."""

import pytest
from clearway.statistics import differ, interval, t_quantile


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


def test_differences_within_chance_are_none() -> None:
    low, same, high = interval([1.0, 1.1, 0.9]), interval([1.05, 0.95, 1.1]), interval([2.0, 2.1, 1.9])
    assert differ(low, high) is True
    assert differ(low, same) is False
    assert differ(low, interval([2.0])) is None


def test_runs_without_any_spread_differ_if_their_means_do() -> None:
    assert differ(interval([1.0, 1.0]), interval([1.0, 1.0])) is False
    assert differ(interval([1.0, 1.0]), interval([2.0, 2.0])) is True
