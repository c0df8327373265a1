"""Launches of store/sort.cu: a batch of updates by key, equal keys in order of time.

Batches of up to some hundred tiles are sorted tile by tile and merged, once or twice; larger ones by the bits that keys
of the shard can have, so with a pass for every eight of them.
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

MOST_UPDATES = (1 << 30) - 1  # what a tile can publish

COUNTED_WORDS = _MOST_PASSES * _DIGITS + 2
"""What sorting finds zero and leaves zero: counts of digits, and what is heard of a batch."""

# Tiles that are merged at once: an update is looked up in ten of them at a time, and once more is quicker than another
# launch.
MOST_AT_ONCE = 16
# Tiles that are merged at all, in two steps of up to MOST_AT_ONCE. The lookups of an update grow with the root of the
# number of tiles: counted in instructions, they take as long here as six passes do.
MOST_TILES = MOST_AT_ONCE**2


def space_words(count: int) -> int:
    """Words that sorting so many updates needs beside the keys."""
    return _PUBLISHED_AT + 2 * _DIGITS * -(-count // SORT_TILE)


def passes_for(count: int, num_rows: int, neighbor_bits: int) -> int:
    """The number of digits by which a batch is sorted; 0: it is sorted in tiles."""
    if count <= MOST_TILES * MERGE_TILE:
        return 0
    return -(-(max(1, (num_rows - 1).bit_length()) + neighbor_bits) // _DIGIT_BITS)


def fans_for(count: int) -> tuple[int, int]:
    """How many runs each of two merges takes together, so that the tiles of a batch become one run; 1: not needed."""
    tiles = -(-count // MERGE_TILE)
    if tiles <= MOST_AT_ONCE:
        return tiles, 1
    first = isqrt(tiles - 1) + 1
    return first, -(-tiles // first)
