"""The supported view: ranks, edge ids and triangles, the same on every device."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings

import graphlode as gl
from graphlode.execute import call
from graphlode.execute.device import hold
from graphlode.execute.devices import resolve
from graphlode.graph.views import Oriented
from graphlode.mining.supports import Supported
from graphlode.types import AnyArray
from strategies import EdgeList, edge_lists


def graph_from(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


def view_on(graph: gl.Graph, name: str) -> dict[str, AnyArray]:
    (device,) = resolve(name)
    view = call(lambda control: hold(device, graph, Supported(), control), device)
    return {key: call(lambda _, array=array: device.get(array), device) for key, array in view.items()}


@given(edge_lists(most_vertices=130, most_edges=2000))
@settings(max_examples=20)
def test_every_device_builds_the_view_of_the_reference(device: str, edges: EdgeList) -> None:
    graph = graph_from(edges)
    expected, found = view_on(graph, "reference"), view_on(graph, device)
    assert set(found) >= set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def test_ranks_are_those_of_the_degree_order() -> None:
    graph = gl.dataset("lesmis")
    view = view_on(graph, "reference")
    np.testing.assert_array_equal(view["vertices"], graph.view(Oriented("degree"))["vertices"])
    assert (np.diff(np.diff(view["offsets"])) >= 0).all()  # degrees ascend


def test_edge_ids_count_the_lower_entries_row_by_row() -> None:
    view = view_on(gl.dataset("karate"), "reference")
    seen = []
    for u, (begin, end) in enumerate(pairwise(view["offsets"].tolist())):
        row, ids = view["neighbors"][begin:end], view["edges"][begin:end]
        assert (np.diff(row) > 0).all() and (row < u).sum() == view["lower"][u]
        seen += ids[row < u].tolist()
    assert seen == list(range(78))
    assert np.bincount(view["edges"]).tolist() == [2] * 78


def test_triangles_at_edges_are_those_that_triangle_counting_finds() -> None:
    graph = gl.dataset("jazz")
    view = view_on(graph, "reference")
    assert view["triangles"].sum() == 3 * gl.count_triangles(graph, devices="cpu").total
