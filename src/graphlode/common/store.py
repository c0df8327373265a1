"""Definitions that shards share on every device: keys, pages, densities, batches and changes.

A shard keeps its entries sorted in pages of leaves with gaps between them: a packed memory array per page, and a
directory of pages in key order. docs/decisions/packed-pages.md describes the structure.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from graphlode.types import AnyArray

Path = Literal["in place", "merge", "climb"]
"""How a batch is written: "in place" into its leaves; "merge" with all entries into fresh pages; "climb" as "in place",
but with windows found level by level, as in the published method."""
PATHS: tuple[Path, ...] = get_args(Path)

LEAF_SLOTS = 32
PAGE_LEAVES = 128
PAGE_SLOTS = LEAF_SLOTS * PAGE_LEAVES
LEVELS = 8  # windows of 1, 2, 4 .. 128 leaves

FILL = 0.80
"""Density of pages after a merge."""

MAX_ROWS = 2**31 - 1

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


class Fullness(NamedTuple):
    """How full a shard is. The choice of a path depends on it."""

    entries: int
    most_in_place: int = 2**63
    """With more entries than this, nearly all pages would overflow."""
    sparse_below: int = 0
    """With fewer entries than this, the pages have too many gaps, and the next batch should be merged."""


class Change(NamedTuple):
    """What a batch did to a shard, or to all of them."""

    inserted: int = 0
    deleted: int = 0
    changed: int = 0  # existing edges with a new weight
    path: str = "none"
    slots_written: int = 0
    rebalances: int = 0  # windows and pages that were spread again
    seconds: float = 0.0
    self_loops: int = 0  # entries of pairs that were dropped


class Pairs:
    """Unchecked entries as pairs of a row and a neighbor. The shard that gets them checks that both are below
    `num_rows`.

    The two arrays are both int32 or both int64. NumPy arrays lie on the host. `resident` arrays lie on the device of
    the shard and may still be being written in `stream`, as the CUDA array interface names it. A pair of equals is a
    self-loop and no entry. With `both`, each pair is two entries: there and back.
    """

    __slots__ = ("bits", "both", "neighbors", "num_rows", "resident", "rows", "size", "stream")

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
        self.num_rows = num_rows
        self.size = num_pairs << both  # entries
        self.bits = (num_rows - 1).bit_length() or 1  # of the highest position


def keys_of(rows: AnyArray, neighbors: AnyArray) -> AnyArray:
    """Entries as 64-bit keys: by row, then by neighbor."""
    return rows.astype(np.uint64) << np.uint64(32) | neighbors.astype(np.uint64)


def rows_of(keys: AnyArray) -> AnyArray:
    return (keys >> np.uint64(32)).astype(np.int64)


def neighbors_of(keys: AnyArray) -> AnyArray:
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
