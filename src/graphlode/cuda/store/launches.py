"""The kernel launches of a shard, prepared once. One call starts a whole sequence.

A small batch takes the device about ten microseconds, so everything that is the same for all batches is prepared. The
values that differ are the fields of three tables: for planning and writing in place; for pages that are split, merged
or copied; for merging all entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphlode.common.store import PAGE_LEAVES
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, KernelModule
from graphlode.cuda.sequence import BoundSequence, LaunchSequence, Step, StepTable, Wide, prepare_sequence
from graphlode.cuda.store import leaves, sort
from graphlode.cuda.store.batch import window_bytes

PLAN = KernelSource(
    "store/plan",
    ("packed_plan_small", "packed_locate", "packed_plan_pages", "packed_climb", "packed_write"),
)
PAGES = KernelSource(
    "store/pages",
    (
        *("packed_regroup", "packed_spread", "packed_spread_new", "packed_finish"),
        *("packed_slots", "packed_gather", "packed_offsets", "packed_contains"),
    ),
)
MERGE = KernelSource("store/merge", ("packed_merge_tasks", "packed_merge", "packed_merge_finish"))

# How far a batch is planned: sorted, for a merge; until the leaves of its updates are known; until the windows are.
SORTED, LEAVES, WINDOWS = 0, 1, 2

SMALL = -1
"""Instead of a number of passes: the one block that plans also sorts."""

WARPS = 8  # of a block that writes
_NARROW_LEAVES = 8


class Bound(NamedTuple):
    """The launches of batches that have much in common, bound to the buffers that they use."""

    batch: Any
    launches: BoundSequence


class PlanValues(NamedTuple):
    """The values that differ between batches that are planned and written in place. A small batch needs no field after
    `write_blocks`: their defaults leave launches out."""

    store: Any
    batch: Any
    tails: Any
    heads: Any
    deletes: Any
    weights: Any
    how: int
    updates: int
    epoch: int
    neighbor_bits: int
    one_block: int
    small_threads: int
    threads: int
    write_blocks: int
    many_threads: int = 0
    digit_blocks: int = 0
    pass_blocks: int = 0
    tile_blocks: int = 0
    tile_updates: int = 0
    num_merges: int = 0
    first_fan: int = 0
    first_left: int = 0  # merges that follow the first
    first_blocks: int = 0
    later_run: int = 0
    later_fan: int = 0
    later_left: int = 0
    later_blocks: int = 0
    locate_blocks: int = 0
    page_blocks: int = 0


class PageValues(NamedTuple):
    """The values that differ between batches that write fresh pages."""

    store: Any
    batch: Any
    new_store: Any
    new_pages: Any
    new_separators: Any
    new_positions: Any
    numbers: Any
    ranges: Any
    reported: Any
    chain: Any
    jobs: Any
    fresh: Any
    updates: int
    epoch: int
    num_jobs: int
    parts: int
    num_fresh: int
    num_new: int
    joins: int
    begin_fresh: int
    end_fresh: int
    threads: int
    job_threads: int
    write_blocks: int
    group_blocks: int
    spread_blocks: int
    update_blocks: int
    finish_blocks: int


class MergeValues(NamedTuple):
    """The values that differ between merges."""

    store: Any
    batch: Any
    new_store: Any
    new_pages: Any
    new_separators: Any
    new_positions: Any
    numbers: Any
    weights: Any
    tasks: Any
    published: Any
    how: int
    updates: int
    neighbor_bits: int
    num_new: int
    entries: Wide
    epoch: int
    threads: int
    finish_threads: int
    task_blocks: int
    merge_blocks: int
    finish_blocks: int


class Launches:
    """The launch sequences of a shard. The constructor loads all kernels, so no batch waits for a compiler."""

    def __init__(self, device: KernelDevice, weighted: bool) -> None:
        self._device = device
        self._write_bytes = _write_bytes(weighted=weighted)
        self._plan, self._sort = device.load(PLAN), device.load(sort.SOURCE)
        device.load(leaves.SOURCE)
        self.plan_table = StepTable(device, PlanValues)
        self._plans: dict[tuple[int, int, bool], LaunchSequence] = {}
        self.write = prepare_sequence(device, [self._write_step(self.plan_table, at_once=False)])
        self.pages = self._page_sequence(device.load(PAGES))
        self.merge = self._merge_sequence(device.load(MERGE))
        self.bound: dict[tuple[int, ...], Bound] = {}  # see plan.py
        self.numbers: dict[tuple[int, int, int], tuple[int, ...]] = {}  # see plan.py

    def climb(self, grid: int, block: int, *args: Any) -> None:
        self._plan.launch("packed_climb", grid, block, args)

    def plan_pages(self, grid: int, block: int, *args: Any) -> None:
        self._plan.launch("packed_plan_pages", grid, block, args)

    def plan(self, passes: int, step: int, *, write: bool) -> LaunchSequence:
        """The launches that sort a batch in this number of passes and plan it as far as `step`."""
        sequence = self._plans.get((passes, step, write))
        if sequence is None:
            made = self._plan_steps(passes, step)
            if write:
                made.append(self._write_step(self.plan_table, at_once=True))
            sequence = self._plans[passes, step, write] = prepare_sequence(self._device, made)
        return sequence

    def _plan_steps(self, passes: int, step: int) -> list[Step]:
        make, plan = self.plan_table.step, self._plan
        if passes == SMALL:
            values = "store batch tails heads deletes weights how updates epoch neighbor_bits"
            fixed = (np.int32(step),)
            return [make(plan, "packed_plan_small", values, fixed=fixed, grid="one_block", block="small_threads")]
        made = self._sort_steps(passes)
        if step == SORTED:
            return made
        located = "store batch weights how updates epoch neighbor_bits"
        made.append(make(plan, "packed_locate", located, grid="locate_blocks", block="many_threads"))
        if step >= WINDOWS:
            made.append(make(plan, "packed_plan_pages", "store batch", grid="page_blocks", block="threads"))
        return made

    def _sort_steps(self, passes: int) -> list[Step]:
        make, kernels = self.plan_table.step, self._sort
        source = "store batch tails heads deletes how updates neighbor_bits"
        if passes == 0:
            runs = "batch how updates "
            first, later = runs + "tile_updates first_fan first_left", runs + "later_run later_fan later_left"
            tiles = source + " num_merges"
            return [
                make(kernels, "packed_sort_tiles", tiles, grid="tile_blocks", block="many_threads"),
                make(kernels, "packed_merge_runs", first, grid="first_blocks", block="threads"),
                make(kernels, "packed_merge_runs", later, grid="later_blocks", block="threads"),
            ]
        digits = (np.uint32(passes),)
        return [
            make(kernels, "packed_digits", source, fixed=digits, grid="digit_blocks", block="many_threads"),
            make(kernels, "packed_sort_passes", source, fixed=digits, grid="pass_blocks", block="threads"),
        ]

    def _write_step(self, table: StepTable, *, at_once: bool) -> Step:
        """Write the updates that stay in their pages."""
        return table.step(
            self._plan,
            "packed_write",
            "store batch updates epoch",
            fixed=(np.int32(at_once),),
            grid="write_blocks",
            block="threads",
            shared_bytes=self._write_bytes,
        )

    def _page_sequence(self, kernels: KernelModule) -> LaunchSequence:
        """In this order: the jobs of groups, updates in place, entries into fresh pages, crowded pages, the directory.

        A grid of 0 blocks leaves a step out.
        """
        table = StepTable(self._device, PageValues)
        groups = "store batch numbers num_fresh epoch new_store new_pages num_new new_separators new_positions"
        groups += " ranges chain jobs fresh joins reported"
        spread = "store batch updates jobs num_jobs parts fresh begin_fresh end_fresh"
        spread_new = "store batch updates epoch jobs num_jobs fresh"
        finish = "new_store fresh num_fresh"
        steps = [
            # First, because the host waits for it.
            table.step(kernels, "packed_regroup", groups, grid="group_blocks", block="job_threads"),
            self._write_step(table, at_once=False),
            table.step(kernels, "packed_spread", spread, grid="spread_blocks", block="threads"),
            table.step(kernels, "packed_spread_new", spread_new, grid="update_blocks", block="threads"),
            table.step(kernels, "packed_finish", finish, grid="finish_blocks", block="threads"),
        ]
        return prepare_sequence(self._device, steps)

    def _merge_sequence(self, kernels: KernelModule) -> LaunchSequence:
        table = StepTable(self._device, MergeValues)
        tasks = "store batch updates neighbor_bits tasks published numbers"
        tasks += " new_store new_pages num_new new_separators new_positions"
        entries = "store batch weights how updates neighbor_bits tasks published new_pages num_new epoch"
        finish = "new_store batch new_pages entries"
        steps = [
            table.step(kernels, "packed_merge_tasks", tasks, grid="task_blocks", block="threads"),
            table.step(kernels, "packed_merge", entries, grid="merge_blocks", block="threads"),
            table.step(kernels, "packed_merge_finish", finish, grid="finish_blocks", block="finish_threads"),
        ]
        return prepare_sequence(self._device, steps)


def _write_bytes(*, weighted: bool) -> int:
    """Shared memory of a block that writes: for one wide window, or for a narrow one per warp."""
    narrow, wide = (window_bytes(leaves, weighted=weighted) for leaves in (_NARROW_LEAVES, PAGE_LEAVES))
    return max(WARPS * narrow, wide)
