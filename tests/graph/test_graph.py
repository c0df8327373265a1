"""The members of Graph, its immutability and its Python protocols."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.errors import InputError
from graphlode.graph.views import Csr, Oriented
from strategies import EdgeList, edge_lists_with_ids


@pytest.fixture
def named() -> gl.Graph:
    """A triangle 10 20 30 with a tail to 40, weights and times."""
    return gl.from_edges([10, 20, 30, 30], [20, 30, 10, 40], weights=[1, 2, 3, 4], times=[5, 6, 7, 8])


@given(edges=edge_lists_with_ids(most_vertices=33, most_edges=300), directed=st.booleans())
def test_members_agree_with_the_set_of_edges(edges: EdgeList, directed: bool) -> None:
    graph = gl.from_edges(edges.src, edges.dst, directed=directed)
    expected = edges.arcs() if directed else edges.simple()
    assert {tuple(pair) for pair in graph.edges().tolist()} == expected
    assert graph.num_edges == len(expected)
    assert graph.ids.tolist() == sorted({*edges.src.tolist(), *edges.dst.tolist()})
    rows: dict[int, set[int]] = {v: set() for v in graph}
    for u, v in expected:
        rows[u].add(v)
        if not directed:
            rows[v].add(u)
    assert graph.degrees().tolist() == [len(rows[v]) for v in graph]
    for position, v in enumerate(graph):
        assert graph.neighbors(v).tolist() == sorted(rows[v])
        assert graph.ids[graph.neighbors(position, indices=True)].tolist() == sorted(rows[v])
        for w in graph:
            assert graph.has_edge(v, w) == (w in rows[v])


def test_indices_give_positions_instead_of_ids(named: gl.Graph) -> None:
    assert named.edges().tolist() == [[10, 20], [10, 30], [20, 30], [30, 40]]
    assert named.edges(indices=True).tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
    assert named.neighbors(30).tolist() == [10, 20, 40]
    assert named.neighbors(2, indices=True).tolist() == [0, 1, 3]
    assert named.has_edge(30, 40) and named.has_edge(2, 3, indices=True)
    assert not named.has_edge(2, 3) and not named.has_edge(30, 40, indices=True)
    assert named.positions([40, 10]).tolist() == [3, 0]
    assert named.positions(20) == 1


def test_what_is_not_there_is_an_error_or_false(named: gl.Graph) -> None:
    plain = gl.from_edges([0, 1], [1, 2])
    for graph, vertex in ((named, 15), (named, 50), (named, 2**64 - 1), (plain, 3), (plain, -1), (plain, 2**64 - 1)):
        with pytest.raises(InputError, match=f"vertex {vertex} is not in the graph"):
            graph.neighbors(vertex)
        assert not graph.has_edge(vertex, 0) and vertex not in graph
    with pytest.raises(InputError, match=r"position 4 is outside 0 \.\. 3"):
        named.neighbors(4, indices=True)
    with pytest.raises(InputError, match=r"position -1 is outside"):
        named.neighbors(-1, indices=True)
    with pytest.raises(InputError, match="vertex 11 is not in the graph"):
        named.positions([10, 11])


@pytest.mark.parametrize("vertex", [2**63, 2**64, 10**30, -(10**30)])
def test_an_id_beyond_64_bits_is_not_in_the_graph(named: gl.Graph, vertex: int) -> None:
    with pytest.raises(InputError, match=f"vertex {vertex} is not in the graph"):
        named.neighbors(vertex)
    assert vertex not in named and not named.has_edge(vertex, 10)


def test_a_huge_unsigned_id_is_not_taken_for_a_negative_one() -> None:
    graph = gl.from_edges([-1], [5])
    assert graph.has_edge(-1, 5) and not graph.has_edge(2**64 - 1, 5)


@pytest.mark.parametrize("vertex", ["10", 10.0, None, [10], [10, 20]])
def test_a_vertex_is_named_by_one_integer(named: gl.Graph, vertex: Any) -> None:
    for indices in (False, True):
        with pytest.raises(InputError, match="a vertex is named by one integer"):
            named.neighbors(vertex, indices=indices)
        for ends in ((vertex, 20), (20, vertex), (99, vertex)):
            with pytest.raises(InputError, match="a vertex is named by one integer"):
                named.has_edge(*ends, indices=indices)
    assert vertex not in named


def test_numpy_integers_name_vertices(named: gl.Graph) -> None:
    assert named.neighbors(np.int64(40)).tolist() == [30]
    assert named.neighbors(np.uint8(3), indices=True).tolist() == [2]
    assert np.int32(10) in named


def test_arrays_cannot_be_written(named: gl.Graph) -> None:
    view = named.view(Oriented("degree"))
    arrays = [*named.csr, named.ids, named.weights, named.times, named.neighbors(0, indices=True), *view.values()]
    arrays += [*gl.from_edges([0], [1]).csr, gl.from_edges([0], [1]).ids, *named.view(Csr()).values()]
    for array in arrays:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("travel", [lambda g: pickle.loads(pickle.dumps(g)), copy.copy, copy.deepcopy])
def test_a_copy_is_equal_and_as_immutable(named: gl.Graph, travel: Any) -> None:
    named.view(Oriented("degree"))
    twin = travel(named)
    assert twin == named and hash(twin) == hash(named)
    assert twin.provenance == named.provenance and twin.version == named.version
    assert not any(array.flags.writeable for array in (*twin.csr, twin.ids, twin.weights, twin.times))
    assert gl.count_triangles(twin, devices="cpu").total == 1


def test_a_pickle_holds_the_arrays_once(named: gl.Graph) -> None:
    before = len(pickle.dumps(named))
    named.edges(), named.to_scipy(), named.view(Oriented("degree"))
    assert len(pickle.dumps(named)) == before


def test_equality_looks_at_everything(named: gl.Graph) -> None:
    src, dst = [10, 20, 30, 30], [20, 30, 10, 40]
    assert gl.from_edges(src, dst) == gl.from_edges(dst, src)
    assert gl.from_edges(src, dst) != named  # no weights
    assert gl.from_edges(src, dst) != gl.from_edges(src, dst, directed=True)
    assert gl.from_edges([1], [2]) != gl.from_edges([1], [3])
    assert gl.from_edges([0], [1]) != gl.from_edges([0], [1], num_vertices=3)
    assert gl.from_edges([0], [1]) != "a graph"
    assert len({gl.from_edges(src, dst), gl.from_edges(dst, src)}) == 1


def test_the_undirected_form_is_made_once() -> None:
    graph = gl.from_edges([7, 8, 8], [8, 7, 9], directed=True)
    form = graph.undirected()
    assert not form.directed and form is graph.undirected() and form is form.undirected()
    assert form.edges().tolist() == [[7, 8], [8, 9]]
    assert form.ids.tolist() == graph.ids.tolist()


def test_python_manners(named: gl.Graph) -> None:
    assert len(named) == 4 and list(named) == [10, 20, 30, 40] and 10 in named and 11 not in named
    assert repr(named) == "<graphlode.Graph: 4 vertices, 4 edges, undirected, weights, times>"
    assert named.version == 0
    assert named.nbytes == 8 * 5 + 4 * 8 + 8 * 4 + 8 * 4 + 8 * 4
