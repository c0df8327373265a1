"""Parameters of store/sort.cu, which sorts a batch of updates by key, with equal keys in order of time.

Batches of up to 256 tiles are sorted tile by tile and merged, once or twice. Larger ones are sorted by radix, with one
pass for every eight bits that keys of the shard can have.
"""

from __future__ import annotations

from math import isqrt

from graphlode.cuda.compiler import KernelSource

SOURCE = KernelSource(
    "store/sort",
    ("packed_digits", "packed_sort_passes", "packed_sort_tiles", "packed_merge_runs"),
)

# As in store/sort.cu.
_DIGIT_BITS, _PUBLISHED_AT, _DIGITS, _MOST_PASSES = 8, 16 * 256, 256, 8
SORT_THREADS, SORT_TILE, MERGE_TILE = 256, 4096, 1024

MOST_UPDATES = (1 << 30) - 1  # the largest count that a tile can publish

COUNTED_WORDS = _MOST_PASSES * _DIGITS + 2
"""Words that are zero before and after a sort: counts of digits, and two counters of a batch."""

# Tiles that are merged at once. An update is looked up in up to ten of them at a time; a second lookup is faster than
# another launch.
MOST_AT_ONCE = 16
# Tiles that are merged in two steps of up to MOST_AT_ONCE. The lookups of an update grow with the root of the number of
# tiles. At this number they take as many instructions as six passes.
MOST_TILES = MOST_AT_ONCE**2


def space_words(count: int) -> int:
    """Words that sorting this number of updates needs in addition to the keys."""
    return _PUBLISHED_AT + 2 * _DIGITS * -(-count // SORT_TILE)


def passes_for(count: int, num_rows: int, neighbor_bits: int) -> int:
    """The number of digits by which a batch is sorted; 0: it is sorted in tiles."""
    if count <= MOST_TILES * MERGE_TILE:
        return 0
    return -(-(max(1, (num_rows - 1).bit_length()) + neighbor_bits) // _DIGIT_BITS)


def fans_for(count: int) -> tuple[int, int]:
    """The number of runs that each of two merges joins, so that the tiles of a batch become one run; 1: not needed."""
    tiles = -(-count // MERGE_TILE)
    if tiles <= MOST_AT_ONCE:
        return tiles, 1
    first = isqrt(tiles - 1) + 1
    return first, -(-tiles // first)
