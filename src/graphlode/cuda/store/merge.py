"""Drives store/merge.cu: all entries of a shard and a sorted batch into fresh pages.

The number of entries is known only after the merge, so fresh pages are taken for the largest number possible. The
unused ones are given back afterwards. Pages are allocated in several pieces, since only whole pieces can be given back.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphlode.cuda.interface import WARP, launch_shape
from graphlode.cuda.sequence import Wide
from graphlode.cuda.store.batch import Buffers
from graphlode.cuda.store.groups import FILLED, MOST_ENTRIES
from graphlode.cuda.store.input import Input
from graphlode.cuda.store.launches import MergeValues
from graphlode.cuda.store.state import State
from graphlode.cuda.store.version import Directory
from graphlode.cuda.store.workspace import MergeTasks, PageNumbers

# As in merge.cu and merge.cuh.
_THREADS, _FINISH_THREADS, _TASK_UPDATES = 256, 1024, 768


@dataclass(slots=True)
class MergeRoom:
    """The memory of a merge: tasks, the words they publish, and a directory for the largest number of fresh pages."""

    num_tasks: int
    tasks: MergeTasks
    directory: Directory
    numbers: PageNumbers


def pages_of_merge(entries: int) -> int:
    """The number of pages for these entries: as many evenly filled ones as possible, none too empty or too full."""
    filled = max(0, -(-entries // FILLED) - 2)
    return filled + (1 if entries - filled * FILLED <= MOST_ENTRIES else 2)


def room_for_merge(state: State, count: int, *, least_entries: int, most_entries: int) -> MergeRoom:
    """Memory for merging a batch of `count` updates, after which the shard has `least_entries` to `most_entries`.

    The merge itself then allocates nothing. Raises DeviceMemoryError.
    """
    num_tasks = state.pages.size + -(-count // _TASK_UPDATES)
    tasks = state.workspace.room_for_tasks(num_tasks)
    most = max(1, -(-most_entries // FILLED))  # an unused page is written, too
    pages = state.reserve_apart(most, pages_of_merge(least_entries))
    numbers = state.workspace.room_for_numbers(most)
    numbers.write(pages)
    directory = state.unfilled_directory(pages)
    state.described(state.device)  # its arrays may have moved
    return MergeRoom(num_tasks, tasks, directory, numbers)


def merge(state: State, buffers: Buffers, given: Input, room: MergeRoom, *, at_once: bool) -> None:
    """Write all entries into fresh pages. `at_once` also makes the new version of them; the host then gets the result
    of the batch before everything is written."""
    _run(state, buffers, given, room, writes=True, finishes=at_once, epoch=state.epoch if at_once else 0)


def finish_merge(state: State, buffers: Buffers, given: Input, room: MergeRoom) -> None:
    """Make the new version of the merged pages. Only for a batch that changed something."""
    _run(state, buffers, given, room, writes=False, finishes=True, epoch=0)


def _run(
    state: State, buffers: Buffers, given: Input, room: MergeRoom, *, writes: bool, finishes: bool, epoch: int
) -> None:
    device, directory = state.device, room.directory
    page_blocks, _ = launch_shape(
        device, directory.pages.size, per_block=_FINISH_THREADS // WARP, blocks_per_multiprocessor=2
    )
    task_blocks, _ = launch_shape(device, WARP * state.pages.size, threads=_THREADS)
    values = MergeValues(
        store=state.described(device),
        batch=buffers.described,
        new_store=directory.described,
        new_pages=directory.room_for_pages,
        new_separators=directory.room_for_separators,
        new_positions=directory.positions,
        numbers=room.numbers.there,
        weights=given.weights,
        tasks=room.tasks.tasks,
        published=room.tasks.published,
        how=given.how,
        updates=given.count,
        neighbor_bits=given.neighbor_bits,
        num_new=directory.pages.size,
        entries=Wide(state.num_entries),
        epoch=epoch,
        threads=_THREADS,
        finish_threads=_FINISH_THREADS,
        task_blocks=task_blocks if writes else 0,
        merge_blocks=room.num_tasks if writes else 0,
        finish_blocks=1 + page_blocks if finishes else 0,
    )
    state.launches.merge.run(values)
