"""The lowest and the highest keys of a shard on a GPU: its last row, and the highest neighbor that a store can have."""

from __future__ import annotations

import numpy as np
import pytest
from packed_pair import Keys, Pair, assert_same, random_keys

from graphlode.common.buckets import NUM_BUCKETS, bucket_of
from graphlode.common.store import MAX_ROWS, PAGE_SLOTS, PATHS, Path, keys_of, rows_of
from graphlode.cuda.store import shard as packed
from graphlode.reference.store import shard as reference
from kernel_bench import Bench

ROWS = 600
LAST_NEIGHBOR = MAX_ROWS - 1
NEIGHBORS = [0, 1, 2**30 - 1, 2**30, LAST_NEIGHBOR - 1, LAST_NEIGHBOR]

PATH = pytest.mark.parametrize("path", PATHS)
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])


def ends() -> Keys:
    rows, neighbors = np.meshgrid([0, 1, ROWS - 2, ROWS - 1], NEIGHBORS)
    return keys_of(rows.ravel(), neighbors.ravel())


@PATH
@WEIGHTED
def test_keys_at_the_ends_come_and_go(bench: Bench, path: Path, weighted: bool) -> None:
    rng, pair, keys = np.random.default_rng(1), Pair(bench, ROWS, weighted=weighted), ends()
    filling = random_keys(rng, 9000, ROWS) + np.uint64(2)  # not those at the ends
    for others in (0, 9000):
        weights = rng.random(others) if weighted else None
        pair.apply(filling[:others], None, weights, path="merge")
        version = pair.fork()
        weights = rng.random(keys.size) if weighted else None
        assert pair.apply(rng.permutation(keys), None, weights, path=path).inserted == keys.size
        assert pair.ask(packed.contains, keys).all()
        assert_same(bench, *version)
        assert pair.apply(rng.permutation(keys), np.ones(keys.size, bool), path=path).deleted == keys.size
        assert not pair.ask(packed.contains, keys).any()


@PATH
def test_a_row_of_the_highest_neighbors_fills_pages_to_the_last(bench: Bench, path: Path) -> None:
    """In the first, a middle and the last row, so that pages end with such a key, and begin after one."""
    pair, size = Pair(bench, ROWS), PAGE_SLOTS + 500
    for row in (ROWS - 1, 0, ROWS // 2):
        keys = keys_of(np.full(size, row), LAST_NEIGHBOR - np.arange(size))
        for part in np.array_split(keys, 3):
            assert pair.apply(part, path=path).inserted == part.size
        assert pair.ask(packed.row, row)[0].tolist() == list(range(LAST_NEIGHBOR - size + 1, LAST_NEIGHBOR + 1))
    assert pair.statistics["pages"] > 3
    gone = keys_of(np.full(size - 1, ROWS - 1), LAST_NEIGHBOR - 1 - np.arange(size - 1))
    assert pair.apply(gone, np.ones(size - 1, bool), path=path).deleted == size - 1
    assert pair.ask(packed.row, ROWS - 1)[0].tolist() == [LAST_NEIGHBOR]


@WEIGHTED
def test_what_is_read_at_the_ends_is_what_the_reference_reads(bench: Bench, weighted: bool) -> None:
    rng, pair, keys = np.random.default_rng(2), Pair(bench, ROWS, weighted=weighted), ends()
    pair.apply(np.concatenate([keys, random_keys(rng, 5000, ROWS)]))
    pair.apply(keys, None, rng.random(keys.size) if weighted else None)
    beyond = keys_of(np.array([ROWS, MAX_ROWS - 1]), np.array([0, LAST_NEIGHBOR]))
    asked = np.concatenate([keys, keys - np.uint64(1), keys + np.uint64(1), beyond])
    np.testing.assert_array_equal(pair.ask(packed.contains, asked), reference.contains(None, pair.expected, asked))
    np.testing.assert_array_equal(pair.ask(packed.degrees), reference.degrees(None, pair.expected))
    for row in (0, 1, ROWS - 2, ROWS - 1):
        slots = np.arange(NUM_BUCKETS) == bucket_of(np.array([row]))[0]
        found = [*pair.ask(packed.row, row), *pair.ask(packed.rows_in, slots)]
        wanted = [*reference.row(None, pair.expected, row), *reference.rows_in(None, pair.expected, slots)]
        assert row in rows_of(found[2]) and (found[1] is not None) == (found[3] is not None) == weighted
        for array, expected in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(array, expected)
