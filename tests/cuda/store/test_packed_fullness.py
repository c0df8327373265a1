"""How full the pages of a shard on a GPU are: what makes a merge of the next batch, and memory that goes back with
it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from packed_pair import Pair

import graphlode as gl
from graphlode.common.store import PAGE_SLOTS, keys_of
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store.groups import FILLED, MOST_ENTRIES
from graphlode.cuda.store.pool import SEGMENT_PAGES
from graphlode.cuda.store.state import SPARSE, State
from graphlode.errors import DeviceMemoryError
from kernel_bench import Bench
from stores import even

ROWS = 600


def loaded(bench: Bench, pages: int) -> tuple[Pair, Any]:
    """A shard with about this number of full pages, and its keys in random order."""
    rng, pair = np.random.default_rng(pages), Pair(bench, ROWS)
    drawn = keys_of(rng.integers(0, ROWS, pages * FILLED), rng.integers(0, 10**6, pages * FILLED))
    keys = rng.permutation(np.unique(drawn))
    pair.apply(keys, path="merge")
    return pair, keys


def density(state: State) -> float:
    """The density of all memory for pages."""
    return state.num_entries / (PAGE_SLOTS * (state.pages.size + state.pool.num_unneeded))


def is_sparse(state: State) -> bool:
    found = packed.fullness(state)
    assert found.entries == state.num_entries
    return found.entries < found.sparse_below


def test_a_shard_says_when_it_has_become_sparse(bench: Bench) -> None:
    pair, keys = loaded(bench, 40)
    for begin in range(0, keys.size // 2, keys.size // 20):
        assert is_sparse(pair.state) == (density(pair.state) < SPARSE)
        if is_sparse(pair.state):
            break
        gone = keys[begin : begin + keys.size // 20]
        pair.apply(gone, np.ones(gone.size, bool), taken="in place")
    assert is_sparse(pair.state)
    pair.apply(keys[-1:], np.ones(1, bool), path="merge")
    assert not is_sparse(pair.state) and density(pair.state) > SPARSE


def test_a_shard_says_with_how_many_entries_nearly_all_pages_would_overflow(bench: Bench) -> None:
    """A shard with few pages is not merged: its pages can be split."""
    few, _ = loaded(bench, 40)
    assert packed.fullness(few.state).most_in_place > 2**60
    many, _ = loaded(bench, SEGMENT_PAGES + 6)
    pages = []
    for more in range(2):
        pages.append(many.statistics["pages"])
        assert packed.fullness(many.state).most_in_place == int(0.99 * MOST_ENTRIES * pages[-1])
        many.apply(keys_of(np.full(PAGE_SLOTS, 7), 10**6 + more * PAGE_SLOTS + np.arange(PAGE_SLOTS)), taken="in place")
    assert SEGMENT_PAGES < pages[0] < pages[1]


def test_a_store_merges_a_batch_with_which_nearly_all_pages_would_overflow(bench: Bench) -> None:
    src, dst = edges_of(12, 2000, 280_000)
    name, size = bench.device.name, src.size * 9 // 10
    with gl.DynamicGraph(directed=True, num_vertices=2000, devices=name) as store:
        store.insert(src[:size], dst[:size])
        state = next(iter(store._shards)).state
        room = packed.fullness(state).most_in_place - size
        assert state.pages.size > SEGMENT_PAGES and 0 < 8 * room < size and room + size < src.size
        rest = slice(size, size + room + 1)
        assert store.delete(src[rest], dst[rest]).paths[name] == "in place"  # it brings nothing
        assert store.insert(src[rest], dst[rest]).paths[name] == "merge"
        assert store.num_edges == size + room + 1
        store.check()


def edges_of(seed: int, rows: int = ROWS, draws: int = 300_000) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, rows * rows, draws))
    edges = rng.permutation(edges[edges // rows != edges % rows])
    return edges // rows, edges % rows


@pytest.mark.parametrize("batch", [500, 4000])
@pytest.mark.parametrize("beside", [[], ["cpu"]], ids=["alone", "beside a CPU"])
def test_a_store_gives_memory_back_while_edges_are_deleted(bench: Bench, beside: list[str], batch: int) -> None:
    (src, dst), name = edges_of(8), bench.device.name
    devices = [name, *beside]
    with gl.DynamicGraph(directed=True, num_vertices=ROWS, devices=devices, shares=even(devices)) as store:
        store.insert(src, dst)
        at_first = store.statistics()[name]["capacity"]
        for begin in range(0, src.size * 2 // 5, batch):
            store.delete(src[begin : begin + batch], dst[begin : begin + batch])
            assert store.statistics()[name]["density"] > SPARSE - 0.03  # until the next batch
        store.check()
        figures = store.statistics()[name]
        assert figures["capacity"] < 0.81 * at_first
        assert figures["paths"]["merge"] >= 1
        assert batch > 500 or figures["paths"]["in place"] > 100  # small batches in place, as always
        assert store.num_edges == src.size - begin - batch
        assert store.has_edge(int(src[-1]), int(dst[-1])) and not store.has_edge(int(src[0]), int(dst[0]))


def test_edges_that_go_row_by_row_leave_no_memory_behind(bench: Bench) -> None:
    """Whole pages become free then, between others that lie in the same piece of memory. Few batches are merged for
    that, though they come from the device, the quickest way."""
    src, dst = edges_of(10, 2000, 450_000)  # three segments of 64 pages
    order = np.lexsort((dst, src))
    ends = {"src": src[order].astype(np.int32), "dst": dst[order].astype(np.int32)}
    with gl.DynamicGraph(directed=True, num_vertices=2000, devices=bench.device.name) as store:
        store.insert(src, dst)
        at_first, paths = store.memory_usage()[bench.device.name], []
        for begin in range(0, src.size * 7 // 10, 1200):
            batch = bench.device.put({name: part[begin : begin + 1200] for name, part in ends.items()})
            paths += store.delete(**batch).paths.values()
        store.check()
        assert 1 <= paths.count("merge") <= len(paths) // 10
        assert store.memory_usage()[bench.device.name] < 0.6 * at_first


def test_a_batch_that_changes_nothing_is_not_merged_again_and_again(bench: Bench) -> None:
    src, dst = edges_of(11)
    with gl.DynamicGraph(directed=True, num_vertices=ROWS, devices=bench.device.name) as store:
        store.insert(src, dst)
        gone = slice(0, 1000)
        while store.statistics()[bench.device.name]["density"] > SPARSE:
            assert store.delete(src[gone], dst[gone]).deleted == 1000
            before, gone = gone, slice(gone.stop, gone.stop + 1000)
        again = [store.delete(src[before], dst[before]) for _ in range(6)]  # which are deleted
        assert [result.unchanged for result in again] == [1000] * 6
        assert sum("merge" in result.paths.values() for result in again) <= 1
        store.check()


def test_without_memory_gaps_stay_and_are_not_asked_for_at_every_batch(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fails(*_: Any) -> Any:
        asked.append(1)
        raise DeviceMemoryError("none left")

    src, dst = edges_of(9)
    with gl.DynamicGraph(directed=True, num_vertices=ROWS, devices=bench.device.name) as store:
        store.insert(src, dst)
        monkeypatch.setattr(State, "reserve_apart", fails)
        for begin in range(0, src.size // 2, 1000):
            store.delete(src[begin : begin + 1000], dst[begin : begin + 1000])
        store.check()
        assert 1 <= len(asked) <= 8  # of a hundred batches
        monkeypatch.undo()
        store.delete(src[src.size // 2 :], dst[src.size // 2 :])
        store.check()
        assert store.num_edges == 0
