"""A shard that batches write: its newest version, and the state of a plan.

Readers never see the buffers in `Workspace` (workspace.py) nor the prepared kernel launches in `Launches`
(launches.py).
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from graphlode.common.store import PAGE_SLOTS
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.groups import MOST_ENTRIES
from graphlode.cuda.store.launches import Launches
from graphlode.cuda.store.leaves import forget_plan
from graphlode.cuda.store.pool import SEGMENT_PAGES, Pool
from graphlode.cuda.store.version import STORE_WORDS, Description, Directory, Version, store_struct
from graphlode.cuda.store.workspace import Workspace
from graphlode.errors import StateError
from graphlode.types import AnyArray

LAST_EPOCH = 2**32 - 8  # kernels count in 32 bits

_MORE_PAGES = 64
_MORE_AHEAD = 8  # a spare directory has room for an eighth more pages
_FEW_PAGES = 16  # pages; in a smaller shard, the last pages may be half empty even after a merge
_NEARLY_FULL = 0.99  # of the capacity of all pages
_UNLIMITED = 2**63
_SHRINK_AGAIN = 0.9  # of the entries: a merge that closed no gaps is tried again when only these are left

SPARSE = 0.72
"""The next batch is merged if the density is below this. Free pages count, except for those kept in reserve."""


class State(Version):
    """The shard itself. Batches run in one lane, one at a time."""

    def __init__(
        self, device: KernelDevice, pool: Pool, directory: Directory, row_leaves: object, num_rows: int
    ) -> None:
        super().__init__(pool, directory, row_leaves, num_rows, num_entries=0)
        self.device = device
        self.workspace = Workspace(device)
        self.launches = Launches(device, pool.weighted)
        self.epoch = 0
        self.planning = False  # the pool holds the counts of a plan
        self._reserved: AnyArray = np.zeros(0, np.uint32)  # pages of the plan
        self._rows_are_shared = False
        # For the next batches: see `Fullness`, and `provide`.
        self.most_in_place = _most_in_place(directory)
        self.sparse_below = 0
        self.is_short = False  # of memory for the next batches
        # Epochs of the last batch that replaced all pages, and of the last that replaced some.
        self._merged_at = self._replaced_at = 0

    # Plans

    def begin_plan(self) -> None:
        """Discard a plan that was never written, and copy the index of rows if another version shares it."""
        if self.pool.is_stale:
            self.pool.collect()
        if self.planning:
            self.workspace.staging.forget_counted()
            self.pool.release(self._reserved)
            self._reserved = self._reserved[:0]
            forget_plan(self.device, self.described(self.device), self.pages.size)
        if self._rows_are_shared:
            self.row_leaves = self.row_leaves.copy()
            self._rows_are_shared = False
        self.planning = True
        if self.epoch >= LAST_EPOCH:
            self.pool.arrays["marks"][:] = 0
            self.workspace.group_room = None  # it contains epochs, too
            self.epoch = 0
        self.epoch += 1

    def end_plan(self) -> None:
        self.planning = False
        if self._reserved.size:
            self._reserved = self._reserved[:0]
        self.epoch += 1  # the plan cannot be written twice

    def reserve(self, count: int) -> AnyArray:
        """Fresh pages for the plan."""
        self._reserved = self.pool.take(count)
        return self._reserved

    def reserve_apart(self, count: int, surely: int) -> AnyArray:
        """Fresh pages for a plan that replaces all others. It will need at least `surely` of them."""
        self._reserved = self.pool.take_apart(count, surely)
        return self._reserved

    def give_back_reserved(self, kept: int) -> None:
        """All reserved pages but the first `kept`."""
        if kept < self._reserved.size:
            self.pool.release(self._reserved[kept:])
            self._reserved = self._reserved[:kept]
            if not kept:  # otherwise they share memory with pages in use
                self.pool.trim()

    # Directories

    def directory_of(self, pages: AnyArray) -> Directory:
        """A directory of these pages. The device will fill its other arrays."""
        device, pool = self.device, self.pool
        positions = device.empty(pool.capacity, np.uint32)
        found = Directory(pages, device.asarray(pages), device.empty(pages.size, np.uint64), positions)
        found.described = store_struct(
            device, pool, pool.segments, pool.arrays, found, pages.size, self.row_leaves, self.num_rows
        )
        return found

    def unfilled_directory(self, pages: AnyArray | int) -> Directory:
        """A directory of these pages, or of this number of pages. The device will fill and describe it.

        It reuses the memory of the directory before the last, unless a version holds that.
        """
        workspace = self.workspace
        count = pages if isinstance(pages, int) else pages.size
        spare, workspace.spare = workspace.spare if self.has_spare(count) else None, None
        if spare is None:
            spare = self._other_directory(count)
        host_room = spare.host_room
        if isinstance(pages, int):
            if host_room is None or host_room.size < count:  # otherwise reuse memory that the host has touched before
                host_room = np.empty(2 * count + _MORE_PAGES, np.uint32)
            pages = host_room[:count]
        arrays = spare.room_for_pages, spare.room_for_separators, spare.positions
        return Directory(pages, *arrays, spare.described, host_room=host_room)

    def _other_directory(self, count: int) -> Directory:
        """Room for twice this number of pages: a directory takes only a few bytes per page."""
        room, empty = 2 * count + _MORE_PAGES, self.device.empty
        arrays = empty(room, np.uint32), empty(room, np.uint64), empty(2 * self.pool.capacity, np.uint32)
        return Directory(self.pages, *arrays, described=empty(STORE_WORDS, np.uint64))

    def has_spare(self, count: int) -> bool:
        """Whether a directory of this number of pages can be made without allocating."""
        spare = self.workspace.spare
        if spare is None or spare.described is None:
            return False
        return bool(spare.room_for_pages.size >= count and spare.positions.size >= self.pool.capacity)

    def replace_pages(self, directory: Directory, replaced: AnyArray) -> None:
        """Take over the directory of the plan, and release the pages that it replaced."""
        self._replaced_at = self.epoch
        self._take_over(directory)
        self.pool.release(replaced)
        self.pool.trim()
        self._note_memory()

    def count_ahead(self) -> None:
        """Do the part of `replace_all_pages` that does not need the number of pages."""
        if self.pool.is_alone:
            self.pool.count_ahead(self._reserved)

    def replace_all_pages(self, directory: Directory, count: int) -> None:
        """The first `count` reserved pages, which are those of the directory, replace all others."""
        replaced, directory.pages, self._merged_at = self.pages, directory.pages[:count], self.epoch
        if self.pool.is_alone:
            self._take_over(directory)
            self.pool.keep_only(directory.pages)
            self._note_memory()
        else:
            self.give_back_reserved(count)
            self.replace_pages(directory, replaced)

    def _take_over(self, directory: Directory) -> None:
        self.workspace.spare = None if self.directory.shared else self.directory
        self.directory = directory
        self.most_in_place = _most_in_place(directory)
        self._held[0] = directory.pages
        pool = self.pool
        self._described = Description(
            *(pool.generation, self.num_rows, self.row_leaves, directory, directory.described),
            *(pool.segments, pool.arrays),
        )

    # Memory

    def tidy(self) -> None:
        """Give back unused memory, and the buffers of large batches. The next large batch allocates them again."""
        self.pool.tidy()
        self._note_memory()
        self.workspace.tidy()

    def note_merge(self) -> None:
        """Called after a batch that was to be merged. If many gaps remain, the next merge has to wait."""
        if self.num_entries < self.sparse_below:
            self.sparse_below = int(_SHRINK_AGAIN * self.num_entries)

    @property
    def may_provide(self) -> bool:
        """Whether `provide` may run now: no plan is open, there is no other version, and the last batch was short.

        A merge is not short. A batch that replaced pages is not either, but `provide` runs after it if the next batch
        might find no memory.
        """
        if self.planning or not self.pool.is_alone:
            return False
        last = self.epoch - 1
        return last != self._merged_at and (last != self._replaced_at or self._is_urgent)

    @property
    def _is_urgent(self) -> bool:
        """Whether a batch that splits a few pages might find no memory for them."""
        pages = self.pages.size
        return self.pool.is_very_short or not self.has_spare(pages + pages // (2 * _MORE_AHEAD))

    def provide(self) -> None:
        """Allocate memory for the next batches, one piece at a time, while the device is idle.

        If there is none, the device is not asked again until the number of pages has changed.
        """
        self.is_short = False
        with suppress(MemoryError):  # the next batch may need less; otherwise it raises the error
            if self._has_directory_ahead:
                is_provided = self.pool.provide()
            else:  # first, since every split needs it
                self.workspace.spare, is_provided = self._other_directory(self.pages.size), True
            if is_provided:
                self._update_is_short()

    def _note_memory(self) -> None:
        """Update the number of entries below which memory is wasted, and whether the next batches are short of
        memory."""
        pages = self.directory.pages.size + self.pool.num_unneeded
        self.sparse_below = int(SPARSE * PAGE_SLOTS * pages) if pages > _FEW_PAGES else 0
        self._update_is_short()

    def _update_is_short(self) -> None:
        self.is_short = self.pool.is_short or not self._has_directory_ahead

    @property
    def _has_directory_ahead(self) -> bool:
        """Whether there is a spare one for the next batches, with room for an eighth more pages."""
        pages = self.pages.size
        return self.has_spare(pages + pages // _MORE_AHEAD)

    # Other verbs

    def fork(self) -> Version:
        """An immutable version. The shard copies a shared page before it writes it."""
        self.pool.collect()
        self.directory.shared = True
        version = Version(self.pool, self.directory, self.row_leaves, self.num_rows, self.num_entries)
        self._rows_are_shared = True
        self.pool.hold(self.pages)
        self.epoch += 1  # an older plan would write into pages that are now shared
        return version

    def resize(self, num_rows: int) -> None:
        """More rows, without entries."""
        if num_rows <= self.num_rows:
            return
        if num_rows + 1 > self.row_leaves.size:
            wider = self.device.empty(num_rows + 1 + num_rows // 8, np.uint32)
            wider[: self.num_rows + 1] = self.row_leaves[: self.num_rows + 1]
            self.row_leaves = wider
            self._rows_are_shared = False
        # There is no separator after the last row, so later rows begin where it ends.
        last = self.row_leaves[self.num_rows : self.num_rows + 1]
        self.row_leaves[self.num_rows + 1 : num_rows + 1] = last
        self.num_rows = num_rows
        self.epoch += 1


def _most_in_place(directory: Directory) -> int:
    """With more entries than this, nearly all pages would be too full, and a merge is faster than a batch in place."""
    pages = directory.pages.size
    return int(_NEARLY_FULL * MOST_ENTRIES * pages) if pages > SEGMENT_PAGES else _UNLIMITED


def writable(state: Version) -> State:
    """The shard itself; StateError for an immutable version."""
    if not isinstance(state, State):
        raise StateError("an immutable version of a shard cannot be changed")
    return state


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


def resize(device: KernelDevice, state: Version, num_rows: int) -> None:
    writable(state).resize(num_rows)


def fork(device: KernelDevice, state: Version) -> Version:
    found = writable(state).fork()
    device.synchronize()  # others read it in streams of their own
    return found
