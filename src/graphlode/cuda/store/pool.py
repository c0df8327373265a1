"""Memory for the pages of a shard and of its immutable versions: handed out, counted, given back.

Pages, with all that is kept of their leaves, lie in segments that are never moved, so growing copies nothing but the
few bytes that are kept of each page as a whole. How many versions hold a page is counted on the host, where versions
are made and dropped, by the extension `_driver`; the device sees one flag per page. See store/store.cuh.

Asking the device for memory takes longer than a small batch does, however much it is. So a pool that runs short of pages
is given more between batches (`provide`); memory for a merge comes in pieces, of the sizes that the one before gave back,
which the device's own pool has; and where that has too little, the device is asked for much at a time.
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

# A page in words, as stored_page in store/store.cuh has it: keys, separators, counts and counts after a batch, starts
# and levels of the leaves, weights.
_SEPARATORS, _COUNTS = PAGE_SLOTS, PAGE_SLOTS + PAGE_LEAVES
_COUNT_WORDS, _LEVEL_WORDS = PAGE_LEAVES // 4, PAGE_LEAVES // 8
_PAGE_WORDS = _COUNTS + 3 * _COUNT_WORDS + _LEVEL_WORDS

_PER_PAGE = {"totals": np.uint32, "marks": np.uint32, "jobs": np.uint32, "held": np.uint8}

# Free pages, as parts of those that are taken: with less than the first a pool is short of them, with more than the second
# it gives memory back. What is provided at a time comes to less than the difference.
_LOW, _SPARE = 1 / 32, 1 / 16
# What a batch that splits a few pages takes for a moment, whatever the size of the shard.
_A_FEW = SEGMENT_PAGES // 2
# Pages that replace all others come in so many pieces of memory alike; those of which it is not known whether they are
# needed, in so many at most.
_ALIKE, _PIECES = 3, 4
# The table of segments has room for so many to begin with.
_LEAST_TABLE = 256
_ALIGNMENT = 256  # bytes
# There is so many times the room that is needed for what is kept of pages, 13 bytes for each, which take 33,000: merges,
# which double the pages for a moment, should have enough when the store is loaded.
_ROOM = 5
_LITTLE_ROOM, _MUCH_ROOM = 1.25, 16  # with less there is soon too little, with more it is given back
# A merge that writes this much more than the one before finds memory.
_GROWTH = 1.07
# What the device is asked for beyond what is needed, as a part of all pages.
_ASKED = 1 / 4
# Pieces of memory that was given back are asked for again in the same sizes, but for those below this part of all.
_SMALL_PIECE = 3  # as _part has it


def address(array: Any) -> int:
    """Where an array of a device begins."""
    pointer: int = array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
    return pointer


def _low(used: int) -> int:
    """With fewer free pages than this, so many being taken, a pool is short of them. One of a single piece has what it
    has."""
    return max(2 * _A_FEW, int(_LOW * used)) if used > SEGMENT_PAGES else 0


def _lowest(used: int) -> int:
    """With fewer than this, a batch that splits a few might find too few."""
    return _low(used) // 2


def _high(used: int) -> int:
    """With more free pages than this, a pool gives memory back."""
    return SEGMENT_PAGES + (2 * _A_FEW if used > SEGMENT_PAGES else 0) + int(_SPARE * used)


def _part(segments: int, shift: int) -> int:
    """A power of two: between the 2^shift-th part of so many segments and half of that, but one at least."""
    return 1 << max(0, segments.bit_length() - 1 - shift)


@lru_cache
def _pieces(first: int, all_segments: int, known: tuple[int, ...] = ()) -> tuple[int, ...]:
    """So many segments, of which the first ones will surely be needed, in few pieces, since each takes time: of the sizes
    that are known, the largest first, and up to three others. What may not be needed comes in a few, each no larger than
    what may be spare unless that would make many."""
    again = _again(first, known)
    rest = all_segments - first
    piece = max(1, -(-rest // _PIECES), int(_SPARE * first))
    return again + _cut(first - sum(again), max(1, -(-first // _ALIKE))) + _cut(rest, piece)


def _again(first: int, known: tuple[int, ...]) -> tuple[int, ...]:
    """Those of the known sizes that are not small and come to so many segments at most."""
    again, left = [], first
    for size in known:
        if _part(first, _SMALL_PIECE) <= size <= left:
            again.append(size)
            left -= size
    return tuple(again)


def _cut(segments: int, piece: int) -> tuple[int, ...]:
    left = segments % piece
    return (piece,) * (segments // piece) + ((left,) if left else ())


class Pool:
    """Pages of one shard. The device's worker uses it, or who has the shard to himself while it has no other versions;
    `dropped` takes from any thread."""

    def __init__(self, device: KernelDevice, *, weighted: bool) -> None:
        self._device = device
        self.weighted = weighted
        self.dropped: deque[AnyArray] = deque()  # pages of versions that are gone, not yet counted
        self.generation = 0  # changes when an array moves
        self._counted = _driver.PagePool(SEGMENT_PAGES)
        self._memory: dict[int, tuple[Any, int]] = {}  # by the number of a piece: what keeps it, and its bytes
        self._foreseen: tuple[_driver.PagePool, list[int], AnyArray] | None = None  # by `foresee`, of these pages
        self._held_is_stale = False
        self._versions = 0  # immutable ones, of which nobody has said that they are gone
        self._room = 0  # pages for which the table of segments and what is kept of pages suffice
        self._merged = 0  # segments that a merge wrote in the place of others, if the next one is not provided for
        self._given_back: tuple[int, ...] = ()  # sizes of the pieces that it replaced, in segments, the largest first
        self.segments: Any = device.zeros(_LEAST_TABLE, np.uint64)  # where each begins; has room for more
        self._sent: AnyArray = np.zeros(_LEAST_TABLE, np.uint64)  # what is in it
        self.arrays: dict[str, Any] = {name: device.zeros(0, dtype) for name, dtype in _PER_PAGE.items()}

    def clear_first_page(self) -> None:
        """Of a pool in which nothing was written: no entries, and the first leaf may hold every key."""
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
        """Per page: how many versions hold it."""
        return self._counted.references

    @property
    def free(self) -> AnyArray:
        """Numbers of pages that nobody holds."""
        return self._counted.free

    @property
    def num_free(self) -> int:
        return self._counted.num_free

    @property
    def num_too_many(self) -> int:
        """Pages that nobody holds, beside those that are kept for batches to come."""
        return max(0, self._counted.num_free - _high(self._counted.num_used))

    @property
    def backed(self) -> BoolArray:
        """Which pages have memory."""
        return np.repeat(self._counted.addresses != 0, SEGMENT_PAGES)

    @property
    def capacity(self) -> int:
        """Page numbers in use or in reserve; those of segments without memory are counted too."""
        return self._counted.num_pages

    @property
    def nbytes(self) -> int:
        beside = sum(array.nbytes for array in self.arrays.values())
        return int(beside + self.segments.nbytes + sum(size for _, size in self._memory.values()))

    def take(self, count: int) -> AnyArray:
        """Numbers of pages that nobody holds; they are yours until `release`. Raises DeviceMemoryError."""
        counted, self._foreseen = self._counted, None
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
        """As `take`, for pages that replace all others, of which so many at least will be needed.

        They lie apart from the others if these are many, so that the memory of these can be given back; and in pieces,
        so that this is true also of the last ones, if they turn out not to be needed.
        """
        if max(count, self._counted.num_used) <= SEGMENT_PAGES and not self.num_too_many:
            return self.take(count)
        self._grow(_pieces(-(-surely // SEGMENT_PAGES), -(-count // SEGMENT_PAGES), self._given_back))
        return self._taken(count)

    def _taken(self, count: int) -> AnyArray:
        taken = np.empty(count, np.uint32)
        self._counted.take(taken)
        return taken

    def hold(self, pages: AnyArray) -> None:
        """One more version holds these pages."""
        self._foreseen = None
        self._counted.hold(pages)
        self._versions += 1
        self._held_is_stale = True

    def release(self, pages: AnyArray) -> None:
        self._foreseen = None
        self._counted.release(pages)

    @property
    def is_stale(self) -> bool:
        """Whether `collect` has something to do."""
        return self._held_is_stale or bool(self.dropped)

    def collect(self) -> None:
        """Take back the pages of versions that are gone, and tell the device which pages others still hold."""
        while self.dropped:
            self.release(self.dropped.popleft())
            self._versions -= 1
            self._held_is_stale = True
        if self._held_is_stale:
            self._device.update(self.arrays["held"], 0, (self.references > 1).astype(np.uint8))
            self._held_is_stale = False

    @property
    def is_alone(self) -> bool:
        """Whether there is one version only."""
        return not self._versions

    def foresee(self, pages: AnyArray) -> None:
        """Reckon ahead what `keep_only` will do with the first ones of these pages. Nothing may be taken, held or released
        in between."""
        books = self._counted.copy()
        self._foreseen = books, books.keep_only(pages, _high(pages.size)), pages

    def keep_only(self, pages: AnyArray) -> None:
        """The only version has these pages from now on; as `release` of all others, and `trim`."""
        foreseen, self._foreseen = self._foreseen, None
        if foreseen is None:
            unused = self._counted.keep_only(pages, _high(pages.size))
        else:
            self._counted, unused, those = foreseen
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
        """Give memory back in which no page is used, if there is much of it."""
        counted = self._counted
        if counted.num_free > _high(counted.num_used):
            # The device keeps addresses that no page needs: nothing is uploaded, since a commit must not need memory.
            for piece in counted.drop_unused():
                del self._memory[piece]
            self._forget_tail()

    def stays_as_it_is(self, taken: int, released: int) -> bool:
        """Whether no memory comes or goes if so many pages are taken and others are released, and `trim` follows."""
        counted, more = self._counted, released - taken
        return taken <= counted.num_free and counted.num_free + more <= _high(counted.num_used - more)

    def tidy(self) -> None:
        """As `trim`, of all that is too much, whether or not it may soon be needed again."""
        self.collect()
        for piece in self._counted.drop_unused():
            del self._memory[piece]
        self._forget_tail()

    @property
    def is_short(self) -> bool:
        """Whether `provide` has something to do."""
        counted = self._counted
        return bool(self._merged) or counted.num_free < _low(counted.num_used) or self._has_little_room

    @property
    def is_very_short(self) -> bool:
        """Whether there are so few free pages that the next batch might find too few."""
        counted = self._counted
        return counted.num_free < _lowest(counted.num_used)

    @property
    def _has_little_room(self) -> bool:
        return self._room < _LITTLE_ROOM * self._counted.num_pages

    def provide(self) -> bool:
        """Memory that batches to come will need, when the device has nothing else to do; whether there is some.

        A few pages; or as much as the next merge takes if that writes a little more than the one before, which is left with
        the device's own pool.
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
        # And a little more, since the batch itself takes some of it.
        self._allocate((*_pieces(segments, segments, self._given_back), _part(segments, 4)))

    def _part_of_all(self, shift: int) -> int:
        """Of the segments whose pages are taken, as `_part` has it."""
        return _part(self._counted.num_used // SEGMENT_PAGES, shift)

    def _grow(self, pieces: Sequence[int]) -> None:
        """Pieces of memory of so many segments each, whose pages are taken next. Memory is asked for first."""
        self._foreseen = None
        device, counted, segment_bytes = self._device, self._counted, self._segment_bytes
        memory = self._allocate(pieces)
        pages = counted.segments_with(sum(pieces)) * SEGMENT_PAGES
        if pages > self._room:
            self._widen(pages)
        first, begin, end = counted.add([begins for _, begins in memory], pieces, segment_bytes)
        for number, size in enumerate(pieces):
            self._memory[first + number] = memory[number][0], size * segment_bytes
        addresses, known = counted.addresses_of(begin, end), self._sent[begin:end]
        if addresses.tobytes() != known.tobytes():  # memory often comes again in the same order
            device.update(self.segments, begin, addresses)
            known[:] = addresses

    def _allocate(self, pieces: Sequence[int]) -> list[tuple[Any, int]]:
        """Memory for so many segments each, and where it begins.

        If the device itself has to be asked, it is asked at once for what the pieces to come and growing will take, as far
        as it has that: its own pool keeps what is let go, and cuts from it.
        """
        device, segment_bytes = self._device, self._segment_bytes
        memory: list[tuple[Any, int]] = []
        with device.current():
            before, is_asked = device.pooled_bytes(), False
            for done, size in enumerate(pieces, 1):
                memory.append(device.allocate(size * segment_bytes))
                if not is_asked and device.pooled_bytes() != before:
                    is_asked = True
                    self._ask_ahead(sum(pieces[done:]) * segment_bytes)
        return memory

    def _ask_ahead(self, nbytes: int) -> None:
        """So many bytes for the device's own pool, and a part of the store more where even then another copy of it fits. A
        device that has too little is not asked: the pool would first give back all that it could."""
        all_bytes, left = self._counted.num_used * self.page_bytes, self._device.unpooled_bytes() - nbytes
        more = int(_ASKED * all_bytes)
        if left > more + all_bytes:
            nbytes += more
        if nbytes and left >= 0:
            with suppress(MemoryError):  # others may have been faster
                self._device.allocate(nbytes)

    @property
    def _segment_bytes(self) -> int:
        return SEGMENT_PAGES * self.page_bytes

    def _widen(self, pages: int) -> None:
        """Room for so many pages in the table of segments, and for what is kept of them."""
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
        """Numbers behind all segments that have memory are free again, and what is kept of their pages is given back."""
        pages = self._counted.segments_with_tail_forgotten * SEGMENT_PAGES
        if self.arrays["totals"].size <= _MUCH_ROOM * pages + SEGMENT_PAGES:
            return
        with suppress(MemoryError):  # it can wait
            self._resize(_ROOM * pages)
            self._counted.forget_tail()

    def _resize(self, room: int) -> None:
        """Other arrays for what is kept of so many pages: parts of one piece of memory."""
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
        self._device.synchronize()  # others may read them in streams of their own
        self._room = min(self._room, room)
        self.arrays = arrays  # all at once, and before the generation says so: readers have threads of their own
        self.generation += 1
