"""One version of a shard: a directory of pages in key order and an index of rows, over a pool that versions share.

Versions share the arrays of a directory: these are not written while a version holds them. The index of rows is written
in place; it is copied first if another version holds it.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.pool import Pool, address
from graphlode.types import AnyArray

_PAGE_FIELDS = "totals", "marks", "jobs", "held"
STORE_WORDS = 1 + len(_PAGE_FIELDS) + 4 + 3
"""Words of the struct packed_store."""


@dataclass
class Directory:
    """Pages in key order: their numbers, on the host and on the device; the lowest key of each; the position of each
    page.

    The arrays on the device may have room for more pages.
    """

    pages: AnyArray
    room_for_pages: Any
    room_for_separators: Any
    positions: Any
    described: Any = None  # the struct packed_store of a version with this directory
    shared: bool = False  # whether an immutable version holds it, too
    host_room: AnyArray | None = None  # memory of the host for `pages` of this directory or of a later one

    @property
    def device_pages(self) -> Any:
        return self.room_for_pages[: self.pages.size]

    @property
    def separators(self) -> Any:
        return self.room_for_separators[: self.pages.size]

    @property
    def nbytes(self) -> int:
        arrays = (self.room_for_pages, self.room_for_separators, self.positions)
        return sum(int(array.nbytes) for array in arrays)


class Description(NamedTuple):
    """The struct packed_store of a version, and the arrays that it points to."""

    generation: int
    num_rows: int
    row_leaves: Any
    directory: Directory | None
    struct: Any
    segments: Any
    arrays: Mapping[str, Any]


class Version:
    """What a reader needs. Immutable, unless it is the `State` of a shard."""

    def __init__(self, pool: Pool, directory: Directory, row_leaves: Any, num_rows: int, num_entries: int) -> None:
        self.pool = pool
        self.directory = directory
        self.row_leaves = row_leaves  # may have room for more rows
        self.num_rows = num_rows
        self.num_entries = num_entries
        self._described = Description(0, 0, None, None, None, None, {})
        # The pages that this version holds. Any thread may drop a version; the writer of the pool counts that later.
        self._held = [directory.pages]
        weakref.finalize(self, _drop, pool.dropped, self._held).atexit = False

    @property
    def pages(self) -> AnyArray:
        return self.directory.pages

    def described(self, device: KernelDevice) -> Any:
        """The struct packed_store of store/store.cuh, on the device."""
        return self.description(device).struct

    def description(self, device: KernelDevice) -> Description:
        """The struct with the arrays that it points to. A reader keeps it until it has finished: a batch may move the
        arrays of the pool, and the old ones stay correct for an immutable version."""
        known, pool = self._described, self.pool
        same = known.row_leaves is self.row_leaves and known.directory is self.directory
        if same and known.generation == pool.generation and known.num_rows == self.num_rows:
            return known
        generation, segments, arrays = pool.generation, pool.segments, pool.arrays  # in this order: see Pool._resize
        struct = store_struct(
            device, pool, segments, arrays, self.directory, self.pages.size, self.row_leaves, self.num_rows
        )
        device.synchronize()  # other threads may use it in streams of their own
        self._described = Description(
            generation, self.num_rows, self.row_leaves, self.directory, struct, segments, arrays
        )
        return self._described


def store_struct(
    device: KernelDevice,
    pool: Pool,
    segments: Any,
    arrays: Mapping[str, Any],
    directory: Directory,
    num_pages: int,
    row_leaves: Any,
    num_rows: int,
) -> Any:
    """The struct packed_store with these fields, on the device."""
    fields = [segments, *(arrays[name] for name in _PAGE_FIELDS)]
    fields += [directory.positions, directory.room_for_pages, directory.room_for_separators, row_leaves]
    sizes = [num_pages, num_rows, int(pool.weighted)]
    return device.asarray(np.array([*map(address, fields), *sizes], np.uint64))


def _drop(dropped: deque[AnyArray], held: list[AnyArray]) -> None:
    dropped.append(held[0])
