"""Arrays that a graph exports without a copy, and that the graph cannot be changed through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

import graphlode as gl
from stores import even, mixes

SRC, DST = [0, 0, 1, 2, 3], [1, 2, 2, 3, 4]
LENGTHS = [0.5, 1.5, 2.5, 3.5, 4.5]
NUMPY = tuple(int(part) for part in np.__version__.split(".")[:2])


def make(directed: bool, weighted: bool) -> gl.Graph:
    return gl.from_edges(SRC, DST, directed=directed, weights=LENGTHS if weighted else None)


def make_snapshot(devices: list[str], directed: bool, weighted: bool) -> gl.Graph:
    store = gl.DynamicGraph(directed, weighted=weighted, devices=devices, shares=even(devices))
    store.insert(SRC, DST, LENGTHS if weighted else None)
    return store.snapshot()


KINDS = [(directed, weighted) for directed in (False, True) for weighted in (False, True)]


# SciPy


def check_sharing(graph: gl.Graph) -> None:
    matrix, (offsets, neighbors) = graph.to_scipy(), graph.csr
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert np.shares_memory(matrix.indices, neighbors) and not matrix.indices.flags.writeable
    assert not np.shares_memory(matrix.indptr, offsets) and matrix.indptr.tolist() == offsets.tolist()
    shared = graph.directed and graph.weights is not None
    assert graph.weights is None or np.shares_memory(matrix.data, graph.weights) == shared
    assert matrix.data.flags.writeable == (not shared)
    assert matrix.has_sorted_indices and matrix.has_canonical_format


@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_a_matrix_shares_the_neighbors_and_the_weights_of_a_directed_graph(directed: bool, weighted: bool) -> None:
    check_sharing(make(directed, weighted))


@pytest.mark.parametrize("devices", mixes())
@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_a_matrix_of_a_snapshot_shares_as_much(devices: list[str], directed: bool, weighted: bool) -> None:
    snapshot = make_snapshot(devices, directed, weighted)
    check_sharing(snapshot)
    assert (snapshot.to_scipy() - make(directed, weighted).to_scipy()).count_nonzero() == 0


def test_two_matrices_share_with_each_other_and_outlive_their_graph() -> None:
    graph = make(directed=True, weighted=True)
    first, second = graph.to_scipy(), graph.to_scipy()
    assert np.shares_memory(first.indices, second.indices) and np.shares_memory(first.data, second.data)
    del graph, second
    assert first.toarray()[3, 4] == 4.5


@pytest.mark.parametrize(
    "work",
    [
        lambda a: a @ np.arange(5.0),
        lambda a: a.T @ np.arange(5.0),
        lambda a: a.sum(axis=0),
        lambda a: (a @ a).toarray(),
        lambda a: (a + 2 * a).toarray(),
        lambda a: a.multiply(a).toarray(),
        lambda a: a[[3, 1]][:, 1:4].toarray(),
        lambda a: a.tocsc().toarray(),
        lambda a: a.tocoo().toarray(),
        lambda a: a.astype(np.float32).toarray(),
        lambda a: scipy.sparse.csr_matrix(a).toarray(),
        lambda a: scipy.sparse.triu(a).toarray(),
        lambda a: scipy.sparse.vstack([a, a]).toarray(),
        lambda a: csgraph.laplacian(a).toarray(),
        lambda a: csgraph.dijkstra(a, indices=0),
        lambda a: csgraph.connected_components(a)[1],
        lambda a: csgraph.breadth_first_order(a, 0)[0],
        lambda a: csgraph.minimum_spanning_tree(a).toarray(),
        lambda a: sparse_linalg.spsolve((a + 20 * scipy.sparse.eye_array(5)).tocsc(), np.ones(5)),
        lambda a: sparse_linalg.norm(a),
    ],
)
@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_shared_arrays_work_as_their_copies_do(directed: bool, weighted: bool, work: Callable[[Any], Any]) -> None:
    graph = make(directed, weighted)
    own = graph.to_scipy().copy()
    assert own.indices.flags.writeable and own.data.flags.writeable
    np.testing.assert_array_equal(work(graph.to_scipy()), work(own))
    assert graph == make(directed, weighted)


def write_indices(matrix: Any) -> None:
    matrix.indices[0] = 3


def sort_indices(matrix: Any) -> None:
    matrix.has_sorted_indices = False
    matrix.sort_indices()


def sum_duplicates(matrix: Any) -> None:
    matrix.has_canonical_format = False
    matrix.sum_duplicates()


def eliminate_zeros(matrix: Any) -> None:
    matrix.data = np.zeros_like(matrix.data)
    matrix.eliminate_zeros()


@pytest.mark.parametrize("change", [write_indices, sort_indices, sum_duplicates, eliminate_zeros])
@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_changing_shared_neighbors_in_place_is_refused(
    directed: bool, weighted: bool, change: Callable[[Any], None]
) -> None:
    graph = make(directed, weighted)
    with pytest.raises(ValueError, match="read-only"):
        change(graph.to_scipy())
    assert graph == make(directed, weighted)


def double(matrix: Any) -> None:
    matrix *= 2


def write_entry(matrix: Any) -> None:
    matrix[0, 1] = 7.0


@pytest.mark.parametrize("change", [double, write_entry])
@pytest.mark.parametrize(("directed", "weighted"), KINDS)
def test_values_are_changed_in_place_where_they_are_not_the_weights_of_the_graph(
    directed: bool, weighted: bool, change: Callable[[Any], None]
) -> None:
    graph = make(directed, weighted)
    matrix = graph.to_scipy()
    if directed and weighted:
        with pytest.raises(ValueError, match="read-only"):
            change(matrix)
    else:
        before = matrix[0, 1]
        change(matrix)
        assert matrix[0, 1] == (2 * before if change is double else 7.0)
    assert graph == make(directed, weighted)


def test_rows_are_known_to_be_sorted_and_simple() -> None:
    graph = make(directed=True, weighted=True)
    matrix = graph.to_scipy()
    matrix.sort_indices(), matrix.sum_duplicates()  # would be refused if there were anything to do
    assert matrix.indices.tolist() == graph.csr[1].tolist() and np.shares_memory(matrix.indices, graph.csr[1])


@pytest.mark.parametrize("change", [eliminate_zeros, sort_indices, sum_duplicates, write_indices, double])
def test_a_copy_of_a_matrix_belongs_to_its_caller(change: Callable[[Any], None]) -> None:
    graph = make(directed=True, weighted=True)
    matrix = graph.to_scipy().copy()
    change(matrix)
    matrix.indices[:], matrix.indptr[:] = 0, 0
    assert graph == make(directed=True, weighted=True)


# DLPack and Arrow


@pytest.fixture(params=[pytest.param(None, id="a graph"), *mixes()])
def arrays(request: pytest.FixtureRequest) -> list[Any]:
    """All arrays that a graph, or a snapshot of a store, shows."""
    if request.param is None:
        graph = gl.from_edges([10, 20, 30], [20, 30, 10], weights=[1, 2, 3], times=[7, 8, 9])
    else:
        graph = make_snapshot(request.param, directed=True, weighted=True)
    shown = [*graph.csr, graph.ids, graph.weights, graph.times, graph.neighbors(0, indices=True)]
    return [array for array in shown if array is not None]


@pytest.mark.skipif(NUMPY < (2, 1), reason="read-only arrays have no DLPack form before NumPy 2.1")
def test_dlpack_takes_the_arrays_without_a_copy_and_read_only(arrays: list[Any]) -> None:
    for array in arrays:
        taken = np.from_dlpack(array)
        assert taken.dtype == array.dtype and taken.tolist() == array.tolist()
        assert np.shares_memory(taken, array) and not taken.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            taken.flags.writeable = True


def test_dlpack_without_a_word_for_read_only_gets_a_copy_or_nothing(arrays: list[Any]) -> None:
    for array in arrays:
        with pytest.raises(BufferError, match="readonly"):
            array.__dlpack__()  # as a consumer from before DLPack 1.0 asks
        copied = np.from_dlpack(array.copy())
        assert copied.tolist() == array.tolist() and not np.shares_memory(copied, array)


def test_arrow_takes_the_arrays_without_a_copy(arrays: list[Any]) -> None:
    arrow = pytest.importorskip("pyarrow")
    for array in arrays:
        taken = arrow.array(array)
        assert taken.to_pylist() == array.tolist()
        _, buffer = taken.buffers()
        assert buffer.address == array.ctypes.data and not buffer.is_mutable
