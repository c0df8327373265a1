"""Memory that batches of a shard reuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.batch import Buffers, Descriptions
from graphlode.cuda.store.groups import FRESH_WORDS, JOB_WORDS, num_groups
from graphlode.cuda.store.input import MOST_SMALL, Staging, mapped
from graphlode.types import AnyArray

if TYPE_CHECKING:
    from graphlode.cuda.store.version import Directory

MOST_GROUPED = 1 << 21
"""The most pages of a directory that the device makes: packed_regroup cannot count more."""

_KEPT = 1 << 14  # updates: larger buffers are released after the batch, unless the shard has far more entries
_FEW_PART = 100  # entries per update, from which on updates are few
_TASK_WORDS = 2  # of a task of store/merge.cu
_LEAST_ROOM = 1024  # pages that the device can group without more room
_RANGE_WORDS = 3  # of replaced_range in regroup.cuh
_JOB_THREADS = 1024  # of a block of packed_regroup


class Workspace:
    def __init__(self, device: KernelDevice) -> None:
        self._device = device
        self.staging = Staging(device)
        self.kept: Buffers | None = None  # buffers, unless they are for a large batch
        self._descriptions = Descriptions()  # of buffers that are not kept
        self.group_room: GroupRoom | None = GroupRoom(device, 1, 1)
        self.merge_tasks: MergeTasks | None = None
        self.page_numbers: PageNumbers | None = None
        self.spare: Directory | None = None  # no version holds it

    def has_room(self, count: int, pages: int) -> bool:
        """Whether the kept buffers have room for this number of updates, in a shard with this number of pages."""
        kept = self.kept
        return kept is not None and kept.capacity >= count and (kept.pages >= pages or kept.pages >= count)

    def buffers(
        self, count: int, *, pages: int, entries: int, weighted: bool, planned: bool, apart: bool = False
    ) -> Buffers:
        """Room for `count` updates of a shard with this number of pages. They are `planned` in place, or else merged.

        `apart`: not in the kept buffers, because they contain a plan that may still be written.
        """
        device, staging, kept = self._device, self.staging, self.kept
        if not planned and not apart and kept is not None and kept.capacity >= max(count, MOST_SMALL + 1):
            return kept  # it has room for sorting
        if not planned or not (count <= _KEPT or _FEW_PART * count <= entries):
            of, needed = self._descriptions, pages if planned else 0  # one layout for all, if possible
            return Buffers(device, staging, count, pages=needed, weighted=weighted, planned=planned, descriptions=of)
        if not self.has_room(count, pages):
            room = max(MOST_SMALL, -(-count // MOST_SMALL) * MOST_SMALL)
            if self.kept is not None:
                room = max(room, self.kept.capacity)
            self.kept = None
            more_pages = pages + pages // 4 + 64
            of = Descriptions()
            self.kept = Buffers(
                device, staging, room, pages=more_pages, weighted=weighted, planned=True, descriptions=of
            )
        assert self.kept is not None
        return self.kept

    def room_for_tasks(self, count: int) -> MergeTasks:
        if self.merge_tasks is None or self.merge_tasks.capacity < count:
            self.merge_tasks = MergeTasks(self._device, count)
        return self.merge_tasks

    def room_for_numbers(self, count: int) -> PageNumbers:
        if self.page_numbers is None or self.page_numbers.capacity < count:
            self.page_numbers = PageNumbers(self._device, count)
        return self.page_numbers

    def room_for_groups(self, num_fresh: int, num_jobs: int) -> GroupRoom:
        if not self.has_room_for_groups(num_fresh, num_jobs):
            self.group_room = GroupRoom(self._device, num_fresh, num_jobs)
        assert self.group_room is not None
        return self.group_room

    def has_room_for_groups(self, num_fresh: int, num_jobs: int) -> bool:
        room = self.group_room
        return room is not None and room.num_fresh >= num_fresh and room.num_jobs >= num_jobs

    def tidy(self) -> None:
        """Release the memory of large batches. The next one allocates it again."""
        if self.kept is not None and self.kept.capacity > _KEPT:
            self.kept = None
        self.merge_tasks = None
        if self.group_room is not None and self.group_room.is_large:
            self.group_room = None

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        kept = (self.kept, self.merge_tasks, self.group_room, self.spare)
        return sum(int(one.nbytes) for one in kept if one is not None)


class MergeTasks:
    """Room for the tasks of a merge, and for the words that they publish."""

    def __init__(self, device: KernelDevice, count: int) -> None:
        self.capacity = 2 * count
        room = device.empty(self.capacity * (_TASK_WORDS + 1), np.uint64)
        self.nbytes = int(room.nbytes)
        self.tasks, self.published = room[: self.capacity * _TASK_WORDS], room[self.capacity * _TASK_WORDS :]


class PageNumbers:
    """Room for page numbers, in mapped memory of the host."""

    def __init__(self, device: KernelDevice, count: int) -> None:
        self.capacity = 2 * count
        host, there = mapped(device, 4 * self.capacity)
        self._host, self.there = host.view(np.uint32), there.view(np.uint32)

    def write(self, numbers: AnyArray) -> None:
        self._host[: numbers.size] = numbers


class GroupRoom:
    """Memory in which the device groups flagged pages into fresh ones.

    The numbers of the fresh pages and the resulting ranges are in mapped memory of the host.
    """

    def __init__(self, device: KernelDevice, num_fresh: int, num_jobs: int) -> None:
        self.num_fresh, self.num_jobs = (
            max(_LEAST_ROOM, 1 << (count - 1).bit_length()) for count in (num_fresh, num_jobs)
        )
        ends = [self.num_fresh, self.num_fresh + _RANGE_WORDS * self.num_jobs]
        host, there = mapped(device, 4 * (ends[1] + 1))
        self.numbers, self._ranges, self._reported = np.split(host.view(np.uint32), ends)
        words = there.view(np.uint32)
        self.numbers_there, self.ranges_there = words[: ends[0]], words[ends[0] : ends[1]]
        self.reported_there = words[ends[1] :]
        self.jobs = device.empty(self.num_jobs * JOB_WORDS, np.int64)
        self.fresh = device.empty(self.num_fresh * FRESH_WORDS, np.int64)
        blocks = num_groups(MOST_GROUPED) // _JOB_THREADS
        self.chain = device.zeros(1 + 2 * blocks, np.uint64)  # block_chain of pages.cu

    @property
    def nbytes(self) -> int:
        return int(self.jobs.nbytes + self.fresh.nbytes + self.chain.nbytes)

    @property
    def is_large(self) -> bool:
        return max(self.num_fresh, self.num_jobs) > _LEAST_ROOM

    def ranges(self, device: KernelDevice, num_jobs: int, epoch: int) -> AnyArray:
        """For each replaced range its position, its length and its number of fresh pages. Waits until the device has
        grouped the pages."""
        device.wait_for_word(self._reported, 0, epoch)
        return self._ranges[: num_jobs * _RANGE_WORDS]
