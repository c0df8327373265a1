"""Label propagation: known communities, agreement of all devices, stability, seeds."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.phases import iteration_key, phase_of
from graphlode.errors import InputError
from graphlode.generate import complete, kronecker, path, star
from strategies import EdgeList, edge_lists


def graph_of(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


def cliques_in_a_ring(count: int, size: int) -> gl.Graph:
    inside = complete(size).edges(indices=True)
    pairs = np.concatenate([inside + size * i for i in range(count)])
    bridges = [(size * i + size - 1, size * ((i + 1) % count) + size - 2) for i in range(count)]
    return gl.from_edges(np.concatenate([pairs, bridges]))


@pytest.mark.parametrize("size", [5, 40])
def test_cliques_in_a_ring_are_communities(device: str, size: int) -> None:
    """Rows with few entries, and rows with more entries than a warp has lanes."""
    found = gl.label_propagation(cliques_in_a_ring(6, size), devices=device)
    assert found.labels.tolist() == np.repeat(np.arange(6), size).tolist()
    assert found.count == 6 and found.sizes.tolist() == [size] * 6 and found.converged
    assert found.provenance.devices == (device,)


@settings(max_examples=15)
@given(
    edges=edge_lists(most_vertices=65, most_edges=700),
    seed=st.integers(0, 2**63 - 1),
    max_iter=st.sampled_from([1, 2, 50]),
)
def test_all_devices_agree(device: str, edges: EdgeList, seed: int, max_iter: int) -> None:
    expected, found = (
        gl.label_propagation(graph_of(edges), seed=seed, max_iter=max_iter, devices=name)
        for name in ("reference", device)
    )
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert (found.iterations, found.converged) == (expected.iterations, expected.converged)


def test_a_row_longer_than_a_warp_takes_is_counted_by_all(device: str) -> None:
    """A hub of 2,500 neighbors, of which most have one label."""
    hub = star(2500).edges(indices=True)
    chain = [(1, v) for v in range(2, 1500)]
    found = gl.label_propagation(gl.from_edges(np.concatenate([hub, chain])), devices=device)
    expected = gl.label_propagation(gl.from_edges(np.concatenate([hub, chain])), devices="cpu")
    np.testing.assert_array_equal(found.labels, expected.labels)


@given(edges=edge_lists(most_edges=4000))
def test_at_the_end_no_vertex_has_more_neighbors_in_another_community(edges: EdgeList) -> None:
    graph = graph_of(edges)
    found = gl.label_propagation(graph, devices="cpu")
    if not found.converged:
        return
    for v in range(graph.num_vertices):
        counts = Counter(found.labels[graph.neighbors(v, indices=True)].tolist())
        if counts:
            assert counts[int(found.labels[v])] == max(counts.values())
        else:
            assert (found.labels == found.labels[v]).sum() == 1


@pytest.mark.parametrize("graph", [path(2), path(9), star(6), gl.grid(6, 7)], ids=repr)
def test_bipartite_graphs_do_not_swap_labels_forever(device: str, graph: gl.Graph) -> None:
    assert gl.label_propagation(graph, devices=device).converged


def test_labels_are_the_same_on_any_number_of_threads(threads: int) -> None:
    graph = kronecker(12, 16, seed=2)
    with gl.configure(threads=threads):
        found = gl.label_propagation(graph, max_iter=5, devices="cpu")
    with gl.configure(threads=1):
        expected = gl.label_propagation(graph, max_iter=5, devices="cpu")
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.iterations == expected.iterations


def test_communities_are_numbered_in_the_order_of_their_first_vertices() -> None:
    graph = gl.dataset("football")
    labels = gl.label_propagation(graph, devices="cpu").labels
    seen = list(dict.fromkeys(labels.tolist()))
    assert seen == list(range(len(seen)))


def test_a_seed_gives_the_same_communities_again_and_others_differ() -> None:
    graph = gl.dataset("email-Eu-core", directed=False)
    first = gl.label_propagation(graph, seed=7, max_iter=2, devices="cpu").labels.tolist()
    assert gl.label_propagation(graph, seed=7, max_iter=2, devices="cpu").labels.tolist() == first
    others = [gl.label_propagation(graph, seed=seed, max_iter=2, devices="cpu").labels.tolist() for seed in range(5)]
    assert any(other != first for other in others)
    assert gl.label_propagation(graph, max_iter=2, devices="cpu").labels.tolist() == others[0]


def test_phases_halve_the_vertices_and_change_from_iteration_to_iteration() -> None:
    turns = np.array([[phase_of(v, iteration_key(3, i)) for v in range(2000)] for i in (1, 2)])
    assert abs(turns.mean() - 0.5) < 0.05
    assert abs((turns[0] == turns[1]).mean() - 0.5) < 0.05


def test_a_directed_graph_and_a_store_are_taken(device: str) -> None:
    pairs = cliques_in_a_ring(3, 5).edges()
    directed = gl.from_edges(pairs, directed=True)
    found = gl.label_propagation(directed, devices=device)
    assert found.count == 3 and any("undirected" in note for note in found.provenance.notes)
    store = gl.DynamicGraph(devices=device)
    store.insert(*pairs.T)
    assert gl.label_propagation(store, devices=device).count == 3


def test_graphs_without_edges_have_a_community_per_vertex(device: str) -> None:
    assert gl.label_propagation(gl.from_edges([], [], num_vertices=3), devices=device).labels.tolist() == [0, 1, 2]
    empty = gl.label_propagation(gl.from_edges([], [], num_vertices=0), devices=device)
    assert (empty.count, empty.converged) == (0, True)


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"max_iter": 1.5}, {"seed": -1}, {"seed": "x"}, {"seed": 2**64}])
def test_values_out_of_range_are_input_errors(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be an integer of at least"):
        gl.label_propagation(path(3), **options)


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.label_propagation(complete(4), devices="cpu")
    with pytest.raises(ValueError, match="read-only"):
        found.labels[0] = 7
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["labels"] == [0, 0, 0, 0] and plain["count"] == 1 and plain["converged"] is True


def test_communities_become_a_table_of_original_ids() -> None:
    pytest.importorskip("pandas")
    rows = gl.label_propagation(gl.from_edges([10, 30], [20, 40]), devices="cpu").to_pandas()
    assert rows.to_dict("list") == {"vertex": [10, 20, 30, 40], "community": [0, 0, 1, 1]}
