"""Memory of a shard on a GPU: allocated between batches rather than by them, in pieces that later batches can reuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from cutting_pool import CuttingPool
from hypothesis import given
from hypothesis import strategies as st
from packed_pair import Pair, assert_same, random_keys
from resident_store import N, ResidentStore, counted_requests, pairs_of

from graphlode.common.store import PAGE_SLOTS, keys_of
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.store import pages as packed_pages
from graphlode.cuda.store import pool as packed_pool
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store.pool import SEGMENT_PAGES, Pool, _piece_sizes
from graphlode.cuda.store.state import State
from graphlode.errors import DeviceMemoryError
from kernel_bench import Bench


class Asked(EmulatedDevice):
    """A device that records all allocations, and may refuse them."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.refuses = False

    def allocate(self, nbytes: int) -> tuple[Any, int]:
        if self.refuses:
            raise DeviceMemoryError("no memory, for a test")
        self.sizes.append(nbytes)
        return super().allocate(nbytes)


@given(first=st.integers(1, 5000), more=st.integers(0, 5000))
def test_pieces_come_to_what_is_needed_and_are_few(first: int, more: int) -> None:
    pieces = _piece_sizes(first, first + more)
    sure = _piece_sizes(first, first)
    assert sum(pieces) == first + more and all(pieces)
    assert pieces[: len(sure)] == sure and sum(sure) == first
    assert len(sure) <= 3 and len(pieces) <= len(sure) + 5


@given(segments=st.integers(16, 3000), known=st.lists(st.integers(1, 1000), max_size=20))
def test_a_merge_asks_for_pieces_of_the_sizes_that_were_given_back(segments: int, known: list[int]) -> None:
    pieces = _piece_sizes(segments, segments + 3, tuple(sorted(known, reverse=True)))
    assert sum(pieces) == segments + 3 and all(pieces)
    before = _piece_sizes(segments, segments)
    later = _piece_sizes(segments + segments // 20, segments + segments // 20, before)
    large = [size for size in before if size > segments / 4]
    assert list(later[: len(large)]) == large and len(later) <= len(before) + 1


def grown(pool: Pool, batches: int, provides: bool) -> Iterator[int]:
    """Batches that split a few pages each: the allocations of each."""
    device: Any = pool._device
    used = pool.take(2000).tolist()
    for _ in range(batches):
        if provides and pool.is_short:
            pool.provide()
        device.sizes.clear()
        fresh = pool.take(9).tolist()
        pool.release(np.array(used[:8], np.uint32))
        used = used[8:] + fresh
        pool.trim()
        yield len(device.sizes)


def test_batches_that_split_pages_find_memory_if_it_was_provided() -> None:
    assert sum(grown(Pool(Asked(), weighted=False), 1500, provides=True)) == 0
    assert sum(grown(Pool(Asked(), weighted=False), 1500, provides=False)) > 10  # otherwise the test shows nothing


def test_what_is_provided_is_not_given_back_at_once() -> None:
    for used in (1, 40, 64, 100, 1000, 5000):
        pool = Pool(Asked(), weighted=False)
        pool.take(used)
        pool.take(pool.num_free)
        while pool.is_short:
            pool.provide()
        provided = pool.num_free
        assert provided >= (max(32, used // 32) if used > SEGMENT_PAGES else 0)
        pool.trim()
        assert pool.num_free == provided and not pool.num_unneeded


def test_a_device_without_memory_provides_none_and_nothing_changes() -> None:
    device = Asked()
    pool = Pool(device, weighted=False)
    pool.take(SEGMENT_PAGES * 3)
    pool.take(pool.num_free)
    before = pool.nbytes, pool.capacity, pool.num_free
    device.refuses = True
    assert not pool.provide()
    assert (pool.nbytes, pool.capacity, pool.num_free) == before and pool.is_short
    device.refuses = False
    assert pool.provide()
    assert pool.num_free and not pool.is_short


def loaded_and_merged(device: EmulatedDevice) -> Pool:
    """A pool that has everything except the memory of the next merge."""
    pool = Pool(device, weighted=False)
    pool.keep_only(pool.take_apart(3000, 3000))
    while pool.is_short:
        pool.provide()
    pool.keep_only(pool.take_apart(3100, 3100))
    while pool.num_free < packed_pool._low(3100):
        pool.provide()
    assert pool.is_short
    return pool


def test_a_store_that_was_only_loaded_is_not_provided_for_a_merge() -> None:
    """There may never be another merge."""
    device = Asked()
    pool = Pool(device, weighted=False)
    pool.keep_only(pool.take_apart(3000, 3000))
    while pool.is_short:
        pool.provide()
    device.sizes.clear()
    pool.provide()
    assert not device.sizes


def test_the_next_merge_is_provided_for_and_nothing_of_it_is_kept() -> None:
    device = CuttingPool()
    pool = loaded_and_merged(device)
    before = pool.nbytes
    while pool.is_short:
        pool.provide()
    assert pool.nbytes <= before + 3100 / 32 * pool.page_bytes
    device.asked.clear()
    pool.take_apart(3250, 3200)
    assert not device.asked


def test_a_device_that_must_be_asked_is_asked_for_much_at_a_time() -> None:
    """The first piece shows that memory is short. Then everything missing is allocated at once, and more than the merge
    takes."""
    device = CuttingPool()
    pool = loaded_and_merged(device)
    device.forget_free()
    device.asked.clear()
    while pool.is_short:
        pool.provide()
    assert len(device.asked) == 2 and sum(device.asked) > (3100 + 3100 // 5) * pool.page_bytes


@given(growth=st.floats(1.01, 1.06), spare=st.integers(0, 4000))
def test_a_store_that_grows_by_merges_seldom_asks_the_device(growth: float, spare: int) -> None:
    """Merges reuse the memory that earlier ones released, so the pool has room for a few copies and the spare part."""
    device = CuttingPool()
    pool = Pool(device, weighted=False)
    device.allocate(spare * pool.page_bytes)
    used, asks, in_merges, merges = 2000, 0, 0, 0
    pool.keep_only(pool.take_apart(used, used))
    while used < 8000:
        before = len(device.asked)
        while pool.is_short:
            pool.provide()
        asks += len(device.asked) > before
        before = len(device.asked)
        used = int(used * growth)
        pool.keep_only(pool.take_apart(used + used // 50, used)[:used])
        merges += 1
        in_merges += merges > 2 and len(device.asked) > before  # whose memory was provided
    assert in_merges <= 1 and asks <= 12
    assert device.pooled_bytes() < (4.5 * used + spare) * pool.page_bytes


def test_a_device_that_is_nearly_full_is_not_asked_for_more_than_is_needed() -> None:
    device = CuttingPool(room=8800)
    pool = Pool(device, weighted=False)
    device.page_bytes = pool.page_bytes
    pool.keep_only(pool.take_apart(4000, 4000))
    while pool.is_short:
        pool.provide()
    assert device.pooled_bytes() < 4400 * pool.page_bytes
    pool.keep_only(pool.take_apart(4096, 4096))  # for which the memory is just enough


def test_the_last_pages_of_a_full_device_are_found() -> None:
    """The usual amount is too much there."""
    device = CuttingPool(room=4000)
    pool = Pool(device, weighted=False)
    device.page_bytes = pool.page_bytes
    taken = pool.take(2000).size
    with pytest.raises(DeviceMemoryError):
        while True:
            taken += pool.take(9).size
    assert taken > 4000 - 2 * SEGMENT_PAGES


def test_addresses_that_the_device_knows_are_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    device, sent = CuttingPool(), []
    update = device.update

    def noted(array: Any, start: int, values: Any) -> None:
        sent.append(values.size)
        update(array, start, values)

    monkeypatch.setattr(device, "update", noted)
    pool = Pool(device, weighted=False)
    counts = []
    for _ in range(12):
        sent.clear()
        pool.keep_only(pool.take_apart(3000, 3000))
        counts.append(len(sent))
        backed = pool._counted.addresses != 0
        assert (pool.segments[: backed.size][backed] == pool._counted.addresses[backed]).all()
    assert counts[0] == 1 and counts[-2:] == [0, 0]


def test_the_table_of_segments_is_replaced_as_the_store_grows(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """While kernels and older versions read the arrays."""
    monkeypatch.setattr(packed_pool, "_LEAST_TABLE", 1)
    monkeypatch.setattr(packed_pool, "_ROOM", 1)
    rng, pair = np.random.default_rng(41), Pair(bench, 3000)
    tables, versions = set(), []
    for _ in range(4):
        pair.apply(random_keys(rng, 60_000, 3000), path="merge")
        tables.add(packed_pool.address(pair.state.pool.segments))
        versions.append(pair.fork())
        pair.apply(random_keys(rng, 500, 3000))
    for version in versions:
        assert_same(bench, *version)
    assert len(tables) > 2


def test_memory_for_a_merge_is_not_asked_for_again_where_there_is_none() -> None:
    device = Asked()
    pool = loaded_and_merged(device)
    device.refuses = True
    assert not pool.provide() and not pool.is_short
    device.refuses = False
    pool.keep_only(pool.take_apart(3200, 3200))
    assert pool.is_short


def test_room_for_what_is_kept_of_pages_is_made_before_it_is_needed() -> None:
    pool = Pool(Asked(), weighted=False)
    generations = set()
    for used in range(64, 40_000, 448):
        generation = pool.generation
        pool.take(448)
        assert pool.generation == generation or used < 64 + 448  # only the first one allocated
        while pool.is_short:
            pool.provide()
        generations.add(pool.generation)
    assert len(generations) > 3


@pytest.mark.parametrize("refused", [False, True])
def test_a_shard_is_the_same_whether_memory_was_provided(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    """The arrays of the pool move every time, or there is no memory for another directory."""
    monkeypatch.setattr(Pool, "provide", _move)
    monkeypatch.setattr(Pool, "is_short", not refused)
    pair, rng = Pair(bench, 300), np.random.default_rng(4)
    pair.apply(random_keys(rng, 30_000, 300), path="merge")
    generation = pair.state.pool.generation
    for turn in range(12):
        pair.apply(random_keys(rng, 900, 300), path="in place" if turn % 5 else "merge")
        with monkeypatch.context() as patch:
            if refused:
                pair.state.workspace.spare = None
                patch.setattr(type(bench.device), "empty", _refuse)
            bench.do(pair.state.provide)
        pair.check()
    assert (pair.state.pool.generation > generation + 5) is not refused


def _move(pool: Pool) -> bool:
    pool._resize(pool.arrays["totals"].size)
    return True


def _refuse(*args: Any) -> Any:
    raise DeviceMemoryError("no memory, for a test")


def is_provided_for(bench: Bench, state: State, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a short shard allocates memory now, at the end of a batch."""
    times = []
    with monkeypatch.context() as patch:
        patch.setattr(state, "provide", lambda: times.append(1))
        state.is_short = True
        bench.do(lambda: packed.finish(bench.device, state))
        asked = len(times)
        state.is_short = False
        bench.do(lambda: packed.finish(bench.device, state))
    assert len(times) == asked  # a shard that is not short allocates nothing
    return asked == 1


def test_a_shard_that_others_read_is_not_provided_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(bench, 50)
    pair.apply(keys_of(np.repeat(np.arange(50), 400), np.tile(np.arange(400), 50)), path="merge")
    pair.apply(keys_of(np.array([3]), np.array([9000])))
    assert is_provided_for(bench, pair.state, monkeypatch)
    version = pair.fork()
    assert not is_provided_for(bench, pair.state, monkeypatch)
    del version


def test_memory_waits_until_a_batch_takes_little_time_itself(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits after every merge, and after a batch that split pages if there is enough memory for another one."""
    pair = Pair(bench, 50)
    pair.apply(keys_of(np.repeat(np.arange(50), 400), np.tile(np.arange(400), 50)), path="merge")
    state = pair.state
    assert state.is_short and not is_provided_for(bench, state, monkeypatch)
    state.is_short = True
    while state.is_short:
        bench.do(state.provide)
    pair.apply(keys_of(np.full(PAGE_SLOTS, 7), np.arange(1000, 1000 + PAGE_SLOTS)))
    state.workspace.spare = None
    assert is_provided_for(bench, state, monkeypatch)  # the next one would have to allocate a directory
    state.workspace.spare = state._other_directory(state.pages.size)
    assert not is_provided_for(bench, state, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(Pool, "is_very_short", True)
        assert is_provided_for(bench, state, monkeypatch)
    pair.apply(keys_of(np.array([3]), np.array([9000])))
    assert is_provided_for(bench, state, monkeypatch)


def test_a_pool_is_short_before_it_is_very_short() -> None:
    pool = Pool(Asked(), weighted=False)
    pool.take(2000)
    pool.take(pool.num_free - 1)
    while pool.is_short:
        pool.provide()
    seen = []
    while pool.num_free:
        pool.take(1)
        seen.append((pool.is_short, pool.is_very_short))
    assert sorted(seen) == seen and {(False, False), (True, False), (True, True)} == set(seen)
    assert seen.count((True, False)) > 20  # batches, of which some split no pages


def test_batches_that_split_pages_of_a_store_ask_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From two pieces of memory on: no allocation during a batch."""
    of, rng = ResidentStore("cuda-emulated", 270_000), np.random.default_rng(3)
    of.settle()
    pages, pool = of.pages, of.shard.state.pool
    assert pages > SEGMENT_PAGES
    pool.take(pool.num_free - 40)  # so batches need memory to be provided
    memory = pool.nbytes
    with counted_requests(of, monkeypatch) as asked:
        for turn in range(100):
            of.apply(np.full(800, turn * 30, np.int32), rng.permutation(N)[:800].astype(np.int32))
    assert asked == [0] * 100
    assert of.pages > pages + 20 and pool.nbytes > memory
    of.store.check()


@pytest.mark.parametrize("device", ["cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def test_batches_go_on_after_memory_was_provided(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    monkeypatch.setattr(Pool, "provide", _move)
    monkeypatch.setattr(Pool, "is_short", True)
    of, rng = ResidentStore(device), np.random.default_rng(8)
    known, pool = of.edges, of.shard.state.pool
    of.settle()
    known |= pairs_of(np.arange(50), np.arange(50) + 1)
    moves = pool.generation
    for _ in range(12):
        src, dst = rng.integers(0, N, (2, 200)).astype(np.int32)
        of.apply(src, dst)
        known |= pairs_of(src, dst)
    assert pool.generation > moves + 8
    assert of.edges == known
    of.store.check()


def test_memory_is_provided_where_the_device_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """On any calling thread it is in the stream of the device, since later batches wait for no other stream."""
    inside: list[bool] = []
    entered = []

    @contextmanager
    def current(_: EmulatedDevice) -> Iterator[None]:
        entered.append(None)
        yield
        entered.pop()

    monkeypatch.setattr(EmulatedDevice, "current", current)
    monkeypatch.setattr(Pool, "provide", lambda pool: inside.append(bool(entered)) or True)
    monkeypatch.setattr(Pool, "is_short", True)
    ResidentStore("cuda-emulated").settle()
    assert inside and all(inside)


def test_want_of_memory_between_batches_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some arrays have moved already when memory runs out: the next batch describes the shard again."""
    of, rng = ResidentStore("cuda-emulated"), np.random.default_rng(8)
    of.settle()
    known = of.edges
    of.settle()
    moves = of.shard.state.pool.generation
    for _ in range(3):
        src, dst = rng.integers(0, N, (2, 200)).astype(np.int32)
        known |= pairs_of(src, dst)
        with monkeypatch.context() as patch:
            patch.setattr(Pool, "is_short", True)
            patch.setattr(Pool, "provide", lambda pool, patch=patch: _move_and_refuse(pool, patch))
            of.shard.state.is_short = True
            version = of.apply(src, dst).version
        assert of.store.version == version and of.store.num_edges == len(known)
    assert of.shard.state.pool.generation == moves + 3
    assert of.edges == known
    of.store.check()


def _move_and_refuse(pool: Pool, patch: pytest.MonkeyPatch) -> bool:
    _move(pool)
    patch.setattr(EmulatedDevice, "asarray", _refuse)
    return False


def test_a_device_that_is_full_is_not_asked_again_by_every_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    of = ResidentStore("cuda-emulated")
    of.settle()
    monkeypatch.setattr(Pool, "is_short", True)
    monkeypatch.setattr(Pool, "provide", lambda pool: bool(asked.append(pool)))
    of.shard.state.is_short = True
    of.settle()
    assert len(asked) == 1


def test_another_directory_lies_ready_for_the_first_split(bench: Bench) -> None:
    pair = Pair(bench, 50)
    pair.apply(keys_of(np.repeat(np.arange(50), 400), np.tile(np.arange(400), 50)), path="merge")
    state = pair.state
    assert state.is_short and not state.has_spare(state.pages.size)
    while state.is_short:
        bench.do(state.provide)
    assert state.has_spare(2 * state.pages.size)
    there = state.workspace.spare.room_for_pages
    pair.apply(keys_of(np.full(PAGE_SLOTS, 7), np.arange(1000, 1000 + PAGE_SLOTS)))
    assert state.directory.room_for_pages is there


def test_pages_lie_in_memory_as_kernels_see_them(bench: Bench) -> None:
    found = np.zeros(6, np.int64)
    bench.launch("packed_layout", "packed_layout_words", 1, 1, found)
    weighted = packed_pool._PAGE_WORDS + PAGE_SLOTS
    places = [packed_pool._SEPARATORS, packed_pool._COUNTS, packed_pool._COUNTS + packed_pool._COUNT_WORDS]
    assert found.tolist() == [packed_pool._PAGE_WORDS, weighted, *places, packed_pages._MOST_PARTS]
