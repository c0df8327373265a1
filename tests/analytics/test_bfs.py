"""Breadth-first search: known levels, agreement of all devices and networkx, the lowest parents."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.errors import InputError, UnsupportedError
from graphlode.generate import complete, cycle, grid, kronecker, path, star
from strategies import EdgeList, edge_lists, relabellings


def graph_of(edges: EdgeList, directed: bool = False) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)


@pytest.mark.parametrize(
    ("graph", "source", "levels", "parents"),
    [
        (complete(1), 0, [0], [-1]),
        (complete(5), 2, [1, 1, 0, 1, 1], [2, 2, -1, 2, 2]),
        (star(3), 1, [1, 0, 2, 2], [1, -1, 0, 0]),
        (path(5), 2, [2, 1, 0, 1, 2], [1, 2, -1, 2, 3]),
        (cycle(6), 0, [0, 1, 2, 3, 2, 1], [-1, 0, 1, 2, 5, 0]),
        (gl.from_edges([0, 3], [2, 4], num_vertices=6), 3, [-1, -1, -1, 0, 1, -1], [-1, -1, -1, -1, 3, -1]),
        (gl.from_edges([0, 1, 2], [1, 2, 0], directed=True), 1, [2, 0, 1], [2, -1, 1]),
    ],
    ids=repr,
)
def test_known_trees(device: str, graph: gl.Graph, source: int, levels: list[int], parents: list[int]) -> None:
    found = gl.bfs(graph, source, devices=device)
    assert found.levels.tolist() == levels
    assert found.parents.tolist() == parents
    assert (found.source, found.depth) == (source, max(levels))
    assert found.reached == sum(level >= 0 for level in levels)
    assert found.provenance.devices == (device,)


def test_levels_of_a_grid_are_distances_along_its_sides(device: str) -> None:
    found = gl.bfs(grid(7, 40), 0, devices=device)
    row, column = np.divmod(np.arange(280), 40)
    assert found.levels.tolist() == (row + column).tolist()


@settings(max_examples=20)
@given(edges=edge_lists(most_vertices=65, most_edges=900), directed=st.booleans(), data=st.data())
def test_all_devices_agree(device: str, edges: EdgeList, directed: bool, data: st.DataObject) -> None:
    graph = graph_of(edges, directed)
    if graph.num_vertices == 0:
        return
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    expected, found = (gl.bfs(graph, source, devices=name) for name in ("reference", device))
    np.testing.assert_array_equal(found.levels, expected.levels)
    np.testing.assert_array_equal(found.parents, expected.parents)
    assert (found.reached, found.depth) == (expected.reached, expected.depth)


@given(edges=edge_lists(most_edges=5000), directed=st.booleans(), data=st.data())
def test_the_cpu_agrees_with_networkx(edges: EdgeList, directed: bool, data: st.DataObject) -> None:
    graph = graph_of(edges, directed)
    if graph.num_vertices == 0:
        return
    source = data.draw(st.integers(0, graph.num_vertices - 1))
    theirs = nx.single_source_shortest_path_length(graph.to_networkx(), source)
    ours = gl.bfs(graph, source, devices="cpu").levels.tolist()
    assert {v: level for v, level in enumerate(ours) if level >= 0} == dict(theirs)


def lowest_parents(graph: gl.Graph, levels: Any) -> Any:
    tails, heads = graph.edges(indices=True).T
    if not graph.directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    steps = (levels[tails] >= 0) & (levels[heads] == levels[tails] + 1)
    lowest = np.full(graph.num_vertices, graph.num_vertices)
    np.minimum.at(lowest, heads[steps], tails[steps])
    return np.where(lowest < graph.num_vertices, lowest, -1)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_parents_are_the_lowest_of_the_level_before_on_any_number_of_threads(threads: int, directed: bool) -> None:
    """Large enough for levels found in parallel, forwards and backwards."""
    graph = kronecker(14, 16, seed=3)
    if directed:
        graph = gl.from_edges(*graph.edges(indices=True).T, directed=True)
    hub = int(np.argmax(graph.degrees()))
    for source in (hub, int(graph.neighbors(hub, indices=True)[-1])):
        with gl.configure(threads=threads):
            found = gl.bfs(graph, source, indices=True, devices="cpu")
        np.testing.assert_array_equal(found.parents, lowest_parents(graph, found.levels))
        assert found.reached == (found.levels >= 0).sum()


@given(data=st.data(), edges=edge_lists(most_edges=3000))
def test_new_names_change_no_level(data: st.DataObject, edges: EdgeList) -> None:
    if edges.num_vertices == 0:
        return
    names = data.draw(relabellings(edges.num_vertices))
    before = gl.bfs(graph_of(edges), 0, devices="cpu").levels
    renamed = gl.from_edges(names[edges.src], names[edges.dst], num_vertices=edges.num_vertices)
    after = gl.bfs(renamed, int(names[0]), devices="cpu").levels
    np.testing.assert_array_equal(after[names], before)


def test_a_long_path_has_many_levels_and_takes_little_time() -> None:
    found = gl.bfs(path(200_001), 100_000, devices="cpu")
    assert found.depth == 100_000 and found.reached == 200_001
    assert found.provenance.seconds < 5


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_wide_vertices_have_the_same_answers(directed: bool) -> None:
    """Rows of 64-bit neighbors, as graphs of more than 2^31 vertices have them."""
    narrow = kronecker(9, 8, seed=6) if not directed else gl.rmat(9, 8, seed=6, directed=True)
    offsets, neighbors = narrow.csr
    wide = gl.Graph(offsets, neighbors.astype(np.int64), directed=directed)
    for answer in (
        lambda graph: gl.bfs(graph, 3, devices="cpu").levels,
        lambda graph: gl.bfs(graph, 3, devices="cpu").parents,
        lambda graph: gl.connected_components(graph, devices="cpu").labels,
        lambda graph: gl.pagerank(graph, devices="cpu").values,
    ):
        np.testing.assert_array_equal(answer(wide), answer(narrow))


def test_sources_and_parents_are_original_ids_unless_positions_are_asked_for(device: str) -> None:
    graph = gl.from_edges([10, 20, 30], [20, 30, 99])
    assert gl.bfs(graph, 30, devices=device).parents.tolist() == [20, 30, -1, 30]
    assert gl.bfs(graph, 2, indices=True, devices=device).parents.tolist() == [1, 2, -1, 2]


@pytest.mark.parametrize("source", [-1, 3, 2**70, "0", 1.5, None])
def test_a_source_that_is_not_in_the_graph_is_an_input_error(source: Any) -> None:
    with pytest.raises(InputError):
        gl.bfs(complete(3), source, devices="cpu")
    with pytest.raises(InputError):
        gl.bfs(complete(3), source, indices=True, devices="cpu")


def test_several_devices_are_refused_for_a_graph_without_a_store() -> None:
    with pytest.raises(UnsupportedError, match=r"analytics.bfs runs on one device, got \['cpu', 'cpu'\]"):
        gl.bfs(complete(3), 0, devices=["cpu", "cpu"])


def test_other_libraries_graphs_are_taken() -> None:
    assert gl.bfs(nx.path_graph(4), 0, devices="cpu").levels.tolist() == [0, 1, 2, 3]
    assert gl.bfs(path(4).to_scipy(), 3, devices="cpu").levels.tolist() == [3, 2, 1, 0]


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.bfs(star(3), 0, devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.depth = 7  # type: ignore[misc]
    for array in (found.levels, found.parents):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    plain: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    assert plain["levels"] == [0, 1, 1, 1] and plain["reached"] == 4 and plain["source"] == 0


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["email-Enron", "dblp-2010", "cnr-2000"])
def test_the_gpu_agrees_on_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    found, expected = (gl.bfs(graph, 0, indices=True, devices=device) for device in ("cuda:0", "cpu"))
    np.testing.assert_array_equal(found.levels, expected.levels)
    np.testing.assert_array_equal(found.parents, expected.parents)
