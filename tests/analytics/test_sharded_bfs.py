"""Breadth-first search over several shards: the same tree as on one device, for all devices and directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.analytics import sharded_bfs
from graphlode.analytics.sharded_bfs import worth_looking_back
from graphlode.errors import InputError, UnsupportedError
from graphlode.generate import kronecker, path
from graphlode.graph.store.dynamic import DynamicGraph
from stores import even
from strategies import EdgeList, edge_lists

MIXTURES = [
    ["cpu", "cpu"],
    ["cpu", "reference"],
    ["cuda-emulated", "cpu"],
    pytest.param(["cuda:0", "cpu"], marks=pytest.mark.gpu),
]


def stored(edges: EdgeList, directed: bool, devices: Any) -> DynamicGraph:
    store = DynamicGraph(directed=directed, devices=devices, shares=even(devices), num_vertices=edges.num_vertices)
    store.insert(edges.src, edges.dst)
    store.delete(edges.src[::3], edges.dst[::3])
    return store


def same_tree(found: gl.Bfs, expected: gl.Bfs) -> None:
    np.testing.assert_array_equal(found.levels, expected.levels)
    np.testing.assert_array_equal(found.parents, expected.parents)
    assert (found.reached, found.depth) == (expected.reached, expected.depth)


@pytest.mark.parametrize("devices", MIXTURES, ids="+".join)
@settings(max_examples=10)
@given(edges=edge_lists(most_vertices=130, most_edges=1500), directed=st.booleans(), data=st.data())
def test_several_shards_find_the_tree_of_one_device(
    devices: list[str], edges: EdgeList, directed: bool, data: st.DataObject
) -> None:
    if edges.num_vertices == 0:
        return
    store = stored(edges, directed, devices)
    source = data.draw(st.integers(0, edges.num_vertices - 1))
    found = gl.bfs(store, source)
    same_tree(found, gl.bfs(gl.from_csr(*store.snapshot().csr, directed=directed), source, devices="reference"))
    assert found.provenance.devices == tuple(devices)


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("devices", MIXTURES, ids="+".join)
def test_either_direction_finds_the_same_tree(
    monkeypatch: pytest.MonkeyPatch, devices: list[str], backwards: bool
) -> None:
    graph = kronecker(8, 8, seed=2)
    store = DynamicGraph(devices=devices, shares=even(devices), num_vertices=graph.num_vertices)
    store.insert(*graph.edges(indices=True).T)
    monkeypatch.setattr(sharded_bfs, "worth_looking_back", lambda *_: backwards)
    hub = int(np.argmax(graph.degrees()))
    same_tree(gl.bfs(store, hub), gl.bfs(graph, hub, devices="cpu"))


def test_large_levels_over_shards_are_the_same_on_any_number_of_threads(threads: int) -> None:
    graph = kronecker(13, 16, seed=4)
    store = DynamicGraph(devices=["cpu", "cpu", "cpu"], num_vertices=graph.num_vertices)
    store.insert(*graph.edges(indices=True).T)
    hub = int(np.argmax(graph.degrees()))
    with gl.configure(threads=threads):
        same_tree(gl.bfs(store, hub), gl.bfs(graph, hub, devices="cpu"))


def test_progress_ends_with_all_that_are_reached() -> None:
    store = DynamicGraph(devices=["cpu", "cpu"])
    store.insert(*path(50).edges(indices=True).T)
    reports: list[tuple[int, int]] = []
    gl.bfs(store, 0, progress=lambda done, total: reports.append((done, total)))
    assert reports == [(done, 50) for done in range(1, 51)]


def test_the_rows_are_not_written_out() -> None:
    store = DynamicGraph(devices=["cpu", "cpu"])
    store.insert([0, 1], [1, 2])
    snapshot = store.snapshot()
    gl.bfs(snapshot, 0)
    assert snapshot.held == {}


def test_one_device_for_several_shards_gets_rows() -> None:
    store = DynamicGraph(devices=["cpu", "reference"])
    store.insert([0, 1], [1, 2])
    found = gl.bfs(store, 0, devices="cpu")
    assert found.levels.tolist() == [0, 1, 2] and found.provenance.devices == ("cpu",)


def test_other_devices_than_those_of_the_shards_are_refused() -> None:
    store = DynamicGraph(devices=["cpu", "reference"])
    store.insert([0, 1], [1, 2])
    with pytest.raises(UnsupportedError, match="runs on one device"):
        gl.bfs(store, 0, devices=["cpu", "cpu"])


def test_a_source_that_is_not_in_the_store_is_an_input_error() -> None:
    store = DynamicGraph(devices=["cpu", "cpu"])
    store.insert([0], [1])
    with pytest.raises(InputError, match="vertex 7 is not in the graph"):
        gl.bfs(store, 7)


@pytest.mark.parametrize(
    ("entries", "left", "unreached", "worth"),
    [(1, 1000, 100, False), (300, 1000, 100, True), (10, 0, 50, False), (0, 0, 50, False), (7, 100, 0, True)],
)
def test_looking_back_is_for_frontiers_that_most_of_the_others_hang_on(
    entries: int, left: int, unreached: int, worth: bool
) -> None:
    assert worth_looking_back(entries, left, unreached) is worth


def test_the_devices_of_a_store_may_be_named_in_any_order() -> None:
    store = DynamicGraph(devices=["reference", "cpu"], shares={"reference": 1, "cpu": 1}, num_vertices=50)
    store.insert(np.arange(49), np.arange(1, 50))
    for devices in (["reference", "cpu"], ["cpu", "reference"]):
        assert gl.bfs(store, 0, devices=devices).levels.tolist() == list(range(50))
