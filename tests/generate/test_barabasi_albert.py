"""Preferential attachment: simple, of the exact size, and with the degrees of the model."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.config import configure
from graphlode.errors import InputError
from graphlode.generate import barabasi_albert, barabasi_albert_edges


@given(n=st.integers(2, 300), m=st.integers(1, 40), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_every_new_vertex_joins_m_different_earlier_ones(n, m, seed):
    m = min(m, n - 1)
    src, dst = barabasi_albert_edges(n, m, seed=seed)
    assert len(src) == m * (n - m)
    np.testing.assert_array_equal(src[:m], np.zeros(m))
    np.testing.assert_array_equal(dst[:m], np.arange(1, m + 1))
    np.testing.assert_array_equal(src[m:], np.repeat(np.arange(m + 1, n), m))
    assert (dst[m:] < src[m:]).all()
    assert len(np.unique(src.astype(np.int64) * n + dst)) == len(src)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (10, 1), (50, 3), (1000, 5), (40, 39)])
def test_size_and_degree_sum_are_those_of_networkx(n, m):
    graph = barabasi_albert(n, m, seed=1)
    peer = nx.barabasi_albert_graph(n, m, seed=1)
    assert (graph.num_vertices, graph.num_edges) == (peer.number_of_nodes(), peer.number_of_edges())
    degrees = graph.degrees()
    assert degrees.sum() == 2 * m * (n - m)
    assert degrees[m + 1 :].min(initial=m) >= m


def test_degrees_follow_the_known_distribution():
    m, n = 3, 100_000
    degrees = barabasi_albert(n, m, seed=4).degrees()
    for k in (3, 4, 5, 8, 12):  # the limit is 2 m (m + 1) / (k (k + 1) (k + 2)), Bollobas et al. 2001
        expected = 2 * m * (m + 1) / (k * (k + 1) * (k + 2))
        assert abs((degrees == k).mean() / expected - 1) < 0.06
    assert degrees.max() > np.sqrt(n)


def test_edges_do_not_depend_on_the_number_of_threads():
    drawn = []
    for threads in (1, 2, 5):
        with configure(threads=threads):
            drawn.append(barabasi_albert_edges(5000, 4, seed=9)[1])
    np.testing.assert_array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[0], drawn[2])


def test_another_seed_gives_another_graph():
    assert (barabasi_albert_edges(500, 2, seed=1)[1] != barabasi_albert_edges(500, 2, seed=2)[1]).mean() > 0.5


@pytest.mark.parametrize(
    ("n", "m", "seed", "message"),
    [
        (1, 1, 0, "n must be at least 2"),
        (5, 0, 0, "m must be at least 1, got 0"),
        (5, 5, 0, "m must be at most 4 \\(n - 1\\), got 5"),
        (5, 1.5, 0, "m must be an integer"),
        (5, 1, -3, "seed must be at least 0"),
    ],
)
def test_bad_arguments_are_named(n, m, seed, message):
    with pytest.raises(InputError, match=message):
        barabasi_albert(n, m, seed=seed)
