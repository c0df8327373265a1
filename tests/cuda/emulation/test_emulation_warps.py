"""Votes, matches, shuffles and reductions of warps against a few lines of Python, emulated and real."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_, xor
from typing import Any

import numpy as np
import pytest

from kernel_bench import NUMBERS, Bench, warps


def mask_of(lanes: list[int]) -> int:
    return sum(1 << lane for lane in lanes)


@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_votes_and_matches_of_whole_warps(bench: Bench, shape: tuple[int, int], density: float) -> None:
    grid, block = shape
    n = grid * block
    rng = np.random.default_rng(n)
    flags = np.where(rng.random(n) < density, rng.integers(1, 1 << 31, n), 0).astype(np.int32)
    narrow = rng.integers(-2, 2, n).astype(np.int32)
    wide = (rng.integers(0, 2, n) << 40 | rng.integers(0, 2, n)).astype(np.int64)
    ballot, equal_narrow, equal_wide = (np.zeros(n, np.uint32) for _ in range(3))
    some, every = np.zeros(n, np.int32), np.zeros(n, np.int32)
    bench.launch(
        "votes", "vote_together", grid, block, flags, narrow, wide, ballot, some, every, equal_narrow, equal_wide
    )
    for threads in warps(grid, block):
        votes = [flags[t] != 0 for t in threads]
        assert ballot[threads].tolist() == [mask_of([lane for lane, vote in enumerate(votes) if vote])] * len(threads)
        assert (some[threads] != 0).tolist() == [any(votes)] * len(threads)
        assert (every[threads] != 0).tolist() == [all(votes)] * len(threads)
        for values, found in ((narrow, equal_narrow), (wide, equal_wide)):
            expected = [mask_of([lane for lane, u in enumerate(threads) if values[u] == values[t]]) for t in threads]
            assert found[threads].tolist() == expected


@pytest.mark.parametrize("chosen", [0x55555555, 0x0000FFFF, 0x80000001, 0xFFFFFFFF, 0])
def test_two_groups_of_a_warp_meet_side_by_side(bench: Bench, shape: tuple[int, int], chosen: int) -> None:
    grid, block = shape
    n = grid * block
    flags = (np.arange(n) % 3 == 0).astype(np.int32)
    ballot, total = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    bench.launch("votes", "vote_in_groups", grid, block, flags, np.uint32(chosen), ballot, total)
    for threads in warps(grid, block):
        for group in (True, False):
            lanes = [lane for lane in range(len(threads)) if bool(chosen >> lane & 1) == group]
            votes = mask_of([lane for lane in lanes if flags[threads[lane]]])
            assert [ballot[threads[lane]] for lane in lanes] == [votes] * len(lanes)
            assert [total[threads[lane]] for lane in lanes] == [sum(lanes)] * len(lanes)


def test_a_lane_that_left_is_not_missed_by_those_that_do_not_name_it(bench: Bench) -> None:
    flags, ballot = np.ones(96, np.int32), np.zeros(96, np.uint32)
    bench.launch("votes", "vote_without_the_first", 1, 96, flags, ballot)
    assert ballot.tolist() == ([0] + [0xFFFFFFFE] * 31) * 3


def test_activemask_names_at_least_the_calling_lane(bench: Bench, shape: tuple[int, int]) -> None:
    grid, block = shape
    active = np.zeros(grid * block, np.uint32)
    bench.launch("votes", "vote_activemask", grid, block, active)
    for threads in warps(grid, block):
        for lane, t in enumerate(threads):
            assert active[t] >> lane & 1 and not int(active[t]) >> len(threads)
            assert not bench.emulated or active[t] == 1 << lane


def shuffled(kind: str, lane: int, argument: int, width: int) -> int:
    """The lane that `lane` reads from."""
    segment = lane // width * width
    if kind == "indexed":
        return segment + argument % width
    source = {"up": lane - argument, "down": lane + argument, "crossed": lane ^ argument}[kind]
    # Upwards a lane may not read from below its segment; the others may not read from above it.
    outside = source < segment if kind == "up" else source >= segment + width
    return lane if outside else source


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("name", NUMBERS)
def test_shuffles_read_from_the_right_lane(bench: Bench, name: str, width: int) -> None:
    for grid, block in ((2, 64), (2, 45)):
        n = grid * block
        values = np.random.default_rng(width).integers(1, 1 << 62, n).astype(np.dtype(name))
        for argument in (0, 1, 3, width - 1, 16, 31):
            found = {kind: np.zeros(n, values.dtype) for kind in ("indexed", "up", "down", "crossed")}
            arguments = (values, np.int32(argument), np.int32(width), *found.values())
            bench.launch("shuffles", f"shuffle_{name}", grid, block, *arguments)
            for threads in warps(grid, block):
                for lane, t in enumerate(threads):
                    for kind, got in found.items():
                        source = shuffled(kind, lane, argument + t if kind == "indexed" else argument, width)
                        if source < len(threads):  # else undefined: that lane does not exist
                            assert got[t] == values[threads[source]], (kind, lane, argument)


def test_shuffles_without_a_width_take_the_whole_warp(bench: Bench) -> None:
    values = np.arange(100, 164, dtype=np.int32)
    found = {kind: np.zeros(64, np.int32) for kind in ("indexed", "up", "down", "crossed")}
    bench.launch("shuffles", "shuffle_whole_warp", 1, 64, values, *found.values())
    arguments = {"indexed": 5, "up": 3, "down": 3, "crossed": 17}
    for kind, got in found.items():
        expected = [values[t - t % 32 + shuffled(kind, t % 32, arguments[kind], 32)] for t in range(64)]
        assert got.tolist() == expected


def test_reading_from_a_lane_that_is_not_there_stands_out(emulated: Bench) -> None:
    values = np.ones(3, np.int32)
    found = [np.zeros(3, np.int32) for _ in range(4)]
    emulated.launch("shuffles", "shuffle_whole_warp", 1, 3, values, *found)
    assert found[0].view(np.uint32).tolist() == [0xCDCDCDCD] * 3


@pytest.mark.parametrize("name", ["int32", "uint32"])
def test_reductions(bench: Bench, shape: tuple[int, int], name: str) -> None:
    grid, block = shape
    n = grid * block
    dtype = np.dtype(name)
    limits = np.iinfo(dtype)
    values = np.random.default_rng(n).integers(limits.min, limits.max, n, dtype, endpoint=True)
    folds: list[Any] = [lambda a, b: a + b, min, max]
    if name == "uint32":
        folds += [and_, or_, xor]
    found = [np.zeros(n, dtype) for _ in folds]
    bench.launch("reductions", f"reduce_{name}", grid, block, values, *found)
    for threads in warps(grid, block):
        for fold, got in zip(folds, found, strict=True):
            expected = reduce(fold, values[threads].tolist())
            assert (got[threads] == np.array(expected & 0xFFFFFFFF, np.uint32).astype(dtype)).all()
