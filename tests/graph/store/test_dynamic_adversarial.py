"""Batches that are hard for a packed array: all into one place, in descending order, deleted and inserted again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from stores import even, mixes, without_reference

NUM_VERTICES = 6000
SIZE = 1500
Batches = Iterator[tuple[Any, Any, bool]]


def into_one_leaf(rng: np.random.Generator) -> Batches:
    """Between two existing entries, many times."""
    yield np.array([7, 7]), np.array([0, NUM_VERTICES - 1]), False
    for step in range(6):
        yield np.full(SIZE // 2, 7), 1000 + np.arange(SIZE // 2) * 6 + step, False


def descending(rng: np.random.Generator) -> Batches:
    for step in range(6):
        rows = np.arange(SIZE)[::-1] // 3 + (6 - step) * (SIZE // 3)
        yield rows, (rows + 1 + np.arange(SIZE)[::-1] % 3) % NUM_VERTICES, False


def one_hub(rng: np.random.Generator) -> Batches:
    for step in range(4):
        yield np.full(SIZE, 3000), rng.permutation(NUM_VERTICES)[:SIZE], step == 3


def away_and_back(rng: np.random.Generator) -> Batches:
    src, dst = rng.integers(0, NUM_VERTICES, (2, 3 * SIZE))
    for gone in (False, True, False, True):
        yield src, dst, gone


def grow_and_shrink(rng: np.random.Generator) -> Batches:
    src, dst = rng.integers(0, 300, (2, 6 * SIZE))
    for _ in range(2):
        for piece in np.array_split(np.arange(src.size), 3):
            yield src[piece], dst[piece], False
        for piece in np.array_split(rng.permutation(src.size), 4)[:3]:
            yield src[piece], dst[piece], True


@pytest.mark.parametrize("devices", mixes(without_reference))
@pytest.mark.parametrize("batches", [into_one_leaf, descending, one_hub, away_and_back, grow_and_shrink])
@pytest.mark.parametrize("strategy", ["in place", "auto"])
def test_the_store_stays_sound(devices: list[str], batches: Any, strategy: Any) -> None:
    store = gl.DynamicGraph(True, num_vertices=NUM_VERTICES, devices=devices, shares=even(devices), strategy=strategy)
    keys = np.empty(0, np.int64)
    for src, dst, gone in batches(np.random.default_rng(1)):
        kept = store.snapshot()
        store.apply(gl.Batch(src, dst, delete=bool(gone)))
        given = (src * NUM_VERTICES + dst)[src != dst]
        before, keys = keys, np.setdiff1d(keys, given) if gone else np.union1d(keys, given)
        store.check()
        for graph, expected in ((kept, before), (store.snapshot(), keys)):
            pairs = graph.edges(indices=True).astype(np.int64)
            assert np.array_equal(pairs[:, 0] * NUM_VERTICES + pairs[:, 1], expected)
    for shard in store.statistics().values():  # empty pages are released, except the last one
        assert shard["capacity"] <= 4096 or shard["density"] > 0.35
