"""Drives graph/packed_pages.cu: pages that are split, merged or copied, and full merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.packed_batch import Buffers, read_flagged
from graphlode.cuda.graph.packed_few import FEW, few_groups
from graphlode.cuda.graph.packed_groups import (
    FRESH_WORDS,
    JOB_WORDS,
    Groups,
    Regrouping,
    fresh_pages_for,
    groups_from_records,
    groups_from_totals,
    regroup,
)
from graphlode.cuda.graph.packed_pool import SEGMENT_PAGES
from graphlode.cuda.graph.packed_state import Directory, State
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.packed import PAGE_LEAVES
from graphlode.types import AnyArray

SOURCE = KernelSource(
    "graph/packed_pages",
    (
        *("packed_merge_jobs", "packed_spread_old", "packed_spread_new", "packed_finish"),
        *("packed_slots", "packed_gather", "packed_offsets", "packed_contains"),
    ),
)

_TOO_MUCH = 16  # a full merge may reserve one page in so many that it does not need
_WAVES = 16  # into which a rewriting of all pages is split


@dataclass(frozen=True)
class PagePlan:
    """The part of a plan that writes into fresh pages, which become part of a new directory."""

    jobs: Any
    fresh: Any
    num_fresh: int
    directory: Directory
    replaced: AnyArray  # pages that are free afterwards
    waves: list[Wave]
    entries: int | None  # of all pages, for a full merge


class Wave(NamedTuple):
    """Jobs and fresh pages that are written together; later waves may write into pages that earlier ones have read."""

    first_job: int
    end_job: int
    first_fresh: int
    end_fresh: int


@dataclass(slots=True)
class MergeRoom:
    """What a full merge may need, taken while the device finds out how much it does."""

    jobs: Any
    fresh: Any
    directory: Directory


def room_for_merge(device: KernelDevice, state: State, most_entries: int) -> MergeRoom | None:
    """For up to so many entries; None: that is more than there is, but the merge may need less."""
    try:
        numbers = state.reserve(fresh_pages_for(most_entries), apart=True)
        jobs = device.empty(state.pages.size * JOB_WORDS, np.int64)
        fresh = device.empty(numbers.size * FRESH_WORDS, np.int64)
        return MergeRoom(jobs, fresh, state.room_for(numbers))
    except MemoryError:
        state.give_back_reserved(0)
        return None


def plan_merge(device: KernelDevice, state: State, entries: int, room: MergeRoom | None) -> PagePlan:
    """Everything into fresh pages, so many entries after the batch; the device makes the jobs itself."""
    count = fresh_pages_for(entries)
    if room is not None and room.directory.pages.size > count + count // _TOO_MUCH + SEGMENT_PAGES:
        state.give_back_reserved(0)  # memory comes in large pieces: what is not needed of one could not be given back
        room = None
    if room is None:
        numbers = state.reserve(count, apart=True)
        jobs = device.empty(state.pages.size * JOB_WORDS, np.int64)
        room = MergeRoom(jobs, device.empty(count * FRESH_WORDS, np.int64), state.room_for(numbers))
    state.give_back_reserved(count)
    directory = state.describe_first(room.directory, count)
    waves = [Wave(0, state.pages.size, 0, count)]
    return PagePlan(room.jobs, room.fresh, count, directory, state.pages, waves, entries)


def plan_pages(device: KernelDevice, state: State, buffers: Buffers, num_flagged: int) -> PagePlan:
    """The groups of flagged pages into fresh pages."""
    records = read_flagged(device, buffers, num_flagged)
    if num_flagged <= FEW:
        few = few_groups(state.pages.size, records.tolist())
        if few is not None and few.num_fresh <= SEGMENT_PAGES:
            found = few.regroup(state.pages, state.reserve(few.num_fresh))
            return _page_plan(device, state, found, found.replaced, None)
    groups = groups_from_records(state.pages.size, records)
    if groups is None:
        totals = device.get(state.pool.arrays["totals"])[state.pages].astype(np.int64)
        groups = groups_from_totals(totals, records[:, 0])
    waves = split_into_waves(groups, max(state.pool.free.size, state.pages.size // _WAVES, SEGMENT_PAGES))
    numbers, reused = _number_pages(state, groups, waves)
    found = regroup(state.pages, groups, records[:, 0], numbers)
    replaced = found.replaced if not reused.size else np.setdiff1d(found.replaced, reused)
    return _page_plan(device, state, found, replaced, waves)


def _page_plan(
    device: KernelDevice, state: State, found: Regrouping, replaced: AnyArray, waves: list[Wave] | None
) -> PagePlan:
    """The plan on the device; without `waves` all is written at once."""
    told = device.asarray(np.concatenate([found.jobs.ravel(), found.fresh.ravel()]))
    jobs, fresh = told[: found.jobs.size], told[found.jobs.size :]
    num_jobs, num_fresh = len(found.jobs), len(found.fresh)
    waves = waves or [Wave(0, num_jobs, 0, num_fresh)]
    return PagePlan(jobs, fresh, num_fresh, state.directory_of(found.pages), replaced, waves, None)


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


def write_pages(device: KernelDevice, state: State, buffers: Buffers, num_updates: int, plan: PagePlan) -> None:
    """Old entries, new entries, then the directory and the rows of the new version."""
    kernels, store, batch = state.load(SOURCE), state.described(), buffers.described
    count, num_fresh = np.uint32(num_updates), np.uint32(plan.num_fresh)
    if plan.entries is not None:
        of_merge = (store, plan.directory.device_pages, num_fresh, np.uint64(plan.entries), plan.jobs, plan.fresh)
        grid, block = launch_shape(device, max(plan.num_fresh, plan.replaced.size), threads=1024)
        kernels.launch("packed_merge_jobs", 1 + grid, block, of_merge)
    merging, epoch = np.int32(plan.entries is not None), np.uint32(state.epoch)
    for wave in plan.waves:
        jobs = plan.jobs
        if len(plan.waves) > 1:
            jobs = jobs[wave.first_job * JOB_WORDS : wave.end_job * JOB_WORDS]
        num_jobs, begin, end = map(np.uint32, (wave.end_job - wave.first_job, wave.first_fresh, wave.end_fresh))
        grid, block = launch_shape(device, int(num_jobs), threads=256, per_block=1)
        kernels.launch("packed_spread_old", grid, block, (store, batch, count, jobs, num_jobs, plan.fresh))
        grid, block = launch_shape(device, max(num_updates, (wave.end_fresh - wave.first_fresh) * PAGE_LEAVES))
        of_new = (store, batch, count, epoch, merging, jobs, num_jobs, plan.fresh, begin, end)
        kernels.launch("packed_spread_new", grid, block, of_new)
    blocks = max(plan.num_fresh, plan.directory.pages.size // 256)
    grid, block = launch_shape(device, blocks, threads=256, per_block=1)
    kernels.launch("packed_finish", grid, block, (plan.directory.described, plan.fresh, num_fresh))
