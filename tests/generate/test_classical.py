"""Complete graphs, cycles, stars, paths and grids are those of networkx, vertex for vertex."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphlode.errors import InputError
from graphlode.generate import complete, complete_edges, cycle, cycle_edges, grid, grid_edges, path, path_edges, star

SIZES = (0, 1, 2, 3, 4, 31, 32, 33, 64, 65, 200)


def edges_of(graph):
    return {(min(u, v), max(u, v)) for u, v in graph.edges().tolist()}


def edges_of_networkx(graph):
    return {(min(u, v), max(u, v)) for u, v in graph.edges() if u != v}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("make", "peer"),
    [(complete, nx.complete_graph), (cycle, nx.cycle_graph), (star, nx.star_graph), (path, nx.path_graph)],
    ids=["complete", "cycle", "star", "path"],
)
def test_a_graph_is_the_one_of_networkx(make, peer, n):
    graph, expected = make(n), peer(n)
    assert graph.num_vertices == expected.number_of_nodes()
    assert edges_of(graph) == edges_of_networkx(expected)
    assert not graph.directed
    assert graph.provenance.source == f"{make.__name__}({n})"


@pytest.mark.parametrize(("rows", "columns"), [(0, 0), (0, 5), (1, 1), (1, 7), (7, 1), (2, 2), (3, 5), (32, 33)])
def test_a_grid_is_the_one_of_networkx_in_row_order(rows, columns):
    graph = grid(rows, columns)
    expected = nx.relabel_nodes(nx.grid_2d_graph(rows, columns), lambda at: at[0] * columns + at[1])
    assert graph.num_vertices == rows * columns
    assert edges_of(graph) == edges_of_networkx(expected)


@pytest.mark.parametrize("n", SIZES)
def test_every_edge_is_given_once(n):
    for src, dst in (complete_edges(n), cycle_edges(n), path_edges(n), grid_edges(n, 3)):
        low, high = np.minimum(src, dst), np.maximum(src, dst)
        assert len(np.unique(low * (3 * n + 1) + high)) == len(src)
        assert (src != dst).all()


@pytest.mark.parametrize("make", [complete, cycle, star, path, lambda n: grid(n, 2), lambda n: grid(2, n)])
@pytest.mark.parametrize("size", [-1, 1.5, "3", None, 2**31 + 1])
def test_bad_sizes_are_refused(make, size):
    with pytest.raises(InputError, match="must be"):
        make(size)


def test_a_grid_with_too_many_vertices_is_refused():
    with pytest.raises(InputError, match="rows \\* columns"):
        grid(2**20, 2**20)
