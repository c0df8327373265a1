"""from_csr: canonical rows are copied, others are rebuilt, malformed ones rejected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.errors import InputError
from strategies import EdgeList, edge_lists


@given(edges=edge_lists(most_edges=2000), directed=st.booleans())
def test_canonical_rows_are_taken_as_they_are_but_not_shared(edges: EdgeList, directed: bool) -> None:
    given = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)
    offsets, neighbors = (array.copy() for array in given.csr)
    graph = gl.from_csr(offsets, neighbors, directed=directed)
    offsets[:], neighbors[:] = -1, -1
    assert graph == given


@given(edges=edge_lists(most_edges=2000), directed=st.booleans())
def test_other_rows_are_rebuilt(edges: EdgeList, directed: bool) -> None:
    """Rows with repeats, self-loops, without order and without their mirror image, as an edge list has them."""
    order = np.argsort(edges.src, kind="stable")
    offsets = np.zeros(edges.num_vertices + 1, np.int64)
    np.cumsum(np.bincount(edges.src, minlength=edges.num_vertices), out=offsets[1:])
    graph = gl.from_csr(offsets, edges.dst[order], directed=directed)
    assert graph == gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)


def test_an_asymmetric_row_set_becomes_undirected() -> None:
    graph = gl.from_csr([0, 2, 2, 2], [1, 2])
    assert graph.edges().tolist() == [[0, 1], [0, 2]]
    assert gl.from_csr([0, 2, 2, 2], [1, 2], directed=True).degrees().tolist() == [2, 0, 0]


@pytest.mark.parametrize("neighbors", [[1, 2, 0, 0], [2, 1, 0, 0]], ids=["taken", "rebuilt"])
def test_ids_name_the_vertices(neighbors: list[int]) -> None:
    graph = gl.from_csr([0, 2, 3, 4], neighbors, ids=[-(2**63), 5, 2**63 - 1])
    assert graph.edges().tolist() == [[-(2**63), 5], [-(2**63), 2**63 - 1]]
    assert not graph.ids.flags.writeable


def test_weights_have_one_value_per_entry() -> None:
    graph = gl.from_csr([0, 2, 3, 4], [1, 2, 0, 0], weights=[5, 6, 5, 6])
    assert graph.weights is not None and graph.weights.tolist() == [5.0, 6.0]
    with pytest.raises(InputError, match=r"one value per edge \(4\)"):
        gl.from_csr([0, 2, 3, 4], [1, 2, 0, 0], weights=[5, 6])


@pytest.mark.parametrize(
    ("offsets", "neighbors"),
    [([], []), ([1], []), ([0, 1], [0, 0]), ([0, 2, 1, 2], [1, 0]), ([0, 3], [0, 0]), ([0, -1, 1], [1])],
)
def test_malformed_offsets_are_refused(offsets: list[int], neighbors: list[int]) -> None:
    with pytest.raises(InputError, match="offsets must rise from 0 to the number of neighbors"):
        gl.from_csr(offsets, neighbors)


@pytest.mark.parametrize("offsets", [[0.0, 1.5, 2.0], [[0, 1, 2]], "abc"])
def test_offsets_are_integers_in_one_dimension(offsets: Any) -> None:
    with pytest.raises(InputError, match="offsets must"):
        gl.from_csr(offsets, [1, 0])


@pytest.mark.parametrize("neighbors", [[1, 2], [1, -1]])
def test_neighbors_outside_the_graph_are_refused(neighbors: list[int]) -> None:
    with pytest.raises(InputError, match=r"neighbors must lie in 0 \.\. 1"):
        gl.from_csr([0, 1, 2], neighbors)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "ids must name 3 vertices, got 2"),
        ([3, 2, 1], "ascending"),
        ([1, 1, 2], "ascending"),
        ([0.5, 1, 2], "integers"),
    ],
)
def test_bad_ids_are_refused(ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.from_csr([0, 2, 3, 4], [1, 2, 0, 0], ids=ids)
