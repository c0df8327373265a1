"""The updates of a batch in leaves and tiles, and how a leaf is written with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from packed_pair import Keys, Pair

from graphlode.common.store import LEAF_SLOTS, keys_of
from kernel_bench import Bench

TILE = 1024  # updates that a block locates and plans


def filled(bench: Bench, entries: int, *, weighted: bool = False) -> Pair:
    """A shard whose leaves are evenly filled, with room between all keys."""
    pair = Pair(bench, 50, weighted=weighted)
    per_row = -(-entries // 50)
    keys = keys_of(np.repeat(np.arange(50), per_row), np.tile(16 * np.arange(1, per_row + 1), 50))
    pair.apply(keys, None, np.arange(keys.size) % 7 * 1.0 if weighted else None, path="merge")
    return pair


def leaves_of(pair: Pair) -> tuple[Keys, Keys]:
    """The first key of each leaf in key order, and its number of entries."""
    counts = pair.leaf_counts().ravel().astype(np.int64)
    return np.cumsum(counts) - counts, counts


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("entries", [30_000, 70_000], ids=["one block plans", "tiles are planned"])
def test_one_update_of_each_leaf_at_every_slot(bench: Bench, entries: int, weighted: bool) -> None:
    pair = filled(bench, entries, weighted=weighted)

    def apply(keys: Keys, *, gone: bool = False) -> Any:
        weights = np.arange(keys.size) * 0.5 if weighted else None
        change = pair.apply(keys, np.full(keys.size, gone), weights)
        assert change.rebalances == 0, "no window: leaves are written by themselves"
        return change

    for turn in range(2):
        begins, counts = leaves_of(pair)
        slots = (np.arange(counts.size) + turn) % counts
        keys = pair.expected.keys[begins + slots]
        assert apply(keys, gone=True).deleted == counts.size
        assert apply(keys).inserted == counts.size
    begins, counts = leaves_of(pair)
    last = pair.expected.keys[begins + counts - 1]
    assert counts.max() < LEAF_SLOTS and apply(last + np.uint64(1)).inserted == last.size
    if weighted:
        keys = pair.expected.keys[leaves_of(pair)[0]]
        assert pair.apply(keys, None, np.full(keys.size, 99.0)).changed == keys.size


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_several_updates_of_a_leaf_that_stays_full(bench: Bench, weighted: bool) -> None:
    """As many deletions as insertions, in any order of keys: the leaf would overflow if all insertions came first."""
    pair = filled(bench, 30_000, weighted=weighted)
    for turn in range(6):
        begins, counts = leaves_of(pair)
        old = [pair.expected.keys[begins + (slot + turn) % counts] for slot in (0, 7, 8, 20)]
        new = [key + np.uint64(turn + 1) for key in (old[1], old[3], old[2], old[0])]
        chosen = np.arange(begins.size) % 3 == turn % 3
        keys = np.concatenate([key[chosen] for key in (*old, *new)])
        deletes = np.arange(keys.size) < keys.size // 2
        change = pair.apply(keys, deletes, np.arange(keys.size) * 1.0 if weighted else None)
        assert change.inserted == change.deleted == 4 * int(chosen.sum()) and change.rebalances == 0


def run_lengths(rng: np.random.Generator) -> dict[str, list[int]]:
    around = [TILE - 1, 1, 1, TILE - 1, TILE, 1, TILE, TILE + 1, TILE - 1, 2, 2 * TILE, 3 * TILE + 5, 1]
    return {
        "around tiles": around,
        "one leaf": [5 * TILE + 3],
        "whole tiles": [TILE] * 4,
        "half of a tile": [TILE // 2] * 9,
        "across every tile": [TILE // 2, *[TILE] * 4, 7],
        "any": rng.integers(1, 400, 40).tolist(),
    }


@pytest.mark.parametrize("name", run_lengths(np.random.default_rng(0)))
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_updates_of_a_leaf_may_lie_in_several_tiles(bench: Bench, name: str, weighted: bool) -> None:
    """Every update of a leaf but the last two repeats the same key."""
    rng = np.random.default_rng(3)
    lengths = np.array(run_lengths(rng)[name])
    pair = filled(bench, 30_000, weighted=weighted)
    for gone in (False, True):
        begins, _ = leaves_of(pair)
        present = pair.expected.keys[begins[: lengths.size] + 3]
        keys = np.repeat(present + np.uint64(1), lengths)  # the last update of a run decides
        ends = np.cumsum(lengths)
        second = ends[lengths > 1] - 1
        keys[second] = present[lengths > 1] + np.uint64(2)
        deletes = np.full(keys.size, gone)
        deletes[: keys.size // 3] ^= rng.random(keys.size // 3) < 0.1
        change = pair.apply(keys, deletes, rng.random(keys.size) if weighted else None)
        assert change.inserted + change.deleted > 0 and change.rebalances == 0
