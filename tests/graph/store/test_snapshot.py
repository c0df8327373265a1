"""Snapshots: immutable, cheap, usable as any graph."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import InputError
from graphlode.execute.devices import resolve
from graphlode.graph.store.snapshot import merge_rows
from graphlode.graph.views import Csr, Oriented
from stores import even, mixes


@pytest.fixture(params=mixes())
def store(request: pytest.FixtureRequest) -> gl.DynamicGraph:
    """A triangle 30 10 20 with a tail to 5, its vertices in the order 10 20 30 5."""
    made = gl.DynamicGraph(devices=request.param, shares=even(request.param))
    made.insert([30, 10, 20], [10, 20, 30])
    made.insert([30], [5])
    return made


def test_a_snapshot_stays_what_it_was(store: gl.DynamicGraph) -> None:
    before = store.snapshot()
    store.delete([10, 30], [20, 5])
    store.insert([99], [10])
    assert before.version == 2 and before.num_edges == 4 and before.num_vertices == 4
    assert before.edges().tolist() == [[10, 20], [10, 30], [20, 30], [30, 5]]
    assert 99 not in before and 99 in store and not before.has_edge(99, 10)
    assert store.snapshot().edges().tolist() == [[10, 30], [10, 99], [20, 30]]


def test_an_unchanged_store_gives_the_same_snapshot(store: gl.DynamicGraph) -> None:
    assert store.snapshot() is store.snapshot()
    before = store.snapshot()
    store.rebalance(dict.fromkeys(store.devices, 1))
    assert store.snapshot() is before
    store.insert([], [])
    assert store.snapshot() is not before and store.snapshot() == before


def test_ids_are_in_order_of_arrival_and_found(store: gl.DynamicGraph) -> None:
    snapshot = store.snapshot()
    for graph in (snapshot, pickle.loads(pickle.dumps(snapshot))):
        assert graph.ids.tolist() == [10, 20, 30, 5] and list(graph) == [10, 20, 30, 5]
        assert graph.positions([5, 10, 30]).tolist() == [3, 0, 2] and int(graph.positions(20)) == 1
        assert graph.neighbors(30).tolist() == [10, 20, 5]
        assert graph.neighbors(2, indices=True).tolist() == [0, 1, 3]
        assert graph.has_edge(5, 30) and graph.has_edge(3, 2, indices=True) and not graph.has_edge(5, 10)
        for missing in (11, -1, 2**70):
            with pytest.raises(InputError, match=f"vertex {missing} is not in the graph"):
                graph.neighbors(missing)
        with pytest.raises(InputError, match="a vertex is named by one integer"):
            graph.neighbors("10")


@pytest.mark.parametrize("travel", [lambda g: pickle.loads(pickle.dumps(g)), copy.copy, copy.deepcopy])
def test_what_travels_is_an_equal_graph_without_a_store(store: gl.DynamicGraph, travel: Any) -> None:
    snapshot = store.snapshot()
    twin = travel(snapshot)
    assert type(twin) is gl.Graph and twin == snapshot and hash(twin) == hash(snapshot)
    assert twin.version == 2 and twin.provenance == snapshot.provenance


def test_it_converts_like_any_graph(store: gl.DynamicGraph, tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    snapshot = store.snapshot()
    assert snapshot.to_scipy().toarray().tolist() == [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]]
    drawn = snapshot.to_networkx()
    assert sorted(drawn.nodes) == [5, 10, 20, 30] and networkx.number_of_edges(drawn) == 4
    ascending = snapshot.with_ascending_ids()
    assert ascending.ids.tolist() == [5, 10, 20, 30] and ascending.version == 2
    assert ascending == gl.from_edges(snapshot.edges()) and ascending.with_ascending_ids() is ascending
    for suffix in ("npz", "txt"):
        gl.write(snapshot, tmp_path / f"graph.{suffix}")
        assert gl.read(tmp_path / f"graph.{suffix}") == ascending


def test_arrays_are_read_only_and_not_copied(store: gl.DynamicGraph) -> None:
    snapshot = store.snapshot()
    offsets, neighbors = snapshot.csr
    assert snapshot.csr[0] is offsets and snapshot.csr[1] is neighbors
    assert offsets.dtype == np.int64 and neighbors.dtype == np.int32 and offsets.size == 5
    for array in (offsets, neighbors, snapshot.ids, snapshot.neighbors(0, indices=True)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_operations_take_the_store_and_say_which_version(store: gl.DynamicGraph) -> None:
    found = gl.count_triangles(store, by="vertex", devices="cpu")
    assert found.total == 1 and found.provenance.version == 2
    assert found.by_vertex is not None and found.by_vertex.tolist() == [1, 1, 1, 0]
    assert gl.estimate("count_triangles", store, devices="cpu").needed >= 0


def test_views_are_built_from_the_rows_of_every_device(store: gl.DynamicGraph) -> None:
    expected = gl.from_edges([0, 1, 2, 2], [1, 2, 0, 3])
    for name in {*store.devices, "cpu", "reference"}:
        snapshot = store.snapshot()
        assert gl.count_triangles(snapshot, devices=name).total == 1
        device = resolve(name)[0]
        held = snapshot.held[(device.space, Csr())].result()
        assert device.get(held["offsets"]).tolist() == expected.csr[0].tolist()
        assert device.get(held["neighbors"]).tolist() == expected.csr[1].tolist()
    assert np.array_equal(store.snapshot().view(Oriented())["neighbors"], expected.view(Oriented())["neighbors"])


def test_rows_stay_on_a_device_that_holds_them_all() -> None:
    store = gl.DynamicGraph(devices=["cuda-emulated"])
    store.insert([0, 1, 2], [1, 2, 0])
    snapshot = store.snapshot()
    assert gl.count_triangles(snapshot, devices="cuda-emulated").total == 1
    assert not snapshot._has_rows  # nothing came to the host


def test_weights_are_in_the_order_of_edges() -> None:
    store = gl.DynamicGraph(devices=["reference", "reference"], weighted=True)
    store.insert([3, 1, 2], [1, 2, 3], weights=[0.5, 1.5, 2.5])
    snapshot = store.snapshot()
    assert snapshot.edges().tolist() == [[1, 2], [1, 3], [2, 3]]
    assert snapshot.weights is not None and snapshot.weights.tolist() == [1.5, 0.5, 2.5]
    assert snapshot == gl.from_edges([3, 1, 2], [1, 2, 3], weights=[0.5, 1.5, 2.5])
    assert snapshot.weight(3, 2) == 2.5 and snapshot.to_scipy()[2, 1] == 2.5
    assert repr(snapshot) == "<graphlode.Snapshot: 3 vertices, 3 edges, undirected, weights, version 1>"


def test_rows_of_several_shards_are_merged() -> None:
    parts = [
        {"offsets": np.array([0, 2, 2, 2]), "neighbors": np.array([1, 2]), "weights": np.array([0.1, 0.2])},
        {"offsets": np.array([0, 0, 1, 3]), "neighbors": np.array([0, 0, 1]), "weights": np.array([0.3, 0.4, 0.5])},
    ]
    merged = merge_rows(parts)
    assert merged["offsets"].tolist() == [0, 2, 3, 5]
    assert merged["neighbors"].tolist() == [1, 2, 0, 0, 1] and merged["weights"].tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_snapshots_of_a_store_share_the_ids_that_are_positions() -> None:
    store = gl.DynamicGraph(num_vertices=50, devices="cpu")
    first = store.snapshot().ids
    store.insert([1], [2])
    second = store.snapshot().ids
    assert first.tolist() == list(range(50)) and np.shares_memory(first, second)
    with pytest.raises(ValueError, match="read-only"):
        second[0] = 1


def test_shards_without_rows_are_left_out() -> None:
    """So a search of a store with all rows on one device runs there, as if the store had no other device."""
    devices = ["cuda-emulated", "cpu"]
    with gl.DynamicGraph(num_vertices=60, devices=devices, shares={"cuda-emulated": 1.0, "cpu": 0.0}) as store:
        store.insert(np.arange(59), np.arange(1, 60))
        assert [shard.device.name for shard in store.snapshot().shards] == ["cuda-emulated"]
        for asked in ("auto", devices, "cuda-emulated"):
            found = gl.bfs(store, 0, devices=asked)
            assert found.depth == 59 and found.provenance.devices == ("cuda-emulated",)
        assert gl.bfs(store, 0, devices="cpu").provenance.devices == ("cpu",)
        assert gl.connected_components(store).provenance.devices == ("cuda-emulated",)
        before = store.snapshot()
        store.rebalance({"cuda-emulated": 0.0, "cpu": 1.0})
        store.insert([0], [59])
        assert [shard.device.name for shard in store.snapshot().shards] == ["cpu"]
        assert gl.bfs(store, 0).depth == 30 and gl.bfs(before, 0).depth == 59
        store.rebalance(dict.fromkeys(devices, 1.0))
        store.insert([0], [30])
        assert len(store.snapshot().shards) == 2
        assert store.neighbors(30).tolist() == [0, 29, 31] and store.degrees().sum() == 2 * store.num_edges
