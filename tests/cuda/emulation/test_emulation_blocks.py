"""Block barriers and shared memory, emulated and real."""

from __future__ import annotations

import numpy as np
import pytest

import graphlode as gl
from kernel_bench import Bench, warps


@pytest.mark.parametrize("density", [0.0, 0.5, 1.0])
def test_barriers_that_count_and_vote(bench: Bench, shape: tuple[int, int], density: float) -> None:
    grid, block = shape
    n = grid * block
    flags = (np.random.default_rng(n).random(n) < density).astype(np.int32) * 4
    count, some, every = (np.zeros(n, np.int32) for _ in range(3))
    bench.launch("barriers", "barrier_votes", grid, block, flags, count, some, every)
    votes = (flags != 0).reshape(grid, block)
    np.testing.assert_array_equal(count.reshape(grid, block), np.repeat(votes.sum(1), block).reshape(grid, block))
    np.testing.assert_array_equal(some.reshape(grid, block) != 0, np.repeat(votes.any(1), block).reshape(grid, block))
    np.testing.assert_array_equal(every.reshape(grid, block) != 0, np.repeat(votes.all(1), block).reshape(grid, block))


def test_static_and_dynamic_shared_memory_behind_barriers(bench: Bench, shape: tuple[int, int]) -> None:
    grid, block = shape
    values = np.random.default_rng(block).integers(-(10**9), 10**9, grid * block).astype(np.int32)
    turned, sums = np.zeros_like(values), np.zeros(grid, np.int64)
    bench.launch("barriers", "barrier_reverse_and_sum", grid, block, values, turned, sums, shared_bytes=8 * block)
    np.testing.assert_array_equal(turned.reshape(grid, block), values.reshape(grid, block)[:, ::-1])
    np.testing.assert_array_equal(sums, values.reshape(grid, block).sum(1, dtype=np.int64))


def test_lanes_hand_values_on_behind_syncwarp(bench: Bench, shape: tuple[int, int]) -> None:
    grid, block = shape
    values = np.arange(grid * block, dtype=np.int32)
    following = np.zeros_like(values)
    bench.launch("barriers", "barrier_within_warps", grid, block, values, following)
    for threads in warps(grid, block):
        assert following[threads].tolist() == [*threads[1:], -1]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_blocks_side_by_side_have_their_own_shared_memory(bench: Bench, threads: int) -> None:
    strange = np.zeros(24, np.int32)
    with gl.configure(threads=threads):
        bench.launch("barriers", "barrier_keep_apart", 24, 40, np.int32(100), strange)
    assert not strange.any()


def test_unwritten_shared_memory_is_poisoned_for_each_block(emulated: Bench) -> None:
    """Neither zeros nor what the block before left."""
    for _ in range(2):
        fixed, dynamic = np.zeros(9 * 33, np.uint32), np.zeros(9 * 33, np.uint32)
        emulated.launch("barriers", "barrier_unwritten", 9, 33, fixed, dynamic, shared_bytes=4 * 33)
        assert set(fixed.tolist()) == set(dynamic.tolist()) == {0xCDCDCDCD}
