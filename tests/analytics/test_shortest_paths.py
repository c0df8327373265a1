"""Shortest paths: known distances, agreement of all devices and scipy, the lowest parents, stores."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph

import graphlode as gl
from graphlode.common.control import Control
from graphlode.common.weights import bucket_width
from graphlode.cpu.analytics import shortest_paths as cpu_kernel
from graphlode.cpu.device import CpuDevice
from graphlode.errors import InputError, UnsupportedError
from graphlode.generate import complete, cycle, grid, kronecker, path, star
from graphlode.graph.views import Csr
from graphlode.types import Task
from stores import even, mixes
from strategies import EdgeList, edge_lists

LENGTHS: dict[str, Callable[[Any, int], Any]] = {
    "uniform": lambda rng, size: rng.random(size),
    "small integers": lambda rng, size: rng.integers(1, 6, size).astype(float),
    "many zeros": lambda rng, size: rng.choice([0.0, 0.0, 1.0, 2.5], size),
    "all zero": lambda rng, size: np.zeros(size),
    "very unequal": lambda rng, size: 10.0 ** rng.integers(-200, 200, size),
    "lost in sums": lambda rng, size: rng.choice([1e-30, 1.0, 3.0], size),
}


def measured(edges: EdgeList, kind: str, directed: bool = False, seed: int = 1) -> gl.Graph:
    weights = LENGTHS[kind](np.random.default_rng(seed), edges.src.size)
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed, weights=weights)


def same(found: gl.ShortestPaths, expected: gl.ShortestPaths) -> None:
    np.testing.assert_array_equal(found.distances, expected.distances)
    np.testing.assert_array_equal(found.parents, expected.parents)
    assert found.reached == expected.reached


@pytest.mark.parametrize(
    ("edges", "directed", "distances", "parents"),
    [
        ([(0, 1, 1.0), (0, 2, 5.0), (1, 2, 2.5)], False, [0, 1, 3.5], [-1, 0, 1]),
        ([(0, 1, 2.0), (1, 2, 1.0), (0, 2, 3.0)], False, [0, 2, 3], [-1, 0, 0]),
        ([(1, 0, 1.0), (0, 2, 1.0)], True, [0, math.inf, 1], [-1, -1, 0]),
        ([(0, 1, 0.0), (1, 2, 0.0), (0, 3, 1.0), (2, 3, 0.5)], False, [0, 0, 0, 0.5], [-1, 0, 1, 2]),
        ([(0, 3, 1.0), (3, 1, 0.0), (3, 2, 0.0), (2, 1, 0.0)], True, [0, 1, 1, 1], [-1, 3, 3, 0]),
    ],
)
def test_known_trees(device: str, edges: list[Any], directed: bool, distances: list[float], parents: list[int]) -> None:
    src, dst, weights = zip(*edges, strict=True)
    found = gl.shortest_paths(gl.from_edges(src, dst, weights=weights, directed=directed), 0, devices=device)
    assert found.distances.tolist() == distances
    assert found.parents.tolist() == parents
    assert found.reached == sum(map(math.isfinite, distances))
    assert found.provenance.devices == (device,) and found.provenance.operation == "analytics.shortest_paths"


def test_distances_on_a_grid_of_equal_edges_are_steps_times_their_length(device: str) -> None:
    base = grid(5, 20)
    found = gl.shortest_paths(base, 0, weights=np.full(base.num_edges, 0.25), devices=device)
    row, column = np.divmod(np.arange(100), 20)
    assert found.distances.tolist() == (0.25 * (row + column)).tolist()


@pytest.mark.parametrize("kind", sorted(LENGTHS))
@settings(max_examples=8)
@given(edges=edge_lists(most_vertices=65, most_edges=500), directed=st.booleans(), data=st.data())
def test_all_devices_agree(device: str, kind: str, edges: EdgeList, directed: bool, data: st.DataObject) -> None:
    if edges.num_vertices == 0:
        return
    graph = measured(edges, kind, directed)
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    delta = data.draw(st.sampled_from([None, 0.1, 3.0]))
    expected = gl.shortest_paths(graph, source, devices="reference")
    same(gl.shortest_paths(graph, source, delta=delta, devices=device), expected)


@pytest.mark.parametrize("kind", ["uniform", "small integers", "very unequal", "lost in sums"])
@settings(max_examples=15)
@given(edges=edge_lists(most_edges=5000), directed=st.booleans(), data=st.data())
def test_the_cpu_agrees_with_scipy_exactly(kind: str, edges: EdgeList, directed: bool, data: st.DataObject) -> None:
    if edges.num_vertices == 0:
        return
    graph = measured(edges, kind, directed)
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    theirs = csgraph.dijkstra(graph.to_scipy(), indices=source)
    np.testing.assert_array_equal(gl.shortest_paths(graph, source, devices="cpu").distances, theirs)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_the_cpu_agrees_with_networkx_where_edges_have_no_length(directed: bool) -> None:
    """Edges of length 0 have no counterpart in scipy's matrices."""
    src, dst = np.random.default_rng(2).integers(0, 200, (2, 700))
    graph = measured(EdgeList(200, src, dst), "many zeros", directed)
    theirs = nx.single_source_dijkstra_path_length(graph.to_networkx(), 3)
    ours = gl.shortest_paths(graph, 3, devices="cpu").distances.tolist()
    assert {v: distance for v, distance in enumerate(ours) if distance < math.inf} == dict(theirs)


def lowest_nearer(graph: gl.Graph, distances: Any) -> Any:
    tails, heads = graph.edges(indices=True).T
    weights = graph.weights
    assert weights is not None
    if not graph.directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        weights = np.concatenate([weights, weights])
    steps = (distances[tails] + weights == distances[heads]) & (distances[tails] < distances[heads])
    lowest = np.full(graph.num_vertices, graph.num_vertices)
    np.minimum.at(lowest, heads[steps], tails[steps])
    return np.where(lowest < graph.num_vertices, lowest, -1)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_answers_are_the_same_on_any_number_of_threads(threads: int, directed: bool) -> None:
    """Large enough for buckets that threads share."""
    base = kronecker(13, 16, seed=3)
    edges = EdgeList(base.num_vertices, *base.edges(indices=True).T)
    graph = measured(edges, "small integers", directed)
    hub = int(np.argmax(graph.degrees()))
    with gl.configure(threads=threads):
        found = gl.shortest_paths(graph, hub, indices=True, devices="cpu")
    np.testing.assert_array_equal(found.distances, csgraph.dijkstra(graph.to_scipy(), indices=hub))
    np.testing.assert_array_equal(found.parents, lowest_nearer(graph, found.distances))
    assert found.reached == np.isfinite(found.distances).sum()


@settings(max_examples=20)
@given(edges=edge_lists(most_vertices=65, most_edges=300), kind=st.sampled_from(["many zeros", "all zero"]))
def test_parents_are_a_tree_even_where_edges_have_no_length(edges: EdgeList, kind: str) -> None:
    if edges.num_vertices == 0:
        return
    found = gl.shortest_paths(measured(edges, kind), 0, devices="cpu")
    for vertex in np.flatnonzero(np.isfinite(found.distances)).tolist():
        way = found.path_to(vertex)
        assert way[0] == 0 and way[-1] == vertex and len(set(way)) == len(way)


def test_path_to_goes_over_the_edges_of_the_graph() -> None:
    base = gl.dataset("lesmis")
    found = gl.shortest_paths(base, 0, devices="cpu")
    target = int(base.ids[np.argmax(np.where(np.isfinite(found.distances), found.distances, -1))])
    way = found.path_to(target)
    assert all(base.has_edge(u, v) for u, v in zip(way, way[1:], strict=False))
    assert found.farthest == found.distances[base.positions(target)]


def test_there_is_no_path_to_a_vertex_that_is_not_reached() -> None:
    found = gl.shortest_paths(gl.from_edges([0, 2], [1, 3], weights=[1, 1]), 0, devices="cpu")
    with pytest.raises(InputError, match="there is no path from 0 to 3"):
        found.path_to(3)


def test_without_weights_distances_are_steps_and_parents_those_of_a_search(device: str) -> None:
    graph = gl.dataset("karate")
    search = gl.bfs(graph, 5, devices=device)
    for weights in ("auto", None):
        found = gl.shortest_paths(graph, 5, weights=weights, devices=device)
        assert found.distances.tolist() == search.levels.tolist()
        assert found.parents.tolist() == search.parents.tolist()


def test_lengths_come_from_where_they_are_asked_for() -> None:
    graph = gl.from_edges([0, 1, 0], [1, 2, 2], weights=[1.0, 1.0, 5.0], times=[7, 7, 7])

    def far(**options: Any) -> float:
        return float(gl.shortest_paths(graph, 0, devices="cpu", **options).distances[2])

    assert [far(), far(weights="weights"), far(weights="times"), far(weights=None)] == [2, 2, 7, 1]
    assert far(weights=[10, 3, 10]) == 3  # in the order of edges(): (0, 1), (0, 2), (1, 2)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([-1.0, 2.0], "must not be negative or NaN, got -1.0"),
        ([math.nan, 2.0], "must be finite, got nan"),
        ([math.inf, 2.0], "must be finite, got inf"),
        ([1.0], "one value per edge"),
        (["a", "b"], "must hold numbers"),
        ("length", "weights must be"),
        ("weights", "the graph has no weights"),
        ("times", "the graph has no times"),
    ],
)
def test_lengths_that_are_none_are_input_errors(weights: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        gl.shortest_paths(path(3), 0, weights=weights, devices="cpu")


def test_negative_and_nan_weights_of_a_graph_are_input_errors(device: str) -> None:
    base = path(3)
    for bad in (-0.5, math.nan):
        graph = base._with(weights=np.array([1.0, bad]))
        with pytest.raises(InputError, match="must not be negative or NaN"):
            gl.shortest_paths(graph, 0, devices=device)


@pytest.mark.parametrize("delta", [0, -1, math.nan, math.inf])
def test_a_delta_that_is_none_is_an_input_error(delta: float) -> None:
    with pytest.raises(InputError, match="delta must be a positive number"):
        gl.shortest_paths(path(3), 0, delta=delta)


@pytest.mark.parametrize("source", [-1, 3, 2**70, "0", None])
def test_a_source_that_is_not_in_the_graph_is_an_input_error(source: Any) -> None:
    with pytest.raises(InputError):
        gl.shortest_paths(path(3), source, weights=[1, 1], devices="cpu")


def test_sources_and_parents_are_original_ids_unless_positions_are_asked_for(device: str) -> None:
    graph = gl.from_edges([10, 20, 30], [20, 30, 99], weights=[1, 1, 1])
    assert gl.shortest_paths(graph, 30, devices=device).parents.tolist() == [20, 30, -1, 30]
    by_position = gl.shortest_paths(graph, 2, indices=True, devices=device)
    assert by_position.parents.tolist() == [1, 2, -1, 2] and by_position.path_to(0) == [2, 1, 0]


@pytest.mark.parametrize("mix", mixes())
@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_a_weighted_store_answers_like_the_graph_it_holds(mix: list[str], directed: bool) -> None:
    rng = np.random.default_rng(5)
    src, dst = rng.integers(0, 40, (2, 150))
    store = gl.DynamicGraph(directed=directed, devices=mix, shares=even(mix), weighted=True)
    store.insert(src, dst, weights=rng.integers(0, 5, 150).astype(float))
    store.delete(src[::4], dst[::4])
    snapshot = store.snapshot()
    plain = gl.Graph(*snapshot.csr, directed=directed, ids=snapshot.ids, weights=snapshot.weights)
    expected = gl.shortest_paths(plain, int(src[1]), devices="reference")
    same(gl.shortest_paths(store, int(src[1])), expected)
    store.insert([int(src[1])], [77], weights=[0.125])
    assert gl.shortest_paths(store, int(src[1])).distances[-1] == 0.125


def test_a_store_without_weights_counts_steps() -> None:
    store = gl.DynamicGraph(devices="cpu")
    store.insert([0, 1], [1, 2])
    assert gl.shortest_paths(store, 0).distances.tolist() == [0, 1, 2]


def test_wide_vertices_have_the_same_answers() -> None:
    narrow = measured(EdgeList(512, *kronecker(9, 8, seed=6).edges(indices=True).T), "uniform")
    offsets, neighbors = narrow.csr
    wide = gl.Graph(offsets, neighbors.astype(np.int64), directed=False, weights=narrow.weights)
    same(gl.shortest_paths(wide, 3, devices="cpu"), gl.shortest_paths(narrow, 3, devices="cpu"))


def test_a_long_path_takes_little_time() -> None:
    base = path(100_001)
    found = gl.shortest_paths(base, 50_000, weights=np.full(base.num_edges, 0.5), devices="cpu")
    assert found.farthest == 25_000 and found.reached == 100_001
    assert found.provenance.seconds < 5


def test_other_libraries_graphs_are_taken_with_their_weights() -> None:
    theirs = nx.path_graph(3)
    nx.set_edge_attributes(theirs, 2.0, "weight")
    assert gl.shortest_paths(theirs, 0, devices="cpu").distances.tolist() == [0, 2, 4]
    assert gl.shortest_paths(theirs, 0, weights=None, devices="cpu").distances.tolist() == [0, 1, 2]
    matrix = cycle(4).to_scipy()
    matrix.data[:] = 3
    assert gl.shortest_paths(matrix, 0, devices="cpu").distances.tolist() == [0, 3, 6, 3]


def test_several_devices_are_refused_for_a_graph_without_a_store() -> None:
    with pytest.raises(UnsupportedError, match="runs on one device"):
        gl.shortest_paths(complete(3), 0, weights=[1, 1, 1], devices=["cpu", "cpu"])


def test_progress_ends_with_all_vertices() -> None:
    seen: list[tuple[int, int]] = []
    base = star(50)
    gl.shortest_paths(
        base, 0, weights=np.ones(base.num_edges), devices="cpu", progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (51, 51)


def test_a_stop_takes_effect() -> None:
    base = kronecker(12, 16, seed=1)
    view = base.view(Csr()) | {"weights": np.ones(2 * base.num_edges), "mean_weight": 1.0}
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        cpu_kernel.launch(CpuDevice(), view, iter([Task(0, 1)]), control=control, source=0, symmetric=True, delta=None)


def test_buckets_are_narrower_the_more_neighbors_there_are() -> None:
    widths = [bucket_width(1.0, degree) for degree in (0, 1, 4, 16, 100)]
    assert widths == sorted(widths, reverse=True) and widths[0] == 2.0
    assert bucket_width(0.0, 8.0) == 1.0


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.shortest_paths(gl.from_edges([0, 2], [1, 3], weights=[1.5, 1]), 0, devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.reached = 7  # type: ignore[misc]
    for array in (found.distances, found.parents):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["distances"] == [0.0, 1.5, None, None] and plain["reached"] == 2


def test_distances_become_a_table_of_original_ids() -> None:
    pytest.importorskip("pandas")
    rows = gl.shortest_paths(gl.from_edges([10], [20], weights=[2.5]), 10, devices="cpu").to_pandas()
    assert rows.to_dict("list") == {"vertex": [10, 20], "distance": [0.0, 2.5], "parent": [-1, 10]}


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["email-Enron", "dblp-2010", "cnr-2000"])
def test_the_gpu_agrees_on_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    weights = np.random.default_rng(1).integers(1, 100, graph.num_edges)
    found, expected = (
        gl.shortest_paths(graph, 0, weights=weights, indices=True, devices=device) for device in ("cuda:0", "cpu")
    )
    same(found, expected)
