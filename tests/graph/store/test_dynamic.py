"""The semantics of batches, one by one, on every mix of devices."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import DeviceMemoryError, InputError, StateError
from graphlode.execute.shares import NUM_BUCKETS
from stores import even, mixes


@pytest.fixture(params=mixes())
def mix(request: pytest.FixtureRequest) -> list[str]:
    return request.param


def edges(graph: Any) -> set[tuple[int, int]]:
    found = (graph if isinstance(graph, gl.Graph) else graph.snapshot()).edges().tolist()
    assert len(found) == len({tuple(sorted(pair)) if not graph.directed else tuple(pair) for pair in found})
    return {(u, v) if graph.directed or u < v else (v, u) for u, v in found}


def test_inserting_again_and_deleting_what_is_not_there_change_nothing(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    first = store.insert([1, 2, 3], [2, 3, 1])
    assert (first.version, first.inserted, first.unchanged) == (1, 3, 0)
    again = store.insert([2, 3], [1, 2])  # the other way round is the same edge
    assert (again.version, again.inserted, again.unchanged) == (2, 0, 2)
    absent = store.delete([1, 7], [9, 8])
    assert (absent.version, absent.deleted, absent.unchanged) == (3, 0, 2)
    assert edges(store) == {(1, 2), (2, 3), (1, 3)}
    assert store.num_vertices == 3  # a deletion adds no vertex
    store.check()


def test_the_last_write_of_an_edge_in_a_batch_wins(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    store.insert([5], [6])
    batch = gl.Batch(
        [1, 2, 1, 3, 3, 6, 5], [2, 1, 2, 4, 4, 5, 6], delete=[False, True, False, False, True, True, False]
    )
    result = store.apply(batch)
    assert edges(store) == {(1, 2), (5, 6)}
    assert (result.inserted, result.deleted, result.unchanged) == (1, 0, 6)
    assert sorted(store.ids.tolist()) == [1, 2, 3, 4, 5, 6]  # an insertion adds its vertices
    store.check()


def test_the_last_weight_wins_and_both_directions_have_it(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), weighted=True)
    store.insert([1, 2, 2], [2, 1, 3], weights=[0.5, 0.75, 4])
    assert store.weight(1, 2) == store.weight(2, 1) == 0.75
    result = store.insert([3, 1], [2, 4], weights=[5, 6])
    assert (result.inserted, result.changed) == (1, 1)
    snapshot = store.snapshot()
    assert snapshot.weights is not None
    assert dict(zip(map(tuple, snapshot.edges().tolist()), snapshot.weights.tolist(), strict=True)) == {
        (1, 2): 0.75,
        (1, 4): 6.0,
        (2, 3): 5.0,
    }
    assert store.insert([1], [4]).changed == 1 and store.weight(4, 1) == 1.0
    store.delete([1], [4])
    with pytest.raises(InputError, match="there is no edge from 1 to 4"):
        store.weight(1, 4)
    store.check()


@pytest.mark.parametrize("strategy", ["in place", "merge", "climb"])
@pytest.mark.parametrize("size", [3, 2500])
def test_a_weight_is_changed_if_any_of_its_bits_is(mix: list[str], strategy: Any, size: int) -> None:
    for num_vertices in (None, 2501):
        store = gl.DynamicGraph(
            devices=mix, shares=even(mix), weighted=True, strategy=strategy, num_vertices=num_vertices
        )
        src, dst = np.arange(size), np.arange(size) + 1
        store.insert(src, dst, np.zeros(size))
        for weight, changed in ((-0.0, size), (-0.0, 0), (0.0, size)):
            result = store.insert(src, dst, np.full(size, weight))
            assert (result.changed, result.unchanged) == (changed, size - changed)
            weights = store.snapshot().weights
            assert weights is not None and (np.signbit(weights) == np.signbit(weight)).all()
        store.check()


def test_weights_of_deleted_edges_are_not_looked_at(mix: list[str]) -> None:
    for num_vertices in (None, 9):
        store = gl.DynamicGraph(devices=mix, shares=even(mix), weighted=True, num_vertices=num_vertices)
        store.insert([1, 2], [2, 3], [4.0, 5.0])
        batch = gl.Batch([1, 5, 2, 2], [2, 6, 3, 3], [np.nan, 1.5, np.inf, -0.5], delete=[True, False, True, False])
        result = store.apply(batch)
        assert (result.inserted, result.deleted, result.changed) == (1, 1, 1)
        assert store.weight(5, 6) == 1.5 and store.weight(2, 3) == -0.5 and not store.has_edge(1, 2)
        store.check()


def test_self_loops_are_dropped_counted_and_bring_their_vertex(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    result = store.insert([7, 1], [7, 2])
    assert result.self_loops == 1 and result.inserted == 1
    assert store.ids.tolist() == [1, 2, 7] and store.num_edges == 1
    assert store.delete([9], [9]).self_loops == 1 and 9 not in store


def test_an_id_out_of_range_leaves_everything_as_it_was(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=5)
    store.insert([0, 1], [1, 2])
    before = store.snapshot()
    for bad in (gl.Batch([3, 5], [4, 0]), gl.Batch([0], [-1], delete=True), gl.Batch([6, 1], [6, 3])):
        with pytest.raises(InputError, match=r"vertex (5|-1|6) is outside 0 \.\. 4"):
            store.apply(bad)
    assert store.version == 1 and store.snapshot() is before and store.num_vertices == 5
    assert edges(store) == {(0, 1), (1, 2)}
    store.check()


def test_direction_counts_in_a_directed_store(mix: list[str]) -> None:
    store = gl.DynamicGraph(directed=True, devices=mix, shares=even(mix))
    assert store.insert([1, 2, 2], [2, 1, 3]).inserted == 3
    store.delete([1], [2])
    assert edges(store) == {(2, 1), (2, 3)} and store.num_edges == 2
    assert store.has_edge(2, 1) and not store.has_edge(1, 2)
    assert store.neighbors(2).tolist() == [1, 3] and store.neighbors(1).tolist() == []
    assert store.degrees().tolist() == [0, 2, 0]


def test_questions_agree_with_the_snapshot_before_and_after_its_rows_are_made(mix: list[str]) -> None:
    src, dst = np.random.default_rng(5).integers(0, 60, (2, 400))
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    store.insert(src * 10, dst * 10)
    for made in (False, True):
        snapshot = store.snapshot()
        assert snapshot._has_rows == made
        assert store.degrees().tolist() == [len(store.neighbors(v)) for v in store.ids.tolist()]
        for u, v in zip((src * 10).tolist()[:20], (dst * 10).tolist()[:20], strict=True):
            assert store.has_edge(u, v) == (u != v) and (v in store.neighbors(u).tolist()) == (u != v)
            assert not store.has_edge(u, v + 1)
        snapshot.csr  # noqa: B018
    assert store.num_edges == len({(min(p), max(p)) for p in zip(src, dst, strict=True) if p[0] != p[1]})


@pytest.mark.parametrize("num_vertices", [None, 5])
def test_whether_an_edge_is_there_is_asked_by_integers(mix: list[str], num_vertices: int | None) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=num_vertices)
    store.insert([1, 2], [2, 3])
    snapshot, with_rows = store.snapshot(), pickle.loads(pickle.dumps(store.snapshot()))
    wrong: Any
    for _ in range(2):  # from the pages, then from the rows
        for graph in (store, snapshot, with_rows):
            for wrong in (1.0, "1", None, [1], np.float64(1)):
                for ends in ((wrong, 2), (2, wrong), (77, wrong)):
                    with pytest.raises(InputError, match="a vertex is named by one integer, got"):
                        graph.has_edge(*ends)
            for absent in (77, -1, 2**63, -(2**70)):
                assert not graph.has_edge(absent, 2) and not graph.has_edge(2, absent)
            assert graph.has_edge(np.uint8(1), 2)
        assert snapshot.csr[1].size == 4


@pytest.mark.parametrize("directed", [False, True])
def test_a_store_equals_the_graph_of_its_edges(mix: list[str], directed: bool) -> None:
    src, dst = np.random.default_rng(6).integers(0, 300, (2, 3000))
    store = gl.DynamicGraph(directed, num_vertices=300, devices=mix, shares=even(mix))
    for piece in np.array_split(np.arange(3000), 7):
        store.insert(src[piece], dst[piece])
    expected = gl.from_edges(src, dst, num_vertices=300, directed=directed)
    assert store.snapshot() == expected
    store.check()
    assert gl.count_triangles(store).total == gl.count_triangles(expected).total
    store.delete(expected.edges())
    assert store.num_edges == 0 and store.snapshot().num_edges == 0
    store.check()


def test_every_batch_makes_a_version_also_an_empty_one(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    assert store.version == 0 and store.snapshot().num_vertices == 0 and store.snapshot().edges().tolist() == []
    assert store.insert([], []).version == 1 and store.delete([], []).version == 2
    results = store.apply(gl.Batch([i], [i + 1]) for i in range(3))
    assert [result.version for result in results] == [3, 4, 5]
    assert store.snapshot().version == store.version == 5


@pytest.mark.parametrize("strategy", ["in place", "merge", "climb"])
def test_every_strategy_gives_the_same_graph(mix: list[str], strategy: Any) -> None:
    rng = np.random.default_rng(8)
    store = gl.DynamicGraph(num_vertices=100, devices=mix, shares=even(mix), strategy=strategy)
    kept: set[tuple[int, int]] = set()
    for _ in range(5):
        src, dst = rng.integers(0, 100, (2, 300))
        delete = rng.random(300) < 0.4
        store.apply(gl.Batch(src, dst, delete=delete))
        for u, v, gone in zip(np.minimum(src, dst).tolist(), np.maximum(src, dst).tolist(), delete, strict=True):
            (kept.discard if gone or u == v else kept.add)((u, v))
        assert edges(store) == kept
        store.check()


def test_statistics_and_memory_speak_of_every_shard(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    src, dst = np.random.default_rng(9).integers(0, 500, (2, 2000))
    store.insert(src, dst)
    store.insert(dst[:50] + 500, src[:50])
    found = store.statistics()
    assert len(found) == len(mix) == len(store.devices)
    assert sum(shard["entries"] for shard in found.values()) == 2 * store.num_edges
    assert sum(shard["buckets"] for shard in found.values()) == sum(store.shares.values()) == NUM_BUCKETS
    for shard in found.values():
        assert shard["capacity"] >= shard["entries"] and shard["seconds"] >= 0 and len(shard["density_by_level"]) == 8
        assert shard["batches"] == sum(shard["paths"].values())
    memory = store.memory_usage()
    assert set(memory) == {*found, "ids"} and all(size >= 0 for size in memory.values())


def test_a_closed_store_answers_nothing_but_its_snapshots_do(mix: list[str]) -> None:
    with gl.DynamicGraph(devices=mix, shares=even(mix)) as store:
        store.insert([1, 2], [2, 3])
        snapshot = store.snapshot()
    for use in (lambda: store.insert([1], [2]), store.snapshot, store.statistics, store.rebalance, store.memory_usage):
        with pytest.raises(StateError, match="closed"):
            use()
    store.close()
    assert snapshot.has_edge(1, 2) and edges(snapshot) == {(1, 2), (2, 3)}
    assert "closed" in repr(store)


def test_python_manners() -> None:
    store = gl.DynamicGraph(devices=["reference", "reference"])
    store.insert([10, 20], [20, 30])
    assert len(store) == 3 and 10 in store and 11 not in store and "x" not in store
    assert repr(store) == (
        "<graphlode.DynamicGraph: 3 vertices, 2 edges, undirected, version 1 on reference + reference>"
    )
    assert dict(store.shares) == {"reference": NUM_BUCKETS} and store.devices == ("reference", "reference")
    result = store.insert([1], [2])
    assert set(result.paths) <= {"reference", "reference#2"} and result.to_dict()["inserted"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "fast"}, "a strategy is one of auto, in place, merge, climb, got 'fast'"),
        ({"num_vertices": -1}, "num_vertices must be an integer from 0"),
        ({"num_vertices": 2**31}, "num_vertices must be an integer from 0"),
        ({"num_vertices": 1.5}, "num_vertices must be an integer from 0"),
        ({"devices": "tpu"}, "unknown device"),
        ({"devices": "reference", "shares": {"cpu": 1}}, "shares must name the devices"),
        ({"devices": "reference", "shares": {"reference": -1}}, "shares must be finite"),
    ],
)
def test_what_cannot_be_a_store_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.DynamicGraph(**options)


def test_batches_that_do_not_fit_the_store_are_refused() -> None:
    store = gl.DynamicGraph(devices="reference")
    with pytest.raises(InputError, match="make it with weighted=True"):
        store.insert([1], [2], weights=[1.0])
    wrong: Any
    for wrong in (5, [([1], [2])]):
        with pytest.raises(InputError, match="apply takes a Batch or several"):
            store.apply(wrong)
    assert store.version == 0


@pytest.mark.parametrize("make", [list, tuple])
def test_all_of_a_list_must_be_batches_before_the_first_is_applied(make: Any) -> None:
    store = gl.DynamicGraph(devices="reference")
    with pytest.raises(InputError, match="got one of <class 'str'>"):
        store.apply(make([gl.Batch([1], [9]), "x"]))
    assert store.version == store.num_vertices == 0
    assert [result.version for result in store.apply(make([gl.Batch([1], [9]), gl.Batch([1], [8])]))] == [1, 2]


def test_batches_of_an_iterator_come_one_at_a_time() -> None:
    store = gl.DynamicGraph(devices="reference")

    def batches() -> Iterator[Any]:
        for version in range(3):
            assert store.version == version
            yield gl.Batch([version], [version + 1])
        yield "x"

    with pytest.raises(InputError, match="got one of <class 'str'>"):
        store.apply(batches())
    assert store.version == 3


def test_batches_before_one_that_fails_stay_applied() -> None:
    store = gl.DynamicGraph(devices="reference", num_vertices=5)
    with pytest.raises(InputError, match="vertex 7 is outside"):
        store.apply([gl.Batch([1], [2]), gl.Batch([1], [7]), gl.Batch([3], [4])])
    assert store.version == 1 and edges(store) == {(1, 2)}


def test_a_store_without_vertices_says_so(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=0)
    for batch in (gl.Batch([3], [4]), gl.Batch([3], [4], delete=True)):
        with pytest.raises(InputError, match="vertex 3 is not there: with num_vertices=0 there are none"):
            store.apply(batch)
    with pytest.raises(InputError, match="position 0 is not there: the graph has no vertices"):
        store.snapshot().neighbors(0, indices=True)


@pytest.mark.parametrize("travel", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_store_that_should_travel_says_what_does_instead(travel: Any) -> None:
    store = gl.DynamicGraph(devices=["cpu", "reference"], weighted=True)
    store.insert([1, 2], [2, 3], [4, 5])
    with pytest.raises(TypeError, match=r"pickle store\.snapshot\(\) instead"):
        travel(store)
    graph = pickle.loads(pickle.dumps(store.snapshot()))
    twin = gl.DynamicGraph(devices="cpu", weighted=True)
    twin.insert(graph.edges(), weights=graph.weights)
    assert twin.snapshot() == store.snapshot()


def test_more_vertices_than_there_is_memory_for_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("std::bad_alloc")

    monkeypatch.setattr("graphlode.reference.store.shard.create", fail)
    with pytest.raises(
        DeviceMemoryError,
        match=r"num_vertices=1,000,000 needs more than 4,000,000 bytes on each shard, which could not be allocated "
        r"\(reference has [0-9,]+ free, the process may be limited to less\); leave num_vertices out",
    ):
        gl.DynamicGraph(devices=["reference", "reference"], num_vertices=10**6)
    with pytest.raises(MemoryError, match="bad_alloc"):  # it is not the number of vertices
        gl.DynamicGraph(devices="reference")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_on_the_device_does_what_one_of_the_host_does(mix: list[str], directed: bool, weighted: bool) -> None:
    rng = np.random.default_rng(8)
    stores = [
        gl.DynamicGraph(directed, devices=mix, shares=even(mix), num_vertices=300, weighted=weighted) for _ in range(2)
    ]
    for size, dtype in ((4000, np.int32), (0, np.int32), (50, np.int64), (1500, np.int32), (20_000, np.int64)):
        src, dst = rng.integers(0, 300, (2, size)).astype(dtype)
        delete: Any = rng.random(size) < 0.3 if size != 50 else True
        weights = rng.random(size) if weighted else None
        results = [
            stores[0].apply(gl.Batch(src, dst, weights, delete)),
            stores[1].apply(gl.Batch._on_device(src, dst, weights, delete)),
        ]
        found = [result.to_dict() | {"seconds": 0} for result in results]
        if size:  # which path is chosen depends on times
            found = [result | {"paths": 0} for result in found]
        assert found[0] == found[1] and results[1].self_loops == int((src == dst).sum())
        stores[1].check()
        assert stores[0].snapshot() == stores[1].snapshot()


@pytest.mark.parametrize("size", [1, 3000])
def test_a_batch_of_self_loops_concerns_no_shard(mix: list[str], size: int) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=500)
    store.insert(np.arange(400), np.arange(400) + 1)
    ids = np.arange(size) % 500
    for batch in (gl.Batch(ids, ids), gl.Batch(ids, ids, delete=True), gl.Batch._on_device(ids, ids)):
        result = store.apply(batch)
        assert (result.self_loops, result.inserted, result.deleted, result.unchanged) == (size, 0, 0, 0)
        assert dict(result.paths) == {} and store.num_edges == 400
    store.check()


@pytest.mark.parametrize("size", [500, 20_000])
def test_arrays_may_differ_in_width_and_have_gaps(mix: list[str], size: int) -> None:
    rng, stores = np.random.default_rng(10), []
    src, dst = rng.integers(0, 300, (2, size))
    delete, weights = rng.random(size) < 0.3, rng.random(size)

    def apart(array: Any) -> Any:
        return np.repeat(array, 2)[::2]

    for batch in (
        gl.Batch(src, dst, weights, delete),
        gl.Batch(src.astype(np.int32), dst, apart(weights), apart(delete)),
        gl.Batch(apart(src), apart(dst.astype(np.int16)), weights.astype(np.float64), delete),
    ):
        store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=300, weighted=True)
        assert store.apply(batch).self_loops == np.count_nonzero(src == dst)
        stores.append(store.snapshot())
    assert stores[0] == stores[1] == stores[2] and stores[0].num_edges > 0


@pytest.mark.parametrize("size", [3, 3000, 20_000])
def test_an_id_out_of_range_is_named_wherever_it_is_found(mix: list[str], size: int) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix), num_vertices=500)
    src, dst = np.random.default_rng(9).integers(0, 500, (2, 2500))
    store.insert(src, dst)
    before = edges(store)
    for wrong in (500, -1, 2**40):
        ids = np.arange(size) % 400
        ids[size // 2] = wrong
        for tails, heads, delete in (
            (ids, np.arange(size) % 7, None),
            (np.arange(size) % 7, ids, None),
            (ids, ids, None),
            (ids, ids, True),
        ):
            for batch in (gl.Batch(tails, heads, None, delete), gl.Batch._on_device(tails, heads, None, delete)):
                with pytest.raises(InputError, match=f"vertex {wrong} is outside 0 .. 499"):
                    store.apply(batch)
    store.check()
    assert store.version == 1 and edges(store) == before
    store.insert([1], [2])
    store.check()


@pytest.mark.parametrize("device", ["cuda-emulated", "cpu"])
@pytest.mark.parametrize("weighted", [False, True])
def test_batches_of_every_size_come_to_what_a_dictionary_does(device: str, weighted: bool) -> None:
    rng = np.random.default_rng(10)
    store = gl.DynamicGraph(True, devices=device, num_vertices=900, weighted=weighted, strategy="in place")
    known: dict[tuple[int, int], float] = {}
    held = []
    for turn in range(24):
        size = [30, 700, 2048, 5000][turn % 4]
        src, dst = rng.integers(0, 900, (2, size))
        if turn >= 12:  # a hot spot: pages overflow
            src[:] = 7
        deletes = rng.random(size) < (0.2 if turn % 3 else 0.9)
        weights = rng.random(size) if weighted else np.ones(size)
        batch = gl.Batch(src, dst, weights if weighted else None, deletes)
        result = store.apply(batch)
        before = len(known)
        for u, v, gone, weight in zip(src.tolist(), dst.tolist(), deletes.tolist(), weights.tolist(), strict=True):
            if gone:
                known.pop((u, v), None)
            elif u != v:
                known[u, v] = weight
        assert result.inserted - result.deleted == len(known) - before
        assert store.num_edges == len(known)
        if turn % 5 == 4:
            held.append((store.snapshot(), set(known)))
    store.check()
    assert edges(store) == set(known)
    for snapshot, expected in held:
        assert edges(snapshot) == expected
    if weighted:
        found = store.snapshot()
        assert all(found.weight(u, v) == weight for (u, v), weight in list(known.items())[:300])


@pytest.mark.parametrize("size", [6, 20_000])
def test_deletions_of_unknown_ids_change_nothing_and_add_no_vertex(mix: list[str], size: int) -> None:
    """Also before the first insertion, when there is no position to use for them."""
    src, dst = np.arange(size) - 3, np.arange(size) * 10**12
    src[1] = dst[1] = 77  # a self-loop of an unknown id
    with gl.DynamicGraph(devices=mix, shares=even(mix)) as store:
        for inserted in (0, 2):
            store.insert([5] * inserted, [2**62 + k for k in range(inserted)])
            before = store.snapshot()
            result = store.delete(src, dst)
            loops = int(np.count_nonzero(src == dst))
            assert (result.deleted, result.unchanged, result.self_loops) == (0, size - loops, loops)
            assert dict(result.paths) == {} and store.snapshot() == before
            store.check()


def test_a_deletion_may_name_what_an_insertion_of_its_batch_brings(mix: list[str]) -> None:
    with gl.DynamicGraph(devices=mix, shares=even(mix), weighted=True, directed=True) as store:
        store.insert([2**40], [-1])
        src = [2**40, 9, -(2**63), 8, 7, 9, 6, 6]
        dst = [-1, 2**63 - 1, 9, 8, 7, -(2**63), 2**50, 6]
        gone = [True, False, False, False, True, True, True, True]
        result = store.apply(gl.Batch(src, dst, np.arange(8.0), gone))
        assert (result.inserted, result.deleted, result.unchanged, result.self_loops) == (2, 1, 2, 3)
        snapshot = store.snapshot()
        assert snapshot.ids.tolist() == [-1, 2**40, -(2**63), 8, 9, 2**63 - 1]
        assert snapshot.weight(9, 2**63 - 1) == 1.0 and snapshot.weight(-(2**63), 9) == 2.0
        assert not snapshot.has_edge(2**40, -1) and snapshot.num_edges == 2
        store.check()
