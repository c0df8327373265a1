"""The functions of include/ on their own: warps, work distributed over a grid, the last block."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from kernel_bench import Bench

SHAPES = [(1, 32), (3, 96), (7, 256), (2, 1024)]


@pytest.mark.parametrize(("grid", "block"), SHAPES)
def test_sums_minima_and_running_sums_of_warps(bench: Bench, grid: int, block: int) -> None:
    values = np.random.default_rng(block).integers(-(1 << 40), 1 << 40, grid * block)
    total, smallest, running = (np.zeros_like(values) for _ in range(3))
    bench.launch("headers", "headers_warp", grid, block, values, total, smallest, running)
    for begin in range(0, grid * block, 32):
        warp = values[begin : begin + 32].tolist()
        assert total[begin : begin + 32].tolist() == [sum(warp)] * 32
        assert smallest[begin : begin + 32].tolist() == [min(warp)] * 32
        assert running[begin : begin + 32].tolist() == list(accumulate(warp))


@pytest.mark.parametrize(("grid", "block"), SHAPES)
@pytest.mark.parametrize("density", [0.0, 0.2, 1.0])
def test_lists_grow_by_whole_warps(bench: Bench, grid: int, block: int, density: float) -> None:
    n = grid * block
    flags = (np.random.default_rng(n).random(n) < density).astype(np.int32)
    length, found = np.array([3], np.uint64), np.full(n + 3, -1, np.int32)
    bench.launch("headers", "headers_append", grid, block, flags, length, found)
    wanted = np.flatnonzero(flags).tolist()
    assert length[0] == 3 + len(wanted)
    assert found[:3].tolist() == [-1] * 3 and sorted(found[3 : 3 + len(wanted)].tolist()) == wanted
    warps = found[3 : 3 + len(wanted)] // 32  # each warp's entries lie together, in the order of its lanes
    assert len(np.flatnonzero(np.diff(warps))) == max(0, len(set(warps.tolist())) - 1)


@pytest.mark.parametrize("step", [1, 32, 100])
def test_drawn_numbers_go_to_one_warp_each(bench: Bench, step: int) -> None:
    taken, drawn = np.zeros(5000, np.int32), np.zeros(1, np.uint64)
    bench.launch("headers", "headers_draw", 4, 96, np.int32(step), np.int64(taken.size), drawn, taken)
    assert (taken == 1).all()


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 64), (9, 33), (40, 128)])
def test_one_block_is_the_last_and_sees_what_the_others_wrote(bench: Bench, grid: int, block: int) -> None:
    tickets, lasts = np.zeros(1, np.uint32), np.zeros(1, np.int32)
    for times in (1, 2):  # the tickets are ready for the next launch
        written, total = np.zeros(grid, np.int64), np.zeros(1, np.int64)
        bench.launch("headers", "headers_last_block", grid, block, tickets, written, total, lasts)
        assert lasts[0] == times and tickets[0] == 0
        assert total[0] == grid * (grid + 1) // 2
