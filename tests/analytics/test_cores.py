"""Core numbers: closed forms, agreement of all devices, the degeneracy order, long chains."""

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
from strategies import EdgeList, edge_lists, relabellings

REAL = {
    "ca-HepPh": 238,
    "ca-AstroPh": 56,
    "email-Enron": 43,
    "wiki-Vote": 53,
    "soc-Slashdot0902": 55,
    "dblp-2010": 74,
    "mico": 218,
    "cnr-2000": 83,
    "congress-bills": 368,
}


def graph_of(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (complete(0), []),
        (complete(1), [0]),
        (complete(33), [32] * 33),
        (star(31), [1] * 32),
        (path(5), [1] * 5),
        (cycle(65), [2] * 65),
        (grid(4, 9), [2] * 36),
        (gl.from_edges([0, 0, 1, 2, 5], [1, 2, 2, 3, 6], num_vertices=8), [2, 2, 2, 1, 0, 1, 1, 0]),
    ],
    ids=repr,
)
def test_closed_forms(device: str, graph: gl.Graph, expected: list[int]) -> None:
    found = gl.core_numbers(graph, devices=device)
    assert found.values.tolist() == expected
    assert found.degeneracy == max(expected, default=0)


@pytest.mark.parametrize(("a", "b"), [(1, 40), (3, 3), (7, 33)])
def test_a_complete_bipartite_graph_has_the_smaller_side_as_core(device: str, a: int, b: int) -> None:
    graph = gl.from_edges(np.repeat(np.arange(a), b), np.tile(np.arange(a, a + b), a))
    assert gl.core_numbers(graph, devices=device).values.tolist() == [min(a, b)] * (a + b)


@settings(max_examples=20)
@given(edges=edge_lists(most_vertices=65, most_edges=900))
def test_all_devices_agree(device: str, edges: EdgeList) -> None:
    expected = gl.core_numbers(graph_of(edges), devices="reference")
    found = gl.core_numbers(graph_of(edges), devices=device)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.order, expected.order)
    assert found.provenance.devices == (device,)


@given(edges=edge_lists(most_edges=5000))
def test_the_cpu_agrees_with_networkx(edges: EdgeList) -> None:
    graph = graph_of(edges)
    theirs = nx.core_number(graph.to_networkx())
    assert dict(enumerate(gl.core_numbers(graph, devices="cpu").values.tolist())) == theirs


@given(edges=edge_lists())
def test_each_vertex_has_few_neighbors_after_it_in_the_order(edges: EdgeList) -> None:
    graph = graph_of(edges)
    found = gl.core_numbers(graph, devices="cpu")
    place = np.empty(graph.num_vertices, np.int64)
    place[found.order] = np.arange(graph.num_vertices)
    u, v = graph.edges().T
    later = np.bincount(np.where(place[u] < place[v], u, v), minlength=graph.num_vertices)
    assert (later <= found.values).all()
    assert (np.diff(found.values[found.order]) >= 0).all()


@given(data=st.data(), edges=edge_lists(most_edges=3000))
def test_new_names_change_no_core(data: st.DataObject, edges: EdgeList) -> None:
    names = data.draw(relabellings(edges.num_vertices))
    before = gl.core_numbers(graph_of(edges), devices="cpu").values
    after = gl.core_numbers(
        gl.from_edges(names[edges.src], names[edges.dst], num_vertices=edges.num_vertices), devices="cpu"
    ).values
    np.testing.assert_array_equal(after[names], before)


def test_the_number_of_threads_does_not_show(threads: int) -> None:
    """Large enough for rounds that run in parallel."""
    graph = kronecker(15, 16, seed=5)
    with gl.configure(threads=1):
        expected = gl.core_numbers(graph, devices="cpu")
    with gl.configure(threads=threads):
        found = gl.core_numbers(graph, devices="cpu")
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.order, expected.order)


def test_a_long_path_takes_many_rounds_and_little_time() -> None:
    found = gl.core_numbers(path(100_001), devices="cpu")
    assert (found.values == 1).all()
    assert found.order[:2].tolist() == [0, 100_000]  # the ends go first, the middle last
    assert found.order[-1] == 50_000
    assert found.provenance.seconds < 5


def test_the_order_speaks_in_original_ids() -> None:
    found = gl.core_numbers(gl.from_edges([10, 20, 30, 30], [20, 30, 10, 99]), devices="cpu")
    assert found.order.tolist() == [99, 10, 20, 30]


def test_a_directed_graph_uses_its_undirected_form_and_says_so(device: str) -> None:
    found = gl.core_numbers(gl.from_edges([0, 1, 2, 1], [1, 2, 0, 0], directed=True), devices=device)
    assert found.values.tolist() == [2, 2, 2]
    assert found.provenance.notes == ("directed graph: its undirected form was used",)


def test_several_devices_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"analytics.cores runs on one device, got \['cpu', 'cpu'\]"):
        gl.core_numbers(complete(3), devices=["cpu", "cpu"])


def test_auto_with_several_devices_takes_the_first() -> None:
    with gl.configure(devices="cpu,reference"):
        assert gl.core_numbers(complete(3)).provenance.devices == ("cpu",)


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.core_numbers(star(3), devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.values = found.order  # type: ignore[misc]
    for array in (found.values, found.order):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
    plain: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    assert plain["degeneracy"] == 1 and plain["values"] == [1, 1, 1, 1]
    assert plain["provenance"]["operation"] == "analytics.cores"


@pytest.mark.parametrize("name", sorted(REAL))
def test_degeneracy_of_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    assert gl.core_numbers(real_graph(name), devices="cpu").degeneracy == REAL[name]


@pytest.mark.gpu
@pytest.mark.parametrize("name", sorted(REAL))
def test_the_gpu_agrees_on_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    found, expected = (gl.core_numbers(graph, devices=device) for device in ("cuda:0", "cpu"))
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.order, expected.order)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_large_frontier_is_the_same_on_every_number_of_threads(count: int) -> None:
    """6,000 vertices are joined to 200 members of a clique of 206: one round removes 1.2 M entries on all threads.

    The members' degrees fall from 6,205 into the window of near levels, which only the owner of a vertex may see.
    """
    members, hanging = np.arange(206), np.arange(206, 6206)
    clique = np.array([(u, v) for u in members for v in members if u < v])
    src = np.concatenate([clique[:, 0], np.repeat(hanging, 200)])
    dst = np.concatenate([clique[:, 1], np.tile(members[:200], hanging.size)])
    graph = gl.from_edges(src, dst)
    with gl.configure(threads=count):
        result = gl.core_numbers(graph, devices="cpu")
    assert (result.values[hanging] == 200).all() and (result.values[members] == 205).all()
    assert result.order.tolist() == [*hanging, *members]
