"""Counts of any size: leaves, bounds, limbs."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.common.counts import (
    add_limbs,
    binomials,
    bound_of_rows,
    from_limbs,
    limbs_for,
    sizes_of_leaves,
    total_of_leaves,
)

HUGE = st.integers(0, 2**192 - 1)


def limbs_of(values: list[int], limbs: int) -> np.ndarray:
    rows = [[value >> 64 * i & (2**64 - 1) for i in range(limbs)] for value in values]
    return np.array(rows, np.uint64).reshape(len(values), limbs)


def test_a_complete_graph_is_one_leaf() -> None:
    leaves = np.zeros((4, 400), np.int64)
    leaves[1, 300] = 1  # the root held, its 300 neighbors pivots
    assert total_of_leaves(leaves, 151) == comb(300, 150)
    assert sizes_of_leaves(leaves) == [0] + [comb(300, k - 1) for k in range(1, 302)]
    assert sizes_of_leaves(leaves, 3) == [0, 1, 300, comb(300, 2)]


def test_leaves_that_hold_too_many_count_nothing() -> None:
    leaves = np.zeros((6, 3), np.int64)
    leaves[5, 0] = 7
    assert total_of_leaves(leaves, 4) == 0
    assert total_of_leaves(leaves, 5) == 7
    assert sizes_of_leaves(leaves, 4) == [0] * 5
    assert sizes_of_leaves(np.zeros((3, 3), np.int64)) == [0]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), st.integers(1, 2**62)), max_size=8))
def test_every_size_at_once_is_each_size_alone(entries: list[tuple[int, int, int]]) -> None:
    leaves = np.zeros((6, 10), np.int64)
    for h, p, times in entries:
        leaves[h, p] = times
    assert sizes_of_leaves(leaves, 12) == [total_of_leaves(leaves, k) for k in range(13)]


def test_the_bound_is_the_number_of_cliques_of_a_complete_graph() -> None:
    n = 90
    row_counts = np.array([n - d for d in range(n + 1)] + [0], np.int64)[: n + 1]  # rows of 0 .. n - 1 entries
    assert bound_of_rows(row_counts, 45) == comb(n, 45)
    assert bound_of_rows(row_counts, n + 1) == 0
    assert bound_of_rows(np.array([5, 0], np.int64), 3) == 0  # five rows without entries


def test_limbs_hold_the_bound_and_no_more() -> None:
    assert [limbs_for(bound) for bound in (0, 2**64 - 1, 2**64, 2**128 - 1, 2**128)] == [1, 1, 2, 2, 3]


def test_binomials_are_exact_in_their_limbs() -> None:
    for limbs in (1, 2, 5):
        table = binomials(130, 65, limbs)
        for n, r in [(0, 0), (5, 2), (5, 6), (130, 65), (67, 33), (68, 34)]:
            expected = comb(n, r) % 2 ** (64 * limbs)
            assert sum(int(word) << 64 * i for i, word in enumerate(table[n, r])) == expected


@given(st.lists(st.tuples(HUGE, HUGE), max_size=5))
def test_limbs_add_with_carries(pairs: list[tuple[int, int]]) -> None:
    left, right = (limbs_of([pair[i] for pair in pairs], 3) for i in (0, 1))
    expected = limbs_of([sum(pair) % 2**192 for pair in pairs], 3)
    np.testing.assert_array_equal(add_limbs(left, right), expected)


@given(st.lists(st.one_of(HUGE, st.integers(0, 100))))
def test_values_come_back_from_limbs(values: list[int]) -> None:
    found = from_limbs(limbs_of(values, 3))
    assert found.tolist() == values
    assert found.dtype == (np.int64 if max(values, default=0) < 2**63 else object)


@pytest.mark.parametrize(
    "work",
    [
        lambda check: binomials(4000, 2000, 60, check),
        lambda check: sizes_of_leaves(np.eye(2, 5000, 4999, dtype=np.int64).repeat(2, axis=0), None, check),
    ],
    ids=["binomials", "sizes"],
)
def test_large_tables_can_be_stopped(work: Any) -> None:
    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        work(stop)
