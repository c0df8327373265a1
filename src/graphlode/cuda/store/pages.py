"""Drives store/pages.cu: pages that are split, merged or copied."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any, NamedTuple

import numpy as np

from graphlode.cuda import _driver
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.sequence import LaunchSequence, Step, prepare_sequence
from graphlode.cuda.store.batch import Buffers, read_flagged
from graphlode.cuda.store.groups import (
    FRESH_WORDS,
    JOB_WORDS,
    Groups,
    Regrouping,
    groups_from_records,
    groups_from_totals,
    num_groups,
    regroup,
)
from graphlode.cuda.store.input import mapped
from graphlode.cuda.store.plan import write_blocks, write_step
from graphlode.cuda.store.pool import SEGMENT_PAGES
from graphlode.cuda.store.state import Directory, State
from graphlode.types import AnyArray

SOURCE = KernelSource(
    "store/pages",
    (
        *("packed_regroup", "packed_spread", "packed_spread_new", "packed_finish"),
        *("packed_slots", "packed_gather", "packed_offsets", "packed_contains"),
    ),
)

_SPARE = 8  # so many fresh pages may be needed at once, as part of all: more are written in waves
_WAVES = 16  # into which a rewriting of all pages is split
_THREADS, _JOB_THREADS = 256, 1024  # of a block
_MOST_PARTS = 4  # of a page that blocks spread together, as in store/spread.cuh
_SPREAD_BLOCKS = 3  # that a multiprocessor has at a time
_LEAST_ROOM = 1024  # pages that the device can group without asking for more room
_MOST_GROUPED = 1 << 21  # pages of a directory that the device makes: what packed_regroup can count
_RANGE_WORDS = 3  # of replaced_range in store/regroup.cuh


@dataclass(slots=True)
class PagePlan:
    """The part of a plan that writes into fresh pages, which become part of a new directory."""

    jobs: Any
    fresh: Any
    num_fresh: int
    directory: Directory
    replaced: AnyArray  # pages that are free afterwards; if the device groups them, room for them
    waves: list[Wave]
    room: GroupRoom | None = None  # if the device is to group the flagged ones
    numbers: AnyArray | None = None  # of fresh pages, if so
    joins: int = 0  # whether some groups are joined, if so


class Wave(NamedTuple):
    """Jobs and fresh pages that are written together; later waves may write into pages that earlier ones have read."""

    first_job: int
    end_job: int
    first_fresh: int
    end_fresh: int


def are_very_many(state: State, info: dict[str, int]) -> bool:
    """Whether so many pages are flagged that they are written in waves, if no merge writes all of them."""
    return info["num_fresh"] > max(state.pool.num_free, state.pages.size // _SPARE, SEGMENT_PAGES)


def are_grouped_by_device(state: State, info: dict[str, int]) -> bool:
    """Whether the device can form the groups of flagged pages by itself: `info` is what it says of them."""
    can_count = state.pages.size + info["num_fresh"] < _MOST_GROUPED
    return can_count and not are_very_many(state, info)


def get_ready(device: KernelDevice, state: State) -> None:
    """What all plans need, before the first of them does: a commit must not need memory, and no batch should wait for it."""
    if state.page_launches is None:
        state.page_launches = _sequence(device, state)
    if state.group_room is None:
        state.group_room = GroupRoom(device, 1, 1)


def plan_pages(device: KernelDevice, state: State, buffers: Buffers, info: dict[str, int]) -> PagePlan:
    """The groups of flagged pages into fresh pages. `info` is what the device says of them."""
    get_ready(device, state)
    if are_grouped_by_device(state, info):
        return _grouped_by_device(device, state, info["num_fresh"], info["num_replaced"], info["any_joined"])
    records = read_flagged(device, buffers, info["num_flagged"])
    groups = groups_from_records(state.pages.size, records)
    if groups is None:
        totals = device.get(state.pool.arrays["totals"])[state.pages].astype(np.int64)
        groups = groups_from_totals(totals, records[:, 0])
    waves = split_into_waves(groups, max(state.pool.num_free, state.pages.size // _WAVES, SEGMENT_PAGES))
    numbers, reused = _number_pages(state, groups, waves)
    found = regroup(state.pages, groups, records[:, 0], numbers)
    replaced = found.replaced if not reused.size else np.setdiff1d(found.replaced, reused)
    return _page_plan(device, state, found, replaced, waves)


def write_at_once(
    device: KernelDevice,
    state: State,
    buffers: Buffers,
    num_updates: int,
    num_fresh: int,
    num_replaced: int,
    joins: int,
) -> bool:
    """As a plan that is written, and the pages in their places; false if memory must come or go, and nothing has happened.

    The device may still be writing.
    """
    room, num_pages = state.group_room, state.directory.pages.size
    if room is None or room.num_fresh < num_fresh or room.num_jobs < num_replaced:
        return False
    if not state.pool.stays_as_it_is(num_fresh, num_replaced):
        return False
    if num_pages + num_fresh >= _MOST_GROUPED or not state.has_spare(num_pages - num_replaced + num_fresh):
        return False
    plan = _grouped_by_device(device, state, num_fresh, num_replaced, joins)
    state.replace_pages(plan.directory, write_pages(device, state, buffers, num_updates, plan))
    return True


def _grouped_by_device(device: KernelDevice, state: State, num_fresh: int, num_replaced: int, joins: int) -> PagePlan:
    """Room for what the device needs to group the flagged pages: nothing is allocated or copied if there is enough."""
    numbers = state.reserve(num_fresh)
    room: GroupRoom = state.group_room
    if room.num_fresh < num_fresh or room.num_jobs < num_replaced:
        room = state.group_room = GroupRoom(device, num_fresh, num_replaced)
    room.numbers[:num_fresh] = numbers
    directory = state.unfilled_directory(state.pages.size - num_replaced + num_fresh)
    waves = [Wave(0, num_replaced, 0, num_fresh)]
    replaced = np.empty(num_replaced, np.uint32)
    return PagePlan(room.jobs, room.fresh, num_fresh, directory, replaced, waves, room, numbers, joins)


class GroupRoom:
    """Where the device groups up to so many pages into so many fresh ones; kept between batches.

    The numbers of fresh pages, and what the groups come to, lie in memory of the host that the device sees.
    """

    def __init__(self, device: KernelDevice, num_fresh: int, num_jobs: int) -> None:
        self.num_fresh, self.num_jobs = (
            max(_LEAST_ROOM, 1 << (count - 1).bit_length()) for count in (num_fresh, num_jobs)
        )
        ends = [self.num_fresh, self.num_fresh + _RANGE_WORDS * self.num_jobs]
        host, there = mapped(device, 4 * (ends[1] + 1))
        self.numbers, self._ranges, self._told = np.split(host.view(np.uint32), ends)
        words = there.view(np.uint32)
        self.numbers_there, self.ranges_there = words[: ends[0]], words[ends[0] : ends[1]]
        self.told_there = words[ends[1] :]
        self.jobs = device.empty(self.num_jobs * JOB_WORDS, np.int64)
        self.fresh = device.empty(self.num_fresh * FRESH_WORDS, np.int64)
        blocks = num_groups(_MOST_GROUPED) // _JOB_THREADS
        self.chain = device.zeros(1 + 2 * blocks, np.uint64)  # block_chain of store/pages.cu

    @property
    def nbytes(self) -> int:
        return int(self.jobs.nbytes + self.fresh.nbytes + self.chain.nbytes)

    @property
    def is_large(self) -> bool:
        return max(self.num_fresh, self.num_jobs) > _LEAST_ROOM

    def hear_ranges(self, device: KernelDevice, num_jobs: int, epoch: int) -> AnyArray:
        """Positions, lengths and fresh pages of what is replaced, as soon as the device has grouped it."""
        device.wait_for_word(self._told, 0, epoch)
        return self._ranges[: num_jobs * _RANGE_WORDS]


def parts_of_job(device: KernelDevice, num_jobs: int) -> int:
    """Blocks that spread a page together: the fewer pages there are, the more."""
    parts = 1
    while parts < _MOST_PARTS and 2 * parts * num_jobs <= _SPREAD_BLOCKS * device.num_multiprocessors:
        parts *= 2
    return parts


def _page_plan(
    device: KernelDevice, state: State, found: Regrouping, replaced: AnyArray, waves: list[Wave] | None
) -> PagePlan:
    """The plan on the device; without `waves` all is written at once."""
    told = device.asarray(np.concatenate([found.jobs.ravel(), found.fresh.ravel()]))
    jobs, fresh = told[: found.jobs.size], told[found.jobs.size :]
    num_jobs, num_fresh = len(found.jobs), len(found.fresh)
    waves = waves or [Wave(0, num_jobs, 0, num_fresh)]
    return PagePlan(jobs, fresh, num_fresh, state.directory_of(found.pages), replaced, waves)


def split_into_waves(groups: Groups, most_fresh: int) -> list[Wave]:
    """Groups in order, about so many fresh pages at a time: else a batch that fills all pages would double the memory."""
    fresh_ends, job_ends = groups.num_fresh.cumsum(), groups.lengths.cumsum()
    number = (fresh_ends - 1) // most_fresh
    last = np.append(number[1:] != number[:-1], True).nonzero()[0]
    ends = list(zip(job_ends[last].tolist(), fresh_ends[last].tolist(), strict=True))
    return [Wave(a, c, b, d) for (a, b), (c, d) in zip([(0, 0), *ends[:-1]], ends, strict=True)]


def _number_pages(state: State, groups: Groups, waves: list[Wave]) -> tuple[AnyArray, AnyArray]:
    """Numbers for all fresh pages, and those among them of pages that an earlier wave has read and nobody else holds."""
    sources = state.pages[groups.sources] if len(waves) > 1 else state.pages[:0]
    unshared = state.pool.references[sources] == 1
    reused, spare, missing = [], sources[:0], []
    for wave in waves:
        count = wave.end_fresh - wave.first_fresh
        reused.append(spare[:count])
        missing.append(count - reused[-1].size)
        read = slice(wave.first_job, wave.end_job)
        spare = np.concatenate([spare[count:], sources[read][unshared[read]]])
    taken = np.split(state.reserve(sum(missing)), np.cumsum(missing)[:-1])
    pieces = [piece for pair in zip(reused, taken, strict=True) for piece in pair]
    return np.concatenate(pieces), np.concatenate(reused)


def write_pages(device: KernelDevice, state: State, buffers: Buffers, num_updates: int, plan: PagePlan) -> AnyArray:
    """What stays in its pages, all entries of the others, the directory and the rows of the new version.

    Returns which pages it replaces; the device may still be writing.
    """
    sequence: LaunchSequence = state.page_launches
    room, directory, last = plan.room, plan.directory, plan.waves[-1]
    num_fresh, num_new = plan.num_fresh, directory.pages.size
    for wave in plan.waves:
        jobs, num_jobs = plan.jobs, wave.end_job - wave.first_job
        parts = parts_of_job(device, num_jobs)
        if len(plan.waves) > 1:
            jobs = jobs[wave.first_job * JOB_WORDS : wave.end_job * JOB_WORDS]
        finish_blocks = max(num_fresh, num_new // _THREADS) if wave is last else 0
        stays = write_blocks(device, num_updates) if wave is plan.waves[0] else 0
        arrays = directory.described, directory.room_for_pages, directory.room_for_separators, directory.positions
        values = (
            *(state.described(), buffers.described, *arrays),
            *(
                (plan.fresh,) * 4
                if room is None
                else (room.numbers_there, room.ranges_there, room.told_there, room.chain)
            ),
            *(jobs, plan.fresh),
            *(num_updates, state.epoch, num_jobs, parts, num_fresh, num_new, plan.joins),
            *(wave.first_fresh, wave.end_fresh, _THREADS, _JOB_THREADS, stays),
            0 if room is None else -(-num_groups(state.pages.size) // _JOB_THREADS),
            launch_shape(device, num_jobs * parts, per_block=1)[0],
            launch_shape(device, num_updates)[0],
            finish_blocks and launch_shape(device, finish_blocks, per_block=1)[0],
        )
        sequence.run(values)
    if room is not None:
        assert plan.numbers is not None
        ranges = room.hear_ranges(device, last.end_job, state.epoch)
        _driver.replace_pages(state.pages, ranges, plan.numbers, directory.pages, plan.replaced)
    return plan.replaced


class _Value(IntEnum):
    """What differs between the writings of pages, in the order in which a call gives it."""

    STORE = 0
    BATCH = auto()
    NEW_STORE = auto()
    NEW_PAGES = auto()
    NEW_SEPARATORS = auto()
    NEW_POSITIONS = auto()
    NUMBERS = auto()
    RANGES = auto()
    TOLD = auto()
    CHAIN = auto()
    JOBS = auto()
    FRESH = auto()
    COUNT = auto()
    EPOCH = auto()
    NUM_JOBS = auto()
    PARTS = auto()
    NUM_FRESH = auto()
    NUM_NEW = auto()
    JOINS = auto()
    BEGIN_FRESH = auto()
    END_FRESH = auto()
    THREADS = auto()
    JOB_THREADS = auto()
    WRITE_BLOCKS = auto()
    GROUP_BLOCKS = auto()
    SPREAD_BLOCKS = auto()
    UPDATE_BLOCKS = auto()
    FINISH_BLOCKS = auto()


def _sequence(device: KernelDevice, state: State) -> LaunchSequence:
    """The jobs of groups; what stays; entries into fresh pages; crowded ones; the directory. Not all are always needed."""
    v, kernels = _Value, state.load(SOURCE)
    array = device.empty(1, np.uint64)  # stands for those that a call gives

    def arguments(values: list[_Value]) -> tuple[Any, ...]:
        return tuple(array if value <= v.FRESH else np.uint32(0) for value in values)

    def step(entry: str, values: list[_Value], grid: _Value, block: _Value = v.THREADS) -> Step:
        return Step(kernels, entry, arguments(values), dict(enumerate(values)), grid, block)

    of_write = [v.STORE, v.BATCH, v.COUNT, v.EPOCH]
    write = write_step(state, arguments(of_write), of_write, v.WRITE_BLOCKS, v.THREADS, at_once=False)
    of_groups = [v.STORE, v.BATCH, v.NUMBERS, v.NUM_FRESH, v.EPOCH, v.NEW_STORE, v.NEW_PAGES, v.NUM_NEW]
    of_groups += [v.NEW_SEPARATORS, v.NEW_POSITIONS, v.RANGES, v.CHAIN, v.JOBS, v.FRESH, v.JOINS, v.TOLD]
    of_all = [v.STORE, v.BATCH, v.COUNT, v.JOBS, v.NUM_JOBS, v.PARTS, v.FRESH, v.BEGIN_FRESH, v.END_FRESH]
    of_new = [v.STORE, v.BATCH, v.COUNT, v.EPOCH, v.JOBS, v.NUM_JOBS, v.FRESH]
    steps = [
        step("packed_regroup", of_groups, v.GROUP_BLOCKS, v.JOB_THREADS),  # first, since the host waits for it
        write,
        step("packed_spread", of_all, v.SPREAD_BLOCKS),
        step("packed_spread_new", of_new, v.UPDATE_BLOCKS),
        step("packed_finish", [v.NEW_STORE, v.FRESH, v.NUM_FRESH], v.FINISH_BLOCKS),
    ]
    return prepare_sequence(device, steps)
