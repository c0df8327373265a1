"""Drives store/merge.cu: all entries of a shard and a sorted batch into fresh pages.

Fresh pages are taken for as many entries as there can be, since how many there are is known only when they have been
written. The rest is given back afterwards, so it comes in pieces: memory goes back in those in which it came.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape
from graphlode.cuda.sequence import LaunchSequence, Step, prepare_sequence
from graphlode.cuda.store.batch import Buffers
from graphlode.cuda.store.groups import FILLED, MOST_ENTRIES
from graphlode.cuda.store.input import Given, mapped
from graphlode.cuda.store.state import Directory, State
from graphlode.types import AnyArray

SOURCE = KernelSource("store/merge", ("packed_merge_tasks", "packed_merge", "packed_merge_finish"))

# As in store/merge.cu and store/merge.cuh.
_THREADS, _FINISH_THREADS, _TASK_UPDATES, _TASK_WORDS = 256, 1024, 768, 2


@dataclass(slots=True)
class MergeRoom:
    """What a merge needs: tasks, what these publish, and a directory of as many fresh pages as there may be."""

    num_tasks: int
    tasks: Tasks
    directory: Directory
    numbers: Numbers


class Tasks:
    """Room for so many tasks and for what each of them publishes; kept between merges."""

    def __init__(self, device: KernelDevice, count: int) -> None:
        self.capacity = 2 * count
        room = device.empty(self.capacity * (_TASK_WORDS + 1), np.uint64)
        self.nbytes = int(room.nbytes)
        self.tasks, self.published = room[: self.capacity * _TASK_WORDS], room[self.capacity * _TASK_WORDS :]


class Numbers:
    """Room for the numbers of pages, in memory of the host that the device sees; kept between merges."""

    def __init__(self, device: KernelDevice, count: int) -> None:
        self.capacity = 2 * count
        host, there = mapped(device, 4 * self.capacity)
        self._host, self.there = host.view(np.uint32), there.view(np.uint32)

    def write(self, numbers: AnyArray) -> None:
        self._host[: numbers.size] = numbers


def pages_of_merge(entries: int) -> int:
    """How many pages so many entries come to: as many as can be filled alike, none too empty and none too full."""
    filled = max(0, -(-entries // FILLED) - 2)
    return filled + (1 if entries - filled * FILLED <= MOST_ENTRIES else 2)


def room_for_merge(
    device: KernelDevice, state: State, count: int, *, least_entries: int, most_entries: int
) -> MergeRoom:
    """For a batch of `count` updates that leaves so many entries; a merge then needs no memory any more. Raises
    DeviceMemoryError."""
    if state.merge_launches is None:
        state.merge_launches = _sequence(device, state)
    num_tasks = state.pages.size + -(-count // _TASK_UPDATES)
    tasks: Tasks | None = state.merge_tasks
    if tasks is None or tasks.capacity < num_tasks:
        tasks = state.merge_tasks = Tasks(device, num_tasks)
    most = max(1, -(-most_entries // FILLED))  # a page that is left over is written, too
    pages = state.reserve_apart(most, pages_of_merge(least_entries))
    numbers: Numbers | None = state.merge_numbers
    if numbers is None or numbers.capacity < most:
        numbers = state.merge_numbers = Numbers(device, most)
    numbers.write(pages)
    directory = state.unfilled_directory(pages)
    state.described()  # what it speaks of may have moved
    return MergeRoom(num_tasks, tasks, directory, numbers)


def merge(
    device: KernelDevice, state: State, buffers: Buffers, given: Given, room: MergeRoom, *, at_once: bool
) -> None:
    """Everything into fresh pages; `at_once`: and these into the new version, and the host hears of it before all is written."""
    _run(device, state, buffers, given, room, writes=True, finishes=at_once, epoch=state.epoch if at_once else 0)


def finish_merge(device: KernelDevice, state: State, buffers: Buffers, given: Given, room: MergeRoom) -> None:
    """The new version of what was merged, if that has changed anything."""
    _run(device, state, buffers, given, room, writes=False, finishes=True, epoch=0)


class _Value(IntEnum):
    """What differs between merges, in the order in which a call gives it."""

    STORE = 0
    BATCH = auto()
    NEW_STORE = auto()
    NEW_PAGES = auto()
    NEW_SEPARATORS = auto()
    NEW_POSITIONS = auto()
    NUMBERS = auto()
    WEIGHTS = auto()
    TASKS = auto()
    PUBLISHED = auto()
    HOW = auto()
    COUNT = auto()
    NEIGHBOR_BITS = auto()
    NUM_NEW = auto()
    ENTRIES = auto()
    EPOCH = auto()
    THREADS = auto()
    FINISH_THREADS = auto()
    TASK_BLOCKS = auto()
    MERGE_BLOCKS = auto()
    FINISH_BLOCKS = auto()


def _run(
    device: KernelDevice,
    state: State,
    buffers: Buffers,
    given: Given,
    room: MergeRoom,
    *,
    writes: bool,
    finishes: bool,
    epoch: int,
) -> None:
    sequence: LaunchSequence = state.merge_launches
    directory = room.directory
    page_blocks = launch_shape(
        device, directory.pages.size, per_block=_FINISH_THREADS // WARP, blocks_per_multiprocessor=2
    )
    values = (
        *(state.described(), buffers.described, directory.described, directory.room_for_pages),
        *(directory.room_for_separators, directory.positions, room.numbers.there, given.weights),
        *(room.tasks.tasks, room.tasks.published),
        *(given.how, given.count, given.neighbor_bits, directory.pages.size),
        *(state.num_entries, epoch, _THREADS, _FINISH_THREADS),
        launch_shape(device, WARP * state.pages.size, threads=_THREADS)[0] if writes else 0,
        room.num_tasks if writes else 0,
        1 + page_blocks[0] if finishes else 0,
    )
    sequence.run(values)


def _sequence(device: KernelDevice, state: State) -> LaunchSequence:
    v, kernels = _Value, state.load(SOURCE)
    array = device.empty(1, np.uint64)  # stands for those that a call gives

    def step(entry: str, values: list[_Value], grid: _Value, block: _Value = v.THREADS) -> Step:
        number = {v.ENTRIES: np.uint64(0)}
        args = tuple(array if value <= v.PUBLISHED else number.get(value, np.uint32(0)) for value in values)
        return Step(kernels, entry, args, dict(enumerate(values)), grid, block)

    of_tasks = [v.STORE, v.BATCH, v.COUNT, v.NEIGHBOR_BITS, v.TASKS, v.PUBLISHED, v.NUMBERS]
    of_tasks += [v.NEW_STORE, v.NEW_PAGES, v.NUM_NEW, v.NEW_SEPARATORS, v.NEW_POSITIONS]
    of_entries = [v.STORE, v.BATCH, v.WEIGHTS, v.HOW, v.COUNT, v.NEIGHBOR_BITS, v.TASKS, v.PUBLISHED]
    of_entries += [v.NEW_PAGES, v.NUM_NEW, v.EPOCH]
    steps = [
        step("packed_merge_tasks", of_tasks, v.TASK_BLOCKS),
        step("packed_merge", of_entries, v.MERGE_BLOCKS),
        step(
            "packed_merge_finish",
            [v.NEW_STORE, v.BATCH, v.NEW_PAGES, v.ENTRIES],
            v.FINISH_BLOCKS,
            v.FINISH_THREADS,
        ),
    ]
    return prepare_sequence(device, steps)
