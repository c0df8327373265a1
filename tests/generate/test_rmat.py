"""Recursive matrix graphs: what is drawn, with what probability, and that threads do not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.config import configure
from graphlode.errors import InputError
from graphlode.generate import kronecker, kronecker_edges, rmat, rmat_edges

GRAPH500 = (0.57, 0.19, 0.19, 0.05)


@pytest.mark.parametrize("draw", [rmat_edges, kronecker_edges])
@pytest.mark.parametrize("scale", [0, 1, 4, 5, 6, 11, 17])
def test_edges_do_not_depend_on_the_number_of_threads(draw, scale):
    drawn = []
    for threads in (1, 2, 5):
        with configure(threads=threads):
            drawn.append(draw(scale, seed=7))
    assert len(drawn[0][0]) == 16 << scale
    for src, dst in drawn[1:]:
        np.testing.assert_array_equal(src, drawn[0][0])
        np.testing.assert_array_equal(dst, drawn[0][1])


@pytest.mark.parametrize("draw", [rmat_edges, kronecker_edges])
@given(cuts=st.lists(st.integers(0, 16 << 9), max_size=3), seed=st.integers(0, 2**64 - 1))
@settings(max_examples=25)
def test_parts_of_the_list_put_together_are_the_whole(draw, cuts, seed):
    ends = [0, *sorted(cuts), 16 << 9]
    parts = [draw(9, seed=seed, begin=a, end=b) for a, b in zip(ends, ends[1:], strict=False)]
    whole = draw(9, seed=seed)
    for side in (0, 1):
        np.testing.assert_array_equal(np.concatenate([part[side] for part in parts]), whole[side])


@pytest.mark.parametrize(
    "probabilities", [GRAPH500, (0.25, 0.25, 0.25, 0.25), (0.1, 0.2, 0.3, 0.4), (0.9, 0.1, 0.0, 0.0)]
)
def test_every_level_picks_its_quadrants_with_the_given_probabilities(probabilities):
    scale = 13
    a, b, c, _ = probabilities
    src, dst = rmat_edges(scale, 32, a=a, b=b, c=c, seed=11)
    for level in range(scale):
        shift = scale - 1 - level
        quadrants = np.bincount(2 * (src >> shift & 1) + (dst >> shift & 1), minlength=4)
        expected = np.array(probabilities) * len(src)
        spread = np.sqrt(expected * (1 - np.array(probabilities)))
        assert (np.abs(quadrants - expected) <= 5 * spread).all(), (level, quadrants, expected)


def test_levels_are_independent_of_each_other():
    src, dst = rmat_edges(12, 64, seed=3)
    quadrant = [2 * (src >> level & 1) + (dst >> level & 1) for level in range(12)]
    for first, second in [(0, 1), (1, 2), (4, 5), (2, 7), (3, 8), (9, 10), (0, 11)]:
        together = np.bincount(4 * quadrant[first] + quadrant[second], minlength=16)
        expected = np.outer(GRAPH500, GRAPH500).ravel() * len(src)
        chi_squared = float(((together - expected) ** 2 / expected).sum())
        assert chi_squared < 45  # 15 degrees of freedom: exceeded once in 10,000 runs, and the seed is fixed


@pytest.mark.parametrize(("corner", "src_end", "dst_end"), [("a", 0, 0), ("b", 0, 1), ("c", 1, 0), ("none", 1, 1)])
def test_a_quadrant_of_probability_one_takes_every_edge(corner, src_end, dst_end):
    chances = {name: float(name == corner) for name in "abc"}
    src, dst = rmat_edges(7, 4, **chances)
    assert (src == 127 * src_end).all() and (dst == 127 * dst_end).all()


def test_degrees_are_skewed_and_small_ids_have_the_large_ones():
    graph = rmat(12, seed=2)
    degrees = np.sort(graph.degrees())[::-1]
    assert degrees[: len(degrees) // 100].sum() > 0.15 * degrees.sum()  # one vertex in a hundred
    assert graph.degrees()[:64].mean() > 5 * degrees.mean()


def test_kronecker_is_rmat_with_renamed_vertices():
    for scale in (1, 2, 3, 8, 12):
        plain, renamed = rmat_edges(scale, seed=5), kronecker_edges(scale, seed=5)
        names = np.full(2**scale, -1)
        for before, after in zip(plain, renamed, strict=True):
            names[before] = after
        seen = names[names >= 0]
        assert len(np.unique(seen)) == len(seen)
        for before, after in zip(plain, renamed, strict=True):
            np.testing.assert_array_equal(names[before], after)
    assert rmat(8, seed=5).num_edges == kronecker(8, seed=5).num_edges


def test_kronecker_labels_say_nothing_about_degrees():
    degrees = kronecker(13, seed=1).degrees()
    for bit in range(13):
        upper = np.arange(2**13) >> bit & 1 == 1
        assert abs(degrees[upper].mean() - degrees[~upper].mean()) < 0.25 * degrees.mean()


def test_another_seed_gives_other_edges_and_other_labels():
    assert (rmat_edges(10, seed=1)[0] != rmat_edges(10, seed=2)[0]).mean() > 0.5
    assert (kronecker_edges(10, seed=1)[0] != kronecker_edges(10, seed=2)[0]).mean() > 0.9


def test_ids_are_wide_where_the_scale_needs_it():
    for scale, dtype in ((31, np.int32), (32, np.int64), (45, np.int64), (62, np.int64)):
        factor = 1 if scale == 62 else 2
        src, dst = rmat_edges(scale, factor, a=0.25, b=0.25, c=0.25, begin=2**scale - 4096, end=2**scale)
        assert src.dtype == dst.dtype == dtype
        for ids in (src, dst):
            assert ids.min() >= 0
            assert 2**scale * 0.99 < int(ids.max()) < 2**scale


def test_a_graph_has_all_vertices_and_says_how_it_was_made():
    graph = rmat(6, 1, seed=4, directed=True)
    assert (graph.num_vertices, graph.directed) == (64, True)
    assert graph.provenance.source.startswith("rmat(6, 1, ")
    assert kronecker(0, 3).num_edges == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": -1}, "scale must be at least 0, got -1"),
        ({"scale": 63}, "scale must be at most 62"),
        ({"scale": 2.5}, "scale must be an integer, got 2.5"),
        ({"scale": 3, "edge_factor": -2}, "edge_factor must be at least 0"),
        ({"scale": 60, "edge_factor": 16}, "edge_factor \\* 2\\^scale"),
        ({"scale": 3, "a": -0.1}, "a must be between 0 and 1"),
        ({"scale": 3, "b": float("nan")}, "b must be between 0 and 1"),
        ({"scale": 3, "c": "x"}, "c must be a number"),
        ({"scale": 3, "a": 0.8}, "a \\+ b \\+ c must be at most 1, got 0.8 \\+ 0.19"),
        ({"scale": 3, "seed": -1}, "seed must be at least 0"),
        ({"scale": 3, "seed": 2**64}, "seed must be at most"),
    ],
)
@pytest.mark.parametrize("make", [rmat, kronecker, rmat_edges])
def test_bad_arguments_are_named(make, arguments, message):
    with pytest.raises(InputError, match=message):
        make(**arguments)


@pytest.mark.parametrize("part", [{"begin": -1}, {"end": 129}, {"begin": 5, "end": 4}])
def test_parts_outside_the_list_are_refused(part):
    with pytest.raises(InputError, match="begin|end"):
        rmat_edges(3, **part)
