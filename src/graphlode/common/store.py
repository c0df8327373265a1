"""What shards of a store have in common, whatever their device: entries as keys, pages, densities, changes.

A shard keeps its entries sorted in pages of leaves with gaps between them: a packed memory array per page, and a
directory of pages in key order. How it is kept is told in docs/decisions/packed-pages.md; each backend has it as the
kernel module `store/shard`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from graphlode.types import AnyArray

Path = Literal["in place", "merge", "rebuild", "climb"]
PATHS: tuple[Path, ...] = get_args(Path)

LEAF_SLOTS = 32
PAGE_LEAVES = 128
PAGE_SLOTS = LEAF_SLOTS * PAGE_LEAVES
LEVELS = 8  # windows of 1, 2, 4 .. 128 leaves

FILL = 0.80
"""Density of pages that are written anew, all at once."""

MAX_ROWS = 2**31 - 1

_SMALL_PART = 100  # with fewer than one update for so many entries, in place is certainly the path to take

_UPPER = (0.92, 0.84)  # leaf, page
_LOWER = (0.08, 0.42)


def upper_bound(level: int) -> float:
    """The highest density of a window of 2^level leaves, 0 being a leaf; a leaf alone may be full."""
    return _between(_UPPER, level)


def lower_bound(level: int) -> float:
    """The lowest density of a window of 2^level leaves."""
    return _between(_LOWER, level)


def _between(ends: tuple[float, float], level: int) -> float:
    return ends[0] + (ends[1] - ends[0]) * level / (LEVELS - 1)


class Change(NamedTuple):
    """What a batch did to a shard, or to all of them."""

    inserted: int = 0
    deleted: int = 0
    changed: int = 0  # edges that were there and got another weight
    path: str = "none"
    slots_written: int = 0
    rebalances: int = 0  # windows and pages that were spread anew
    seconds: float = 0.0
    self_loops: int = 0  # entries of pairs that were dropped


class Pairs:
    """Entries that nobody has checked yet, as pairs of a row and a neighbor; both below `num_rows`, if they are right.

    Arrays are int32 or int64, both the same. Those of the host are numpy's; those that are `resident` lie on the device
    of the shard that gets them, and may still be written in `stream`, as the CUDA array interface names it. A pair of
    equals is no entry. With `both`, each pair is two entries, there and back.
    """

    __slots__ = ("bits", "both", "neighbors", "resident", "rows", "size", "stream")

    def __init__(
        self,
        rows: Any,
        neighbors: Any,
        num_pairs: int,
        num_rows: int,
        both: bool = False,
        resident: bool = False,
        stream: int | None = None,
    ) -> None:
        self.rows = rows
        self.neighbors = neighbors
        self.both = both
        self.resident = resident
        self.stream = stream
        self.size = num_pairs << both  # entries
        self.bits = (num_rows - 1).bit_length() or 1  # of the highest position


def certainly_in_place(updates: int, entries: int) -> bool:
    """Whether a batch is so small beside the store that no other path can be faster."""
    return 0 < updates * _SMALL_PART <= entries


def keys_of(rows: AnyArray, neighbors: AnyArray) -> AnyArray:
    """Entries as 64-bit keys: by row, then by neighbor."""
    return rows.astype(np.uint64) << np.uint64(32) | neighbors.astype(np.uint64)


def rows_of(keys: AnyArray) -> AnyArray:
    return (keys >> np.uint64(32)).astype(np.int64)


def neighbors_of(keys: AnyArray) -> AnyArray:
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
