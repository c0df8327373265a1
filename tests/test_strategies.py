"""The graphs of the property tests keep their promises."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import MOST_EDGES, SIZES, EdgeList, edge_lists, edge_lists_with_ids, relabellings, simple_edge_lists


@given(simple_edge_lists())
def test_simple_edge_lists_are_sorted_and_simple(edges: EdgeList) -> None:
    assert edges.num_vertices <= SIZES[-1]
    assert len(edges.src) == len(edges.simple()) <= MOST_EDGES
    assert (edges.src < edges.dst).all()
    assert edges.src.min(initial=0) >= 0 and edges.dst.max(initial=-1) < edges.num_vertices


@given(edge_lists(most_vertices=65))
def test_edge_lists_stay_within_their_vertices(edges: EdgeList) -> None:
    assert edges.num_vertices <= 65
    for ends in (edges.src, edges.dst):
        assert ends.dtype == np.int64
        assert len(ends) <= MOST_EDGES
        assert ends.min(initial=0) >= 0 and ends.max(initial=-1) < edges.num_vertices


@given(edge_lists_with_ids())
def test_ids_are_ascending_and_name_every_entry(edges: EdgeList) -> None:
    assert edges.ids is not None and len(edges.ids) == edges.num_vertices
    assert (edges.ids[1:] > edges.ids[:-1]).all()
    assert np.isin(edges.src, edges.ids).all() and np.isin(edges.dst, edges.ids).all()


@given(st.data(), st.sampled_from(SIZES))
def test_relabellings_are_permutations(data: st.DataObject, size: int) -> None:
    labels = data.draw(relabellings(size))
    np.testing.assert_array_equal(np.sort(labels), np.arange(size))


def test_the_interesting_graphs_are_really_drawn() -> None:
    seen: list[EdgeList] = []

    @settings(max_examples=200)
    @given(edge_lists())
    def collect(edges: EdgeList) -> None:
        seen.append(edges)

    collect()
    assert any(edges.num_vertices > 1000 for edges in seen)
    assert any(len(edges.arcs()) < len(edges.src) for edges in seen)
    assert any((edges.src == edges.dst).any() for edges in seen)
    complete = [
        e for e in seen if e.num_vertices >= 3 and len(e.simple()) == e.num_vertices * (e.num_vertices - 1) // 2
    ]
    assert complete
