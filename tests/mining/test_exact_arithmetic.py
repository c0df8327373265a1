"""Arithmetic on arrays that never wraps around, against Python's integers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphlode.mining.exact import choose, product, row_sums

NUMBERS = st.one_of(st.integers(0, 20), st.integers(-(2**31), 2**31), st.integers(-(2**61), 2**61))


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=8))
def test_products_are_exact(rows: list[tuple[int, int, int]]) -> None:
    columns = [np.array([row[i] for row in rows], np.int64) for i in range(3)]
    assert product(*columns).tolist() == [a * b * c for a, b, c in rows]


def test_small_products_stay_64_bit() -> None:
    assert product(np.array([2**31, 1]), np.array([2**30, 2**61])).dtype == np.int64
    assert product(np.array([2**31, 1]), np.array([2**32, 5])).dtype == object


@given(st.lists(st.integers(-3, 10**7), max_size=6), st.sampled_from([2, 3, 4]))
def test_binomials_are_exact(values: list[int], k: int) -> None:
    def expected(x: int) -> int:
        numerator = np.prod([x - i for i in range(k)], dtype=object)
        return int(numerator) // [1, 1, 2, 6, 24][k]

    assert choose(np.array(values, np.int64), k).tolist() == [expected(x) for x in values]


@given(st.lists(st.lists(NUMBERS, max_size=4), max_size=5))
def test_row_sums_are_exact(rows: list[list[int]]) -> None:
    offsets = np.cumsum([0, *(len(row) for row in rows)])
    values = np.array([x for row in rows for x in row], np.int64)
    assert row_sums(values, offsets).tolist() == [sum(row) for row in rows]
    assert row_sums(values.astype(object), offsets).tolist() == [sum(row) for row in rows]
