"""Rows from outside: whatever arrays, matrices, archives or pickles hold, a graph has valid rows or does not exist.

Kernels trust rows without looking. A fault in this file is therefore often a crash of the whole process.
"""

from __future__ import annotations

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.cpu.graph.check_rows import FAULTS
from graphlode.errors import InputError
from graphlode.execute.device import View
from graphlode.graph.checked import STATE, fault_of
from graphlode.graph.views import Csr, Oriented
from strategies import EdgeList, edge_lists

WRAPPING = np.array([0, 2**63 - 1, -2, 4], np.int64)  # differences: 2^63 - 1, 2^63 - 1 (wrapped) and 6
FOUR = np.array([1, 2, 0, 0], np.int64)


def slow_fault(offsets: list[int], neighbors: list[int], directed: bool) -> tuple[str, int]:
    """The first fault in the order of FAULTS; Python integers do not wrap."""
    size = len(offsets) - 1
    if offsets[0] != 0:
        return "offsets", 0
    for v in range(size):
        if offsets[v + 1] < offsets[v]:
            return "offsets", v
    if offsets[-1] != len(neighbors):
        return "offsets", size
    rows = [neighbors[begin:end] for begin, end in itertools.pairwise(offsets)]
    tests = {
        "range": lambda v, row: all(0 <= w < size for w in row),
        "order": lambda v, row: row == sorted(set(row)),
        "self_loop": lambda v, row: v not in row,
        "symmetry": lambda v, row: directed or all(v in rows[w] for w in row),
    }
    for name, holds in tests.items():
        faulty = [v for v, row in enumerate(rows) if not holds(v, row)]
        if faulty:
            return name, faulty[0]
    return "none", 0


@given(data=st.data(), edges=edge_lists(most_edges=200), directed=st.booleans())
def test_the_check_finds_what_a_slow_one_finds(data: st.DataObject, edges: EdgeList, directed: bool) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)
    arrays = [array.copy() for array in graph.csr]
    for _ in range(data.draw(st.integers(0, 3))):
        array = data.draw(st.sampled_from([array for array in arrays if array.size]))
        limits = np.iinfo(array.dtype)
        value = st.one_of(st.integers(0, edges.num_vertices), st.integers(limits.min, limits.max))
        array[data.draw(st.integers(0, array.size - 1))] = data.draw(value)
    expected = slow_fault(arrays[0].tolist(), arrays[1].tolist(), directed)
    if expected[0] in ("offsets", "range"):
        with pytest.raises(InputError, match=f"position {expected[1]}$" if expected[0] == "offsets" else "must lie in"):
            fault_of(arrays[0], arrays[1], directed)
        return
    found = fault_of(arrays[0], arrays[1], directed)
    assert found[0] == expected[0] and found[0] in FAULTS
    if found[0] != "symmetry":  # either end of the edge may be named
        assert found == expected


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("directed", [False, True])
def test_every_single_missing_entry_is_found_with_any_number_of_threads(threads: int, directed: bool) -> None:
    graph = gl.erdos_renyi(20_000, m=60_000, seed=3)
    offsets, neighbors = graph.csr
    with gl.configure(threads=threads):
        assert fault_of(offsets, neighbors, directed) == ("none", 0)
        for at in (0, 1, neighbors.size // 2, neighbors.size - 1):
            row = int(np.searchsorted(offsets, at, side="right")) - 1
            cut = offsets - (np.arange(offsets.size) > row)
            assert fault_of(cut, np.delete(neighbors, at), directed)[0] == ("none" if directed else "symmetry")


@pytest.mark.parametrize("directed", [False, True])
def test_offsets_whose_differences_wrap_are_refused(tmp_path: Path, directed: bool) -> None:
    with pytest.raises(InputError, match="offsets must rise"):
        gl.from_csr(WRAPPING, FOUR, directed=directed)
    with pytest.raises(InputError, match="offsets must rise"):
        gl.Graph(WRAPPING, FOUR, directed=directed)
    np.savez(tmp_path / "own.npz", offsets=WRAPPING, neighbors=FOUR, directed=np.bool_(directed))
    layout: dict[str, Any] = {"format": np.array(b"csr"), "shape": np.array([3, 3]), "data": np.ones(4)}
    np.savez(tmp_path / "scipy.npz", **layout, indptr=WRAPPING, indices=FOUR)
    for name in ("own.npz", "scipy.npz"):
        for read in (gl.read, gl.read_edges):
            with pytest.raises(InputError, match="offsets must rise"):
                read(tmp_path / name)


@pytest.mark.parametrize("layout", [scipy.sparse.csr_array, scipy.sparse.csc_array, scipy.sparse.bsr_array])
@pytest.mark.parametrize(
    ("indptr", "indices"),
    [(WRAPPING, FOUR), ([0, 2, 1, 4], FOUR), ([0, 2, 3, 4], [1, 2, 0, 99]), ([0, 2, 3, 4], [1, 2, 0, -1])],
    ids=["wrapping", "falling", "large", "negative"],
)
def test_a_damaged_sparse_matrix_is_refused(layout: Any, indptr: Any, indices: Any) -> None:
    matrix = layout(gl.from_csr([0, 2, 3, 4], FOUR).to_scipy()).copy()
    if layout is scipy.sparse.bsr_array:
        matrix = layout(matrix, blocksize=(1, 1))
    matrix.indptr, matrix.indices = np.array(indptr), np.array(indices)
    with pytest.raises(InputError, match="the matrix is damaged"):
        gl.from_scipy(matrix)
    with pytest.raises(InputError, match="the matrix is damaged"):
        gl.count_triangles(matrix)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"neighbors": [1, 2**31 - 1, 0, 0]}, r"neighbors must lie in 0 \.\. 2"),
        ({"neighbors": [1, 2**40, 0, 0]}, r"neighbors must lie in 0 \.\. 2"),
        ({"neighbors": [1, 2**32, 0, 0]}, r"neighbors must lie in 0 \.\. 2"),  # 0 if it were narrowed
        ({"neighbors": [2, 1, 0, 0]}, "neighbors of vertex 0 must ascend"),
        ({"neighbors": [1, 1, 0, 0]}, "neighbors of vertex 0 must ascend"),
        ({"neighbors": [0, 1, 0, 0]}, "neighbors of vertex 0 must not contain the vertex itself"),
        ({"neighbors": [1, 2, 0, 1]}, "must be symmetric"),
        ({"neighbors": [1.0, 2.0, 0.0, 0.0]}, "neighbors must hold integers"),
        ({"neighbors": [[1, 2], [0, 0]]}, "neighbors must have one dimension"),
        ({"neighbors": [1, 2, 0]}, "offsets must rise from 0 to the number of neighbors"),
        ({"offsets": []}, "offsets must rise"),
        ({"offsets": [0, 2, 3, 5]}, "offsets must rise"),
        ({"offsets": [1, 2, 3, 4]}, "offsets must rise"),
        ({"offsets": None}, "offsets must"),
        ({"ids": [5, 6]}, "ids must name 3 vertices, got 2"),
        ({"ids": [5, 6, 5]}, "ids must be distinct, 5 is repeated"),
        ({"ids": "abc"}, "ids must"),
        ({"weights": [1.0]}, r"weights must have one value per edge \(2\)"),
        ({"weights": [1.0, np.nan]}, "weights must be finite"),
        ({"times": [1, 2, 3]}, r"times must have one value per edge \(2\)"),
        ({"times": [1.5, 2]}, "times must hold integers"),
        ({"directed": "no"}, "directed must be True or False"),
        ({"version": -1}, "version must be"),
        ({"version": 2**70}, "version must be"),
        ({"version": "1"}, "version must be"),
        ({"provenance": "a file"}, "provenance must be"),
    ],
)
def test_a_graph_of_rows_that_are_none_cannot_be_made(changes: dict[str, Any], says: str) -> None:
    good: dict[str, Any] = {"offsets": [0, 2, 3, 4], "neighbors": FOUR, "directed": False}
    assert gl.Graph(**good).num_edges == 2
    with pytest.raises(InputError, match=says):
        gl.Graph(**(good | changes))
    state = gl.Graph(**good).__getstate__() | {f"_{name}": value for name, value in changes.items()}
    with pytest.raises(InputError):
        gl.Graph.__new__(gl.Graph).__setstate__(state)


@pytest.mark.parametrize("state", [None, {}, [], 7, {"_offsets": [0]}], ids=repr)
def test_a_state_that_is_none_is_an_input_error(state: Any) -> None:
    graph = gl.path(3)
    with pytest.raises(InputError, match="the state of a graph has the names"):
        graph.__setstate__(state)
    assert graph == gl.path(3)


def test_a_state_cannot_bring_derived_arrays() -> None:
    graph = gl.Graph.__new__(gl.Graph)
    graph.__setstate__(gl.path(3).__getstate__() | {"_tails": np.array([10**9] * 4), "_held": None})
    assert graph.edges().tolist() == [[0, 1], [1, 2]]


@given(data=st.data())
def test_a_damaged_pickle_is_an_error_and_never_a_damaged_graph(data: st.DataObject) -> None:
    graph = gl.complete(6)
    state = graph.__getstate__()
    name = data.draw(st.sampled_from(["_offsets", "_neighbors"]))
    array = state[name].copy()
    at = data.draw(st.integers(0, array.size - 1))
    array[at] = data.draw(st.integers(-(2**31), 2**31 - 1))
    if array[at] == state[name][at]:
        return
    with pytest.raises(InputError):
        pickle.loads(pickle.dumps(graph).replace(state[name].tobytes(), array.tobytes()))


def everything_of(graph: gl.Graph) -> list[Any]:
    views: list[View] = [Csr(), Oriented("degree"), Oriented("degeneracy")]
    arrays = [*graph.csr, graph.ids, graph.weights, graph.times, graph.neighbors(0, indices=True)]
    return [array for array in arrays if array is not None] + [a for view in views for a in graph.view(view).values()]


def test_arrays_of_a_graph_cannot_be_made_writable() -> None:
    store = gl.DynamicGraph(weighted=True, devices="cpu")
    store.insert([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    graph = gl.from_edges([0, 1, 2], [1, 2, 0], weights=[1.0, 2.0, 3.0], times=[1, 2, 3])
    for array in everything_of(graph) + everything_of(store.snapshot()) + everything_of(gl.complete(5)):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize("make", [gl.Graph, gl.from_csr], ids=["Graph", "from_csr"])
@pytest.mark.parametrize("wide", [False, True])
def test_a_graph_does_not_follow_changes_of_the_callers_arrays(make: Any, wide: bool) -> None:
    offsets, neighbors = (array.copy() for array in gl.complete(60).csr)
    neighbors = neighbors.astype(np.int64) if wide else neighbors
    ids = np.arange(60) * 3
    graph = make(offsets, neighbors, directed=False, ids=ids)
    neighbors[:], offsets[:], ids[:] = 2**31 - 1, 2**40, 7
    assert gl.count_triangles(graph, devices="cpu").total == 34_220 and graph.ids[1] == 3


def test_an_unpickled_graph_shares_no_array_with_what_came_with_it() -> None:
    graph = gl.complete(60)
    neighbors, twin = pickle.loads(pickle.dumps((graph.csr[1], graph), protocol=2))
    neighbors[:] = 2**31 - 1
    assert gl.count_triangles(twin, devices="cpu").total == 34_220
    buffers: list[pickle.PickleBuffer] = []
    frame = pickle.dumps(graph, protocol=5, buffer_callback=buffers.append)
    given = [bytearray(buffer.raw()) for buffer in buffers]
    twin = pickle.loads(frame, buffers=given)
    for buffer in given:
        buffer[:] = b"\x7f" * len(buffer)
    assert twin == graph


@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy])
def test_a_copy_in_memory_shares_the_arrays(travel: Any) -> None:
    graph = gl.complete(5)
    assert np.shares_memory(travel(graph).csr[1], graph.csr[1])


def test_renaming_checks_and_copies_the_ids() -> None:
    graph, ids = gl.path(3), np.array([7, 5, 9])
    named = graph.renamed(ids)
    ids[:] = 0
    assert named.ids.tolist() == [7, 5, 9] and graph.renamed(None).ids.tolist() == [0, 1, 2]
    for wrong in ([1, 2], [1, 1, 2], [0.5, 1, 2], "abc", [[1, 2, 3]]):
        with pytest.raises(InputError, match="ids must"):
            graph.renamed(wrong)  # type: ignore[arg-type]


def test_a_snapshot_is_only_made_by_a_store() -> None:
    store = gl.DynamicGraph(devices="cpu")
    store.insert([0, 1], [1, 2])
    snapshot = store.snapshot()
    with pytest.raises(InputError, match=r"DynamicGraph\.snapshot\(\)"):
        gl.Snapshot(None, None, None, directed=False, weighted=False)
    with pytest.raises(InputError, match="does not change"):
        snapshot.__setstate__(dict.fromkeys(STATE))
    assert snapshot.edges().tolist() == [[0, 1], [1, 2]]
