"""A shard that batches write: its newest version, and what a plan has in hand.

What batches use but readers never see is elsewhere: buffers in `Workspace` (workspace.py), prepared kernel launches in
`Launches` (launches.py).
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
_FEW_PAGES = 16  # of which the last ones may be half empty, whatever is done
_NEARLY_FULL = 0.99  # of what all pages can hold
_UNLIMITED = 2**63
_SHRINK_AGAIN = 0.9  # of the entries are left when a merge that closed no gaps is tried again

SPARSE = 0.72
"""With a lower density of all pages, counting free ones beyond those that are kept, the next batch is merged."""


class State(Version):
    """The shard itself. Batches use it in one lane, one at a time."""

    def __init__(
        self, device: KernelDevice, pool: Pool, directory: Directory, row_leaves: object, num_rows: int
    ) -> None:
        super().__init__(pool, directory, row_leaves, num_rows, num_entries=0)
        self.device = device
        self.workspace = Workspace(device)
        self.launches = Launches(device, pool.weighted)
        self.epoch = 0
        self.planning = False  # counts of a plan are in the pool
        self._reserved: AnyArray = np.zeros(0, np.uint32)  # pages of the plan
        self._rows_are_shared = False
        # What batches to come should know: see `Fullness`, and `provide`.
        self.most_in_place = _most_in_place(directory)
        self.sparse_below = 0
        self.is_short = False  # of memory that they will need
        self._merged_at = self._replaced_at = 0  # the epochs of the last batches that replaced all pages, and some

    # Plans

    def begin_plan(self) -> None:
        """Forget a plan that was never written, and let go of what other versions hold."""
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
            self.workspace.group_room = None  # has epochs in it, too
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
            if not kept:  # else they lie beside pages that are used
                self.pool.trim()

    # Directories

    def directory_of(self, pages: AnyArray) -> Directory:
        """A directory of these pages whose other arrays the device will fill."""
        device, pool = self.device, self.pool
        positions = device.empty(pool.capacity, np.uint32)
        found = Directory(pages, device.asarray(pages), device.empty(pages.size, np.uint64), positions)
        found.described = store_struct(
            device, pool, pool.segments, pool.arrays, found, pages.size, self.row_leaves, self.num_rows
        )
        return found

    def unfilled_directory(self, pages: AnyArray | int) -> Directory:
        """A directory of these pages, or of this number of pages, that the device will fill and describe.

        It takes the memory of the directory before the last, if nobody has that.
        """
        workspace = self.workspace
        count = pages if isinstance(pages, int) else pages.size
        spare, workspace.spare = workspace.spare if self.has_spare(count) else None, None
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
        """Room for twice this number of pages: a directory takes a few bytes for each."""
        room, empty = 2 * count + _MORE_PAGES, self.device.empty
        arrays = empty(room, np.uint32), empty(room, np.uint64), empty(2 * self.pool.capacity, np.uint32)
        return Directory(self.pages, *arrays, described=empty(STORE_WORDS, np.uint64))

    def has_spare(self, count: int) -> bool:
        """Whether a directory of this number of pages needs no memory."""
        spare = self.workspace.spare
        if spare is None or spare.described is None:
            return False
        return bool(spare.room_for_pages.size >= count and spare.positions.size >= self.pool.capacity)

    def replace_pages(self, directory: Directory, replaced: AnyArray) -> None:
        """The directory is that of the plan; the pages that it replaced are free."""
        self._replaced_at = self.epoch
        self._take_over(directory)
        self.pool.release(replaced)
        self.pool.trim()
        self._note_memory()

    def foresee(self) -> None:
        """Do what can be done of `replace_all_pages` before the number of pages is known."""
        if self.pool.is_alone:
            self.pool.foresee(self._reserved)

    def replace_all_pages(self, directory: Directory, count: int) -> None:
        """The first `count` of the reserved pages, which the directory has, replace all others."""
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
        """Give back what is too much, and room for large batches, which the next one makes again."""
        self.pool.tidy()
        self._note_memory()
        self.workspace.tidy()

    def note_merge(self) -> None:
        """After a batch that was to be merged. If there are many gaps all the same, the next merge must wait."""
        if self.num_entries < self.sparse_below:
            self.sparse_below = int(_SHRINK_AGAIN * self.num_entries)

    @property
    def may_provide(self) -> bool:
        """Whether this is the time to `provide`: after a batch that was short itself, while there is no other version.

        So not after a merge, nor after a batch that split pages, unless the next one might find no memory.
        """
        if self.planning or not self.pool.is_alone:
            return False
        last = self.epoch - 1
        return last != self._merged_at and (last != self._replaced_at or self._cannot_wait)

    @property
    def _cannot_wait(self) -> bool:
        """Whether a batch that splits a few pages might find no memory for them."""
        pages = self.pages.size
        return self.pool.is_very_short or not self.has_spare(pages + pages // (2 * _MORE_AHEAD))

    def provide(self) -> None:
        """Take memory that batches to come will need, one piece at a time, while the device has nothing to do.

        If there is none, it is not asked for again before other pages are in use.
        """
        self.is_short = False
        with suppress(MemoryError):  # batches may need less, and say so if they do not
            if self._has_directory_ahead:
                is_provided = self.pool.provide()
            else:  # first, since every split needs it
                self.workspace.spare, is_provided = self._other_directory(self.pages.size), True
            if is_provided:
                self._look_at_memory()

    def _note_memory(self) -> None:
        """Find out with how many entries there is too much memory, and whether there is too little for the next batches."""
        pages = self.directory.pages.size + self.pool.num_too_many
        self.sparse_below = int(SPARSE * PAGE_SLOTS * pages) if pages > _FEW_PAGES else 0
        self._look_at_memory()

    def _look_at_memory(self) -> None:
        self.is_short = self.pool.is_short or not self._has_directory_ahead

    @property
    def _has_directory_ahead(self) -> bool:
        """Whether there is one for the next batches, which may need a few more pages."""
        pages = self.pages.size
        return self.has_spare(pages + pages // _MORE_AHEAD)

    # Other verbs

    def fork(self) -> Version:
        """An immutable version. What the shard writes from now on goes into copies of the pages that both have."""
        self.pool.collect()
        self.directory.shared = True
        version = Version(self.pool, self.directory, self.row_leaves, self.num_rows, self.num_entries)
        self._rows_are_shared = True
        self.pool.hold(self.pages)
        self.epoch += 1  # a plan that was made before would write into pages that are now shared
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
        # No separator lies behind the last row, so later rows begin where it ends.
        last = self.row_leaves[self.num_rows : self.num_rows + 1]
        self.row_leaves[self.num_rows + 1 : num_rows + 1] = last
        self.num_rows = num_rows
        self.epoch += 1


def _most_in_place(directory: Directory) -> int:
    """With more entries than this, nearly all pages would be too full: a batch is better merged than written in place."""
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
