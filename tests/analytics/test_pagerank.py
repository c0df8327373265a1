"""PageRank: closed forms, networkx's values and iterations, agreement of all devices, arguments out of range."""

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
from graphlode.generate import complete, cycle, kronecker, star
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.graph.views import Transposed
from strategies import EdgeList, edge_lists

NOTHING_GOES_ON = gl.from_edges([0, 1, 2], [2, 2, 3], num_vertices=5, directed=True)


def graph_of(edges: EdgeList, directed: bool = False) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)


@pytest.mark.parametrize(
    "graph", [complete(7), cycle(33), complete(1), gl.from_edges([], [], num_vertices=3)], ids=repr
)
def test_vertices_that_are_alike_have_like_values(device: str, graph: gl.Graph) -> None:
    found = gl.pagerank(graph, devices=device)
    np.testing.assert_allclose(found.values, 1 / graph.num_vertices)
    assert found.converged and found.iterations == 1


def test_a_graph_without_vertices_has_no_values(device: str) -> None:
    found = gl.pagerank(complete(0), devices=device)
    assert found.values.size == 0 and found.converged and found.iterations == 0


def test_a_star_has_its_closed_form(device: str) -> None:
    found = gl.pagerank(star(10), tol=1e-14, max_iter=1000, devices=device)
    center = (1 + 0.85 * 10) / (11 * (1 + 0.85))
    np.testing.assert_allclose(found.values, [center] + [(1 - center) / 10] * 10, rtol=1e-9)


@settings(max_examples=15)
@given(edges=edge_lists(most_vertices=65, most_edges=600), directed=st.booleans(), personal=st.booleans())
def test_all_devices_agree(device: str, edges: EdgeList, directed: bool, personal: bool) -> None:
    graph = graph_of(edges, directed)
    weights = np.arange(1, graph.num_vertices + 1) % 3 if personal and graph.num_vertices else None
    expected, found = (
        gl.pagerank(graph, tol=1e-9, personalization=weights, devices=name) for name in ("reference", device)
    )
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12, atol=1e-15)
    assert (found.iterations, found.converged) == (expected.iterations, expected.converged)
    assert found.provenance.devices == (device,)


@given(
    edges=edge_lists(most_edges=4000),
    directed=st.booleans(),
    damping=st.sampled_from([0.0, 0.5, 0.85, 0.99]),
    data=st.data(),
)
def test_the_cpu_agrees_with_networkx(edges: EdgeList, directed: bool, damping: float, data: st.DataObject) -> None:
    graph = graph_of(edges, directed)
    if graph.num_vertices == 0:
        return
    chosen = data.draw(st.sets(st.integers(0, graph.num_vertices - 1), max_size=5))
    weights = {v: 1.0 + i for i, v in enumerate(sorted(chosen))} or None
    theirs = nx.pagerank(graph.to_networkx(), damping, weights, max_iter=5000, tol=1e-8)
    ours = gl.pagerank(graph, damping, tol=1e-8, max_iter=5000, personalization=weights, devices="cpu")
    np.testing.assert_allclose(ours.values, [theirs[v] for v in range(graph.num_vertices)], rtol=1e-9, atol=1e-12)
    assert ours.converged
    assert ours.values.sum() == pytest.approx(1)


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-10])
def test_the_iteration_ends_when_that_of_networkx_does(tol: float) -> None:
    """One iteration less is not enough for networkx either."""
    graph = kronecker(8, 8, seed=1)
    other = graph.to_networkx()
    found = gl.pagerank(graph, tol=tol, devices="cpu")
    nx.pagerank(other, tol=tol, max_iter=found.iterations)
    with pytest.raises(nx.PowerIterationFailedConvergence):
        nx.pagerank(other, tol=tol, max_iter=found.iterations - 1)


def test_too_few_iterations_are_reported(device: str) -> None:
    found = gl.pagerank(star(5), tol=1e-12, max_iter=3, devices=device)
    assert (found.iterations, found.converged) == (3, False)
    exact = gl.pagerank(star(5), tol=0, max_iter=2, devices=device)
    assert (exact.iterations, exact.converged) == (2, False)


def test_values_are_the_same_to_the_last_bit_on_any_number_of_threads(threads: int) -> None:
    graph = kronecker(13, 16, seed=2)
    with gl.configure(threads=1):
        expected = gl.pagerank(graph, devices="cpu")
    with gl.configure(threads=threads):
        found = gl.pagerank(graph, devices="cpu")
    assert found.values.tobytes() == expected.values.tobytes()


@pytest.mark.parametrize("weights", [{2: 1.0}, {3: 2.0, 4: 6.0}, [0.0, 0.0, 1.0, 1.0, 0.0]], ids=repr)
def test_value_of_dangling_vertices_restarts_where_the_user_says(device: str, weights: Any) -> None:
    theirs = weights if isinstance(weights, dict) else dict(enumerate(weights))
    expected = nx.pagerank(NOTHING_GOES_ON.to_networkx(), personalization=theirs, tol=1e-8, max_iter=1000)
    found = gl.pagerank(NOTHING_GOES_ON, personalization=weights, tol=1e-8, max_iter=1000, devices=device)
    np.testing.assert_allclose(found.values, [expected[v] for v in range(5)], rtol=1e-8, atol=1e-12)


def test_personalization_names_original_ids() -> None:
    graph = gl.from_edges([10, 20], [20, 30])
    named = gl.pagerank(graph, personalization={30: 1}, devices="cpu")
    placed = gl.pagerank(graph, personalization=[0, 0, 1], devices="cpu")
    np.testing.assert_array_equal(named.values, placed.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": -0.1}, "damping must be 0 to 1"),
        ({"damping": 1.1}, "damping must be 0 to 1"),
        ({"damping": float("nan")}, "damping must be 0 to 1"),
        ({"tol": -1}, "tol must be a number"),
        ({"tol": float("inf")}, "tol must be a number"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"max_iter": 2.5}, "max_iter must be an integer of at least 1"),
        ({"personalization": {7: 1}}, "vertex 7 is not in the graph"),
        ({"personalization": {"a": 1}}, "personalization: "),
        ({"personalization": {0: "much"}}, "personalization: "),
        ({"personalization": {0: -1, 1: 2}}, "finite and not negative"),
        ({"personalization": {0: float("nan")}}, "finite and not negative"),
        ({"personalization": {0: 0}}, "positive, finite sum"),
        ({"personalization": {}}, "positive, finite sum"),
        ({"personalization": [1, 2]}, "has 2 values for 3 vertices"),
    ],
)
def test_values_out_of_range_are_input_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.pagerank(complete(3), devices="cpu", **options)


@settings(max_examples=15)
@given(edges=edge_lists(most_vertices=65, most_edges=600), directed=st.booleans())
def test_weights_count_as_in_networkx(device: str, edges: EdgeList, directed: bool) -> None:
    weights = np.arange(edges.src.size) % 4 / 2
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed, weights=weights)
    if graph.num_vertices == 0:
        return
    theirs = nx.pagerank(graph.to_networkx(), tol=1e-8, max_iter=1000)
    ours = gl.pagerank(graph, tol=1e-8, max_iter=1000, weights=True, devices=device)
    np.testing.assert_allclose(ours.values, [theirs[v] for v in range(graph.num_vertices)], rtol=1e-9, atol=1e-12)


def test_weights_must_be_there_and_not_negative() -> None:
    with pytest.raises(InputError, match="the graph has no weights"):
        gl.pagerank(complete(3), weights=True, devices="cpu")
    with pytest.raises(InputError, match="weights must not be negative, got -1.0"):
        gl.pagerank(gl.from_edges([0, 1], [1, 2], weights=[2.0, -1.0]), weights=True, devices="cpu")


def test_the_weights_of_a_store_count() -> None:
    store = DynamicGraph(devices="cpu", weighted=True)
    store.insert([0, 0, 1], [1, 2, 2], [5.0, 1.0, 2.0])
    graph = gl.from_edges([0, 0, 1], [1, 2, 2], weights=[5.0, 1.0, 2.0])
    found, expected = (gl.pagerank(each, weights=True, devices="cpu").values for each in (store, graph))
    np.testing.assert_allclose(found, expected)


@settings(max_examples=20)
@given(edges=edge_lists(most_vertices=65, most_edges=600))
def test_the_transposed_view_has_every_edge_turned_round(edges: EdgeList) -> None:
    graph = graph_of(edges, directed=True)
    view = graph.view(Transposed())
    tails = np.repeat(np.arange(graph.num_vertices), np.diff(view["offsets"]))
    turned = sorted(zip(view["neighbors"].tolist(), tails.tolist(), strict=True))
    assert turned == sorted(edges.arcs())
    assert view["out_degrees"].tolist() == graph.degrees().tolist()


def test_several_devices_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"analytics.pagerank runs on one device"):
        gl.pagerank(complete(3), devices=["cpu", "cpu"])


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.pagerank(cycle(4), devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.iterations = 7  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 7
    plain: dict[str, Any] = json.loads(json.dumps(found.to_dict()))
    assert plain["values"] == [0.25] * 4 and plain["converged"] is True


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["email-Enron", "dblp-2010", "cnr-2000"])
def test_the_gpu_agrees_on_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    found, expected = (gl.pagerank(graph, devices=device) for device in ("cuda:0", "cpu"))
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-10)
