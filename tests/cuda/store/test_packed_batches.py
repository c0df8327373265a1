"""The ways of a batch to the shards of a GPU: as pairs, on the device, in one step, sorted there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from packed_pair import Pair, assert_same, random_keys

from graphlode.common.control import Control
from graphlode.common.store import Pairs, Path, keys_of
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.store import pages as packed_pages
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store import sort as packed_sort
from graphlode.cuda.store import workspace as packed_workspace
from graphlode.cuda.store.groups import num_groups
from graphlode.cuda.store.input import Staging, take
from graphlode.errors import InputError
from graphlode.reference.store import shard as reference
from kernel_bench import Bench


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
def test_pairs_are_made_into_keys_on_the_device(bench: Bench, dtype: Any, both: bool) -> None:
    rng, pair = np.random.default_rng(20), Pair(bench, 100, weighted=True)
    for size, resident in ((40, False), (40, True), (1500, False), (4000, True), (9000, False)):
        rows, neighbors = rng.integers(0, 100, (2, size)).astype(dtype)
        weights = rng.random(size)
        for deletes in (None, rng.random(size) < 0.5, True):
            given = [pair.bench.do(partial(bench.device.asarray, x)) if resident else x for x in (rows, neighbors)]
            pairs = Pairs(*given, size, 100, both, resident)
            order = np.stack([keys_of(rows, neighbors), keys_of(neighbors, rows)], 1)[:, : 1 + both].ravel()
            kept = np.repeat(rows != neighbors, 1 + both)
            gone = np.repeat(
                np.broadcast_to(np.asarray(deletes is True if deletes is None else deletes), size), 1 + both
            )
            values = np.repeat(weights, 1 + both)
            plan = reference.prepare(
                None, pair.expected, order[kept], gone[kept], values[kept], path="in place", control=Control()
            )
            wanted = reference.commit(None, plan)
            work = partial(packed.apply, bench.device, pair.state, pairs, deletes, weights)
            change = bench.do(partial(work, path="in place", control=Control()))
            found = (change.inserted, change.deleted, change.changed, change.self_loops)
            assert found == (wanted.inserted, wanted.deleted, wanted.changed, int((~kept).sum()))
            pair.check()


class OnOneOfTwo(np.ndarray):
    """An array of a device that does not exist, but has a number and streams."""

    data: Any = SimpleNamespace(device_id=1)
    __cuda_array_interface__ = {"data": (4096, False)}


def test_pairs_that_may_still_be_written_are_waited_for_before_they_are_read() -> None:
    steps: list[Any] = []

    def asarray(array: Any) -> Any:
        steps.append("copied")
        return array

    runtime = SimpleNamespace(
        streamSynchronize=steps.append, pointerGetAttributes=lambda address: SimpleNamespace(device=address // 4096)
    )

    @contextmanager
    def of_number(number: int) -> Iterator[None]:
        steps.append(f"on {number}")
        yield

    cuda = SimpleNamespace(runtime=runtime, Device=of_number)
    xp = SimpleNamespace(ndarray=OnOneOfTwo, cuda=cuda)
    device: Any = SimpleNamespace(xp=xp, asarray=asarray, current=nullcontext)
    rows = np.arange(4, dtype=np.int32).view(OnOneOfTwo)
    for number, wanted, stream in ((1, [], 5), (0, ["on 1", 5, "on 1", 5, "copied", "copied"], None)):
        staging: Any = SimpleNamespace(device_number=number, on_device={"deletes": 0, "weights": 0})
        steps.clear()
        given = take(device, staging, Pairs(rows, rows, 4, 100, resident=True, stream=5), None, None)
        assert steps == wanted and given.stream == stream  # if they lie on this device, the first launch waits for them
        assert given.tails is rows and given.count == 4 and given.neighbor_bits == 7


def test_an_emulated_device_has_no_streams_to_wait_for() -> None:
    class OfAnotherLibrary(list[int]):
        __cuda_array_interface__: Any = {"data": (4096, False)}

    device, ids = EmulatedDevice(), OfAnotherLibrary([1, 2, 3])
    pairs = Pairs(ids, ids, 3, 100, resident=True, stream=5)
    given = take(device, Staging(device), pairs, None, None)
    assert given.tails.tolist() == [1, 2, 3] and given.stream is None


@pytest.mark.parametrize("size", [50, 3000])
def test_pairs_outside_of_the_shard_leave_no_trace(bench: Bench, size: int) -> None:
    rng, pair = np.random.default_rng(21), Pair(bench, 100)
    pair.apply(random_keys(rng, 9000, 100))
    for wrong in (-1, 100, 2**31 - 1):
        rows = rng.integers(0, 100, size).astype(np.int32)
        neighbors = rng.integers(0, 100, size).astype(np.int32)
        neighbors[size // 3] = wrong
        for path in ("in place", "merge"):
            with pytest.raises(InputError, match="100 rows"):
                pairs = Pairs(rows, neighbors, size, 100)
                work = partial(packed.apply, bench.device, pair.state, pairs, None, None)
                bench.do(partial(work, path=path, control=Control()))
            pair.check()
    pair.apply(random_keys(rng, 500, 100))


def test_a_batch_is_written_by_the_launches_that_plan_it_unless_pages_must_be_split(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a second round of launches follows, with memory for it or, the first time, without."""
    asked: list[bool] = []
    write_at_once = packed.write_at_once

    def noted(*given: Any) -> bool:
        asked.append(write_at_once(*given))
        return asked[-1]

    monkeypatch.setattr(packed, "write_at_once", noted)
    rng, pair = np.random.default_rng(22), Pair(bench, 400)
    pair.apply(random_keys(rng, 60_000, 400), path="merge")
    pair.apply(random_keys(rng, 10, 400))  # from here on buffers exist
    for size in (1, 100, 2000, 3000, 900, 900, 900, 900):
        keys = keys_of(rng.integers(0, 400, size), rng.integers(0, 400, size))
        if size == 900:
            keys = keys_of(np.full(size, 7), rng.integers(1000, 2**31, size))
        expected = reference.prepare(None, pair.expected, keys, None, None, path="in place", control=Control())
        wanted = reference.commit(None, expected)
        work = partial(packed.apply, bench.device, pair.state, keys, None, None)
        found = bench.do(partial(work, path="in place", control=Control()))
        assert found[:3] == wanted[:3] and found.path == "in place"
        pair.check()
    assert set(asked) == {True, False} and len(asked) < 8


def test_batches_of_many_tiles_are_sorted(bench: Bench) -> None:
    rng, pair = np.random.default_rng(23), Pair(bench, 70_000)
    keys = keys_of(rng.integers(0, 70_000, 30_000), rng.integers(0, 70_000, 30_000))
    keys[20_000:] = keys[:10_000]
    change = pair.apply(keys, np.arange(30_000) % 3 == 0, path="merge")
    assert change.inserted > 10_000
    pair.apply(rng.permutation(keys), np.arange(30_000) % 2 == 0)


def test_a_merge_that_changes_little_takes_no_more_memory_than_it_needs(bench: Bench) -> None:
    rng, pair = np.random.default_rng(24), Pair(bench, 3000)
    keys = np.unique(keys_of(rng.integers(0, 3000, 400_000), rng.integers(0, 3000, 400_000)))
    pair.apply(keys, path="merge")
    before = pair.ask(packed.nbytes)
    for gone in (False, True):  # all exist; then all but a few are deleted
        deletes = np.full(keys.size, gone)
        deletes[::50] = False
        pair.apply(keys, deletes, path="merge")
        assert pair.ask(packed.nbytes) < (1.2 if not gone else 0.9) * before
    pair.apply(keys[:1], path="merge")
    assert int((pair.state.pool.references > 0).sum()) == pair.statistics["pages"]


@pytest.mark.parametrize("held", [False, True], ids=["alone", "with a version"])
def test_the_device_groups_pages_as_the_host_does(bench: Bench, held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def grouped(by_host: bool) -> Any:
        rng, pair = np.random.default_rng(25), Pair(bench, 3000)
        pair.apply(np.unique(random_keys(rng, 130_000, 3000)), path="merge")
        if by_host:
            monkeypatch.setattr(packed_pages, "are_grouped_by_device", lambda *_: False)
        versions = []
        for row in (0, 5, 2990, 5, 100):  # some pages overflow, also the last ones
            if held:
                versions.append(pair.fork())
            pair.apply(keys_of(np.full(3000, row), rng.integers(0, 2**31, 3000)))
        emptied = keys_of(np.repeat(np.arange(40), 3000), np.tile(np.arange(3000), 40))
        pair.apply(emptied, np.ones(emptied.size, bool))
        monkeypatch.undo()
        totals = pair.leaf_counts().sum(axis=1)
        return totals.tolist()

    found = grouped(by_host=False)
    assert found == grouped(by_host=True)
    assert len(found) > 16


def test_several_blocks_group_pages_as_one_does(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_pages, "_JOB_THREADS", 32)  # groups of a block: a full one would be 27 million entries
    pair, per_row = Pair(bench, 300), 3000
    pair.apply(keys_of(np.repeat(np.arange(300), per_row), np.tile(np.arange(per_row), 300)), path="merge")
    pages = pair.statistics["pages"]
    assert num_groups(pages) > 32
    rng = np.random.default_rng(29)
    for row in (3, 298, 150):
        pair.apply(keys_of(np.full(2500, row), rng.integers(4000, 2**31, 2500)))
    rows = np.repeat([30, 90, 120, 180, 240], 600)  # more fresh pages than a block has threads
    assert pair.apply(keys_of(rows, rng.integers(4000, 2**31, rows.size))).path == "in place"
    grown = pair.statistics["pages"]
    gone = keys_of(
        np.repeat(np.arange(255, 285), per_row), np.tile(np.arange(per_row), 30)
    )  # across the border of two blocks
    assert pair.apply(gone, np.ones(gone.size, bool)).path == "in place"
    assert pages < grown > pair.statistics["pages"]


@pytest.mark.parametrize("held", [False, True], ids=["alone", "with a version"])
@pytest.mark.parametrize(
    "rows",
    [range(16), range(12, 33), range(24, 40), range(3, 40), range(39), [*range(8, 17), *range(24, 40)]],
    ids=["first", "middle", "last", "few", "one", "two"],
)
def test_a_stretch_of_pages_that_runs_empty_takes_its_neighbors_along(
    bench: Bench, rows: list[int], held: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole groups of pages become empty: the device joins them with others, as the host does."""
    monkeypatch.setattr(packed, "are_very_many", lambda *_: False)

    def emptied(by_host: bool) -> Any:
        pair, per_row = Pair(bench, 40), 3300
        pair.apply(keys_of(np.repeat(np.arange(40), per_row), np.tile(np.arange(per_row), 40)), path="merge")
        if by_host:
            monkeypatch.setattr(packed_pages, "are_grouped_by_device", lambda *_: False)
        version = pair.fork() if held else None
        gone = keys_of(np.repeat(rows, per_row), np.tile(np.arange(per_row), len(rows)))
        change = pair.apply(gone, np.ones(gone.size, bool))
        assert change.path == "in place"
        pair.apply(gone[::7])
        if version is not None:
            assert_same(bench, *version)
        totals = pair.leaf_counts().sum(axis=1)
        return totals.tolist()

    assert emptied(by_host=False) == emptied(by_host=True)


@pytest.mark.parametrize("size", [2, 64, 100, 1024, 1025, 2048])
def test_small_batches_of_keys_that_take_up_all_bits_are_sorted(bench: Bench, size: int) -> None:
    rng, pair = np.random.default_rng(26), Pair(bench, 2**21, weighted=True)
    keys = keys_of(rng.integers(0, 2**21, size), rng.integers(0, 2**32, size))
    keys[size // 2 :] = keys[: size - size // 2]  # the later half counts
    pair.apply(keys, rng.random(size) < 0.3, rng.random(size))


def test_pages_that_overflow_again_and_again_need_no_further_memory(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_workspace, "_LEAST_ROOM", 2)  # so that it must grow first
    rng, pair = np.random.default_rng(28), Pair(bench, 500)
    pair.apply(np.unique(random_keys(rng, 60_000, 500)), path="merge")
    asked, written = [0], []
    for name in ("empty", "allocate", "zeros", "asarray"):
        plain = getattr(bench.device, name)

        def counted(*args: Any, plain: Any = plain) -> Any:
            asked[0] += 1
            return plain(*args)

        monkeypatch.setattr(bench.device, name, counted)
    for row in (7, 7, 9, 7, 9, 11, 7, 9):
        keys = keys_of(np.full(1500, row), rng.integers(0, 2**31, 1500))
        asked[0] = 0
        change = bench.do(
            partial(packed.apply, bench.device, pair.state, keys, None, None, path="in place", control=Control())
        )
        written.append((change.slots_written > 1500 * 32, asked[0]))
    assert sum(overflowed for overflowed, _ in written) >= 3
    assert [count for _, count in written[-4:]] == [0] * 4
    bench.do(lambda: packed.check(bench.device, pair.state))


def test_versions_keep_their_directories(bench: Bench) -> None:
    rng, pair = np.random.default_rng(29), Pair(bench, 500)
    pair.apply(np.unique(random_keys(rng, 40_000, 500)), path="merge")
    versions = []
    for turn in range(9):
        pair.apply(keys_of(np.full(2500, 3 + turn % 2), rng.integers(0, 2**31, 2500)))
        if turn % 3 == 0:
            versions.append(pair.fork())
        if turn == 7:
            versions.pop(0)
    for version in versions:
        assert_same(bench, *version)


def test_a_commit_asks_for_no_memory(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, pair = np.random.default_rng(30), Pair(bench, 500)
    pair.apply(np.unique(random_keys(rng, 30_000, 500)), path="merge")

    def refuse(*_: Any) -> None:
        raise AssertionError("a commit asked for memory")

    for path in ("in place", "merge"):  # the first one that splits pages
        keys = keys_of(np.full(1800, 7), rng.integers(0, 2**31, 1800))
        plan = pair.prepare(keys, path=path)
        with monkeypatch.context() as patch:
            for name in ("empty", "allocate", "zeros", "asarray", "load"):
                patch.setattr(bench.device, name, refuse)
            assert bench.do(partial(packed.commit, bench.device, plan)).inserted > 1700
        bench.do(lambda: packed.check(bench.device, pair.state))


def test_epochs_begin_again_before_kernels_cannot_count_them(bench: Bench) -> None:
    rng, pair = np.random.default_rng(31), Pair(bench, 300)
    pair.apply(np.unique(random_keys(rng, 20_000, 300)), path="merge")
    pair.state.epoch = 2**32 - 9
    for turn in range(4):
        assert not turn or pair.state.epoch < 2**32 - 4
        pair.apply(keys_of(np.full(900, 5), rng.integers(0, 2**31, 900)))
    assert pair.state.epoch < 100


def test_batches_of_a_size_are_sorted_by_all_bits_of_rows_that_came_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Similar batches share their launches. The structs of directories are reused, with other rows in them."""
    monkeypatch.setattr(packed_sort, "MOST_TILES", 2)  # so that these batches are sorted by digits
    rng, known = np.random.default_rng(33), set[int]()
    state = bench.do(lambda: packed.create(bench.device, num_rows=200, weighted=False))

    def apply(num_rows: int, size: int, path: Path = "in place") -> None:
        keys = keys_of(rng.integers(0, num_rows, size), rng.integers(0, 10_000, size))
        known.update(keys.tolist())
        batch = partial(packed.apply, bench.device, state, keys, None, None, path=path, control=Control())
        bench.do(batch)

    apply(200, 60_000, "merge")
    for _ in range(6):
        apply(200, 6000)
    bench.do(lambda: packed.resize(bench.device, state, 1000))
    for more in range(4):  # each may have another directory
        apply(1000, 3000 + more)
        apply(1000, 6000)
        bench.do(lambda: packed.check(bench.device, state))
    found = bench.do(lambda: packed.rows_in(bench.device, state, np.ones(1024, bool)))[0]
    assert set(found.tolist()) == known


@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_pages_that_several_blocks_spread_together_are_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, parts: int, weighted: bool
) -> None:
    """Batches with splits, hot leaves, deletes and copies of pages that a version holds."""
    monkeypatch.setattr(packed_pages, "parts_of_job", lambda *_: parts)
    pair, rng = Pair(bench, 60, weighted=weighted), np.random.default_rng(17)

    def weights(keys: Any) -> Any:
        return rng.random(keys.size) if weighted else None

    loaded = random_keys(rng, 50_000, 60)
    pair.apply(loaded, None, weights(loaded), path="merge")
    version = pair.fork()
    for turn in range(8):
        keys = random_keys(rng, 500, 60)
        if turn % 2:  # into one leaf, or a few
            keys = keys_of(np.full(1500, 31), 10**6 + 7 * turn + 100 * np.arange(1500))
        deletes = rng.random(keys.size) < 0.4 if turn % 3 == 2 else None
        pair.apply(keys, deletes, weights(keys))
    assert_same(bench, *version)
    assert pair.statistics["pages"] > version[0].pages.size


def test_few_pages_are_spread_by_more_blocks(bench: Bench) -> None:
    room = 3 * bench.device.num_multiprocessors
    found = [packed_pages.parts_of_job(bench.device, jobs) for jobs in (1, room // 4, room // 2, room)]
    assert found == [4, 4, 2, 1]
