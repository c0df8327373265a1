"""Batches on a GPU are sorted by key, equal keys in order of time, by each of the methods for their size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from graphlode.common.store import MAX_ROWS, Pairs, keys_of
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store import sort as packed_sort
from graphlode.cuda.store.batch import read_info
from graphlode.cuda.store.input import MOST_SMALL, take
from graphlode.cuda.store.launches import LEAVES, SORTED
from graphlode.cuda.store.plan import plan
from graphlode.cuda.store.sort import MERGE_TILE, MOST_AT_ONCE, SORT_TILE, fans_for
from kernel_bench import Bench

DELETE_BIT = np.uint64(1 << 63)
ROWS = 2**21  # keys of a shard with this number of rows leave no bits for places
FEW_ROWS = 2**20

KINDS: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "many twice": lambda rng, n: keys_of(rng.integers(0, 1 + n // 5, n), rng.integers(0, 3, n)),
    "all bits": lambda rng, n: keys_of(rng.integers(0, ROWS, n), rng.integers(0, 2**32, n)),
    "all the same": lambda _, n: keys_of(np.full(n, 2**20 - 1), np.full(n, 2**32 - 1)),
    "ascending": lambda _, n: keys_of(np.arange(n) // 3, np.arange(n)),
    "descending": lambda _, n: keys_of(np.arange(n) // 3, np.arange(n))[::-1],
}

SMALL = [1, 31, 32, 33, 64, 127, 128, 129, 255, 257, 512, 1023, 1024, 1025, MOST_SMALL - 1, MOST_SMALL]
MERGED = [1, 33, MERGE_TILE - 1, MERGE_TILE, MERGE_TILE + 1, 2 * MERGE_TILE, 5 * MERGE_TILE + 1, 9 * MERGE_TILE - 1]


class Shard:
    """An empty shard, to sort batches of."""

    def __init__(self, bench: Bench, num_rows: int, *, weighted: bool) -> None:
        self.bench, self.weighted = bench, weighted
        self.state = bench.do(partial(packed.create, bench.device, num_rows=num_rows, weighted=weighted))

    def run(self, batch: Any, deletes: Any, weights: Any, step: int) -> dict[str, Any]:
        """The content of the buffers after this step."""
        device, state, count = self.bench.device, self.state, batch.size

        def work() -> dict[str, Any]:
            room = partial(state.workspace.buffers, count, pages=state.pages.size, entries=0)
            buffers = room(weighted=self.weighted, planned=step != SORTED)
            given = take(device, state.workspace.staging, batch, deletes, weights)
            state.begin_plan()
            plan(state, buffers, given, step)
            fields: dict[str, Any] = {"sorted": np.uint64} if step == SORTED else {"keys": np.uint64}
            if self.weighted:
                fields |= {"places": np.uint32} if step == SORTED else {"weights": np.float64}
            found = {name: device.get(buffers.view(name, dtype, count)) for name, dtype in fields.items()}
            return {**found, "info": read_info(device, buffers)}

        result: dict[str, Any] = self.bench.do(work)
        return result

    def check(self, keys: Any, deletes: Any) -> None:
        """A batch of keys is sorted as NumPy sorts it."""
        given = keys | deletes.astype(np.uint64) << np.uint64(63)
        order = np.argsort(keys, kind="stable")
        found = self.run(keys, deletes, np.zeros(keys.size) if self.weighted else None, SORTED)
        np.testing.assert_array_equal(found["sorted"], given[order])
        if self.weighted:
            np.testing.assert_array_equal(found["places"], order)


@pytest.mark.parametrize("kind", KINDS)
def test_one_block_sorts_a_small_batch(bench: Bench, kind: str) -> None:
    """The weights show which update a key comes from."""
    rng, shard = np.random.default_rng(1), Shard(bench, ROWS if kind == "all bits" else FEW_ROWS, weighted=True)
    for size in SMALL:
        keys = KINDS[kind](rng, size)
        order = np.argsort(keys, kind="stable")
        found = shard.run(keys, rng.random(size) < 0.3, np.arange(size) * 1.0, LEAVES)
        np.testing.assert_array_equal(found["keys"], keys[order])
        np.testing.assert_array_equal(found["weights"], order)


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("kind", KINDS)
def test_tiles_are_merged_at_once_or_in_two_steps(
    bench: Bench, kind: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, shard = np.random.default_rng(2), Shard(bench, ROWS if kind == "all bits" else FEW_ROWS, weighted=weighted)
    for most in (MOST_AT_ONCE, 2):
        monkeypatch.setattr(packed_sort, "MOST_AT_ONCE", most)
        for size in MERGED:
            shard.check(KINDS[kind](rng, size), rng.random(size) < 0.3)


@pytest.mark.parametrize("kind", ["many twice", "all bits"])
def test_batches_around_the_limit_of_one_merge_are_sorted(bench: Bench, kind: str) -> None:
    rng, shard = np.random.default_rng(3), Shard(bench, ROWS, weighted=True)
    for size in (MOST_AT_ONCE * MERGE_TILE, MOST_AT_ONCE * MERGE_TILE + 1, 26 * MERGE_TILE - 1):
        shard.check(KINDS[kind](rng, size), rng.random(size) < 0.3)


@pytest.mark.parametrize("kind", KINDS)
def test_digits_sort_what_is_not_merged(bench: Bench, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", 0)
    rng, shard = np.random.default_rng(4), Shard(bench, ROWS if kind == "all bits" else FEW_ROWS, weighted=True)
    for size in (1, 33, SORT_TILE - 1, SORT_TILE, SORT_TILE + 1, 9 * SORT_TILE + 5):
        shard.check(KINDS[kind](rng, size), rng.random(size) < 0.3)


def test_the_limit_between_merges_and_digits_changes_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", 3)
    rng, shard = np.random.default_rng(5), Shard(bench, FEW_ROWS, weighted=True)
    for size in (3 * MERGE_TILE, 3 * MERGE_TILE + 1):
        shard.check(KINDS["many twice"](rng, size), rng.random(size) < 0.3)


WAYS = pytest.mark.parametrize("most_tiles", [packed_sort.MOST_TILES, 0], ids=["merged", "by digits"])


@WAYS
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("size", [1, 700, 3000])
def test_pairs_are_sorted_and_counted_while_they_are_read(
    bench: Bench, size: int, both: bool, dtype: Any, most_tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", most_tiles)
    rng, shard = np.random.default_rng(6), Shard(bench, 300, weighted=True)
    rows, neighbors = rng.integers(0, 300, (2, size)).astype(dtype)
    pairs = Pairs(rows, neighbors, size, 300, both)
    keys = np.stack([keys_of(rows, neighbors), keys_of(neighbors, rows)], 1)[:, : 1 + both].ravel()
    order, bits = np.argsort(keys, kind="stable"), np.uint64(pairs.bits)
    form = (keys >> np.uint64(32)) << bits | keys & np.uint64(2**32 - 1)
    for deletes in (None, True, rng.random(size) < 0.3):
        found = shard.run(pairs, deletes, np.zeros(size), SORTED)
        asked = False if deletes is None else deletes
        gone = np.repeat((rows == neighbors) | asked, 1 + both)
        np.testing.assert_array_equal(found["sorted"], (form | np.where(gone, DELETE_BIT, np.uint64(0)))[order])
        np.testing.assert_array_equal(found["places"], order)
        assert found["info"]["self_loops"] == (rows == neighbors).sum() << both and not found["info"]["bad_row"]


@WAYS
@pytest.mark.parametrize("size", [1, MERGE_TILE + 1, 20 * MERGE_TILE])
def test_a_row_that_does_not_exist_is_reported(
    bench: Bench, size: int, most_tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", most_tiles)
    shard, keys = Shard(bench, 300, weighted=False), keys_of(np.zeros(size, np.int64), np.arange(size))
    assert not shard.run(keys, None, None, SORTED)["info"]["bad_row"]
    keys[-1] = keys_of(np.array([300]), np.array([0]))[0]
    assert shard.run(keys, None, None, SORTED)["info"]["bad_row"]


@WAYS
@pytest.mark.parametrize("wrong", [300, -1, 2**32 + 5])
def test_a_pair_with_a_vertex_that_does_not_exist_is_reported(
    bench: Bench, wrong: int, most_tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", most_tiles)
    shard, size = Shard(bench, 300, weighted=False), 100
    for end in range(2):
        pairs = np.stack([np.arange(size), 1 + np.arange(size)])
        assert not shard.run(Pairs(*pairs, size, 300), None, None, SORTED)["info"]["bad_row"]
        pairs[end, size // 2] = wrong
        assert shard.run(Pairs(*pairs, size, 300), None, None, SORTED)["info"]["bad_row"]


class HighestShard(Shard):
    """A shard that claims the largest number of rows, without memory for them: sorting does not read them."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench, 300, weighted=True)
        self.state.num_rows = MAX_ROWS


def highest(rng: np.random.Generator, size: int) -> Any:
    """Positions up to the last: random ones, and mostly ones that share all bits with the last."""
    near = MAX_ROWS - 1 - rng.integers(0, 20, size)
    return np.where(rng.random(size) < 0.5, near, np.where(rng.random(size) < 0.5, near ^ 2**30, near ^ 2**8))


@WAYS
@pytest.mark.parametrize("size", [1, MERGE_TILE + 1, 3 * SORT_TILE + 5])
def test_keys_of_the_highest_rows_and_neighbors_are_sorted(
    bench: Bench, size: int, most_tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", most_tiles)
    rng, shard = np.random.default_rng(7), HighestShard(bench)
    rows, neighbors = highest(rng, size), highest(rng, size)
    rows[0] = neighbors[0] = MAX_ROWS - 1
    shard.check(keys_of(rows, neighbors), rng.random(size) < 0.3)
    assert not shard.run(keys_of(rows, neighbors), None, np.zeros(size), SORTED)["info"]["bad_row"]
    rows[-1] = MAX_ROWS
    assert shard.run(keys_of(rows, neighbors), None, np.zeros(size), SORTED)["info"]["bad_row"]


@WAYS
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
def test_pairs_of_the_highest_positions_are_sorted(
    bench: Bench, both: bool, dtype: Any, most_tiles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_sort, "MOST_TILES", most_tiles)
    rng, shard, size = np.random.default_rng(8), HighestShard(bench), 3000
    rows, neighbors = highest(rng, size).astype(dtype), highest(rng, size).astype(dtype)
    loops = rows == neighbors
    keys = np.stack([keys_of(rows, neighbors), keys_of(neighbors, rows)], 1)[:, : 1 + both].ravel()
    order, pairs = np.argsort(keys, kind="stable"), Pairs(rows, neighbors, size, MAX_ROWS, both)
    form = (keys >> np.uint64(32)) << np.uint64(31) | keys & np.uint64(2**31 - 1)
    form |= np.where(np.repeat(loops, 1 + both), DELETE_BIT, np.uint64(0))
    found = shard.run(pairs, None, np.zeros(size), SORTED)
    assert pairs.bits == 31 and loops.any()
    np.testing.assert_array_equal(found["sorted"], form[order])
    np.testing.assert_array_equal(found["places"], order)
    assert found["info"]["self_loops"] == loops.sum() << both and not found["info"]["bad_row"]
    for wrong in [MAX_ROWS, -1, -(2**31), *([2**31, 2**32, 2**32 + 5, -(2**63)] if dtype is np.int64 else [])]:
        for ends in ([wrong, 5], [5, wrong]):
            pair = Pairs(*np.array(ends, dtype).reshape(2, 1), 1, MAX_ROWS, both)
            assert shard.run(pair, None, np.zeros(1), SORTED)["info"]["bad_row"]


def test_two_merges_make_one_run_of_any_number_of_tiles() -> None:
    for tiles in range(1, packed_sort.MOST_TILES + 1):
        first, later = fans_for(tiles * MERGE_TILE)
        assert first * later >= tiles > first * (later - 1)
        assert max(first, later) <= MOST_AT_ONCE
