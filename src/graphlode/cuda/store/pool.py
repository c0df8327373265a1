"""Memory for the pages of a shard and of its immutable versions: allocates, counts and releases them.

Pages, with the data of their leaves, are stored in segments that never move. So growing copies only the few bytes per
page that are stored outside of the segments. The extension `_driver` counts on the host how many versions hold each
page, because versions are made and dropped there. The device has one flag per page. See store/store.cuh.

Allocating from the device takes longer than a small batch, whatever the size. Three rules follow. A pool that is short
of pages gets more between batches (`provide`). A merge allocates pieces of the sizes that the last merge released,
because the device's own pool still has these. Where that pool has too little, it gets much memory at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

import numpy as np

from graphlode.common.store import PAGE_LEAVES, PAGE_SLOTS
from graphlode.cuda import _driver
from graphlode.cuda.interface import KernelDevice
from graphlode.types import AnyArray, BoolArray

SEGMENT_PAGES = 64
NO_KEY = np.uint64(2**64 - 1)

# A page in words, as stored_page in store/store.cuh: keys, separators, counts and counts after a batch, starts and
# levels of the leaves, weights.
_SEPARATORS, _COUNTS = PAGE_SLOTS, PAGE_SLOTS + PAGE_LEAVES
_COUNT_WORDS, _LEVEL_WORDS = PAGE_LEAVES // 4, PAGE_LEAVES // 8
_PAGE_WORDS = _COUNTS + 3 * _COUNT_WORDS + _LEVEL_WORDS

_PER_PAGE = {"totals": np.uint32, "marks": np.uint32, "jobs": np.uint32, "held": np.uint8}

# Free pages, as parts of the used ones. With less than _LOW a pool is short of pages, with more than _SPARE it releases
# memory. `provide` allocates less than the difference at a time.
_LOW, _SPARE = 1 / 32, 1 / 16
# Pages that a batch with few splits takes for a moment, whatever the size of the shard.
_SPLIT_PAGES = SEGMENT_PAGES // 2
# Pieces of memory for pages that replace all others: equal ones for the pages that are certainly needed, and at most
# this number for the rest.
_SURE_PIECES, _PIECES = 3, 4
# Segments for which the table has room at first.
_LEAST_TABLE = 256
_ALIGNMENT = 256  # bytes
# The arrays per page have room for this multiple of the pages. They take 13 bytes per page, a page takes 33,000. A
# merge doubles the pages for a moment, and should find enough room when the store is loaded.
_ROOM = 5
_LITTLE_ROOM, _MUCH_ROOM = 1.25, 16  # multiples of the pages: with less more is allocated, with more it is released
# The next merge finds memory if it writes up to this multiple of the last one.
_GROWTH = 1.07
# The part of all pages that is allocated beyond the need.
_EXTRA_PART = 1 / 4
# Pieces that were released are allocated again in the same sizes, except those below this part of all.
_SMALL_PIECE = 3  # see `_part`


def address(array: Any) -> int:
    """The address of an array of a device."""
    pointer: int = array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
    return pointer


def _low(used: int) -> int:
    """A pool with this number of used pages is short if it has fewer free pages than this. A pool of one segment never
    is."""
    return max(2 * _SPLIT_PAGES, int(_LOW * used)) if used > SEGMENT_PAGES else 0


def _lowest(used: int) -> int:
    """With fewer free pages than this, a batch with few splits might find too few."""
    return _low(used) // 2


def _high(used: int) -> int:
    """With more free pages than this, a pool releases memory."""
    return SEGMENT_PAGES + (2 * _SPLIT_PAGES if used > SEGMENT_PAGES else 0) + int(_SPARE * used)


def _part(segments: int, shift: int) -> int:
    """A power of two of at least 1, between the 2^shift-th part of the segments and half of that."""
    return 1 << max(0, segments.bit_length() - 1 - shift)


@lru_cache
def _piece_sizes(first: int, all_segments: int, known: tuple[int, ...] = ()) -> tuple[int, ...]:
    """The sizes of the pieces for `all_segments`, of which the `first` ones are certainly needed.

    The pieces are few, because each allocation takes time. Known sizes are used first, the largest before the others,
    then up to three equal pieces. The rest comes in up to four pieces, each no larger than what may stay free, if
    possible.
    """
    reused = _reused_sizes(first, known)
    rest = all_segments - first
    piece = max(1, -(-rest // _PIECES), int(_SPARE * first))
    return reused + _cut(first - sum(reused), max(1, -(-first // _SURE_PIECES))) + _cut(rest, piece)


def _reused_sizes(first: int, known: tuple[int, ...]) -> tuple[int, ...]:
    """The known sizes that are not small, up to a total of `first` segments."""
    reused, left = [], first
    for size in known:
        if _part(first, _SMALL_PIECE) <= size <= left:
            reused.append(size)
            left -= size
    return tuple(reused)


def _cut(segments: int, piece: int) -> tuple[int, ...]:
    left = segments % piece
    return (piece,) * (segments // piece) + ((left,) if left else ())


class Pool:
    """Pages of one shard. Only the thread that writes the shard uses it. `dropped` accepts pages from any thread."""

    def __init__(self, device: KernelDevice, *, weighted: bool) -> None:
        self._device = device
        self.weighted = weighted
        self.dropped: deque[AnyArray] = deque()  # pages of dropped versions, not yet counted
        self.generation = 0  # changes when an array moves
        self._counted = _driver.PagePool(SEGMENT_PAGES)
        self._memory: dict[int, tuple[Any, int]] = {}  # by number of the piece: what keeps it, and its bytes
        self._ahead: tuple[_driver.PagePool, list[int], AnyArray] | None = None  # by `count_ahead`, for these pages
        self._held_is_stale = False
        self._versions = 0  # immutable ones that are not known to be dropped
        self._room = 0  # pages for which the table of segments and the arrays have room
        self._merged = 0  # segments that the last merge wrote; 0 once memory for the next is provided
        self._given_back: tuple[int, ...] = ()  # segments of the pieces that the merge released, descending
        self.segments: Any = device.zeros(_LEAST_TABLE, np.uint64)  # the address of each; has room for more
        self._sent: AnyArray = np.zeros(_LEAST_TABLE, np.uint64)  # the content of `segments`
        self.arrays: dict[str, Any] = {name: device.zeros(0, dtype) for name, dtype in _PER_PAGE.items()}

    def clear_first_page(self) -> None:
        """Initialize the first page of a new pool: no entries, and the first leaf may hold every key."""
        memory, _ = self._memory[0]
        words = self._device.words_in(memory, _PAGE_WORDS)
        words[_SEPARATORS:_COUNTS] = NO_KEY
        words[_SEPARATORS] = 0
        words[_COUNTS : _COUNTS + 2 * _COUNT_WORDS] = 0

    @property
    def page_bytes(self) -> int:
        return 8 * (_PAGE_WORDS + (PAGE_SLOTS if self.weighted else 0))

    @property
    def references(self) -> AnyArray:
        """The number of versions that hold each page."""
        return self._counted.references

    @property
    def free(self) -> AnyArray:
        """Numbers of the free pages: no version holds them."""
        return self._counted.free

    @property
    def num_free(self) -> int:
        return self._counted.num_free

    @property
    def num_unneeded(self) -> int:
        """Free pages beyond the reserve for the next batches."""
        return max(0, self._counted.num_free - _high(self._counted.num_used))

    @property
    def backed(self) -> BoolArray:
        """Which pages have memory."""
        return np.repeat(self._counted.addresses != 0, SEGMENT_PAGES)

    @property
    def capacity(self) -> int:
        """Page numbers, used or free. Those of segments without memory count, too."""
        return self._counted.num_pages

    @property
    def nbytes(self) -> int:
        beside = sum(array.nbytes for array in self.arrays.values())
        return int(beside + self.segments.nbytes + sum(size for _, size in self._memory.values()))

    def take(self, count: int) -> AnyArray:
        """Numbers of free pages, which belong to the caller until `release`. Raises DeviceMemoryError."""
        counted, self._ahead = self._counted, None
        if count > counted.num_free:
            missing, usual = -(-(count - counted.num_free) // SEGMENT_PAGES), self._part_of_all(4)
            try:
                self._grow((max(missing, usual),))
            except MemoryError:
                if missing >= usual:
                    raise
                self._grow((missing,))
        return self._taken(count)

    def take_apart(self, count: int, surely: int) -> AnyArray:
        """As `take`, for pages that replace all others. At least `surely` of them will be needed.

        If the shard has many pages, the new ones get memory of their own, so the memory of the old pages can be
        released. It comes in several pieces, so the last of them can be released, too, if they are not needed.
        """
        if max(count, self._counted.num_used) <= SEGMENT_PAGES and not self.num_unneeded:
            return self.take(count)
        self._grow(_piece_sizes(-(-surely // SEGMENT_PAGES), -(-count // SEGMENT_PAGES), self._given_back))
        return self._taken(count)

    def _taken(self, count: int) -> AnyArray:
        taken = np.empty(count, np.uint32)
        self._counted.take(taken)
        return taken

    def hold(self, pages: AnyArray) -> None:
        """One more version holds these pages."""
        self._ahead = None
        self._counted.hold(pages)
        self._versions += 1
        self._held_is_stale = True

    def release(self, pages: AnyArray) -> None:
        self._ahead = None
        self._counted.release(pages)

    @property
    def is_stale(self) -> bool:
        """Whether `collect` has work to do."""
        return self._held_is_stale or bool(self.dropped)

    def collect(self) -> None:
        """Release the pages of dropped versions, and update the flags on the device of pages that other versions
        hold."""
        while self.dropped:
            self.release(self.dropped.popleft())
            self._versions -= 1
            self._held_is_stale = True
        if self._held_is_stale:
            self._device.update(self.arrays["held"], 0, (self.references > 1).astype(np.uint8))
            self._held_is_stale = False

    @property
    def is_alone(self) -> bool:
        """Whether the shard itself is the only version."""
        return not self._versions

    def count_ahead(self, pages: AnyArray) -> None:
        """Compute in advance what `keep_only` will do with the first of these pages. No page may be taken, held or
        released in between."""
        books = self._counted.copy()
        self._ahead = books, books.keep_only(pages, _high(pages.size)), pages

    def keep_only(self, pages: AnyArray) -> None:
        """The only version has these pages from now on. As `release` of all other pages, then `trim`."""
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            unused = self._counted.keep_only(pages, _high(pages.size))
        else:
            self._counted, unused, those = ahead
            counted = self._counted
            if pages.size < those.size:
                counted.release(those[pages.size :])
                if counted.num_free > _high(counted.num_used):
                    unused += counted.drop_unused()
        given_back = sorted((self._memory.pop(piece)[1] // self._segment_bytes for piece in unused), reverse=True)
        segments = -(-pages.size // SEGMENT_PAGES)
        is_second_copy = 2 * sum(given_back) > segments
        self._merged, self._given_back = (segments, tuple(given_back)) if is_second_copy else (0, ())
        self._forget_tail()

    def trim(self) -> None:
        """Release memory without used pages, if there is much of it."""
        counted = self._counted
        if counted.num_free > _high(counted.num_used):
            # The device keeps stale addresses: nothing is uploaded, because a commit must not allocate.
            for piece in counted.drop_unused():
                del self._memory[piece]
            self._forget_tail()

    def stays_as_it_is(self, taken: int, released: int) -> bool:
        """Whether no memory is allocated or released by taking and releasing these numbers of pages, then `trim`."""
        counted, more = self._counted, released - taken
        return taken <= counted.num_free and counted.num_free + more <= _high(counted.num_used - more)

    def tidy(self) -> None:
        """As `trim`, but release all memory without used pages, even if it may be needed soon."""
        self.collect()
        for piece in self._counted.drop_unused():
            del self._memory[piece]
        self._forget_tail()

    @property
    def is_short(self) -> bool:
        """Whether `provide` has work to do."""
        counted = self._counted
        return bool(self._merged) or counted.num_free < _low(counted.num_used) or self._has_little_room

    @property
    def is_very_short(self) -> bool:
        """Whether the next batch might find too few free pages."""
        counted = self._counted
        return counted.num_free < _lowest(counted.num_used)

    @property
    def _has_little_room(self) -> bool:
        return self._room < _LITTLE_ROOM * self._counted.num_pages

    def provide(self) -> bool:
        """Allocate memory for the next batches while the device is idle. False if there is none.

        Either some free pages, or room per page, or the memory of a merge that writes slightly more than the last one.
        The memory for a merge stays in the device's own pool.
        """
        counted = self._counted
        try:
            if counted.num_free < _low(counted.num_used):
                self._grow((self._part_of_all(5),))
            elif self._has_little_room:
                self._widen(int(_LITTLE_ROOM * counted.num_pages) + 1)
            elif self._merged:
                self._provide_for_merge()
        except MemoryError:
            return False
        return True

    def _provide_for_merge(self) -> None:
        segments, self._merged = int(_GROWTH * self._merged) + 1, 0
        # The last piece is for the batch itself.
        self._allocate((*_piece_sizes(segments, segments, self._given_back), _part(segments, 4)))

    def _part_of_all(self, shift: int) -> int:
        """`_part` of the segments that the used pages fill."""
        return _part(self._counted.num_used // SEGMENT_PAGES, shift)

    def _grow(self, pieces: Sequence[int]) -> None:
        """Add pieces of these numbers of segments. Their pages are taken next. Changes nothing if an allocation
        fails."""
        self._ahead = None
        device, counted, segment_bytes = self._device, self._counted, self._segment_bytes
        memory = self._allocate(pieces)
        pages = counted.segments_with(sum(pieces)) * SEGMENT_PAGES
        if pages > self._room:
            self._widen(pages)
        first, begin, end = counted.add([begins for _, begins in memory], pieces, segment_bytes)
        for number, size in enumerate(pieces):
            self._memory[first + number] = memory[number][0], size * segment_bytes
        addresses, known = counted.addresses_of(begin, end), self._sent[begin:end]
        if addresses.tobytes() != known.tobytes():  # the same memory is often allocated again in the same order
            device.update(self.segments, begin, addresses)
            known[:] = addresses

    def _allocate(self, pieces: Sequence[int]) -> list[tuple[Any, int]]:
        """Allocate pieces of these numbers of segments. Returns each with its address.

        If the device's own pool has too little, it gets memory for all remaining pieces and for growth at once, as far
        as the device has that: the pool keeps released memory, and cuts pieces from it.
        """
        device, segment_bytes = self._device, self._segment_bytes
        memory: list[tuple[Any, int]] = []
        with device.current():
            before, is_refilled = device.pooled_bytes(), False
            for done, size in enumerate(pieces, 1):
                memory.append(device.allocate(size * segment_bytes))
                if not is_refilled and device.pooled_bytes() != before:
                    is_refilled = True
                    self._refill_device_pool(sum(pieces[done:]) * segment_bytes)
        return memory

    def _refill_device_pool(self, nbytes: int) -> None:
        """Put this number of bytes into the device's own pool, and a quarter of the store more if a copy of the store
        still fits then. Does nothing if the device has too little: the pool would first release all that it could."""
        all_bytes, left = self._counted.num_used * self.page_bytes, self._device.unpooled_bytes() - nbytes
        more = int(_EXTRA_PART * all_bytes)
        if left > more + all_bytes:
            nbytes += more
        if nbytes and left >= 0:
            with suppress(MemoryError):  # another process may have taken it
                self._device.allocate(nbytes)

    @property
    def _segment_bytes(self) -> int:
        return SEGMENT_PAGES * self.page_bytes

    def _widen(self, pages: int) -> None:
        """Make room for this number of pages in the table of segments and in the arrays."""
        if pages > self.segments.size * SEGMENT_PAGES:
            sent: AnyArray = np.zeros(_ROOM * -(-pages // SEGMENT_PAGES), np.uint64)
            addresses = self._counted.addresses
            sent[: addresses.size] = addresses
            table = self._device.asarray(sent.copy())
            self._device.synchronize()  # as in _resize
            self.segments, self._sent = table, sent
            self.generation += 1
        if pages > self.arrays["totals"].size:
            self._resize(_ROOM * pages)
        self._room = min(self.segments.size * SEGMENT_PAGES, self.arrays["totals"].size)

    def _forget_tail(self) -> None:
        """Forget the page numbers after the last segment with memory, and shrink the arrays if they are far too
        large."""
        pages = self._counted.segments_with_tail_forgotten * SEGMENT_PAGES
        if self.arrays["totals"].size <= _MUCH_ROOM * pages + SEGMENT_PAGES:
            return
        with suppress(MemoryError):  # it can wait
            self._resize(_ROOM * pages)
            self._counted.forget_tail()

    def _resize(self, room: int) -> None:
        """Replace the arrays by ones with room for this number of pages, as parts of one allocation."""
        starts, end = {}, 0
        for name, array in self.arrays.items():
            starts[name] = end
            end += -(-room * array.itemsize // _ALIGNMENT) * _ALIGNMENT
        memory = self._device.zeros(end, np.uint8)
        arrays = {}
        for name, old in self.arrays.items():
            begin = starts[name]
            other = arrays[name] = memory[begin : begin + room * old.itemsize].view(old.dtype)
            kept = min(old.size, other.size)
            other[:kept] = old[:kept]
        self._device.synchronize()  # readers use streams of their own
        self._room = min(self._room, room)
        self.arrays = arrays  # before the generation changes: readers run on other threads
        self.generation += 1
