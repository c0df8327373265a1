"""Ids and positions around 2^31, 2^32 and the ends of 64 bits: vertices, rows, keys and slots like any other."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.buckets import NUM_BUCKETS, bucket_of
from graphlode.common.store import MAX_ROWS, keys_of, neighbors_of, rows_of
from graphlode.cpu.store.split import by_owner
from graphlode.errors import InputError
from graphlode.execute.shares import ShareTable
from stores import even, mixes

DIRECTED = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])

# Code that narrows ids, or treats them as unsigned, confuses some of these.
POWERS = [2**31, 2**32, 2**33, 2**40, 2**53, 2**62]
AROUND = [sign * power + step for sign, power, step in product((1, -1), POWERS, (-1, 0, 1))]
IDS = [-(2**63), -(2**63) + 1, -2, -1, 0, 1, 2, 2**63 - 2, 2**63 - 1, *AROUND]

LAST = MAX_ROWS - 1
ENDS = [0, 1, 2, 2**16, 2**30 - 1, 2**30, 2**30 + 1, LAST - 2, LAST - 1, LAST]  # positions


def by_vertex(edges: set[tuple[int, int]], directed: bool) -> dict[int, set[int]]:
    rows: dict[int, set[int]] = {}
    for u, v in edges if directed else edges | {(v, u) for u, v in edges}:
        rows.setdefault(u, set()).add(v)
    return rows


@DIRECTED
@pytest.mark.parametrize("devices", mixes())
def test_ids_of_any_size_and_sign_are_different_vertices(devices: list[str], directed: bool) -> None:
    rng = np.random.default_rng(3)
    src, dst = rng.choice(np.array(IDS), (2, 400))
    weights = rng.integers(1, 9, src.size) / 4
    known: dict[tuple[int, int], float] = {}
    for u, v, weight in zip(src.tolist(), dst.tolist(), weights.tolist(), strict=True):
        if u != v:
            known[(u, v) if directed else (min(u, v), max(u, v))] = weight
    with gl.DynamicGraph(directed, weighted=True, devices=devices, shares=even(devices)) as store:
        for part in np.array_split(np.arange(src.size), 3):
            store.insert(src[part], dst[part], weights[part])
        gone = list(known)[::3]
        assert store.delete(*np.array(gone).T).deleted == len(gone)
        for edge in gone:
            del known[edge]
        store.check()
        snapshot = store.snapshot()
        assert sorted(snapshot.ids.tolist()) == sorted(IDS)
        rows = by_vertex(set(known), directed)
        for vertex in IDS:
            assert vertex in store and set(store.neighbors(vertex).tolist()) == rows.get(vertex, set())
        for (u, v), weight in list(known.items())[::5]:
            assert store.weight(u, v) == weight and store.has_edge(u, v)
        assert not any(store.has_edge(u, v) for u, v in gone[::3])
        for unknown in (3, 2**31 + 3, -(2**31) - 3, 2**32 + 3, 2**63 - 3):
            assert unknown not in store and not store.has_edge(unknown, IDS[0])
        degrees = dict(zip(snapshot.ids.tolist(), snapshot.degrees().tolist(), strict=True))
        assert degrees == {vertex: len(rows.get(vertex, ())) for vertex in IDS}
        found = [(u, v) if directed else (min(u, v), max(u, v)) for u, v in snapshot.edges().tolist()]
        assert snapshot.weights is not None
        assert dict(zip(found, snapshot.weights.tolist(), strict=True)) == known


@pytest.mark.parametrize("devices", mixes())
def test_a_search_begins_at_an_id_of_any_size(devices: list[str]) -> None:
    ids = np.random.default_rng(4).permutation(np.array(IDS))
    with gl.DynamicGraph(devices=devices, shares=even(devices)) as store:
        store.insert(ids[:-1], ids[1:])
        for at in (0, 5, ids.size - 1):
            found = gl.bfs(store, int(ids[at]))
            levels = dict(zip(store.ids.tolist(), found.levels.tolist(), strict=True))
            assert levels == {vertex: abs(place - at) for place, vertex in enumerate(ids.tolist())}


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_ids_are_what_their_type_says(dtype: Any) -> None:
    ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    store = gl.DynamicGraph(devices=["reference", "cpu"], shares=even(["reference", "cpu"]))
    store.insert(ends[:1], ends[1:])
    assert store.ids.tolist() == ends.tolist() and store.has_edge(*ends.tolist())
    assert store.delete(ends.astype(np.int64)[1:], ends.astype(np.int64)[:1]).deleted == 1


@pytest.fixture
def store_of_all_positions(request: pytest.FixtureRequest) -> gl.DynamicGraph:
    """The largest number of vertices. The reference keeps nothing by row, so this takes little memory."""
    return gl.DynamicGraph(request.param, num_vertices=MAX_ROWS, devices=["reference", "reference"])


@pytest.mark.parametrize("store_of_all_positions", [False, True], ids=["undirected", "directed"], indirect=True)
def test_the_highest_rows_have_owners_and_move(store_of_all_positions: gl.DynamicGraph) -> None:
    store = store_of_all_positions
    edges = {(u, v) for u, v in product(ENDS, ENDS) if (u < v if not store.directed else u != v)}
    src, dst = np.array(sorted(edges)).T
    result = store.insert(src, dst)
    assert result.inserted == len(edges) == store.num_edges
    rows = by_vertex(edges, store.directed)
    for shares in ([1, 1], [0, 1], [7, 1], [1, 0]):
        store._shards.move([float(share) for share in shares], hysteresis=0.0)
        store.check()
        table, everything = store._shards.table, np.ones(NUM_BUCKETS, bool)
        for number, shard in enumerate(store._shards):
            keys, _ = shard.kernels.rows_in(shard.device, shard.state, everything)
            own = {u for u in ENDS if table.owner(np.array([u]))[0] == number}
            expected = sorted((u, v) for u in own for v in rows[u])
            assert list(zip(rows_of(keys).tolist(), neighbors_of(keys).tolist(), strict=True)) == expected
    snapshot = store.snapshot()
    for vertex in ENDS:
        assert snapshot.neighbors(vertex, indices=True).tolist() == sorted(rows[vertex])
    assert store.has_edge(0, LAST) and not store.has_edge(3, LAST) and LAST in store and LAST + 1 not in store
    for outside in (LAST + 1, 2**31, 2**32, -1):
        with pytest.raises(InputError, match=f"vertex {outside} is outside 0 .. {LAST}"):
            store.insert([1, outside], [2, 3])
    assert store.delete(src, dst).deleted == len(edges) and store.num_edges == 0


def test_the_highest_keys_go_to_the_owners_of_their_rows() -> None:
    rows, neighbors = np.array(list(product(ENDS, ENDS))).T
    keys = keys_of(rows, neighbors)
    assert np.array_equal(rows_of(keys), rows) and np.array_equal(neighbors_of(keys), neighbors)
    for number in (1, 2, 5, NUM_BUCKETS):
        table = ShareTable([1.0] * number)
        assert np.array_equal(table.owner(rows), table.owners[bucket_of(rows)])
        for threads in (1, 3):
            for owner, places in enumerate(by_owner(keys, table.owners, number, threads=threads)):
                assert np.array_equal(places, np.flatnonzero(table.owner(rows) == owner))
