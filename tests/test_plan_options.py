"""Options of planners: exact numbers with units, and what is said of others."""

import pytest
from clearway.errors import ClearwayError
from clearway.plan_options import BYTES, LENGTH, RATE, TIME, Options, spell


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("25us", TIME, 25 * 10**6),
        ("1.000000000001s", TIME, 10**12 + 1),
        ("12.7MB", BYTES, 12_700_000),
        ("4KiB", BYTES, 4096),
        ("0.1Gbps", RATE, 10**8),
        ("80.05km", LENGTH, 80_050),
        ("18446744073709551615ps", TIME, 2**64 - 1),
    ],
)
def test_quantities_are_exact(text: str, units: dict[str, int], value: int) -> None:
    options = Options({"it": text})
    assert options.quantity("it", units, "1us") == value
    options.check(str)
    if "i" not in text:
        assert Options({"it": spell(value, units)}).quantity("it", units, "1us") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.5ps", "expected a whole number of ps"),
        ("18446744073709551616ps", "which is more than is held"),
        *(
            (text, "such as 1us")
            for text in ("25", "us", "", "-5us", ".5us", "1.us", "1.2.3us", "1e3us", "٣us")
        ),
        (f"{'9' * 25}s", "such as 1us"),
    ],
)
def test_what_is_none_is_named(text: str, said: str) -> None:
    options = Options({"it": text})
    assert options.quantity("it", TIME, "1us") is None
    with pytest.raises(ClearwayError, match=f"--it: found .*{said}"):
        options.check(lambda name: f"--{name}")


def test_values_are_written_as_short_as_they_can_be() -> None:
    assert [spell(value, TIME) for value in (0, 1_500, 2_500_000, 10**12)] == ["0us", "1.5ns", "2.5us", "1s"]
    assert [spell(value, BYTES) for value in (4096, 64_000)] == ["4096B", "64kB"]
