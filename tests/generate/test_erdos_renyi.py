"""Uniform random graphs: exact sizes, uniform pairs, the right probability."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.config import configure
from graphlode.errors import InputError
from graphlode.generate import erdos_renyi, erdos_renyi_edges


def keys(n, src, dst):
    return src.astype(np.int64) * n + dst


@pytest.mark.parametrize(
    "size", [{"m": 50_000}, {"p": 0.02}, {"p": 1.0, "directed": True}, {"m": 70_000, "directed": True}]
)
def test_edges_do_not_depend_on_the_number_of_threads(size):
    drawn = []
    for threads in (1, 2, 5):
        with configure(threads=threads):
            drawn.append(erdos_renyi_edges(2000, seed=3, **size))
    for src, dst in drawn[1:]:
        np.testing.assert_array_equal(src, drawn[0][0])
        np.testing.assert_array_equal(dst, drawn[0][1])


@given(n=st.integers(0, 600), share=st.floats(0, 1), directed=st.booleans(), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_m_edges_are_m_different_pairs(n, share, directed, seed):
    pairs = n * (n - 1) // (1 if directed else 2)
    m = int(share * pairs)
    src, dst = erdos_renyi_edges(n, m=m, seed=seed, directed=directed)
    assert len(np.unique(keys(n, src, dst))) == len(src) == len(dst) == m
    assert m == 0 or (src.min() >= 0 and dst.min() >= 0 and max(src.max(), dst.max()) < n)
    assert (src != dst).all()
    assert directed or (src < dst).all()


@pytest.mark.parametrize(("n", "directed"), [(2, False), (2, True), (3, False), (40, True), (400, False), (300, True)])
def test_all_pairs_are_reached_by_m_and_by_p(n, directed):
    pairs = n * (n - 1) // (1 if directed else 2)
    for size in ({"m": pairs}, {"p": 1.0}):
        src, dst = erdos_renyi_edges(n, directed=directed, **size)
        assert len(np.unique(keys(n, src, dst))) == pairs
        assert (src != dst).all()


@pytest.mark.parametrize("size", [{"m": 1}, {"m": 3}, {"p": 0.3}])
def test_every_pair_is_equally_likely_in_a_small_graph(size):
    n, runs = 5, 4000
    counts = np.zeros(25)
    for seed in range(runs):
        np.add.at(counts, keys(n, *erdos_renyi_edges(n, seed=seed, **size)), 1)
    hit = counts[counts > 0]
    chance = size.get("p", size.get("m", 0) / 10)
    spread = np.sqrt(runs * chance * (1 - chance))
    assert len(hit) == 10
    assert (np.abs(hit - runs * chance) < 4.5 * spread).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("size", [{"m": 200_000}, {"p": 0.01}])
def test_ends_are_spread_evenly_in_a_large_graph(size, directed):
    n = 6000
    src, dst = erdos_renyi_edges(n, seed=9, directed=directed, **size)
    degrees = np.bincount(src, minlength=n) + np.bincount(dst, minlength=n)
    mean = 2 * len(src) / n
    assert abs(degrees.mean() - mean) < 1e-9
    assert 0.9 < degrees.var() / mean < 1.1  # binomial with a small probability: variance near the mean
    thirds = degrees.reshape(3, -1).sum(axis=1)
    assert (np.abs(thirds - thirds.mean()) < 5 * np.sqrt(thirds.mean())).all()


@pytest.mark.parametrize("p", [1e-12, 1e-4, 0.01, 0.37, 0.999])
def test_the_number_of_edges_follows_p(p):
    n = 3000
    pairs = n * (n - 1) // 2
    made = [len(erdos_renyi_edges(n, p=p, seed=seed)[0]) for seed in range(3)]
    spread = np.sqrt(pairs * p * (1 - p))
    assert all(abs(count - pairs * p) <= 5 * spread + 1 for count in made)


def test_edges_with_p_come_sorted_by_pair_and_once():
    src, dst = erdos_renyi_edges(900, p=0.2, seed=1)
    position = dst.astype(np.int64) * (dst - 1) // 2 + src
    assert (np.diff(position) > 0).all()


def test_pairs_at_the_end_of_the_largest_space_are_valid():
    src, dst = erdos_renyi_edges(2**31, m=20_000, seed=1)
    assert (src >= 0).all() and (src < dst).all() and len(np.unique(keys(2**31, src, dst))) == 20_000
    assert int(dst.max()) > 0.99 * 2**31
    src, dst = erdos_renyi_edges(2**31, p=1e-15, seed=1)
    assert abs(len(src) - 2306) < 250 and (src < dst).all()


def test_another_seed_gives_another_graph_and_graphs_say_how_they_were_made():
    first, second = (erdos_renyi(200, m=400, seed=seed) for seed in (1, 2))
    assert first.num_edges == second.num_edges == 400
    assert not np.array_equal(first.degrees(), second.degrees())
    assert first.provenance.source == "erdos_renyi(200, m=400, seed=1)"
    assert erdos_renyi(30, p=0.5, directed=True).directed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 5}, "one of m and p"),
        ({"n": 5, "m": 1, "p": 0.5}, "one of m and p"),
        ({"n": -1, "m": 0}, "n must be at least 0"),
        ({"n": 2**31 + 1, "m": 0}, "n must be at most"),
        ({"n": 5, "m": 11}, "m must be at most 10 \\(the pairs of 5 vertices\\), got 11"),
        ({"n": 5, "m": 21, "directed": True}, "m must be at most 20"),
        ({"n": 5, "m": -1}, "m must be at least 0"),
        ({"n": 5, "p": 1.01}, "p must be between 0 and 1"),
        ({"n": 5, "p": -1}, "p must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        erdos_renyi(**arguments)
