"""Full merges of a shard on a GPU, which fill pages one after the other without knowing their number."""

from __future__ import annotations

import gc
from functools import partial
from typing import Any

import numpy as np
import pytest
from packed_pair import Pair, assert_same, random_keys

from graphlode.common.control import Control
from graphlode.common.store import Change, Path, keys_of
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.sequence import PlainSequence
from graphlode.cuda.store import read as packed_read
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store import sort as packed_sort
from graphlode.cuda.store.groups import FILLED, LEAST_ENTRIES, MOST_ENTRIES
from graphlode.cuda.store.merge import pages_of_merge
from graphlode.cuda.store.pool import SEGMENT_PAGES
from graphlode.cuda.store.state import State
from graphlode.errors import DeviceMemoryError, InputError
from graphlode.reference.store import shard as reference
from kernel_bench import Bench

BOUNDARIES = [
    *(0, 1, 127, 128, 129, FILLED - 1, FILLED, FILLED + 1, MOST_ENTRIES, MOST_ENTRIES + 1),
    *(2 * FILLED, 2 * FILLED + 1, FILLED + MOST_ENTRIES, FILLED + MOST_ENTRIES + 1, 5 * FILLED + 3),
]


@pytest.mark.parametrize("entries", [*BOUNDARIES, 10**9])
def test_pages_are_filled_alike_and_the_last_ones_are_within_bounds(entries: int) -> None:
    count = pages_of_merge(entries)
    filled = max(0, count - 2) if entries > MOST_ENTRIES else 0
    rest = entries - filled * FILLED
    assert rest <= (count - filled) * MOST_ENTRIES
    assert count == 1 or rest // (count - filled) >= LEAST_ENTRIES


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("entries", BOUNDARIES)
def test_any_number_of_entries_is_merged(bench: Bench, entries: int, weighted: bool) -> None:
    rng, pair = np.random.default_rng(entries), Pair(bench, 200, weighted=weighted)
    keys = rng.permutation(keys_of(np.repeat(np.arange(200), 100), np.tile(np.arange(100), 200)))[: entries + 50]
    pair.apply(keys, None, rng.random(keys.size) if weighted else None, path="merge")
    change = pair.apply(keys[:50], np.ones(50, bool), path="merge")
    assert (change.deleted, change.path) == (50, "merge")
    assert pair.statistics["pages"] == pages_of_merge(entries)


def test_a_page_with_very_many_updates_is_shared_by_many_blocks(bench: Bench) -> None:
    rng, pair = np.random.default_rng(30), Pair(bench, 2000, weighted=True)
    pair.apply(keys_of(np.repeat(np.arange(2000), 4), np.tile(np.arange(4), 2000)), path="merge")
    hot = keys_of(np.full(30_000, 700), rng.integers(0, 10_000, 30_000))  # each three times, also where blocks meet
    few = keys_of(rng.integers(0, 2000, 300), rng.integers(0, 9, 300))
    keys = rng.permutation(np.concatenate([hot, few]))
    change = pair.apply(keys, rng.random(keys.size) < 0.3, rng.integers(0, 3, keys.size).astype(float), path="merge")
    assert change.inserted > 5000
    change = pair.apply(rng.permutation(keys), np.ones(keys.size, bool), path="merge")
    assert change.deleted > 5000


def test_one_key_many_times_is_one_entry(bench: Bench) -> None:
    pair = Pair(bench, 10)
    keys = keys_of(np.full(20_000, 3), np.repeat([5, 6], 10_000))
    assert pair.apply(keys, path="merge").inserted == 2


def test_rows_without_entries_are_indexed(bench: Bench) -> None:
    pair = Pair(bench, 40_000)
    rows = np.concatenate([np.arange(10), np.arange(20_000, 21_000), [39_000]])
    pair.apply(keys_of(np.repeat(rows, 9), np.tile(np.arange(9), rows.size)), path="merge")
    assert pair.statistics["pages"] > 2


def test_very_many_rows_without_entries_are_indexed_by_whole_blocks(bench: Bench) -> None:
    num_rows = 1_400_000  # more leaves than a block can leave to all of its threads
    pair = Pair(bench, num_rows)
    pair.apply(keys_of(np.arange(0, num_rows, 100), np.zeros(num_rows // 100)), path="merge")
    assert pair.statistics["pages"] > 3
    pair.apply(keys_of(np.array([num_rows // 2]), np.array([7])), path="merge")


def test_a_merge_without_memory_is_done_in_place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, pair = np.random.default_rng(31), Pair(bench, 300)
    pair.apply(keys_of(rng.integers(0, 300, 30_000), rng.integers(0, 300, 30_000)), path="merge")

    def refuse(*_: object, **__: object) -> None:
        raise DeviceMemoryError("no memory for a second copy")

    monkeypatch.setattr(packed, "room_for_merge", refuse)
    plan = pair.prepare(keys_of(np.full(500, 3), np.arange(500)), path="merge")
    assert plan.path == "in place"


def test_pairs_outside_of_the_shard_are_refused_before_anything_is_seen(bench: Bench) -> None:
    rng, pair = np.random.default_rng(32), Pair(bench, 100)
    pair.apply(keys_of(rng.integers(0, 100, 5000), rng.integers(0, 100, 5000)), path="merge")
    bad = keys_of(np.arange(90, 101), np.arange(11))
    for size in (1, 900):
        keys = np.tile(bad, size)
        with pytest.raises(InputError, match="not in the shard"):
            bench.do(
                lambda keys=keys: packed.apply(
                    bench.device, pair.state, keys, None, None, path="merge", control=Control()
                )
            )
        pair.check()


def test_pages_that_were_not_needed_are_given_back(bench: Bench) -> None:
    pair = Pair(bench, 1000)
    keys = keys_of(np.repeat(np.arange(1000), 300), np.tile(np.arange(300), 1000))
    pair.apply(keys, path="merge")
    assert pair.state.pages.size > SEGMENT_PAGES  # a second copy would be too much
    for i in range(2):
        pair.apply(keys[:200_000], path="merge")  # changes nothing
        pair.apply(np.append(keys[:200_000], keys[:1] + np.uint64(900 + i)), path="merge")
    state = pair.state
    assert state.pages.size == pages_of_merge(state.num_entries)
    assert state.pool.free.size <= SEGMENT_PAGES + state.pages.size // 8


def test_a_failed_merge_keeps_nothing_from_the_batch_in_place(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, pair = np.random.default_rng(33), Pair(bench, 300)
    pair.apply(keys_of(rng.integers(0, 300, 30_000), rng.integers(0, 300, 30_000)), path="merge")
    used = int((pair.state.pool.references > 0).sum())

    def refuse(*_: object, **__: object) -> None:
        raise DeviceMemoryError("no memory for the directory")

    with monkeypatch.context() as patch:
        patch.setattr(pair.state, "unfilled_directory", refuse)  # after the pages are reserved
        plan = pair.prepare(keys_of(np.full(5, 3), np.arange(5)), path="merge")
    assert plan.path == "in place"
    assert int((pair.state.pool.references > 0).sum()) == used


@pytest.mark.parametrize("entries", [150_000, 300_000])
def test_a_large_batch_without_memory_for_a_merge_is_written_in_place(
    bench: Bench, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, pair = np.random.default_rng(36), Pair(bench, 3000)
    pair.apply(keys_of(rng.integers(0, 3000, entries), rng.integers(0, 2**31, entries)), path="merge")

    def refuse(*_: object, **__: object) -> None:
        raise DeviceMemoryError("no memory for a second copy")

    with monkeypatch.context() as patch:
        patch.setattr(packed, "room_for_merge", refuse)
        keys = keys_of(rng.integers(0, 3000, 100_000), rng.integers(0, 2**31, 100_000))
        paths: list[Path] = ["in place", "merge"]
        for path in paths:
            pair.apply(keys + np.uint64(path == "merge"), path=path, taken="in place")


def test_a_merge_that_fails_late_gives_back_its_pages(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, pair = np.random.default_rng(37), Pair(bench, 300)
    pair.apply(keys_of(rng.integers(0, 300, 30_000), rng.integers(0, 300, 30_000)), path="merge")

    def refuse(*_: object, **__: object) -> None:
        raise DeviceMemoryError("no memory for a directory")

    with monkeypatch.context() as patch:
        patch.setattr(State, "unfilled_directory", refuse)
        pair.apply(keys_of(np.full(5, 3), np.arange(5)), path="merge", taken="in place")
    assert int((pair.state.pool.references > 0).sum()) == pair.statistics["pages"]


def test_pages_that_run_empty_are_not_merged_with_all_others_while_a_version_holds_these(bench: Bench) -> None:
    rng, pair = np.random.default_rng(38), Pair(bench, 4000)
    keys = np.unique(keys_of(rng.integers(0, 4000, 300_000), rng.integers(0, 2**31, 300_000)))
    pair.apply(keys, path="merge")
    version = pair.fork()
    gone = keys[50_000:79_000]
    pair.apply(gone, np.ones(gone.size, bool), taken="in place")
    assert_same(bench, *version)
    del version
    gone = keys[150_000:179_000]
    pair.apply(gone, np.ones(gone.size, bool))


def test_a_version_is_read_by_an_old_description_while_the_pool_moves_its_arrays(bench: Bench) -> None:
    rng, pair = np.random.default_rng(40), Pair(bench, 300)
    pair.apply(keys_of(rng.integers(0, 300, 100_000), rng.integers(0, 2**31, 100_000)), path="merge")
    version, expected = pair.fork()
    held = bench.do(lambda: version.description(bench.device))
    pool = pair.state.pool
    bench.do(lambda: pool._widen(2 * pool.arrays["totals"].size))
    pair.apply(keys_of(rng.integers(0, 300, 300_000), rng.integers(0, 2**31, 300_000)), path="merge")
    assert held.arrays is not pool.arrays  # they have moved
    found = bench.do(lambda: packed_read._offsets(bench.device, version, held)[1])
    np.testing.assert_array_equal(bench.device.get(found), reference.csr(None, expected)["offsets"])
    assert bench.do(lambda: version.description(bench.device)).arrays is pool.arrays
    assert_same(bench, version, expected)


def test_memory_is_reported_without_dropped_versions(bench: Bench) -> None:
    rng, pair = np.random.default_rng(39), Pair(bench, 300)
    pair.apply(keys_of(rng.integers(0, 300, 300_000), rng.integers(0, 2**31, 300_000)), path="merge")
    before = pair.ask(packed.nbytes)
    version = pair.fork()
    pair.apply(keys_of(rng.integers(0, 300, 3000), rng.integers(0, 2**31, 3000)), path="merge")
    assert pair.ask(packed.nbytes) > 1.5 * before
    del version
    gc.collect()
    assert pair.ask(packed.nbytes) < 1.2 * before


@pytest.mark.parametrize("weighted", [False, True])
def test_a_batch_that_would_rewrite_very_many_pages_is_merged(
    bench: Bench, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "are_very_many", lambda *_: True)
    rng, pair = np.random.default_rng(34), Pair(bench, 300, weighted=weighted)
    pair.apply(random_keys(rng, 60_000, 300), None, rng.random(60_000) if weighted else None, path="merge")
    pair.apply(random_keys(rng, 10, 300), None, rng.random(10) if weighted else None)  # now buffers exist
    version, paths = None, []
    for turn, size in enumerate((900, 2500, 900, 2500, 6000)):
        own = rng.random(size) if weighted else None
        keys = keys_of(np.full(size, 7 + turn), rng.integers(1000, 2**31, size))
        keys[: size // 3] = random_keys(rng, size // 3, 300)  # these stay in their pages
        if turn == 3:
            version = pair.fork()
        for deletes in (None, np.arange(size) % 3 > 0):
            expected = reference.prepare(None, pair.expected, keys, deletes, own, path="merge", control=Control())
            wanted = reference.commit(None, expected)
            work = partial(packed.apply, bench.device, pair.state, keys, deletes, own)
            found = bench.do(partial(work, path="in place", control=Control()))
            assert found[:3] == wanted[:3]
            paths.append(found.path)
            pair.check()
    assert paths.count("merge") >= 4 and "in place" in paths  # some flag no page
    assert version is not None
    assert_same(bench, *version)


def test_few_pages_that_overflow_stay_in_place(bench: Bench) -> None:
    rng, pair = np.random.default_rng(35), Pair(bench, 300)
    pair.apply(random_keys(rng, 60_000, 300), path="merge")
    pages = pair.statistics["pages"]
    changes = [pair.apply(keys_of(np.full(900, 7), rng.integers(1000, 2**31, 900))) for _ in range(6)]
    assert {change.path for change in changes} == {"in place"}
    assert pair.statistics["pages"] > pages


def test_a_sort_that_stops_half_way_leaves_nothing_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory for the launch that sorts, after the one that counts: the batch takes another path."""
    monkeypatch.setattr(packed_sort, "MOST_TILES", 0)
    bench = Bench(EmulatedDevice())
    rng, pair = np.random.default_rng(8), Pair(bench, 400)
    pair.apply(random_keys(rng, 30_000, 400), path="merge")
    run, failures = PlainSequence.run, []

    def fails_once(sequence: PlainSequence, values: tuple[Any, ...], after: int | None = None) -> None:
        steps = sequence._steps
        if not failures and [step.entry for step, _ in steps] == ["packed_digits", "packed_sort_passes"]:
            failures.append(steps)
            sequence._steps = steps[:1]
            try:
                run(sequence, values, after)
            finally:
                sequence._steps = steps
            raise DeviceMemoryError("no memory for a launch")
        run(sequence, values, after)

    monkeypatch.setattr(PlainSequence, "run", fails_once)
    assert pair.apply(random_keys(rng, 4000, 400), path="merge", taken="in place").path == "in place"
    assert failures
    pair.apply(random_keys(rng, 5000, 400), path="merge")


def apply_to(state: State, keys: Any, path: Path) -> Change:
    return packed.apply(state.device, state, keys, None, None, path=path, control=Control())


def test_what_is_reckoned_ahead_while_a_merge_is_written_may_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool then counts when the batch is certain."""
    rng, device = np.random.default_rng(9), EmulatedDevice()
    state = packed.create(device, num_rows=400, weighted=False)
    apply_to(state, random_keys(rng, 30_000, 400), "merge")
    failures = []

    def no_memory(*_: Any) -> None:
        failures.append(1)
        raise MemoryError

    monkeypatch.setattr(State, "count_ahead", no_memory)
    before = state.num_entries
    change = apply_to(state, random_keys(rng, 500, 400), "merge")
    assert failures and change.path == "merge" and state.num_entries == before + change.inserted
    packed.check(device, state)


def test_a_merge_after_a_plan_in_place_reads_its_own_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have the same epoch."""
    rng, device = np.random.default_rng(10), EmulatedDevice()
    state = packed.create(device, num_rows=400, weighted=False)
    apply_to(state, random_keys(rng, 30_000, 400), "merge")
    monkeypatch.setattr(packed, "are_very_many", lambda *_: True)
    reports: list[list[int]] = []
    read_report = EmulatedDevice.read_report
    at_merge: list[bool] = []
    merge = packed.merge

    def launched(*given: Any, **how: Any) -> None:
        at_merge.append(bool(state.workspace.staging.reported.any()))
        merge(*given, **how)

    def read(*given: Any) -> list[int]:
        reports.append(read_report(*given))
        return reports[-1]

    monkeypatch.setattr(packed, "merge", launched)
    monkeypatch.setattr(EmulatedDevice, "read_report", read)
    keys = keys_of(np.full(3000, 7), rng.permutation(2**20)[:3000])  # of one row, so that pages overflow
    change = apply_to(state, keys, "in place")
    assert change.path == "merge" and change.inserted == 3000
    assert at_merge == [False] and len(reports) == 2
    packed.check(device, state)


@pytest.mark.parametrize("has_memory", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kept", [10, 4000], ids=["", "with buffers for more"])
@pytest.mark.parametrize("size", [700, 2048, 2049, 9000])
def test_a_batch_that_was_planned_in_place_is_not_sorted_again_for_a_merge(
    size: int, kept: int, weighted: bool, has_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it is so small that its sorted updates were never stored. Without memory the plan stays valid."""
    bench = Bench(EmulatedDevice())
    rng, pair = np.random.default_rng(12), Pair(bench, 400, weighted=weighted)
    pair.apply(random_keys(rng, 60_000, 400), None, rng.random(60_000) if weighted else None, path="merge")
    pair.apply(random_keys(rng, kept, 400), None, rng.random(kept) if weighted else None)
    launched: list[str] = []
    run = PlainSequence.run

    def noted(sequence: PlainSequence, values: tuple[Any, ...], after: int | None = None) -> None:
        launched.extend(step.entry for step, _ in sequence._steps if values[step.grid])
        run(sequence, values, after)

    def no_memory(*_: Any, **__: Any) -> None:
        raise DeviceMemoryError("no memory, for a test")

    monkeypatch.setattr(PlainSequence, "run", noted)
    monkeypatch.setattr(packed, "are_very_many", lambda *_: True)
    if not has_memory:
        monkeypatch.setattr(packed, "room_for_merge", no_memory)
    keys = keys_of(np.full(size, 7), rng.permutation(2**20)[:size])  # of one row, so that pages overflow
    keys[: size // 4] = random_keys(rng, size // 4, 400)
    deletes = np.arange(size) % 5 == 0
    pair.apply(keys, deletes, rng.random(size) if weighted else None, taken="merge" if has_memory else "in place")
    assert launched.count("packed_merge") == has_memory
    assert launched.count("packed_sort_tiles") == 1  # of the merge of a small batch, which does not sort in one block
