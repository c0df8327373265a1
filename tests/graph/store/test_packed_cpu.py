"""The packed pages of the CPU against a dict, on every path, with every rule of the structure checked on the way."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.common.buckets import bucket_of
from graphlode.common.control import Control
from graphlode.common.store import FILL, PAGE_SLOTS, PATHS, Change, Path, keys_of, lower_bound, upper_bound
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.store import shard as packed
from graphlode.errors import InputError
from graphlode.types import AnyArray

DEVICE = CpuDevice()
ROWS = 600
LAST_NEIGHBOR = 2**31 - 2


class Shard:
    """A packed array and a dict with the expected entries."""

    def __init__(self, num_rows: int = ROWS, weighted: bool = False) -> None:
        self.num_rows = num_rows
        self.weighted = weighted
        self.state = packed.create(DEVICE, num_rows=num_rows, weighted=weighted)
        self.expected: dict[int, float] = {}

    def update(self, keys: AnyArray, deletes: AnyArray | None = None, path: Path = "in place", seed: int = 0) -> Change:
        keys = keys.astype(np.uint64)
        weights = np.random.default_rng(seed).integers(0, 4, keys.size) / 4 if self.weighted else None
        plan = packed.prepare(DEVICE, self.state, keys, deletes, weights, path=path, control=Control())
        change = packed.commit(DEVICE, plan)
        before = dict(self.expected)
        for i, key in enumerate(keys.tolist()):
            if deletes is not None and deletes[i]:
                self.expected.pop(key, None)
            else:
                self.expected[key] = 1.0 if weights is None else float(weights[i])
        kept = before.keys() & self.expected.keys()
        assert change.inserted == len(self.expected) - len(kept)
        assert change.deleted == len(before) - len(kept)
        assert change.changed == (sum(before[k] != self.expected[k] for k in kept) if self.weighted else 0)
        assert change.path == path
        self.check()
        return change

    def delete(self, keys: AnyArray, path: Path = "in place") -> Change:
        return self.update(keys, np.ones(keys.size, bool), path)

    def check(self) -> None:
        packed.check(DEVICE, self.state)
        assert packed.num_entries(self.state) == len(self.expected)
        check_rows(self.state, self.num_rows, self.expected)

    def sorted_keys(self) -> AnyArray:
        return np.array(sorted(self.expected), np.uint64)


def check_rows(state: packed.State, num_rows: int, expected: dict[int, float]) -> None:
    keys = np.array(sorted(expected), np.uint64)
    rows = packed.csr(DEVICE, state)
    counts = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=num_rows)
    assert np.array_equal(rows["offsets"], np.concatenate([[0], np.cumsum(counts)]))
    assert np.array_equal(rows["neighbors"], (keys & np.uint64(2**32 - 1)).astype(np.int32))
    if "weights" in rows:
        assert rows["weights"].tolist() == [expected[key] for key in keys.tolist()]


def random_keys(rng: np.random.Generator, size: int, num_rows: int = ROWS, span: int = 3000) -> AnyArray:
    return keys_of(rng.integers(0, num_rows, size), rng.integers(0, span, size))


def one_row(row: int, neighbors: AnyArray) -> AnyArray:
    return keys_of(np.full(neighbors.size, row), neighbors)


def filled(size: int, weighted: bool = False, num_rows: int = ROWS) -> Shard:
    shard = Shard(num_rows, weighted)
    shard.update(random_keys(np.random.default_rng(5), size, num_rows), path="merge")
    return shard


@st.composite
def batches(draw: Any) -> list[tuple[Path | None, str, int]]:
    kinds = st.sampled_from(["spread", "row", "leaf", "delete some", "delete most", "delete range", "repeat", "mixed"])
    sizes = st.sampled_from([0, 1, 31, 33, 500, 5000])
    steps: list[tuple[Path | None, str, int]] = draw(
        st.lists(st.tuples(st.none() | st.sampled_from(PATHS), kinds, sizes), min_size=1, max_size=8)
    )
    return steps


def make_batch(shard: Shard, kind: str, size: int, rng: np.random.Generator) -> tuple[AnyArray, AnyArray | None]:
    present = shard.sorted_keys()
    if kind.startswith("delete") and present.size:
        if kind == "delete range":
            begin = int(rng.integers(0, present.size))
            keys = present[begin : begin + size]
        else:
            keys = rng.choice(present, min(present.size, size) if kind == "delete some" else present.size * 9 // 10)
        return keys, np.ones(keys.size, bool)
    if kind == "row":
        return one_row(int(rng.integers(ROWS)), rng.integers(0, 10**6, size)), None
    if kind == "leaf":
        return one_row(int(rng.integers(ROWS)), 10**7 + int(rng.integers(10**6)) - np.arange(size)), None
    if kind == "repeat":
        return np.repeat(random_keys(rng, size // 4 + 1), 4), rng.random(4 * (size // 4 + 1)) < 0.5
    if kind == "mixed":
        keys = np.concatenate(
            [random_keys(rng, size), present[rng.integers(0, max(present.size, 1), size // 2) if present.size else []]]
        )
        return keys, rng.random(keys.size) < 0.5
    return random_keys(rng, size), None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=12, deadline=None)
@given(steps=batches(), seed=st.integers(0, 2**32 - 1), start=st.sampled_from([0, 100, 4000, 12000]))
def test_any_sequence_of_batches_leaves_what_a_dict_would(
    path: Path, weighted: bool, steps: list[tuple[Path | None, str, int]], seed: int, start: int
) -> None:
    rng = np.random.default_rng(seed)
    shard = Shard(weighted=weighted)
    shard.update(random_keys(rng, start), path="merge")
    for other, kind, size in steps:
        keys, deletes = make_batch(shard, kind, size, rng)
        shard.update(keys, deletes, other or path, seed=size)


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_batch_changes_nothing(path: Path) -> None:
    for size in (0, 5000):
        shard = filled(size)
        change = shard.update(np.empty(0, np.uint64), path=path)
        assert (change.inserted, change.deleted, change.changed, change.slots_written) == (0, 0, 0, 0)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_there_already_or_not_there_writes_nothing(path: Path) -> None:
    shard = filled(5000)
    present = shard.sorted_keys()
    absent = present + np.uint64(10**6)
    keys = np.concatenate([present[:100], absent[:100]])
    change = shard.update(keys, np.repeat([False, True], 100), path)
    assert (change.inserted, change.deleted, change.slots_written) == (0, 0, 0)


@pytest.mark.parametrize("path", PATHS)
def test_keys_at_the_ends_are_kept(path: Path) -> None:
    shard = filled(9000)
    ends = keys_of(np.repeat([0, ROWS - 1], 2), np.array([0, LAST_NEIGHBOR] * 2))
    shard.update(ends, path=path)
    assert packed.contains(DEVICE, shard.state, ends).all()
    shard.delete(ends, path)
    assert not packed.contains(DEVICE, shard.state, ends[1::2]).any()


@pytest.mark.parametrize("path", PATHS)
def test_many_empty_rows_lie_between_entries(path: Path) -> None:
    rows = 200_000
    shard = Shard(rows)
    rng = np.random.default_rng(8)
    for _ in range(4):
        shard.update(random_keys(rng, 3000, rows), path=path)
    shard.update(one_row(rows - 1, np.arange(9000)), path=path)
    shard.delete(shard.sorted_keys()[1000:-100], path)


@pytest.mark.parametrize("path", ["in place", "climb"])
@pytest.mark.parametrize("order", ["ascending", "descending", "one leaf", "hub"])
def test_hot_spots_stay_within_bounds_and_rewrite_little(order: str, path: Path) -> None:
    shard = filled(50_000)
    worst = 0
    for i in range(12):
        steps = np.arange(i * 800, (i + 1) * 800)
        keys = {
            "ascending": one_row(ROWS - 1, 5000 + steps),
            "descending": one_row(0, LAST_NEIGHBOR - steps),
            "one leaf": one_row(ROWS // 2, 5000 + steps[::-1] // 200 * 10**5 + steps % 200),
            "hub": one_row(ROWS // 3, 5000 + (steps * 7919) % 10007),
        }[order]
        worst = max(worst, shard.update(keys, path=path).slots_written)
    assert worst < 10 * PAGE_SLOTS, "a hot spot rewrites a few pages, never everything"
    assert packed.statistics(DEVICE, shard.state)["density"] > 0.7


@pytest.mark.parametrize("path", PATHS)
def test_everything_may_go_and_come_back(path: Path) -> None:
    shard = filled(30_000)
    keys = shard.sorted_keys()
    for _ in range(2):
        assert shard.delete(keys, path).deleted == keys.size
        assert packed.statistics(DEVICE, shard.state)["pages"] == 1
        assert shard.update(keys, path=path).inserted == keys.size


def test_growing_and_shrinking_in_turn_stays_dense() -> None:
    shard = filled(40_000)
    rng = np.random.default_rng(2)
    for _ in range(6):
        added = random_keys(rng, 4000, span=10**6)
        shard.update(added)
        shard.delete(rng.permutation(shard.sorted_keys())[:4000])
    figures = packed.statistics(DEVICE, shard.state)
    assert lower_bound(7) < figures["density"] < upper_bound(7)
    assert figures["density_by_level"][0] <= 1.0
    assert figures["density_by_level"][7] <= upper_bound(7)


def test_random_growth_takes_at_most_twelve_bytes_per_entry() -> None:
    rng = np.random.default_rng(4)
    shard = packed.create(DEVICE, num_rows=40_000, weighted=False)
    for i in range(8):
        keys = random_keys(rng, 40_000 if i else 600_000, 40_000, 10**6)
        plan = packed.prepare(DEVICE, shard, keys, None, None, path="in place" if i else "merge", control=Control())
        packed.commit(DEVICE, plan)
        assert packed.nbytes(DEVICE, shard) <= 12 * packed.num_entries(shard)
    packed.check(DEVICE, shard)


def test_pages_that_are_merged_are_filled_evenly() -> None:
    shard = filled(50_000)
    shard.update(random_keys(np.random.default_rng(3), 1000, span=10**6), path="merge")
    figures = packed.statistics(DEVICE, shard.state)
    assert FILL * 0.95 < figures["density"] <= FILL
    assert figures["density_by_level"][7] - figures["density"] < 0.01


def test_inserting_without_weights_keeps_those_that_are_there() -> None:
    for path in PATHS:
        shard = filled(5000, weighted=True)
        old = shard.sorted_keys()
        keys = np.concatenate([old[::3], one_row(3, 10**6 + np.arange(50))])
        plan = packed.prepare(DEVICE, shard.state, keys, None, None, path=path, control=Control())
        change = packed.commit(DEVICE, plan)
        assert (change.inserted, change.changed) == (50, 0)
        for key in keys.tolist():
            shard.expected.setdefault(key, 1.0)
        shard.check()


@pytest.mark.parametrize("weighted", [False, True])
def test_reading_agrees_with_the_dict(weighted: bool) -> None:
    shard = filled(20_000, weighted)
    shard.update(one_row(17, np.arange(9000)))
    keys = shard.sorted_keys()
    rows = (keys >> np.uint64(32)).astype(np.int64)
    assert np.array_equal(packed.degrees(DEVICE, shard.state), np.bincount(rows, minlength=ROWS))
    asked = np.concatenate([keys[::7], keys[::7] + np.uint64(10**6), np.array([0, 2**63 - 1], np.uint64)])
    assert packed.contains(DEVICE, shard.state, asked).tolist() == [key in shard.expected for key in asked.tolist()]
    for row in (0, 17, 18, ROWS - 1):
        neighbors, weights = packed.row(DEVICE, shard.state, row)
        assert neighbors.dtype == np.int32
        assert np.array_equal(keys_of(np.full(neighbors.size, row), neighbors), keys[rows == row])
        assert (weights is not None) == weighted
    slots = np.random.default_rng(1).random(1024) < 0.3
    chosen, weights = packed.rows_in(DEVICE, shard.state, slots)
    assert np.array_equal(chosen, keys[slots[bucket_of(rows)]])
    if weighted:
        assert weights is not None
        assert weights.tolist() == [shard.expected[key] for key in chosen.tolist()]


def test_more_rows_may_come_at_any_time() -> None:
    shard = filled(9000)
    version = packed.fork(DEVICE, shard.state)
    frozen = dict(shard.expected)
    for num_rows in (ROWS, ROWS + 1, 5000, 20_000):
        packed.resize(DEVICE, shard.state, num_rows)
        shard.num_rows = num_rows
        shard.check()
        shard.update(one_row(num_rows - 1, np.arange(700)))
    packed.check(DEVICE, version)
    check_rows(version, ROWS, frozen)


@pytest.mark.parametrize("weighted", [False, True])
def test_versions_stay_as_they_were(weighted: bool) -> None:
    shard = filled(20_000, weighted)
    rng = np.random.default_rng(9)
    versions: list[tuple[packed.State, dict[int, float]]] = []
    for i in range(12):
        versions.append((packed.fork(DEVICE, shard.state), dict(shard.expected)))
        keys, deletes = make_batch(shard, ["mixed", "row", "delete range"][i % 3], 2000, rng)
        shard.update(keys, deletes, PATHS[i % len(PATHS)], seed=i)
        if i % 4 == 3:
            versions.pop(int(rng.integers(len(versions))))
        for version, expected in versions:
            packed.check(DEVICE, version)
            check_rows(version, ROWS, expected)


def test_an_update_copies_only_the_pages_that_it_writes() -> None:
    shard = filled(50_000)
    version = packed.fork(DEVICE, shard.state)
    pages = packed.statistics(DEVICE, shard.state)["pages"]
    assert packed.statistics(DEVICE, shard.state)["shared_pages"] == pages
    shard.update(one_row(3, np.arange(10**6, 10**6 + 5)))
    assert packed.statistics(DEVICE, shard.state)["shared_pages"] == pages - 1
    del version
    assert packed.statistics(DEVICE, shard.state)["shared_pages"] == 0


def test_memory_of_dropped_versions_comes_back_little_by_little() -> None:
    shard = filled(100_000)
    rng = np.random.default_rng(3)
    alone = packed.nbytes(DEVICE, shard.state)
    version = packed.fork(DEVICE, shard.state)
    shard.update(random_keys(rng, 3000, span=10**6))
    assert packed.nbytes(DEVICE, shard.state) > 1.5 * alone
    del version
    for _ in range(5):
        shard.update(random_keys(rng, 300, span=10**6))
    assert packed.nbytes(DEVICE, shard.state) < 1.2 * alone


def test_versions_are_read_and_dropped_in_other_threads_while_batches_go_on() -> None:
    shard = filled(20_000)
    broken: list[BaseException] = []

    def read(version: packed.State, expected: dict[int, float]) -> None:
        try:
            for _ in range(3):
                packed.check(DEVICE, version)
                check_rows(version, ROWS, expected)
        except BaseException as error:
            broken.append(error)

    rng = np.random.default_rng(6)
    threads = []
    for _ in range(12):
        version = packed.fork(DEVICE, shard.state)
        threads.append(threading.Thread(target=read, args=(version, dict(shard.expected))))
        del version
        threads[-1].start()
        keys, deletes = make_batch(shard, "mixed", 3000, rng)
        shard.update(keys, deletes)
    for thread in threads:
        thread.join()
    assert not broken
    threads.clear()
    gc.collect()
    assert packed.statistics(DEVICE, shard.state)["shared_pages"] == 0


@pytest.fixture
def _failing_allocations_end() -> Iterator[None]:
    yield
    _native.fail_allocation(0)


@pytest.mark.usefixtures("_failing_allocations_end")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_each_allocation_may_fail_and_nothing_changes(path: Path, shared: bool, weighted: bool) -> None:
    gc.collect()
    before = _native.live_bytes()
    shard = filled(30_000, weighted)
    version = packed.fork(DEVICE, shard.state) if shared else None
    keys = np.concatenate([random_keys(np.random.default_rng(1), 500, span=10**6), one_row(5, np.arange(5000))])
    weights = np.ones(keys.size) if weighted else None
    failures = 0
    for n in range(1, 100):
        _native.fail_allocation(n)
        try:
            plan = packed.prepare(DEVICE, shard.state, keys, None, weights, path=path, control=Control())
        except MemoryError:
            _native.fail_allocation(0)
            failures += 1
            shard.check()
            continue
        _native.fail_allocation(1)  # the commit allocates nothing
        packed.commit(DEVICE, plan)
        _native.fail_allocation(0)
        break
    assert 3 <= failures < 99
    shard.expected.update(dict.fromkeys(keys.tolist(), 1.0))
    shard.check()
    del shard, version, plan
    gc.collect()
    assert _native.live_bytes() == before


@pytest.mark.parametrize("path", PATHS)
def test_a_plan_that_is_dropped_changes_nothing(path: Path) -> None:
    shard = filled(20_000)
    keys = random_keys(np.random.default_rng(1), 3000, span=10**6)
    packed.prepare(DEVICE, shard.state, keys, None, None, path=path, control=Control())
    shard.check()
    shard.update(keys, path=path)


@pytest.mark.parametrize("path", PATHS)
def test_a_stopped_prepare_changes_nothing(path: Path) -> None:
    shard = filled(20_000)
    control = Control()
    control.stop()
    keys = random_keys(np.random.default_rng(1), 3000, span=10**6)
    with pytest.raises(InterruptedError):
        packed.prepare(DEVICE, shard.state, keys, None, None, path=path, control=control)
    shard.check()


def test_prepare_counts_the_updates() -> None:
    control = Control()
    packed.prepare(DEVICE, Shard().state, one_row(1, np.arange(70)), None, None, path="in place", control=control)
    assert control.done == 70


def test_a_plan_is_for_the_state_it_was_made_for() -> None:
    shard = filled(100)
    first, second = (
        packed.prepare(DEVICE, shard.state, one_row(1, np.arange(70)), None, None, path="in place", control=Control())
        for _ in range(2)
    )
    packed.commit(DEVICE, first)
    for stale in (first, second):
        with pytest.raises(RuntimeError, match="another state"):
            packed.commit(DEVICE, stale)


@pytest.mark.parametrize("key", [ROWS << 32, 1 << 63, 1 << 31])
@pytest.mark.parametrize("path", PATHS)
def test_keys_out_of_range_are_refused(key: int, path: Path) -> None:
    shard = filled(100)
    with pytest.raises(InputError, match="key 1"):
        packed.prepare(DEVICE, shard.state, np.array([3, key], np.uint64), None, None, path=path, control=Control())
    shard.check()
