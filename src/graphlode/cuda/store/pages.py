"""Drives store/pages.cu: pages that are split, merged or copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphlode.cuda import _driver
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.store.batch import Buffers, read_flagged
from graphlode.cuda.store.groups import (
    JOB_WORDS,
    Groups,
    Regrouping,
    groups_from_records,
    groups_from_totals,
    num_groups,
    regroup,
)
from graphlode.cuda.store.launches import PageValues
from graphlode.cuda.store.plan import write_blocks
from graphlode.cuda.store.pool import SEGMENT_PAGES
from graphlode.cuda.store.state import State
from graphlode.cuda.store.version import Directory
from graphlode.cuda.store.workspace import MOST_GROUPED, GroupRoom
from graphlode.types import AnyArray

_SPARE = 8  # an eighth of all pages may need fresh pages at the same time; more are written in waves
_WAVES = 16  # waves that rewrite all pages
_THREADS, _JOB_THREADS = 256, 1024  # of a block
_MOST_PARTS = 4  # the most blocks that spread one page together, as in store/spread.cuh
_SPREAD_BLOCKS = 3  # that run on a multiprocessor at the same time


@dataclass(slots=True)
class PagePlan:
    """The part of a plan that writes fresh pages, and the new directory that contains them."""

    jobs: Any
    fresh: Any
    num_fresh: int
    directory: Directory
    replaced: AnyArray  # pages that are free afterwards; room for their numbers if the device forms the groups
    waves: list[Wave]
    room: GroupRoom | None = None  # if the device forms the groups
    numbers: AnyArray | None = None  # of fresh pages, if the device forms the groups
    joins: int = 0  # whether some groups are joined, if the device forms them


class Wave(NamedTuple):
    """Jobs and fresh pages that are written together. Later waves may write into pages that earlier waves have read."""

    first_job: int
    end_job: int
    first_fresh: int
    end_fresh: int


def are_very_many(state: State, info: dict[str, int]) -> bool:
    """Whether the flagged pages need more fresh pages than one wave has, unless a merge rewrites all pages."""
    return info["num_fresh"] > max(state.pool.num_free, state.pages.size // _SPARE, SEGMENT_PAGES)


def are_grouped_by_device(state: State, info: dict[str, int]) -> bool:
    """Whether the device can form the groups of flagged pages. `info` is its report on them."""
    can_count = state.pages.size + info["num_fresh"] < MOST_GROUPED
    return can_count and not are_very_many(state, info)


def plan_pages(state: State, buffers: Buffers, info: dict[str, int]) -> PagePlan:
    """Plan to write the groups of flagged pages into fresh pages. `info` is the device's report on them."""
    device = state.device
    if are_grouped_by_device(state, info):
        return _grouped_by_device(state, info["num_fresh"], info["num_replaced"], info["any_joined"])
    records = read_flagged(device, buffers, info["num_flagged"])
    groups = groups_from_records(state.pages.size, records)
    if groups is None:
        totals = device.get(state.pool.arrays["totals"])[state.pages].astype(np.int64)
        groups = groups_from_totals(totals, records[:, 0])
    waves = split_into_waves(groups, max(state.pool.num_free, state.pages.size // _WAVES, SEGMENT_PAGES))
    numbers, reused = _number_pages(state, groups, waves)
    found = regroup(state.pages, groups, records[:, 0], numbers)
    replaced = found.replaced if not reused.size else np.setdiff1d(found.replaced, reused)
    return _page_plan(state, found, replaced, waves)


def write_at_once(
    state: State, buffers: Buffers, num_updates: int, num_fresh: int, num_replaced: int, joins: int
) -> bool:
    """Plan and write fresh pages, and take over the new directory. The device may still be writing afterwards.

    False if memory must be allocated or released first. Then nothing has happened.
    """
    num_pages = state.directory.pages.size
    if not state.workspace.has_room_for_groups(num_fresh, num_replaced):
        return False
    if not state.pool.stays_as_it_is(num_fresh, num_replaced):
        return False
    if num_pages + num_fresh >= MOST_GROUPED or not state.has_spare(num_pages - num_replaced + num_fresh):
        return False
    plan = _grouped_by_device(state, num_fresh, num_replaced, joins)
    state.replace_pages(plan.directory, write_pages(state, buffers, num_updates, plan))
    return True


def _grouped_by_device(state: State, num_fresh: int, num_replaced: int, joins: int) -> PagePlan:
    """A plan in which the device forms the groups. Nothing is allocated or copied if there is enough room."""
    numbers = state.reserve(num_fresh)
    room = state.workspace.room_for_groups(num_fresh, num_replaced)
    room.numbers[:num_fresh] = numbers
    directory = state.unfilled_directory(state.pages.size - num_replaced + num_fresh)
    waves = [Wave(0, num_replaced, 0, num_fresh)]
    replaced = np.empty(num_replaced, np.uint32)
    return PagePlan(room.jobs, room.fresh, num_fresh, directory, replaced, waves, room, numbers, joins)


def parts_of_job(device: KernelDevice, num_jobs: int) -> int:
    """The number of blocks that spread a page together. With fewer pages it is larger."""
    parts = 1
    while parts < _MOST_PARTS and 2 * parts * num_jobs <= _SPREAD_BLOCKS * device.num_multiprocessors:
        parts *= 2
    return parts


def _page_plan(state: State, found: Regrouping, replaced: AnyArray, waves: list[Wave] | None) -> PagePlan:
    """Copy the plan to the device. Without `waves` everything is written in one wave."""
    both = state.device.asarray(np.concatenate([found.jobs.ravel(), found.fresh.ravel()]))
    jobs, fresh = both[: found.jobs.size], both[found.jobs.size :]
    num_jobs, num_fresh = len(found.jobs), len(found.fresh)
    waves = waves or [Wave(0, num_jobs, 0, num_fresh)]
    return PagePlan(jobs, fresh, num_fresh, state.directory_of(found.pages), replaced, waves)


def split_into_waves(groups: Groups, most_fresh: int) -> list[Wave]:
    """Groups in order, with about `most_fresh` fresh pages in each wave. In one wave, a batch that fills all pages
    would double the memory."""
    fresh_ends, job_ends = groups.num_fresh.cumsum(), groups.lengths.cumsum()
    number = (fresh_ends - 1) // most_fresh
    last = np.append(number[1:] != number[:-1], True).nonzero()[0]
    ends = list(zip(job_ends[last].tolist(), fresh_ends[last].tolist(), strict=True))
    return [Wave(a, c, b, d) for (a, b), (c, d) in zip([(0, 0), *ends[:-1]], ends, strict=True)]


def _number_pages(state: State, groups: Groups, waves: list[Wave]) -> tuple[AnyArray, AnyArray]:
    """Numbers for all fresh pages; and those among them that are reused: an earlier wave has read the page, and no
    version holds it."""
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


def write_pages(state: State, buffers: Buffers, num_updates: int, plan: PagePlan) -> AnyArray:
    """Write updates in place, entries into fresh pages, and the directory and the rows of the new version.

    Returns the replaced pages. The device may still be writing.
    """
    for wave in plan.waves:
        state.launches.pages.run(_values(state, buffers, num_updates, plan, wave))
    if plan.room is not None:
        assert plan.numbers is not None
        ranges = plan.room.ranges(state.device, plan.waves[-1].end_job, state.epoch)
        _driver.replace_pages(state.pages, ranges, plan.numbers, plan.directory.pages, plan.replaced)
    return plan.replaced


def _values(state: State, buffers: Buffers, num_updates: int, plan: PagePlan, wave: Wave) -> PageValues:
    device, directory, room = state.device, plan.directory, plan.room
    num_jobs, num_new = wave.end_job - wave.first_job, directory.pages.size
    parts = parts_of_job(device, num_jobs)
    jobs = plan.jobs
    if len(plan.waves) > 1:
        jobs = jobs[wave.first_job * JOB_WORDS : wave.end_job * JOB_WORDS]
    is_first, is_last = wave is plan.waves[0], wave is plan.waves[-1]
    finish_blocks, _ = launch_shape(device, max(plan.num_fresh, num_new // _THREADS), per_block=1)
    spread_blocks, _ = launch_shape(device, num_jobs * parts, per_block=1)
    return PageValues(
        store=state.described(device),
        batch=buffers.described,
        new_store=directory.described,
        new_pages=directory.room_for_pages,
        new_separators=directory.room_for_separators,
        new_positions=directory.positions,
        # Without a room the device groups nothing, and does not read these arrays.
        numbers=plan.fresh if room is None else room.numbers_there,
        ranges=plan.fresh if room is None else room.ranges_there,
        reported=plan.fresh if room is None else room.reported_there,
        chain=plan.fresh if room is None else room.chain,
        jobs=jobs,
        fresh=plan.fresh,
        updates=num_updates,
        epoch=state.epoch,
        num_jobs=num_jobs,
        parts=parts,
        num_fresh=plan.num_fresh,
        num_new=num_new,
        joins=plan.joins,
        begin_fresh=wave.first_fresh,
        end_fresh=wave.end_fresh,
        threads=_THREADS,
        job_threads=_JOB_THREADS,
        write_blocks=write_blocks(device, num_updates) if is_first else 0,
        group_blocks=0 if room is None else -(-num_groups(state.pages.size) // _JOB_THREADS),
        spread_blocks=spread_blocks,
        update_blocks=launch_shape(device, num_updates)[0],
        finish_blocks=finish_blocks if is_last else 0,
    )
