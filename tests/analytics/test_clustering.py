"""Clustering coefficients: known values, networkx's values, all devices."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.generate import complete, star
from strategies import EdgeList, edge_lists


@pytest.mark.parametrize(
    ("graph", "values", "transitivity"),
    [
        (complete(5), [1.0] * 5, 1.0),
        (star(4), [0.0] * 5, 0.0),
        (gl.from_edges([0, 1, 2, 2], [1, 2, 0, 3]), [1, 1, 1 / 3, 0], 0.6),
        (gl.from_edges([], [], num_vertices=2), [0.0, 0.0], 0.0),
        (gl.from_edges([], [], num_vertices=0), [], 0.0),
    ],
    ids=repr,
)
def test_known_coefficients(
    devices: str | list[str], graph: gl.Graph, values: list[float], transitivity: float
) -> None:
    found = gl.clustering(graph, devices=devices)
    assert found.values.tolist() == pytest.approx(values)
    assert found.transitivity == pytest.approx(transitivity)
    assert found.average == pytest.approx(np.mean(values) if values else 0.0)
    assert found.triangles == gl.count_triangles(graph, devices="cpu").total


@given(edges=edge_lists(most_vertices=65, most_edges=900), directed=st.booleans())
def test_coefficients_are_those_of_networkx(edges: EdgeList, directed: bool) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)
    theirs = graph.undirected().to_networkx()
    found = gl.clustering(graph, devices="cpu")
    assert found.values.tolist() == pytest.approx(list(nx.clustering(theirs).values()))
    assert found.transitivity == pytest.approx(nx.transitivity(theirs))
    if edges.num_vertices:
        assert found.average == pytest.approx(nx.average_clustering(theirs))


def test_a_store_is_taken_as_it_is_now(device: str) -> None:
    store = gl.DynamicGraph(devices=device)
    store.insert([0, 1, 2], [1, 2, 0])
    assert gl.clustering(store, devices=device).transitivity == 1.0
    store.insert([2], [3])
    assert gl.clustering(store, devices=device).transitivity == pytest.approx(0.6)


def test_the_result_is_a_frozen_value_ready_for_json() -> None:
    found = gl.clustering(complete(3), devices="cpu")
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 7
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["values"] == [1.0, 1.0, 1.0] and plain["average"] == 1.0 and plain["triangles"] == 1


def test_coefficients_become_a_table_of_original_ids() -> None:
    pytest.importorskip("pandas")
    rows = gl.clustering(gl.from_edges([10, 20, 30], [20, 30, 10]), devices="cpu").to_pandas()
    assert rows.to_dict("list") == {"vertex": [10, 20, 30], "clustering": [1.0, 1.0, 1.0]}
