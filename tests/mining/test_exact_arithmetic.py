"""Arithmetic on arrays that never wraps around, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.mining.exact import choose, convert, narrowed, product, row_sums
from graphlode.mining.orbit_layout import Layout
from graphlode.mining.patterns import edge_orbit_matrix, inverse, pattern_matrix
from graphlode.mining.supports import Supported
from strategies import EdgeList, edge_lists

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


def test_python_integers_are_narrowed_if_all_fit() -> None:
    assert narrowed(np.array([1, 2**63 - 1], object)).dtype == np.int64
    assert narrowed(np.array([1, 2**63], object)).dtype == object
    assert narrowed(np.zeros(0, object)).dtype == np.int64


@pytest.mark.parametrize("large", [1, 2**40, 2**90])
@pytest.mark.parametrize("length", [0, 1, 50, 3_000])
def test_conversion_is_that_of_the_matrix(large: int, length: int) -> None:
    """From induced counts to all copies, and back to where it began, however large."""
    matrix = edge_orbit_matrix()
    numbers = (np.arange(length) % 97).astype(object) * large
    induced = [narrowed(numbers + i) for i in range(len(matrix))]
    everything = list(range(len(matrix)))
    copies = convert(matrix, induced, everything)
    back = convert(inverse(matrix), copies, [0, 67, 5])
    for found, i in zip(back, [0, 67, 5], strict=True):
        np.testing.assert_array_equal(found, induced[i])
    if length:
        assert copies[0][-1] == sum(int(a) * int(column[-1]) for a, column in zip(matrix[0], induced, strict=True))


def test_conversion_wraps_around_and_back() -> None:
    """Terms may leave 64 bits as long as the sum does not."""
    matrix = inverse(pattern_matrix())
    copies = np.array(pattern_matrix()) @ np.full(29, 2**52)
    found = convert(matrix, [np.array([x]) for x in copies], list(range(29)))
    assert [int(column[0]) for column in found] == [2**52] * 29


@given(edge_lists(most_vertices=65, most_edges=400), st.sampled_from([1, 2**20, 2**45]))
@settings(max_examples=20)
def test_sums_along_rows_are_exact_with_and_without_weights(edges: EdgeList, large: int) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    layout = Layout.of(graph.view(Supported()))
    numbers = np.arange(graph.num_vertices)
    values, weights = [numbers * large, numbers - 3], (np.arange(graph.num_edges) - 1) * large
    entries = [(row, w, e) for row, w, e in zip(layout.rows, layout.neighbors, layout.edges, strict=True)]
    for weight, plain in ((None, [1] * graph.num_edges), (weights, weights.tolist())):
        for found, value in zip(layout.sums(weight, *values), values, strict=True):
            expected = [0] * graph.num_vertices
            for row, w, e in entries:
                expected[row] += plain[e] * int(value[w])
            assert found.tolist() == expected


def test_only_sums_that_leave_64_bits_are_wide() -> None:
    layout = Layout.of(gl.complete(4).view(Supported()))
    large, small = layout.sums(None, np.full(4, 2**62), np.full(4, 2**60))
    assert large.dtype == object and large.tolist() == [3 * 2**62] * 4
    assert small.dtype == np.int64 and small.tolist() == [3 * 2**60] * 4
