"""Vertices as tasks of the motif passes: a list by ascending number of wedges, cut into classes and launches.

A warp takes vertices with few wedges, a small block those with more, a large block those with many; each has a table in
shared memory. Vertices with still more wedges go to a large block without a table. Small and large blocks have separate
launches. Each kind of task has a counter from which warps or blocks draw, heaviest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.cuda.interface import KernelDevice

# As in motifs/wedges.cu and motifs/cycles.cu: a table is at most half full, and a slot has two words.
WARP_WEDGES, SMALL_WEDGES = 128, 1024
WARP_WORDS = 4 * WARP_WEDGES
SMALL_THREADS, LARGE_THREADS = 128, 512
SMALL_BLOCKS, LARGE_BLOCKS = 8, 2  # per multiprocessor
STATIC_SHARED_BYTES = 13 * 1024  # upper bound for both kernels

# About a tenth of a second per launch, so that a stop takes effect soon. For 5-cycles each wedge is extended to edges.
PAIR_WEDGES_PER_LAUNCH, CYCLE_WEDGES_PER_LAUNCH = 1 << 33, 1 << 29

_RESERVED_SHARED_BYTES = 1024  # per block, reserved by the hardware


@dataclass(frozen=True)
class Launch:
    """Ranges of the task list for one launch: without a table, with a table per block, with a table per warp."""

    threads: int
    blocks: int  # largest number
    shared_words: int
    ranges: tuple[int, int, int, int, int, int]

    @property
    def num_untabled(self) -> int:
        return self.ranges[1] - self.ranges[0]


@dataclass(frozen=True)
class Tasks:
    keys: Any  # (wedges << 32 | vertex), ascending, on the device
    cuts: tuple[int, ...]  # the begin of each class; tasks before the first have no work; the last is the length
    total: int  # number of wedges


def large_words(device: KernelDevice) -> int:
    """Words of shared memory for the counters of a large block; two blocks share a multiprocessor."""
    half = (device.max_shared_bytes + _RESERVED_SHARED_BYTES) // LARGE_BLOCKS - _RESERVED_SHARED_BYTES
    return (half - STATIC_SHARED_BYTES) // 16 * 4


def large_wedges(words: int) -> int:
    """Wedges that fit in a table of this size: its slots are a power of two, and at most half of them are used."""
    slots: int = 1 << ((words // 2).bit_length() - 1)
    return max(SMALL_WEDGES, slots // 2)


def make_tasks(device: KernelDevice, keys: list[Any], totals: Any, words: int) -> list[Tasks]:
    """Task lists from keys, which are sorted here, and numbers of wedges. Reads from the device once for all lists."""
    xp = device.xp
    bounds = np.array([2, WARP_WEDGES + 1, SMALL_WEDGES + 1, large_wedges(words) + 1], np.int64) << 32
    goals = device.constant(("motif bounds", *bounds.tolist()), lambda: bounds)
    for each in keys:
        each.sort()
    *cuts, sums = (
        x.tolist()
        for x in np.split(
            device.get(xp.concatenate([*(xp.searchsorted(each, goals) for each in keys), totals])),
            [len(bounds) * (i + 1) for i in range(len(keys))],
        )
    )
    return [Tasks(each, (*cuts[i], len(each)), sums[i]) for i, each in enumerate(keys)]


def launches(device: KernelDevice, tasks: Tasks, words: int, limit: int) -> Iterator[Launch]:
    """Launches for the tasks of large blocks, each of limited time, then one for the tasks of small blocks."""
    nonempty, small, large, untabled, end = tasks.cuts
    for begin, stop in pieces(device, tasks, untabled, end, limit):
        last = begin == untabled
        yield Launch(
            LARGE_THREADS,
            LARGE_BLOCKS * device.num_multiprocessors,
            words,
            (begin, stop, large if last else untabled, untabled, 0, 0),
        )
    if untabled == end and large < untabled:
        yield Launch(LARGE_THREADS, LARGE_BLOCKS * device.num_multiprocessors, words, (end, end, large, untabled, 0, 0))
    if nonempty < large:
        shared_words = max(4 * SMALL_WEDGES, SMALL_THREADS // 32 * WARP_WORDS)
        yield Launch(
            SMALL_THREADS,
            SMALL_BLOCKS * device.num_multiprocessors,
            shared_words,
            (0, 0, small, large, nonempty, small),
        )


def pieces(device: KernelDevice, tasks: Tasks, begin: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
    """The tasks [begin, end) from the heavy end, in pieces of at most `limit` wedges, or of one task."""
    if begin == end:
        return
    if tasks.total <= limit:
        yield begin, end
        return
    wedges = device.get(tasks.keys[begin:end] >> 32)
    wedges_to_end = np.append(np.cumsum(wedges[::-1])[::-1], 0)  # wedges from each task to the end
    stop = end
    while stop > begin:
        start = begin + int(np.searchsorted(-wedges_to_end, -(wedges_to_end[stop - begin] + limit), side="left"))
        start = min(start, stop - 1)
        yield start, stop
        stop = start


def wait_between(device: KernelDevice, tasks: Tasks, limit: int) -> None:
    """Waits between long launches, so that a stop takes effect between them."""
    if tasks.total > limit:
        device.synchronize()
