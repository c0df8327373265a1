"""Launches of graph/packed_sort.cu: a batch of updates by key, equal keys in order of time.

Batches of a few tiles are sorted tile by tile and merged; larger ones by the bits that keys of the shard can have, so
with a pass for every eight of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.packed_input import MOST_SMALL, Given

if TYPE_CHECKING:
    from graphlode.cuda.graph.packed_state import State

SOURCE = KernelSource(
    "graph/packed_sort",
    ("packed_clear", "packed_digits", "packed_sort_pass", "packed_sort_tiles", "packed_merge_tiles"),
)

# As in packed_sort.cu.
_DIGIT_BITS, _PUBLISHED_AT, _DIGITS = 8, 8 * 256 + 16, 256
SORT_THREADS, SORT_TILE = 256, 4096

MOST_UPDATES = (1 << 30) - 1  # what a tile can publish
MOST_TILES = 16  # that are merged by looking every update up in each


def space_words(count: int) -> int:
    """Words that sorting so many updates needs beside the keys."""
    return _PUBLISHED_AT + 2 * _DIGITS * -(-count // SORT_TILE)


def passes_for(state: State, given: Given) -> int:
    """By how many digits a batch is sorted; 0: in tiles."""
    if given.count <= MOST_TILES * MOST_SMALL:
        return 0
    return -(-(max(1, (state.num_rows - 1).bit_length()) + given.neighbor_bits) // _DIGIT_BITS)
