"""Connected components: known answers, agreement of all devices and networkx, labels by first vertex."""

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
from graphlode.errors import UnsupportedError
from graphlode.generate import complete, cycle, grid, kronecker, path, star
from strategies import EdgeList, edge_lists


def graph_of(edges: EdgeList, directed: bool = False) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)


@pytest.mark.parametrize(
    ("graph", "labels"),
    [
        (complete(0), []),
        (complete(1), [0]),
        (complete(33), [0] * 33),
        (star(31), [0] * 32),
        (cycle(65), [0] * 65),
        (grid(4, 9), [0] * 36),
        (gl.from_edges([], [], num_vertices=4), [0, 1, 2, 3]),
        (gl.from_edges([0, 3, 5], [2, 4, 1], num_vertices=7), [0, 1, 0, 2, 2, 1, 3]),
        (gl.from_edges([4, 2], [0, 1], num_vertices=5, directed=True), [0, 1, 1, 2, 0]),
    ],
    ids=repr,
)
def test_known_components(device: str, graph: gl.Graph, labels: list[int]) -> None:
    found = gl.connected_components(graph, devices=device)
    assert found.labels.tolist() == labels
    assert found.count == max(labels, default=-1) + 1
    assert found.sizes.tolist() == [labels.count(label) for label in range(found.count)]


@settings(max_examples=20)
@given(edges=edge_lists(most_vertices=130, most_edges=300), directed=st.booleans())
def test_all_devices_agree(device: str, edges: EdgeList, directed: bool) -> None:
    graph = graph_of(edges, directed)
    expected, found = (gl.connected_components(graph, devices=name) for name in ("reference", device))
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.count == expected.count
    assert found.provenance.devices == (device,)


@given(edges=edge_lists(most_edges=2000), directed=st.booleans())
def test_the_cpu_agrees_with_networkx_and_numbers_by_first_vertex(edges: EdgeList, directed: bool) -> None:
    graph = graph_of(edges, directed)
    theirs = graph.to_networkx()
    parts = nx.weakly_connected_components(theirs) if directed else nx.connected_components(theirs)
    labels = np.empty(graph.num_vertices, np.int64)
    for number, part in enumerate(sorted(parts, key=min)):
        labels[sorted(part)] = number
    np.testing.assert_array_equal(gl.connected_components(graph, devices="cpu").labels, labels)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
def test_the_number_of_threads_does_not_show(threads: int, directed: bool) -> None:
    """Many components and a large one, enough work for all threads."""
    scipy_graphs = pytest.importorskip("scipy.sparse.csgraph")
    sparse = gl.erdos_renyi(60_000, m=40_000, seed=1).edges(indices=True)
    graph = gl.from_edges(*sparse.T, num_vertices=60_000, directed=directed)
    count, labels = scipy_graphs.connected_components(graph.to_scipy(), directed=directed, connection="weak")
    with gl.configure(threads=threads):
        found = gl.connected_components(graph, devices="cpu")
    assert found.count == count
    _, first, ours = np.unique(labels, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(found.labels, np.argsort(np.argsort(first))[ours])


def test_a_long_path_is_one_component(device: str) -> None:
    length = 300 if device == "reference" else 20_000
    names = np.random.default_rng(5).permutation(length)
    found = gl.connected_components(gl.from_edges(names[:-1], names[1:]), devices=device)
    assert found.count == 1 and not found.labels.any()


def test_the_largest_component_of_a_kronecker_graph(threads: int) -> None:
    graph = kronecker(14, 16, seed=3)
    with gl.configure(threads=threads):
        found = gl.connected_components(graph, devices="cpu")
    assert found.count == nx.number_connected_components(graph.to_networkx())


def test_directions_do_not_count_and_the_provenance_says_so(device: str) -> None:
    found = gl.connected_components(gl.from_edges([0, 2], [1, 1], directed=True), devices=device)
    assert found.count == 1
    assert found.provenance.notes == ("directed graph: weakly connected components",)
    assert gl.connected_components(path(3), devices=device).provenance.notes == ()


def test_several_devices_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"analytics.components runs on one device"):
        gl.connected_components(complete(3), devices=["cpu", "cpu"])


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.connected_components(star(3), devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.count = 7  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.labels[0] = 7
    plain: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    assert plain["labels"] == [0, 0, 0, 0] and plain["count"] == 1


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["email-Enron", "dblp-2010", "cnr-2000"])
def test_the_gpu_agrees_on_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    found, expected = (gl.connected_components(graph, devices=device) for device in ("cuda:0", "cpu"))
    np.testing.assert_array_equal(found.labels, expected.labels)
