"""From and to scipy matrices and networkx graphs."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.errors import InputError
from graphlode.graph.accept import as_graph
from strategies import EdgeList, edge_lists, edge_lists_with_ids


@given(edges=edge_lists(most_edges=2000), directed=st.booleans(), weighted=st.booleans())
def test_scipy_there_and_back(edges: EdgeList, directed: bool, weighted: bool) -> None:
    weights = np.arange(2.0, 2 + len(edges.src)) if weighted and len(edges.simple()) else None
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed, weights=weights)
    matrix = graph.to_scipy()
    assert matrix.shape == (edges.num_vertices, edges.num_vertices)
    assert directed or abs(matrix - matrix.T).sum() == 0
    assert gl.from_scipy(matrix, directed=directed) == graph


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_every_sparse_form_is_taken(form: str, kind: str) -> None:
    made = getattr(scipy.sparse, f"{form}_{kind}")(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    assert gl.from_scipy(made).edges().tolist() == [[0, 1], [1, 2]]
    assert gl.from_scipy(made).weights is None


def test_values_other_than_one_are_weights() -> None:
    graph = gl.from_scipy(scipy.sparse.coo_array(([2.5, 1.0], ([0, 1], [1, 2])), shape=(3, 3)))
    assert graph.weights is not None and graph.weights.tolist() == [2.5, 1.0]


def test_bad_matrices_are_refused() -> None:
    with pytest.raises(InputError, match="square"):
        gl.from_scipy(scipy.sparse.coo_array((2, 3)))
    with pytest.raises(InputError, match="takes a scipy sparse matrix"):
        gl.from_scipy(np.zeros((2, 2)))
    with pytest.raises(InputError, match="weights must be finite"):
        gl.from_scipy(scipy.sparse.coo_array(([np.nan], ([0], [1])), shape=(2, 2)))


@given(edges=edge_lists_with_ids(most_vertices=65, most_edges=500), directed=st.booleans(), weighted=st.booleans())
def test_networkx_there_and_back(edges: EdgeList, directed: bool, weighted: bool) -> None:
    weights = np.arange(float(len(edges.src))) if weighted and len(edges.simple()) else None
    graph = gl.from_edges(edges.src, edges.dst, directed=directed, weights=weights)
    there = graph.to_networkx()
    assert there.number_of_nodes() == graph.num_vertices and there.number_of_edges() == graph.num_edges
    assert there.is_directed() == directed
    assert gl.from_networkx(there) == graph


def test_times_travel_to_networkx() -> None:
    graph = gl.from_edges([1, 2], [2, 3], times=[7, 8])
    assert graph.to_networkx().edges[2, 3]["time"] == 8


def test_nodes_that_are_no_integers_are_numbered_in_their_order() -> None:
    graph = gl.from_networkx(nx.Graph([("b", "a"), ("a", "c")]))
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


def test_isolated_nodes_stay_and_integer_nodes_keep_their_ids() -> None:
    made = nx.Graph([(30, -10)])
    made.add_node(20)
    graph = gl.from_networkx(made)
    assert graph.ids.tolist() == [-10, 20, 30]
    assert graph.edges().tolist() == [[-10, 30]]
    assert not graph.ids.flags.writeable


def test_a_multigraph_loses_its_parallel_edges() -> None:
    graph = gl.from_networkx(nx.MultiDiGraph([(0, 1), (0, 1), (1, 0), (1, 1)]))
    assert graph.directed and graph.edges().tolist() == [[0, 1], [1, 0]]
    assert graph.provenance.duplicates_dropped == 1 and graph.provenance.self_loops_dropped == 1


def test_weights_of_networkx_are_kept_if_every_edge_has_one() -> None:
    made = nx.Graph()
    made.add_edge(0, 1, weight=2)
    made.add_edge(1, 2, weight=3)
    graph = gl.from_networkx(made)
    assert graph.weights is not None and graph.weights.tolist() == [2.0, 3.0]
    assert gl.from_networkx(made, weight=None).weights is None
    made.add_edge(2, 3)
    assert gl.from_networkx(made).weights is None


@pytest.mark.parametrize("weight", ["heavy", None, float("nan")])
def test_weights_of_networkx_that_are_no_numbers_are_refused(weight: Any) -> None:
    made = nx.Graph()
    made.add_edge(0, 1, weight=weight)
    with pytest.raises(InputError, match="weights must"):
        gl.from_networkx(made)


def test_ids_of_networkx_have_64_bits() -> None:
    with pytest.raises(InputError, match="ids"):
        gl.from_networkx(nx.Graph([(0, 2**70)]))


def test_operations_take_every_kind_of_graph() -> None:
    club = nx.karate_club_graph()
    for graph in (club, nx.to_scipy_sparse_array(club), gl.from_networkx(club), nx.DiGraph(club)):
        assert gl.count_triangles(graph, devices="cpu").total == 45


@pytest.mark.parametrize("thing", [None, 3, [(0, 1)], np.eye(3)])
def test_anything_else_is_refused(thing: Any) -> None:
    with pytest.raises(InputError, match="a graph is a graphlode.Graph or DynamicGraph, a scipy sparse matrix or"):
        as_graph(thing)


def test_operations_on_the_structure_do_not_look_at_weights() -> None:
    named = nx.Graph([(0, 1, {"weight": "strong"}), (1, 2, {"weight": "weak"}), (2, 0, {"weight": "none"})])
    assert gl.count_triangles(named, devices="cpu").total == 1
    values = np.where(np.eye(3), 0, np.nan)
    assert gl.count_triangles(scipy.sparse.csr_array(values), devices="cpu").total == 1
