"""Memory for the pages of a shard and of its immutable versions: handed out, counted, given back.

Pages lie in segments that are never moved, so growing copies no entries; what there is per leaf and per page beside
them is a twentieth of that and does move. How many versions hold a page is counted here, on the host, where versions
are made and dropped; the device sees one flag per page. See include/packed_store.cuh.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any

import numpy as np

from graphlode.cuda.interface import KernelDevice
from graphlode.packed import PAGE_LEAVES, PAGE_SLOTS
from graphlode.types import AnyArray, BoolArray

SEGMENT_PAGES = 64
NO_KEY = np.uint64(2**64 - 1)

_PER_LEAF = {
    "separators": np.uint64,
    "counts": np.uint16,
    "next_counts": np.uint16,
    "starts": np.uint16,
    "levels": np.uint8,
}
_PER_PAGE = {"totals": np.uint32, "marks": np.uint32, "jobs": np.uint32, "held": np.uint8}

# A pool with this much more free than taken gives memory back.
_SPARE = 1 / 16
# Pages that may not all be needed come in so many pieces of memory.
_PIECES = 16
# With so many times the room that its pages need for what is kept beside them, it gives that back.
_MUCH_ROOM = 2.5


def address(array: Any) -> int:
    """Where an array of a device begins."""
    pointer: int = array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
    return pointer


class Pool:
    """Pages of one shard. Only the device's worker uses it, except for `dropped`, which takes from any thread."""

    def __init__(self, device: KernelDevice, *, weighted: bool) -> None:
        self._device = device
        self.weighted = weighted
        self.references = np.zeros(0, np.int32)  # per page: versions that hold it
        self.dropped: deque[AnyArray] = deque()  # pages of versions that are gone, not yet counted
        self.generation = 0  # changes when an array moves
        self._free = np.zeros(0, np.uint32)
        self._blocks: list[tuple[AnyArray, Any]] = []  # numbers of segments, and the memory they share
        self._addresses = np.zeros(0, np.uint64)  # per segment; 0: has no memory
        self._used = 0  # pages that somebody holds
        self._held_is_stale = False
        self.segments: Any = None
        self.arrays: dict[str, Any] = {name: device.zeros(0, dtype) for name, dtype in (_PER_LEAF | _PER_PAGE).items()}

    @property
    def page_bytes(self) -> int:
        return 8 * PAGE_SLOTS * (2 if self.weighted else 1)

    @property
    def free(self) -> AnyArray:
        """Numbers of pages that nobody holds."""
        return self._free

    @property
    def backed(self) -> BoolArray:
        """Which pages have memory."""
        return np.repeat(self._addresses != 0, SEGMENT_PAGES)

    @property
    def capacity(self) -> int:
        """Page numbers in use or in reserve; those of segments without memory are counted too."""
        return int(self._addresses.size) * SEGMENT_PAGES

    @property
    def nbytes(self) -> int:
        beside = sum(array.nbytes for array in self.arrays.values())
        return int(beside + sum(memory.nbytes for _, memory in self._blocks))

    def take(self, count: int, *, apart: bool = False) -> AnyArray:
        """Numbers of pages that nobody holds; they are yours until `release`. Raises DeviceMemoryError.

        Pages that replace all others lie apart from them if these are many, so that their memory can be given back;
        and in pieces, so that this is true also of the last ones, if they turn out not to be needed.
        """
        if apart and max(count, self._used) > SEGMENT_PAGES:
            spare, self._free = self._free, self._free[:0]
            try:
                self._grow(count, pieces=_PIECES)
            finally:
                self._free = np.concatenate([self._free, spare])
        elif count > self._free.size:
            self._grow(count - int(self._free.size))
        taken, self._free = self._free[:count], self._free[count:]
        self.references[taken] = 1
        self._used += count
        return taken

    def hold(self, pages: AnyArray) -> None:
        """One more version holds these pages."""
        self.references[pages] += 1
        self._held_is_stale = True

    def release(self, pages: AnyArray) -> None:
        self.references[pages] -= 1
        unused = pages[self.references[pages] == 0]
        self._free = np.concatenate([self._free, unused])
        self._used -= unused.size

    @property
    def is_stale(self) -> bool:
        """Whether `collect` has something to do."""
        return self._held_is_stale or bool(self.dropped)

    def collect(self) -> None:
        """Take back the pages of versions that are gone, and tell the device which pages others still hold."""
        while self.dropped:
            self.release(self.dropped.popleft())
            self._held_is_stale = True
        if self._held_is_stale:
            held = (self.references > 1).astype(np.uint8)
            self.arrays["held"][: held.size] = self._device.asarray(held)
            self._held_is_stale = False

    def trim(self) -> None:
        """Give memory back in which no page is used, if there is much of it."""
        if self._free.size <= SEGMENT_PAGES + _SPARE * self._used:
            return
        used: BoolArray = np.any(self.references.reshape(-1, SEGMENT_PAGES) > 0, axis=1)
        kept = []
        for segments, memory in self._blocks:
            if used[segments].any():
                kept.append((segments, memory))
            else:
                self._addresses[segments] = 0
        # The device keeps addresses that no page needs: nothing is uploaded, since a commit must not need memory.
        self._blocks = kept
        self._free = self._free[self._addresses[self._free // SEGMENT_PAGES] != 0]
        self._forget_tail()

    def _grow(self, pages: int, *, pieces: int = 1) -> None:
        """At least so many free pages more, in up to so many pieces of memory. All that may fail comes first."""
        pages = max(pages, self._used // 16)
        count, segment_bytes = -(-pages // SEGMENT_PAGES), SEGMENT_PAGES * self.page_bytes
        ends = np.arange(1, min(pieces, count) + 1) * count // min(pieces, count)
        sizes = np.diff(ends, prepend=0)
        memory = [self._device.empty(int(size) * segment_bytes // 8, np.uint64) for size in sizes]
        without = np.flatnonzero(self._addresses == 0)[:count]
        more = count - without.size
        segments = np.concatenate([without, np.arange(self._addresses.size, self._addresses.size + more)])
        addresses = np.concatenate([self._addresses, np.zeros(more, np.uint64)])
        within = np.arange(count) - (ends - sizes).repeat(sizes)
        begins = np.array([address(piece) for piece in memory], np.uint64).repeat(sizes)
        addresses[segments] = begins + within.astype(np.uint64) * np.uint64(segment_bytes)
        table = self._device.asarray(addresses.copy())
        self._widen(addresses.size * SEGMENT_PAGES)

        self.segments, self._addresses = table, addresses
        self.references = np.concatenate([self.references, np.zeros(more * SEGMENT_PAGES, np.int32)])
        self._blocks += zip(np.split(segments, ends[:-1]), memory, strict=True)
        numbers = segments[:, None] * SEGMENT_PAGES + np.arange(SEGMENT_PAGES)
        self._free = np.concatenate([self._free, numbers.ravel().astype(np.uint32)])
        self.generation += 1

    def _widen(self, pages: int) -> None:
        """Room for what is kept beside so many pages."""
        if pages > self.arrays["totals"].size:
            self._resize(pages + pages // 4)

    def _forget_tail(self) -> None:
        """Numbers behind all segments that have memory are free again, and what is kept beside them is given back."""
        backed = np.flatnonzero(self._addresses)
        count = int(backed[-1]) + 1 if backed.size else 0
        pages = count * SEGMENT_PAGES
        if self.arrays["totals"].size < _MUCH_ROOM * pages + SEGMENT_PAGES:
            return
        with suppress(MemoryError):  # it can wait
            self._resize(pages + pages // 4)
            self._addresses, self.references = self._addresses[:count], self.references[:pages]
            self.generation += 1

    def _resize(self, room: int) -> None:
        """Other arrays for what is kept beside so many pages."""
        other = {}
        for name, old in self.arrays.items():
            other[name] = self._device.zeros(room * (PAGE_LEAVES if name in _PER_LEAF else 1), old.dtype)
            kept = min(old.size, other[name].size)
            other[name][:kept] = old[:kept]
        self.arrays = other
