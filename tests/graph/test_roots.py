"""Rows by falling length: the same on every device, with the arrays of the oriented view."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings

import graphlode as gl
from graphlode.common.control import Control
from graphlode.execute.device import hold
from graphlode.execute.devices import resolve
from graphlode.graph.views import Oriented, Roots
from strategies import EdgeList, edge_lists


def on(device: str, graph: gl.Graph, view: Any) -> dict[str, Any]:
    chosen = resolve(device)[0]
    arrays = chosen.submit(lambda: hold(chosen, graph, view, Control())).result()
    return {name: chosen.get(array) for name, array in arrays.items()}


@given(edges=edge_lists(most_edges=3000))
def test_roots_are_the_rows_that_can_start_a_clique_longest_first(edges: EdgeList) -> None:
    view = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices).view(Roots())
    lengths = np.diff(view["offsets"])
    roots = view["roots"]
    assert sorted(roots.tolist()) == np.flatnonzero(lengths >= 2).tolist()
    keys = list(zip((-lengths[roots]).tolist(), roots.tolist(), strict=True))
    assert keys == sorted(keys)
    longest = int(lengths.max(initial=0))
    assert view["row_counts"].tolist() == [int((lengths >= d).sum()) for d in range(longest + 2)]


@settings(max_examples=10)
@given(edges=edge_lists(most_vertices=65, most_edges=600))
def test_every_device_lists_the_same_roots(device: str, edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    expected, found = on("reference", graph, Roots()), on(device, graph, Roots())
    assert set(found) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)
        assert found[name].dtype == array.dtype


def test_roots_share_the_arrays_of_the_oriented_view() -> None:
    graph = gl.complete(6)
    assert np.shares_memory(graph.view(Roots())["neighbors"], graph.view(Oriented("degeneracy"))["neighbors"])
