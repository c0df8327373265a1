"""Triangles: closed forms, agreement of all devices, invariants, known counts."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Callable
from math import comb
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.errors import InputError
from graphlode.execute.devices import resolve
from graphlode.generate import complete, cycle, grid, kronecker, path, star
from strategies import EdgeList, edge_lists, edge_lists_with_ids, relabellings

# Triangles of the simple undirected graph beneath, counted by two programs.
REAL = {
    "ca-HepPh": 3_358_499,
    "ca-AstroPh": 1_351_441,
    "email-Enron": 727_044,
    "wiki-Vote": 608_389,
    "soc-Slashdot0902": 602_592,
    "dblp-2010": 1_676_652,
    "mico": 12_534_960,
    "cnr-2000": 20_977_629,
    "congress-bills": 56_990_405,
}


def complete_bipartite(a: int, b: int) -> gl.Graph:
    return gl.from_edges(np.repeat(np.arange(a), b), np.tile(np.arange(a, a + b), a), num_vertices=a + b)


def wheel(n: int) -> gl.Graph:
    rim = np.arange(1, n + 1)
    return gl.from_edges(np.concatenate([rim, np.zeros(n, int)]), np.concatenate([np.roll(rim, 1), rim]))


CLOSED_FORMS: list[tuple[str, gl.Graph, int]] = [
    *[(f"complete-{n}", complete(n), comb(n, 3)) for n in (0, 1, 2, 3, 31, 32, 33, 64, 65)],
    ("star", star(40), 0),
    ("path", path(33), 0),
    ("cycle-3", cycle(3), 1),
    ("cycle-65", cycle(65), 0),
    ("grid", grid(8, 9), 0),
    ("bipartite", complete_bipartite(7, 33), 0),
    ("wheel-3", wheel(3), 4),
    ("wheel-64", wheel(64), 64),
]


@pytest.mark.parametrize(("graph", "expected"), [row[1:] for row in CLOSED_FORMS], ids=[row[0] for row in CLOSED_FORMS])
def test_closed_forms(devices: Any, graph: gl.Graph, expected: int) -> None:
    assert int(gl.count_triangles(graph, devices=devices)) == expected
    by_vertex = gl.count_triangles(graph, by="vertex", devices=devices).by_vertex
    by_edge = gl.count_triangles(graph, by="edge", devices=devices).by_edge
    assert by_vertex is not None and by_vertex.shape == (graph.num_vertices,) and by_vertex.sum() == 3 * expected
    assert by_edge is not None and by_edge.shape == (graph.num_edges,) and by_edge.sum() == 3 * expected


@pytest.mark.parametrize("by", [None, "vertex", "edge"])
@settings(max_examples=20)
@given(edges=edge_lists(most_vertices=65, most_edges=900))
def test_all_devices_and_mixtures_agree(devices: Any, by: Any, edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    expected = gl.count_triangles(graph, by=by, devices="reference")
    found = gl.count_triangles(graph, by=by, devices=devices)
    assert found.total == expected.total and type(found.total) is int
    assert found.provenance.devices == tuple(device.name for device in resolve(devices))
    for name in ("by_vertex", "by_edge"):
        theirs, ours = getattr(expected, name), getattr(found, name)
        assert (theirs is None) == (ours is None)
        if theirs is not None:
            np.testing.assert_array_equal(ours, theirs)
            assert ours.dtype == np.int64


@given(edges=edge_lists())
def test_the_cpu_agrees_with_a_matrix_product_on_larger_graphs(edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    low, high = np.array(sorted(edges.simple()), np.int64).reshape(-1, 2).T
    adjacency = np.zeros((edges.num_vertices, edges.num_vertices), np.float32)
    adjacency[low, high] = adjacency[high, low] = 1
    paths = adjacency @ adjacency  # exact: every number is far below 2^24
    by_edge = gl.count_triangles(graph, by="edge", devices="cpu")
    np.testing.assert_array_equal(by_edge.by_edge, paths[low, high])
    by_vertex = gl.count_triangles(graph, by="vertex", devices="cpu")
    np.testing.assert_array_equal(by_vertex.by_vertex, (paths * adjacency).sum(1, dtype=np.float64) / 2)
    assert by_edge.total == by_vertex.total == gl.count_triangles(graph, devices="cpu").total


@given(data=st.data(), edges=edge_lists(most_edges=3000))
def test_new_names_change_no_count(data: st.DataObject, edges: EdgeList) -> None:
    names = data.draw(relabellings(edges.num_vertices))
    n = edges.num_vertices
    before = gl.count_triangles(gl.from_edges(edges.src, edges.dst, num_vertices=n), by="vertex", devices="cpu")
    after = gl.count_triangles(
        gl.from_edges(names[edges.src], names[edges.dst], num_vertices=n), by="vertex", devices="cpu"
    )
    assert before.total == after.total
    assert before.by_vertex is not None and after.by_vertex is not None
    np.testing.assert_array_equal(after.by_vertex[names], before.by_vertex)


@settings(max_examples=20)
@given(edges=edge_lists_with_ids(most_vertices=65, most_edges=900))
def test_counts_follow_ids_and_edges(edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst)
    theirs = nx.triangles(graph.to_networkx())
    by_vertex = gl.count_triangles(graph, by="vertex", devices="cpu").by_vertex
    assert by_vertex is not None
    assert dict(zip(graph.ids.tolist(), by_vertex.tolist(), strict=True)) == theirs


@pytest.mark.parametrize("scale", [12, 15])
def test_a_skewed_graph_gives_the_same_counts_however_it_is_split(scale: int, threads: int) -> None:
    graph = kronecker(scale, 8, seed=3)
    with gl.configure(threads=1):
        expected = gl.count_triangles(graph, by="edge", devices="cpu")
    with gl.configure(threads=threads):
        for devices in ("cpu", ["cpu", "cpu"], ["cpu", "cpu", "cpu"]):
            found = gl.count_triangles(graph, by="edge", devices=devices)
            assert found.total == expected.total == gl.count_triangles(graph, devices=devices).total
            np.testing.assert_array_equal(found.by_edge, expected.by_edge)
            by_vertex = gl.count_triangles(graph, by="vertex", devices=devices).by_vertex
            assert by_vertex is not None and by_vertex.sum() == 3 * expected.total


def test_a_directed_graph_counts_its_undirected_form_and_says_so(device: str) -> None:
    graph = gl.from_edges([0, 1, 2, 1], [1, 2, 0, 0], directed=True)
    found = gl.count_triangles(graph, by="edge", devices=device)
    assert found.total == 1
    assert found.by_edge is not None and found.by_edge.tolist() == [1, 1, 1]
    assert found.provenance.notes == ("directed graph: its undirected form was used",)
    assert gl.count_triangles(graph.undirected(), devices=device).provenance.notes == ()


@pytest.mark.parametrize("by", ["vertices", "", 1, True])
def test_by_is_one_of_three(by: Any) -> None:
    with pytest.raises(InputError, match='by must be None, "vertex" or "edge"'):
        gl.count_triangles(complete(3), by=by)


def test_the_result_is_a_frozen_value() -> None:
    found = gl.count_triangles(complete(5), by="vertex", devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.total = 3  # type: ignore[misc]
    assert found.by_vertex is not None
    with pytest.raises(ValueError, match="read-only"):
        found.by_vertex[0] = 0
    assert found == found and found != gl.count_triangles(complete(5), by="vertex", devices="cpu")
    twin = pickle.loads(pickle.dumps(found))
    assert twin.total == 10 and twin.provenance == found.provenance


def test_the_result_is_ready_for_json() -> None:
    found = gl.count_triangles(complete(4), by="edge", devices="cpu")
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["total"] == 4 and plain["by_edge"] == [2] * 6 and "by_vertex" not in plain
    assert plain["provenance"]["operation"] == "analytics.triangles"
    assert plain["provenance"]["devices"] == ["cpu"]


@pytest.mark.parametrize("name", sorted(REAL))
def test_counts_of_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    assert gl.count_triangles(graph, devices="cpu").total == REAL[name]
    assert gl.count_triangles(graph, devices=["cpu", "cpu"]).total == REAL[name]


@pytest.mark.gpu
@pytest.mark.parametrize("by", [None, "vertex", "edge"])
@pytest.mark.parametrize("name", sorted(REAL))
def test_the_gpu_counts_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str, by: Any) -> None:
    graph = real_graph(name)
    expected = gl.count_triangles(graph, by=by, devices="cpu")
    for devices in ("cuda:0", ["cuda:0", "cpu"]):
        found = gl.count_triangles(graph, by=by, devices=devices)
        assert found.total == REAL[name]
        for field in ("by_vertex", "by_edge"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
