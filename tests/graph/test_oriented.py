"""The oriented view: every edge once, ascending ranks, bounded rows, the same on every device, built once."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.control import Control
from graphlode.errors import InputError
from graphlode.execute.device import hold
from graphlode.execute.devices import resolve
from graphlode.generate import complete, erdos_renyi, path, star
from graphlode.graph.views import Csr, Oriented
from strategies import EdgeList, edge_lists

ORDERS = ["degree", "degeneracy", "approximate"]


def graph_of(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


def on(device: str, graph: gl.Graph, view: Oriented) -> dict[str, Any]:
    chosen = resolve(device)[0]
    arrays = chosen.submit(lambda: hold(chosen, graph, view, Control())).result()
    return {name: chosen.get(array) for name, array in arrays.items()}


@pytest.mark.parametrize("by", ORDERS)
@given(edges=edge_lists(most_edges=4000))
def test_each_edge_is_there_once_from_the_lower_rank(by: str, edges: EdgeList) -> None:
    graph = graph_of(edges)
    view = graph.view(Oriented(by))
    offsets, neighbors, vertices = view["offsets"], view["neighbors"], view["vertices"]
    assert sorted(vertices.tolist()) == list(range(graph.num_vertices))
    tails = np.repeat(np.arange(graph.num_vertices), np.diff(offsets))
    assert (tails < neighbors).all()
    same_row = tails[1:] == tails[:-1]
    assert (neighbors[1:] > neighbors[:-1])[same_row].all()
    pairs = np.sort(np.stack([vertices[tails], vertices[neighbors]], 1), axis=1)
    np.testing.assert_array_equal(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], graph.edges(indices=True))


@given(edges=edge_lists(most_edges=4000))
def test_rows_are_bounded_by_the_degeneracy(edges: EdgeList) -> None:
    graph = graph_of(edges)
    degeneracy = gl.core_numbers(graph, devices="cpu").degeneracy
    longest = {by: np.diff(graph.view(Oriented(by))["offsets"]).max(initial=0) for by in ORDERS}
    assert longest["degeneracy"] <= degeneracy
    assert longest["approximate"] <= 3 * degeneracy
    assert longest["degree"] <= (2 * graph.num_edges) ** 0.5


@given(edges=edge_lists(most_edges=2000))
def test_the_degree_order_ascends_with_ties_by_vertex(edges: EdgeList) -> None:
    graph = graph_of(edges)
    vertices = graph.view(Oriented("degree"))["vertices"].tolist()
    degrees = graph.degrees()
    assert vertices == sorted(range(graph.num_vertices), key=lambda v: (degrees[v], v))


@pytest.mark.parametrize("by", ORDERS)
@settings(max_examples=15)
@given(edges=edge_lists(most_vertices=65, most_edges=600))
def test_every_device_builds_the_same_view(device: str, by: str, edges: EdgeList) -> None:
    expected = on("reference", graph_of(edges), Oriented(by))
    built = on(device, graph_of(edges), Oriented(by))
    assert built.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(built[name], array, err_msg=name)
        assert built[name].dtype == array.dtype


@pytest.mark.parametrize("by", ORDERS)
def test_the_number_of_threads_does_not_show(by: str, threads: int) -> None:
    made = erdos_renyi(20_000, p=0.002, seed=4)
    with gl.configure(threads=1):
        expected = {name: array.copy() for name, array in made.view(Oriented(by)).items()}
    with gl.configure(threads=threads):
        again = gl.Graph(*made.csr, directed=False).view(Oriented(by))
    for name, array in expected.items():
        np.testing.assert_array_equal(again[name], array, err_msg=name)


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("graph", [complete(0), complete(1), star(5), path(100), complete(70)], ids=repr)
def test_small_extremes(by: str, graph: gl.Graph) -> None:
    assert graph.view(Oriented(by))["neighbors"].size == graph.num_edges


def test_a_view_is_built_once_per_snapshot() -> None:
    graph = erdos_renyi(100, p=0.1, seed=1)
    first = graph.view(Oriented("degree"))
    assert graph.view(Oriented("degree")) is first
    gl.count_triangles(graph, devices="cpu")
    gl.count_triangles(graph, devices=["cpu", "cpu"])
    assert graph.view(Oriented("degree")) is first
    assert graph.view(Oriented("degeneracy")) is not first
    assert graph.view(Csr())["neighbors"] is graph.csr[1]


def test_threads_that_ask_at_once_get_one_view() -> None:
    graph = erdos_renyi(5000, p=0.01, seed=2)
    found: list[Any] = []
    asking = [Thread(target=lambda: found.append(graph.view(Oriented("degeneracy")))) for _ in range(8)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(found) == 8 and all(view is found[0] for view in found)


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(InputError, match="an order is one of degree, degeneracy, approximate, got 'random'"):
        Oriented("random")  # type: ignore[arg-type]


@given(st.sampled_from(ORDERS))
def test_views_are_named_by_value(by: str) -> None:
    assert Oriented(by) == Oriented(by) and hash(Oriented(by)) == hash(Oriented(by))  # type: ignore[arg-type]
    assert Oriented(by) != Csr()  # type: ignore[arg-type]
