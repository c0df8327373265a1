"""The packed pages of a shard on a GPU against the reference, with every invariant checked after every batch."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packed_pair import Keys, Pair, assert_same, random_keys

from graphlode.common.buckets import bucket_of
from graphlode.common.control import Control
from graphlode.common.store import PATHS, Path, keys_of, rows_of
from graphlode.cuda.store import pages as packed_pages
from graphlode.cuda.store import shard as packed
from graphlode.errors import DeviceMemoryError, InputError, StateError
from graphlode.reference.store import shard as reference
from kernel_bench import Bench

SIZES = [0, 1, 31, 32, 33, 500, 2047, 2048, 2049, 5000]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_batches_of_all_sizes_do_what_the_reference_does(bench: Bench, path: Path, weighted: bool) -> None:
    rng, pair = np.random.default_rng(len(path)), Pair(bench, 300, weighted=weighted)
    for size in [4000, *SIZES, 9000]:
        keys, deletes = random_keys(rng, size, 300), rng.random(size) < 0.4
        weights = rng.integers(0, 3, size).astype(float) if weighted else None
        pair.apply(keys, deletes if size % 2 else None, weights, path=path)
    assert pair.statistics["pages"] > 1


@settings(max_examples=25)
@given(data=st.data())
def test_any_sequence_of_batches_on_any_path(emulated: Bench, data: st.DataObject) -> None:
    num_rows = data.draw(st.sampled_from([1, 3, 40, 1000]))
    weighted = data.draw(st.booleans())
    rng, pair = np.random.default_rng(data.draw(st.integers(0, 99))), Pair(emulated, num_rows, weighted=weighted)
    versions: list[tuple[Any, Any]] = []
    for _ in range(data.draw(st.integers(1, 6))):
        size = data.draw(st.sampled_from([1, 40, 900, 2500, 6000]))
        keys = random_keys(rng, size, num_rows)
        if data.draw(st.booleans()) and pair.expected.keys.size:  # some of the existing entries
            keys = rng.choice(pair.expected.keys, size)
        deletes = rng.random(size) < data.draw(st.sampled_from([0.0, 0.5, 1.0]))
        weights = rng.random(size) if weighted and data.draw(st.booleans()) else None
        pair.apply(keys, deletes, weights, path=data.draw(st.sampled_from(PATHS)))
        if data.draw(st.booleans()):
            versions.append(pair.fork())
        if len(versions) > 2:
            versions.pop(data.draw(st.integers(0, 2)))
    for state, expected in versions:
        assert_same(emulated, state, expected)


def test_the_last_write_of_a_key_wins(bench: Bench) -> None:
    for size in (10, 3000):  # sorted by one block, and by the device
        pair = Pair(bench, 10, weighted=True)
        keys = np.repeat(keys_of(np.array([3]), np.array([4])), size)
        deletes = np.arange(size) % 2 == 0
        assert pair.apply(keys, deletes, np.arange(size) * 1.0).inserted == 1
        assert pair.ask(packed.row, 3)[1].tolist() == [size - 1]
        assert pair.apply(keys, ~deletes).deleted == 1


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("size", [30, 1500, 9000])
def test_weights_that_differ_in_their_sign_alone_are_two(bench: Bench, size: int, path: Path) -> None:
    rng, pair = np.random.default_rng(19), Pair(bench, 100, weighted=True)
    keys = rng.permutation(keys_of(*np.divmod(np.arange(10_000), 100)))
    pair.apply(keys, None, np.zeros(keys.size), path="merge")
    version, expected = pair.fork()
    some, minus = keys[:size], np.full(size, -0.0)
    for weights, changed in ((minus, size), (minus, 0), (-minus, size)):
        assert pair.apply(some, None, weights, path=path).changed == changed
        there = np.isin(pair.expected.keys, some)
        found = pair.bench.do(lambda: bench.device.get(packed.csr(bench.device, pair.state)["weights"]))
        np.testing.assert_array_equal(np.signbit(found), there & np.signbit(weights[0]))
    assert_same(bench, version, expected)


def test_updates_without_effect_change_nothing(bench: Bench) -> None:
    rng, pair = np.random.default_rng(1), Pair(bench, 100)
    keys = random_keys(rng, 5000, 100)
    pair.apply(keys)
    absent = np.setdiff1d(random_keys(rng, 900, 100), keys)
    for path in PATHS:
        assert pair.apply(keys[:900], path=path).slots_written == 0
        change = pair.apply(absent, np.ones(absent.size, bool), path=path)
        assert (change.inserted, change.deleted, change.slots_written) == (0, 0, 0)


def one_leaf(start: int) -> Callable[[int], Keys]:
    """Keys that all lie between two existing ones."""
    return lambda i: np.uint64(50 << 32) + np.uint64(start) + np.arange(1000, dtype=np.uint64) + np.uint64(1000 * i)


ADVERSARIAL: dict[str, Callable[[int], Keys]] = {
    "ascending into one leaf": one_leaf(1),
    "descending": lambda i: one_leaf(2**30)(9 - i)[::-1],
    "one hub": lambda i: keys_of(np.full(1000, 7), np.random.default_rng(i).integers(0, 2**31, 1000)),
    "the lowest keys": lambda i: np.arange(1000 * (9 - i), 1000 * (10 - i), dtype=np.uint64),
    "the highest keys": lambda i: keys_of(np.full(1000, 99), 2**31 - 1 - np.arange(1000) - 1000 * i),
}


@pytest.mark.parametrize("name", ADVERSARIAL)
@pytest.mark.parametrize("path", ["in place", "climb"])
def test_hot_spots_never_rewrite_everything(bench: Bench, name: str, path: Path) -> None:
    rng, pair = np.random.default_rng(2), Pair(bench, 100)
    pair.apply(keys_of(rng.integers(0, 100, 60_000), rng.integers(0, 2**31, 60_000)), path="merge")
    before = pair.statistics["capacity"]
    for i in range(10):
        change = pair.apply(ADVERSARIAL[name](i), path=path)
        assert change.inserted == 1000 and change.slots_written < before
    assert pair.statistics["density"] > 0.6


def test_a_batch_far_larger_than_a_page_into_one_leaf(bench: Bench) -> None:
    pair = Pair(bench, 100)
    pair.apply(keys_of(np.arange(100), np.arange(100)))
    pair.apply(keys_of(np.full(70_000, 50), np.arange(1000, 71_000)))
    assert pair.statistics["pages"] > 20 and pair.statistics["density"] > 0.75
    pair.apply(keys_of(np.full(70_000, 50), np.arange(1000, 71_000)), np.ones(70_000, bool))
    assert pair.statistics["pages"] == 1


@pytest.mark.parametrize("most_fresh", [1, 5, 20])
def test_pages_are_written_in_waves_that_reuse_each_other(
    bench: Bench, most_fresh: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = packed_pages.split_into_waves
    monkeypatch.setattr(packed_pages, "split_into_waves", lambda groups, _: split(groups, most_fresh))
    monkeypatch.setattr(packed_pages, "are_grouped_by_device", lambda *_: False)
    monkeypatch.setattr(packed, "_plan_merge", lambda *_, **__: None)  # as if there were no memory for it
    rng, pair = np.random.default_rng(18), Pair(bench, 200, weighted=True)
    pair.apply(random_keys(rng, 40_000, 200), None, rng.random(40_000))
    version = None
    for i in range(8):
        if i % 3 == 2:
            version = pair.fork()  # pages that it holds cannot be reused
        size = 12_000 if i % 2 else 30
        pair.apply(random_keys(rng, size, 200) + np.uint64(2**20 * i), None, rng.random(size))
        keys = rng.choice(pair.expected.keys, size)
        pair.apply(keys, rng.random(size) < 0.7, rng.random(size))
    assert version is not None
    assert_same(bench, *version)


@pytest.mark.parametrize("path", ["in place", "merge"])
def test_delete_everything_and_fill_again(bench: Bench, path: Path) -> None:
    rng, pair = np.random.default_rng(3), Pair(bench, 2000)
    keys = np.unique(random_keys(rng, 30_000, 2000))
    for _ in range(2):
        pair.apply(keys, path=path)
        rng.shuffle(keys)
        for part in np.array_split(keys, 3):
            pair.apply(part, np.ones(part.size, bool), path=path)
        assert packed.num_entries(pair.state) == 0 and pair.statistics["pages"] == 1


def test_growing_and_shrinking_by_turns_keeps_pages_within_bounds(bench: Bench) -> None:
    rng, pair = np.random.default_rng(4), Pair(bench, 50)
    pair.apply(random_keys(rng, 40_000, 50) + np.uint64(2**20))
    for i in range(6):
        keys = keys_of(rng.integers(20, 24, 6000), rng.integers(0, 4000, 6000))
        pair.apply(keys, np.full(keys.size, i % 2 == 1))
    pages = pair.statistics["pages"]
    pair.apply(pair.expected.keys[100:-100:2], np.ones((pair.expected.keys.size - 199) // 2, bool))
    assert pair.statistics["pages"] < pages


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_versions_stay_as_they_were_while_batches_go_on(bench: Bench, weighted: bool) -> None:
    rng, pair = np.random.default_rng(5), Pair(bench, 500, weighted=weighted)
    pair.apply(random_keys(rng, 30_000, 500), None, rng.random(30_000) if weighted else None)
    versions = []
    for path in (*PATHS, *PATHS):
        versions.append(pair.fork())
        assert pair.statistics["shared_pages"] == pair.statistics["pages"]
        keys, deletes = random_keys(rng, 300, 500), rng.random(300) < 0.5
        pair.apply(keys, deletes, rng.random(300) if weighted else None, path=path)
        for i in range(len(versions)):
            assert_same(bench, *versions[i])
    versions.clear()
    gc.collect()
    assert pair.statistics["shared_pages"] == 0
    pair.apply(random_keys(rng, 300, 500))
    taken = int((pair.state.pool.references > 0).sum())
    assert taken == pair.statistics["pages"]


def test_only_touched_pages_are_copied(bench: Bench) -> None:
    rng, pair = np.random.default_rng(6), Pair(bench, 500)
    pair.apply(keys_of(rng.integers(0, 500, 60_000), rng.integers(0, 2**31, 60_000)), path="merge")
    version = pair.fork()
    pair.apply(pair.expected.keys[:3], np.ones(3, bool))
    assert pair.statistics["shared_pages"] == pair.statistics["pages"] - 1
    assert_same(bench, *version)


def test_a_version_outlives_its_shard(bench: Bench) -> None:
    pair = Pair(bench, 50)
    pair.apply(random_keys(np.random.default_rng(7), 9000, 50))
    version = pair.fork()
    del pair
    gc.collect()
    assert_same(bench, *version)


def test_a_version_cannot_be_changed(bench: Bench) -> None:
    pair = Pair(bench, 5)
    pair.state, _ = pair.fork()
    with pytest.raises(StateError, match="immutable"):
        pair.prepare(np.zeros(1, np.uint64))
    with pytest.raises(StateError, match="immutable"):
        pair.ask(packed.resize, 9)


def test_rows_can_be_added_at_any_time(bench: Bench) -> None:
    rng, pair = np.random.default_rng(8), Pair(bench, 0)
    version = pair.fork()
    for num_rows in (1, 2, 33, 1000, 1001, 1500):
        pair.ask(packed.resize, num_rows)
        reference.resize(None, pair.expected, num_rows)
        pair.check()
        pair.apply(random_keys(rng, 3000, num_rows))
    assert_same(bench, *version)


def test_a_plan_that_is_never_written_leaves_no_trace(bench: Bench) -> None:
    rng, pair = np.random.default_rng(9), Pair(bench, 300)
    pair.apply(random_keys(rng, 20_000, 300))
    for path in PATHS:
        plan = pair.prepare(random_keys(rng, 9000, 300), rng.random(9000) < 0.5, path=path)
        pair.check()
        pair.apply(random_keys(rng, 500, 300))
        with pytest.raises(StateError, match="out of date"):
            bench.do(partial(packed.commit, bench.device, plan))
    pair.check()


def test_a_plan_from_before_a_fork_cannot_write_into_shared_pages(bench: Bench) -> None:
    rng, pair = np.random.default_rng(14), Pair(bench, 300)
    pair.apply(random_keys(rng, 20_000, 300))
    plan = pair.prepare(random_keys(rng, 100, 300))
    version = pair.fork()
    with pytest.raises(StateError, match="out of date"):
        bench.do(lambda: packed.commit(bench.device, plan))
    assert_same(bench, *version)


@pytest.mark.parametrize("path", ["in place", "merge"])
def test_a_batch_that_finds_no_memory_changes_nothing(
    bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, pair = np.random.default_rng(10), Pair(bench, 300)
    pair.apply(random_keys(rng, 20_000, 300))
    keys = keys_of(np.full(50_000, 5), np.arange(50_000))

    def refuse(count: int, *, apart: bool = False) -> Any:
        raise DeviceMemoryError(f"no memory for {count} pages")

    with monkeypatch.context() as patch:
        patch.setattr(pair.state.pool, "take", refuse)
        with pytest.raises(DeviceMemoryError):
            pair.prepare(keys, path=path)
    pair.check()
    pair.apply(keys, path=path)


@pytest.mark.parametrize("path", ["in place", "merge"])
def test_whichever_allocation_fails_nothing_is_changed(
    bench: Bench, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, pair = np.random.default_rng(17), Pair(bench, 300)
    pair.apply(random_keys(rng, 20_000, 300))
    pair.state.pool.take(pair.state.pool.free.size - 3)  # so the batch needs more memory than is left
    keys = keys_of(np.full(18_000, 5), np.arange(18_000))
    allowed, failures, finished = [0], 0, False

    def failing(name: str) -> Callable[..., Any]:
        really = getattr(bench.device, name)

        def allocate(*args: Any) -> Any:
            allowed[0] -= 1
            if allowed[0] < 0:
                raise DeviceMemoryError("no memory")
            return really(*args)

        return allocate

    while not finished:
        with monkeypatch.context() as patch:
            for name in ("empty", "allocate", "zeros", "asarray"):
                patch.setattr(bench.device, name, failing(name))
            allowed[0] = failures
            version = pair.fork()  # so every page must be copied
            try:
                pair.prepare(keys, path=path)
                finished = True
            except DeviceMemoryError:
                failures += 1
        pair.check()
        assert_same(bench, *version)
    assert failures > 5
    pair.apply(keys, path=path)
    assert_same(bench, *version)


def test_rows_outside_of_the_shard_are_refused(bench: Bench) -> None:
    pair = Pair(bench, 10)
    for keys in (keys_of(np.array([10]), np.array([0])), keys_of(np.full(3000, 10), np.arange(3000))):
        with pytest.raises(InputError, match="10 rows"):
            pair.prepare(keys)
    pair.apply(keys_of(np.array([9]), np.array([2**31 - 1])))


def test_a_stop_takes_effect(bench: Bench) -> None:
    pair, control = Pair(bench, 10), Control()
    control.stop()
    with pytest.raises(InterruptedError):
        pair.prepare(np.zeros(1, np.uint64), control=control)


def test_what_can_be_read_is_what_the_reference_reads(bench: Bench) -> None:
    rng, pair = np.random.default_rng(11), Pair(bench, 400, weighted=True)
    pair.apply(random_keys(rng, 30_000, 400), None, rng.random(30_000))
    expected = pair.expected
    np.testing.assert_array_equal(pair.ask(packed.degrees), reference.degrees(None, expected))
    asked = np.concatenate([random_keys(rng, 3000, 400), expected.keys[:100], keys_of(np.array([400]), np.array([0]))])
    np.testing.assert_array_equal(pair.ask(packed.contains, asked), reference.contains(None, expected, asked))
    for row in (0, 1, 57, 399):
        for found, wanted in zip(pair.ask(packed.row, row), reference.row(None, expected, row), strict=True):
            np.testing.assert_array_equal(found, wanted)
    slots = rng.random(1024) < 0.3
    keys, weights = pair.ask(packed.rows_in, slots)
    assert slots[bucket_of(rows_of(keys))].all()
    for found, wanted in zip((keys, weights), reference.rows_in(None, expected, slots), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert packed.num_entries(pair.state) == expected.keys.size


def test_statistics_report_the_fullest_window_of_each_level(bench: Bench) -> None:
    pair = Pair(bench, 10)
    pair.apply(keys_of(np.full(13, 3), np.arange(13)))
    found = pair.statistics
    assert (found["entries"], found["pages"], found["capacity"]) == (13, 1, 4096)
    assert found["density"] == 13 / 4096 and found["density_by_level"] == [13 / (32 << level) for level in range(8)]


@pytest.mark.parametrize("neighbors", [300, 2**31], ids=["narrow", "wide"])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_larger_batches_are_sorted_by_the_device(bench: Bench, neighbors: int, weighted: bool) -> None:
    """Sorted by all bits of the keys, with the last write of a key last."""
    num_rows = 300 if neighbors == 300 else 2**21
    rng, pair = np.random.default_rng(12), Pair(bench, num_rows, weighted=weighted)
    for part in (0.0, 0.4, 1.0):
        keys = keys_of(rng.integers(num_rows - 5, num_rows, 5000), rng.integers(neighbors - 300, neighbors, 5000))
        pair.apply(keys, rng.random(5000) < part, rng.random(5000) if weighted else None)
        assert pair.expected.keys.size


def test_a_batch_may_lie_on_the_device(bench: Bench) -> None:
    rng, pair = np.random.default_rng(15), Pair(bench, 300)
    for size in (500, 5000):
        keys, deletes = random_keys(rng, size, 300), rng.random(size) < 0.3
        there = bench.do(partial(bench.device.put, {"keys": keys, "deletes": deletes}))
        plan = pair.prepare(there["keys"], there["deletes"])
        bench.do(partial(packed.commit, bench.device, plan))
        plan = reference.prepare(None, pair.expected, keys, deletes, None, path="in place", control=Control())
        reference.commit(None, plan)
        pair.check()


def test_emptying_a_stretch_of_pages_takes_their_neighbors_along(bench: Bench) -> None:
    """More neighboring pages become empty than one group has."""
    rng, pair = np.random.default_rng(16), Pair(bench, 100)
    pair.apply(keys_of(rng.integers(0, 100, 120_000), rng.integers(0, 2**31, 120_000)), path="merge")
    keys = pair.expected.keys[30_000:90_000]
    change = pair.apply(keys, np.ones(keys.size, bool))
    assert change.deleted == keys.size and pair.statistics["pages"] < 25


def test_memory_stays_near_that_of_the_entries(bench: Bench) -> None:
    rng, pair = np.random.default_rng(13), Pair(bench, 1000)
    keys = np.unique(keys_of(rng.integers(0, 1000, 400_000), rng.integers(0, 2**31, 400_000)))
    pair.apply(keys, path="merge")
    for path in ("merge", "in place", "merge"):
        pair.apply(keys_of(rng.integers(0, 1000, 20_000), rng.integers(0, 2**31, 20_000)), path=path)
        segment = 64 * pair.state.pool.page_bytes  # in reserve, whatever the number of entries
        used = pair.ask(packed.nbytes) - pair.state.workspace.nbytes
        assert used <= 13 * packed.num_entries(pair.state) + segment
