"""Planted cliques: the clique exists, `planted_members` names it, and the rest is random."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.config import configure
from graphlode.errors import InputError
from graphlode.generate import planted_clique, planted_clique_edges, planted_members


@given(
    n=st.integers(0, 200), share=st.floats(0, 1), p=st.sampled_from([0.0, 0.1, 0.6, 1.0]), seed=st.integers(0, 2**32)
)
@settings(max_examples=50)
def test_the_members_are_joined_to_each_other(n, share, p, seed):
    k = int(share * n)
    members = planted_members(n, k, seed=seed)
    assert len(np.unique(members)) == k
    src, dst = planted_clique_edges(n, k, p, seed=seed)
    edges = {(min(u, v), max(u, v)) for u, v in zip(src.tolist(), dst.tolist(), strict=True)}
    assert len(edges) == len(src)
    assert edges >= {(u, v) for u in members.tolist() for v in members.tolist() if u < v}
    if p == 0:
        assert len(edges) == k * (k - 1) // 2
    if p == 1:
        assert len(edges) == n * (n - 1) // 2


def test_members_are_spread_over_all_vertices():
    chosen = np.concatenate([planted_members(40, 5, seed=seed) for seed in range(4000)])
    counts = np.bincount(chosen, minlength=40)
    assert (np.abs(counts - 500) < 5 * np.sqrt(500)).all()


def test_the_rest_has_the_given_density():
    graph = planted_clique(2000, 20, 0.05, seed=1)
    pairs = 2000 * 1999 // 2 - 190
    assert abs(graph.num_edges - 190 - 0.05 * pairs) < 5 * np.sqrt(pairs * 0.05 * 0.95)


def test_the_graph_does_not_depend_on_the_number_of_threads():
    drawn = []
    for threads in (1, 2, 5):
        with configure(threads=threads):
            drawn.append(planted_clique(1500, 30, 0.1, seed=2).csr)
    for offsets, neighbors in drawn[1:]:
        np.testing.assert_array_equal(offsets, drawn[0][0])
        np.testing.assert_array_equal(neighbors, drawn[0][1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0, 0.5), "n must be at least 0"),
        ((5, 6, 0.5), "k must be at most 5 \\(n\\), got 6"),
        ((5, -1, 0.5), "k must be at least 0"),
        ((5, 2, 1.5), "p must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        planted_clique(*arguments)
