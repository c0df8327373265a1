"""One version of a shard: a directory of pages in key order and an index of rows, over a pool that versions share.

The directory's arrays are never written again, so versions share them as they are; the index of rows is written in
place and copied before, if another version has it too.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphlode.common.store import PAGE_SLOTS
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, KernelModule
from graphlode.cuda.store.batch import Workspace
from graphlode.cuda.store.groups import MOST_ENTRIES
from graphlode.cuda.store.input import MOST_SMALL
from graphlode.cuda.store.leaves import forget_plan
from graphlode.cuda.store.pool import SEGMENT_PAGES, Pool, address
from graphlode.errors import StateError
from graphlode.types import AnyArray

_PAGE_FIELDS = "totals", "marks", "jobs", "held"
_STORE_WORDS = 1 + len(_PAGE_FIELDS) + 4 + 3  # of packed_store
_MORE_PAGES = 64
LAST_EPOCH = 2**32 - 8  # kernels count in 32 bits
_MORE_AHEAD = 8  # a directory for batches to come has room for so much more: the eighth part
_FEW_PAGES = 16  # of which the last ones may be half empty whatever is done
_NEARLY_FULL = 0.99  # of what all pages can hold
_UNLIMITED = 2**63

# Densities of all pages, counting free ones beyond those that are kept; with a lower one memory should be given back
SPARSE = 0.72  # with the next batch, whatever it takes to write all pages anew,
THIN = 0.74  # or with a batch that takes nearly as long anyway.


@dataclass
class Directory:
    """Pages in key order: their numbers, on the host and on the device; the lowest key of each; where each page is.

    The arrays on the device may have room for more.
    """

    pages: AnyArray
    room_for_pages: Any
    room_for_separators: Any
    positions: Any
    described: Any = None  # the struct packed_store of a version that has it
    shared: bool = False  # an immutable version has it, too
    host_room: AnyArray | None = None  # memory of the host for the pages of this directory or of one that follows it

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
    """The struct packed_store of a version, and what it was made of and speaks of."""

    generation: int
    num_rows: int
    row_leaves: Any
    directory: Directory | None
    struct: Any
    segments: Any
    arrays: Mapping[str, Any]


class State:
    """What a device's worker knows of a shard, or of an immutable version of it."""

    def __init__(self, device: KernelDevice, pool: Pool, directory: Directory, row_leaves: Any, num_rows: int) -> None:
        self._device = device
        self.pool = pool
        self.directory = directory
        self.row_leaves = row_leaves  # may have room for more rows
        self.num_rows = num_rows
        self.num_entries = 0
        self.frozen = False
        self.epoch = 0
        self.workspace = Workspace()
        self.launches: Any = None  # see store/plan.py
        self.page_launches: Any = None  # see store/pages.py
        self.merge_launches: Any = None  # see store/merge.py
        self.merge_tasks: Any = None  # see store/merge.py
        self.merge_numbers: Any = None  # see store/merge.py
        self.group_room: Any = None  # see store/pages.py
        self.quick: Any = None  # see store/quick.py
        self.spare: Directory | None = None  # that nobody has any more
        self.is_short = False  # of memory that batches to come will need
        self._merged_at = self._replaced_at = 0  # the epochs of the last batches that replaced all pages, and some
        self._modules: dict[str, KernelModule] = {}
        self._rows_are_shared = False
        self._planning = False  # counts of a plan are in the pool
        self._reserved: AnyArray = np.zeros(0, np.uint32)
        self._described = Description(0, 0, None, None, None, None, {})
        self.most_in_place = _most_in_place(directory)
        self.sparse_below = self.thin_below = 0  # entries
        self._held = [directory.pages]
        weakref.finalize(self, _drop, pool.dropped, self._held).atexit = False

    def load(self, source: KernelSource) -> KernelModule:
        """As the device does it, without looking twice: small batches take little longer than that."""
        if source.stem not in self._modules:
            self._modules[source.stem] = self._device.load(source)
        return self._modules[source.stem]

    @property
    def pages(self) -> AnyArray:
        return self.directory.pages

    def described(self) -> Any:
        """The struct packed_store of store/store.cuh, on the device."""
        return self.description().struct

    def description(self) -> Description:
        """The same, with what it speaks of. A reader keeps it until it has read: a batch may move the pool's arrays, and
        what those say of an immutable version stays true."""
        known, pool = self._described, self.pool
        same = known.row_leaves is self.row_leaves and known.directory is self.directory
        if same and known.generation == pool.generation and known.num_rows == self.num_rows:
            return known
        generation, segments, arrays = pool.generation, pool.segments, pool.arrays  # in this order: see Pool._resize
        struct = self._struct(segments, arrays, self.directory, self.pages.size)
        self._described = Description(
            generation, self.num_rows, self.row_leaves, self.directory, struct, segments, arrays
        )
        return self._described

    def _struct(self, segments: Any, arrays: Mapping[str, Any], directory: Directory, num_pages: int) -> Any:
        fields = [segments, *(arrays[name] for name in _PAGE_FIELDS)]
        fields += [directory.positions, directory.room_for_pages, directory.room_for_separators, self.row_leaves]
        sizes = [num_pages, self.num_rows, int(self.pool.weighted)]
        return self._device.asarray(np.array([*map(address, fields), *sizes], np.uint64))

    def directory_of(self, pages: AnyArray) -> Directory:
        """A directory whose other arrays the device will fill."""
        device = self._device
        positions = device.empty(self.pool.capacity, np.uint32)
        found = Directory(pages, device.asarray(pages), device.empty(pages.size, np.uint64), positions)
        found.described = self._struct(self.pool.segments, self.pool.arrays, found, pages.size)
        return found

    def unfilled_directory(self, pages: AnyArray | int) -> Directory:
        """A directory of these pages, or of so many, that the device will fill and describe: the one before the last, if
        nobody has it."""
        count = pages if isinstance(pages, int) else pages.size
        spare, self.spare = self.spare if self.has_spare(count) else None, None
        if spare is None:
            spare = self._other_directory(count)
        host_room = spare.host_room
        if isinstance(pages, int):
            if host_room is None or host_room.size < count:  # else it is memory that the host has touched before
                host_room = np.empty(2 * count + _MORE_PAGES, np.uint32)
            pages = host_room[:count]
        arrays = spare.room_for_pages, spare.room_for_separators, spare.positions
        return Directory(pages, *arrays, spare.described, host_room=host_room)

    def _other_directory(self, count: int) -> Directory:
        """Room for a directory of so many pages, or twice as many: it takes a few bytes for each."""
        room, empty = 2 * count + _MORE_PAGES, self._device.empty
        arrays = empty(room, np.uint32), empty(room, np.uint64), empty(2 * self.pool.capacity, np.uint32)
        return Directory(self.pages, *arrays, described=empty(_STORE_WORDS, np.uint64))

    def has_spare(self, count: int) -> bool:
        """Whether a directory of so many pages needs no memory."""
        spare = self.spare
        if spare is None or spare.described is None:
            return False
        return bool(spare.room_for_pages.size >= count and spare.positions.size >= self.pool.capacity)

    def begin_plan(self) -> None:
        """Forget a plan that was never written, and let go of what other versions hold."""
        self.quick = None
        self.pool.collect()
        if self._planning:
            self.workspace.staging(self._device).forget_counted()
            self.pool.release(self._reserved)
            self._reserved = self._reserved[:0]
            forget_plan(self._device, self.described(), self.pages.size)
        if self._rows_are_shared:
            self.row_leaves = self.row_leaves.copy()
            self._rows_are_shared = False
        self._planning = True
        if self.epoch >= LAST_EPOCH:
            self.pool.arrays["marks"][:] = 0
            self.group_room = None  # has epochs in it, too
            self.epoch = 0
        self.epoch += 1

    def begin_undisturbed(self) -> None:
        """As `begin_plan`, where there is nothing to forget and nothing to let go of."""
        self._planning = True
        self.epoch += 1

    def reserve(self, count: int) -> AnyArray:
        """Fresh pages for the plan."""
        self._reserved = self.pool.take(count)
        return self._reserved

    def reserve_apart(self, count: int, surely: int) -> AnyArray:
        """Fresh pages for a plan that replaces all others, of which it will need so many at least."""
        self._reserved = self.pool.take_apart(count, surely)
        return self._reserved

    def give_back_reserved(self, kept: int) -> None:
        """All reserved pages but the first ones."""
        if kept < self._reserved.size:
            self.pool.release(self._reserved[kept:])
            self._reserved = self._reserved[:kept]
            if not kept:  # else they lie beside pages that are used
                self.pool.trim()

    def tidy(self) -> None:
        """Give back what is too much, and room for large batches, which the next one makes again."""
        self.quick = None
        self.pool.tidy()
        self._note_memory()
        self.workspace.tidy()
        self.merge_tasks = None
        if self.group_room is not None and self.group_room.is_large:
            self.group_room = None

    def end_plan(self) -> None:
        self._planning = False
        if self._reserved.size:
            self._reserved = self._reserved[:0]
        self.epoch += 1  # the plan cannot be written twice

    @property
    def planning(self) -> bool:
        return self._planning

    @property
    def is_undisturbed(self) -> bool:
        """Whether a batch can begin without cleaning up and without memory."""
        if self.frozen or self._planning or self._rows_are_shared:
            return False
        return not self.pool.is_stale and self.epoch < LAST_EPOCH

    @property
    def has_quick_way(self) -> bool:
        """Whether small batches raise no question as long as nothing but they change an undisturbed shard."""
        has_room = self.workspace.has_room(MOST_SMALL, self.directory.pages.size)
        return has_room and self.pool.is_alone and not self.pool.weighted

    def replace_pages(self, directory: Directory, replaced: AnyArray) -> None:
        self._replaced_at = self.epoch
        self._take_over(directory)
        self.pool.release(replaced)
        self.pool.trim()
        self._note_memory()

    def foresee(self) -> None:
        """What can be done of `replace_all_pages` before it is known how many there will be."""
        if self.pool.is_alone:
            self.pool.foresee(self._reserved)

    def replace_all_pages(self, directory: Directory, count: int) -> None:
        """By so many of the pages that were reserved, which the directory has."""
        replaced, directory.pages, self._merged_at = self.pages, directory.pages[:count], self.epoch
        if self.pool.is_alone:
            self._take_over(directory)
            self.pool.keep_only(directory.pages)
            self._note_memory()
        else:
            self.give_back_reserved(count)
            self.replace_pages(directory, replaced)

    @property
    def may_provide(self) -> bool:
        """Whether this is the time to `provide`: after a batch that did not take long itself. So not after a merge, and not
        after one that split pages unless the next one might have to ask; and only while nobody has a version."""
        if self._planning or not self.pool.is_alone:
            return False
        last = self.epoch - 1
        return last != self._merged_at and (last != self._replaced_at or self._cannot_wait)

    @property
    def _cannot_wait(self) -> bool:
        """Whether a batch that splits a few pages might find no memory for them."""
        pages = self.pages.size
        return self.pool.is_very_short or not self.has_spare(pages + pages // (2 * _MORE_AHEAD))

    def provide(self) -> None:
        """Memory that batches to come will need, while the device has nothing to do: one thing at a time. If there is none,
        it is not asked again before other pages are in use."""
        self.is_short, quick, self.quick = False, self.quick, None
        with suppress(MemoryError):  # they may need less, and will say so if they do not
            if self._has_directory_ahead:
                is_provided = self.pool.provide()
            else:  # first, since every split needs it
                self.spare, is_provided = self._other_directory(self.pages.size), True
            if is_provided:
                self._look_at_memory()
            if quick is not None:
                quick.look_again(self)
                self.quick = quick

    def _take_over(self, directory: Directory) -> None:
        self.quick = None
        self.spare = None if self.directory.shared else self.directory
        self.directory = directory
        self.most_in_place = _most_in_place(directory)
        self._held[0] = directory.pages
        pool = self.pool
        self._described = Description(
            *(pool.generation, self.num_rows, self.row_leaves, directory, directory.described),
            *(pool.segments, pool.arrays),
        )

    def _note_memory(self) -> None:
        """With how many entries there is too much memory for them, as a merge would not leave it, and whether there is too
        little for batches to come."""
        pages = self.directory.pages.size + self.pool.num_too_many
        slots = PAGE_SLOTS * pages if pages > _FEW_PAGES else 0
        self.sparse_below, self.thin_below = int(SPARSE * slots), int(THIN * slots)
        self._look_at_memory()

    def _look_at_memory(self) -> None:
        self.is_short = self.pool.is_short or not self._has_directory_ahead

    @property
    def _has_directory_ahead(self) -> bool:
        """Whether there is one for batches to come, which may need a few more pages."""
        pages = self.pages.size
        return self.has_spare(pages + pages // _MORE_AHEAD)

    def fork(self) -> State:
        self.pool.collect()
        self.quick = None
        self.directory.shared = True
        version = State(self._device, self.pool, self.directory, self.row_leaves, self.num_rows)
        version.num_entries = self.num_entries
        version.frozen = True
        version._rows_are_shared = self._rows_are_shared = True
        self.pool.hold(self.pages)
        self.epoch += 1  # a plan that was made before would write into pages that are now shared
        return version

    def resize(self, num_rows: int) -> None:
        if self.frozen:
            raise StateError("an immutable version of a shard cannot be resized")
        if num_rows <= self.num_rows:
            return
        self.quick = None
        if num_rows + 1 > self.row_leaves.size:
            wider = self._device.empty(num_rows + 1 + num_rows // 8, np.uint32)
            wider[: self.num_rows + 1] = self.row_leaves[: self.num_rows + 1]
            self.row_leaves = wider
            self._rows_are_shared = False
        # No separator lies behind the last row, so that later rows would begin where it ends.
        last = self.row_leaves[self.num_rows : self.num_rows + 1]
        self.row_leaves[self.num_rows + 1 : num_rows + 1] = last
        self.num_rows = num_rows
        self.epoch += 1


def _most_in_place(directory: Directory) -> int:
    """With more entries than this, nearly all pages would be too full: a batch is better merged than written in place."""
    pages = directory.pages.size
    return int(_NEARLY_FULL * MOST_ENTRIES * pages) if pages > SEGMENT_PAGES else _UNLIMITED


def _drop(dropped: deque[AnyArray], held: list[AnyArray]) -> None:
    """Runs on any thread when a version is gone: the worker counts later."""
    dropped.append(held[0])


def create(device: KernelDevice, *, num_rows: int, weighted: bool) -> State:
    """A shard without entries: one page."""
    pool = Pool(device, weighted=weighted)
    pages = pool.take(1)
    pool.clear_first_page()
    row_leaves = device.zeros(num_rows + 1, np.uint32)
    directory = Directory(
        pages, device.asarray(pages), device.zeros(1, np.uint64), device.zeros(pool.capacity, np.uint32)
    )
    return State(device, pool, directory, row_leaves, num_rows)


def resize(device: KernelDevice, state: State, num_rows: int) -> None:
    """More rows, without entries."""
    state.resize(num_rows)


def fork(device: KernelDevice, state: State) -> State:
    """An immutable version. What the shard writes from now on goes into copies of the pages that it shares."""
    return state.fork()
