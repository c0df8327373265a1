"""Drives cliques/plan.cu: the tasks of a clique search, cut to even sizes and sorted into size classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from graphlode.cuda.cliques.rows import CliqueRoots, CliqueRows
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, vertex_define
from graphlode.types import AnyArray, Int64Array, Task

SOURCE = KernelSource("cliques/plan", ("clique_plan",), {"VERTEX_T": ("int", "long long")})

# As in cliques/tasks.cuh: the largest number of candidates in each class of a warp; one more class has larger sets.
CLASSES = (32, 128, 256, 512)
NUM_CLASSES = len(CLASSES) + 1
TASK_BYTES = 16

# Words of search_work in cliques/tasks.cuh.
QUEUED, DRAWN, STEPS, WORK_WORDS = 2, 2 + NUM_CLASSES, 2 + 2 * NUM_CLASSES, 4 + 2 * NUM_CLASSES

# As in cliques/tasks.cuh: edges below longer rows go to the last class.
WIDEST_ROWS = 1024

# Positions within a root are 16-bit numbers in a task.
LONGEST_ROW = 2**16 - 1

# The intended number of cliques of a part, and the smallest number for each cell of the matrix that it may have to
# build.
CLIQUES_PER_PART = 1 << 18
CLIQUES_PER_CELL = 256
_MOST_TASKS = 1 << 25
_SLICE_SECONDS = 0.2


@dataclass(frozen=True)
class TaskPlan:
    """Queues of tasks on the device: class c begins at task `begins[c]` and has `work[QUEUED + c]` tasks."""

    tasks: Any
    class_begins: Any
    parts: Any
    work: Any
    capacities: Int64Array  # by class, an upper bound of the number of tasks

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.tasks, self.class_begins, self.parts


def parts_of(size: int, needed: int, cliques_per_part: int) -> int:
    """The number of tasks into which a set of `size` candidates is cut; its cliques need `needed` of them.

    The rule assumes that all candidates are adjacent, because sets that take long are nearly complete. Each part may
    have to build the matrix of the set again, so it must have enough work for that.
    """
    worth = max(cliques_per_part, CLIQUES_PER_CELL * size * size)
    return max(1, min(size, -(-comb(size, needed) // max(1, worth))))


def next_slice(size: int, seconds: float) -> int:
    """The number of tasks for the next launch, if `size` tasks took this long.

    It grows much faster after a very short slice, because the device is idle between slices.
    """
    if seconds < _SLICE_SECONDS / 2:
        return size * (8 if seconds < _SLICE_SECONDS / 32 else 2)
    return max(1, size // 2) if seconds > 2 * _SLICE_SECONDS else size


def plan_tasks(
    device: KernelDevice,
    rows: CliqueRows,
    roots: CliqueRoots,
    task: Task,
    *,
    k: int,
    most_per_warp: int,
    one_class: int = -1,
    by_root: bool = False,
    split: bool = True,
) -> TaskPlan:
    """Queues of the searches below the entries of a task. Returns before they are filled.

    Sets of more than `most_per_warp` candidates are for a block. `one_class`: all other sets go to this class.
    `by_root`: an edge has the class of its root.
    """
    rules = (roots.key, k, most_per_warp, one_class, by_root, CLIQUES_PER_PART if split else 0)
    parts, capacities, begins = _layout(*rules)
    tasks = device.empty((max(1, int(begins[-1])), TASK_BYTES // 8), np.int64)
    work = device.zeros(WORK_WORDS, np.int64)
    if roots.whole:
        class_begins = device.constant(("class begins", *rules), lambda: begins[:-1])
        device_parts = device.constant(("parts", *rules), lambda: parts)
    else:
        class_begins, device_parts = device.asarray(begins[:-1]), device.asarray(parts)
    plan = TaskPlan(tasks, class_begins, device_parts, work, capacities)
    slots = rows.batch.end - rows.batch.begin
    grid, block = launch_shape(device, slots, per_block=8)
    scalars = (
        *(np.int64(x) for x in (rows.batch.begin, rows.batch.end, task.begin, task.end)),
        *(np.int32(x) for x in (k, by_root, most_per_warp, one_class)),
    )
    kernel = device.load(SOURCE, VERTEX_T=vertex_define(rows.arguments[1].dtype))
    kernel.launch("clique_plan", grid, block, (*rows.arguments, *scalars, plan.class_begins, plan.parts, tasks, work))
    return plan


def tasks_memory(shape: Any) -> int:
    """An upper bound of the bytes of the queues."""
    return TASK_BYTES * (int(shape["num_edges"]) + _MOST_TASKS)


@lru_cache(maxsize=64)
def _layout(
    row_counts: bytes, k: int, most_per_warp: int, one_class: int, by_root: bool, cliques_per_part: int
) -> tuple[Any, Int64Array, Int64Array]:
    """Parts by number of candidates, an upper bound of the tasks of each class, and the begins of full classes.

    If there would be too many parts, fewer are made.
    """
    counts = np.frombuffer(row_counts, np.int64)
    exactly = counts[:-1] - counts[1:]  # rows of each length
    longest = len(exactly) - 1
    sizes = np.arange(longest + 1)
    needed = 3 if k == 4 else k - 2
    fits = sizes >= needed
    while True:
        if cliques_per_part:
            parts = np.array([parts_of(int(size), needed, cliques_per_part) for size in sizes], np.int32)
        else:
            parts = np.ones(longest + 1, np.int32)
        capacities = _capacities(exactly, np.where(fits, parts, 0), k, most_per_warp, one_class, by_root)
        if not cliques_per_part or int(capacities.sum()) <= _MOST_TASKS or int(parts.max()) == 1:
            return parts, capacities, np.append(0, capacities.cumsum())
        cliques_per_part *= 4


def _capacities(
    exactly: Int64Array, parts: AnyArray, k: int, most_per_warp: int, one_class: int, by_root: bool
) -> Int64Array:
    """Upper bounds of the tasks in each class: an entry has at most as many candidates as later entries in its row."""
    longest = len(exactly) - 1
    sizes = np.arange(longest + 1)
    classes = np.searchsorted(CLASSES, sizes) if one_class < 0 else np.full(longest + 1, one_class)
    classes[sizes > most_per_warp] = NUM_CLASSES - 1
    by_degree = np.where(sizes > WIDEST_ROWS, NUM_CLASSES - 1, classes)
    found = np.zeros(NUM_CLASSES, np.int64)
    if k == 3:
        return found
    if k == 4 or by_root:
        below = parts if k == 4 else np.append(0, parts.cumsum()[:-1])
        np.add.at(found, by_degree, exactly * below)
        return found
    for narrow in (True, False):  # rows for warps, then longer ones
        rows = np.where((sizes <= WIDEST_ROWS) == narrow, exactly, 0)
        entries = np.append(rows[::-1].cumsum()[::-1][1:], 0)  # for each n, the entries that may have n candidates
        if not narrow:
            found[-1] += int((entries * parts).sum())
            continue
        for c in range(NUM_CLASSES):
            members = np.flatnonzero(classes == c)
            if members.size:
                most = parts[np.minimum(sizes[members[0] :], members[-1])]
                found[c] += int((entries[members[0] :] * np.maximum(most, 0)).sum())
    return found
