"""Drives graph/packed_pages.cu: pages that are split, merged or copied, and full merges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.packed_batch import Buffers, read_flagged
from graphlode.cuda.graph.packed_groups import (
    FRESH_WORDS,
    JOB_WORDS,
    fresh_pages_for,
    groups_from_records,
    groups_from_totals,
    regroup,
)
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


@dataclass(frozen=True)
class PagePlan:
    """The part of a plan that writes into fresh pages, which become part of a new directory."""

    jobs: Any
    num_jobs: int
    fresh: Any
    num_fresh: int
    directory: Directory
    replaced: AnyArray
    entries: int | None  # of all pages, for a full merge


def plan_merge(device: KernelDevice, state: State, entries: int) -> PagePlan:
    """Everything into fresh pages, so many entries after the batch; the device makes the jobs itself."""
    numbers = state.reserve(fresh_pages_for(entries), apart=True)
    jobs = device.empty(state.pages.size * JOB_WORDS, np.int64)
    fresh = device.empty(numbers.size * FRESH_WORDS, np.int64)
    directory = state.directory_of(numbers)
    return PagePlan(jobs, state.pages.size, fresh, numbers.size, directory, state.pages, entries)


def plan_pages(device: KernelDevice, state: State, buffers: Buffers, num_flagged: int) -> PagePlan:
    """The groups of flagged pages into fresh pages."""
    records = read_flagged(device, buffers, num_flagged)
    groups = groups_from_records(state.pages.size, records)
    if groups is None:
        totals = device.get(state.pool.arrays["totals"])[state.pages].astype(np.int64)
        groups = groups_from_totals(totals, records[:, 0])
    found = regroup(state.pages, groups, records[:, 0], state.reserve(int(groups.num_fresh.sum())))
    told = device.asarray(np.concatenate([found.jobs.ravel(), found.fresh.ravel()]))
    jobs, fresh = told[: found.jobs.size], told[found.jobs.size :]
    directory = state.directory_of(found.pages)
    return PagePlan(jobs, len(found.jobs), fresh, len(found.fresh), directory, found.replaced, None)


def write_pages(device: KernelDevice, state: State, buffers: Buffers, num_updates: int, plan: PagePlan) -> None:
    """Old entries, new entries, then the directory and the rows of the new version."""
    kernels, store, batch = state.load(SOURCE), state.described(), buffers.described
    count, num_fresh = np.uint32(num_updates), np.uint32(plan.num_fresh)
    if plan.entries is not None:
        of_merge = (store, plan.directory.device_pages, num_fresh, np.uint64(plan.entries), plan.jobs, plan.fresh)
        kernels.launch("packed_merge_jobs", 1, 1024, of_merge)
    grid, block = launch_shape(device, plan.num_jobs, threads=256, per_block=1)
    of_old = (store, batch, count, plan.jobs, np.uint32(plan.num_jobs), plan.fresh)
    kernels.launch("packed_spread_old", grid, block, of_old)
    grid, block = launch_shape(device, max(num_updates, plan.num_fresh * PAGE_LEAVES))
    merging = np.int32(plan.entries is not None)
    of_new = (store, batch, count, np.uint32(state.epoch), merging, plan.jobs, plan.fresh, num_fresh)
    kernels.launch("packed_spread_new", grid, block, of_new)
    blocks = max(plan.num_fresh, plan.directory.pages.size // 256)
    grid, block = launch_shape(device, blocks, threads=256, per_block=1)
    kernels.launch("packed_finish", grid, block, (plan.directory.described, plan.fresh, num_fresh))
