from __future__ import annotations

import pytest

from graphlode.cli.numbers import duration, rate, real, size


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (49_917, "49.9 kB"), (345_147, "345 kB"), (25_300_000_000, "25.3 GB")],
)
def test_sizes_have_three_digits_and_a_unit(value: int, text: str) -> None:
    assert size(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(5e-6, "5 us"), (0.0123, "12.3 ms"), (1.5, "1.50 s"), (4321.0, "4,321 s")]
)
def test_durations_have_a_unit_that_suits_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [(12.0, "12 /s"), (1500.0, "1.5 k/s"), (12_300_000.0, "12.3 M/s")])
def test_rates_are_in_thousands_or_millions(value: float, text: str) -> None:
    assert rate(value) == text


@pytest.mark.parametrize(("value", "text"), [(337, "337"), (3.0, "3"), (0.13903, "0.139"), (1234.56, "1,234.6")])
def test_whole_numbers_are_shown_in_full_and_others_with_three_digits(value: float, text: str) -> None:
    assert real(value) == text
