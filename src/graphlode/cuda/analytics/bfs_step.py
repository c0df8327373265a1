"""One shard's part of a breadth-first search on a CUDA device, by the kernels of analytics/bfs.cu, on its pages.

`enter` marks the level of a frontier and queues its rows; rows of other shards are empty here. `step` then finds the
part of the next level that these rows show. The cost of a forward step depends on the rows, not on the number of
vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.analytics.bfs import OPERATION, SOURCE, STATE_LEVEL, STATE_WORDS, back_shape
from graphlode.cuda.graph.rows import KernelRows, kernel_rows
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault
from graphlode.cuda.store.version import Version
from graphlode.types import AnyArray, BoolArray


@dataclass
class Search:
    rows: KernelRows
    levels: Any
    parents: Any
    queues: Any
    words: Any  # the state of bfs.cu, then the status
    length: int = 0  # total length of the queued rows

    def arguments(self) -> tuple[Any, ...]:
        arrays = (self.levels, self.parents, self.queues, self.words[:STATE_WORDS], self.words[STATE_WORDS:])
        return (*self.rows.arguments, np.int64(len(self.levels)), *arrays)


def begin(device: KernelDevice, state: Version, *, num_vertices: int, own: BoolArray) -> Search:
    levels, parents = (device.empty(num_vertices, np.int32) for _ in range(2))
    levels.fill(-1)
    parents.fill(-1)
    queues = device.empty(2 * num_vertices, np.int32)
    rows = kernel_rows(device, {"pages": state, "num_rows": num_vertices})
    return Search(rows, levels, parents, queues, device.zeros(STATE_WORDS + 2, np.int64))


def enter(device: KernelDevice, search: Search, frontier: AnyArray, *, level: int, control: Control) -> int:
    control.check()
    start = np.zeros(STATE_WORDS + 2, np.int64)
    start[STATE_LEVEL] = level
    search.words = device.asarray(start)
    rows = search.rows
    kernels = device.load(SOURCE, ROWS=rows.define)
    grid, block = launch_shape(device, frontier.size)
    arguments = (*search.arguments(), device.asarray(frontier), np.int64(frontier.size))
    kernels.launch("bfs_enter", grid, block, arguments)
    _, _, search.length = _queued(device, search, level)
    return int(search.length * rows.entries_by_length)


def step(
    device: KernelDevice, search: Search, *, level: int, backwards: bool, control: Control
) -> tuple[AnyArray, AnyArray]:
    control.check()
    rows = search.rows
    kernels = device.load(SOURCE, ROWS=rows.define)
    if backwards:
        kernels.launch("bfs_look_back", *back_shape(device, rows), search.arguments())
        raise_fault(device.get(search.words)[STATE_WORDS:], OPERATION, device.name)
        found = device.xp.flatnonzero(search.levels == level + 1).astype(np.int32)
    else:
        kernels.launch("bfs_walk", *launch_shape(device, search.length), search.arguments())
        short_rows, long_rows, _ = _queued(device, search, level + 1)
        first = len(search.levels) * ((level + 1) & 1)
        queue = search.queues[first : first + len(search.levels)]
        found = device.xp.concatenate([queue[:short_rows], queue[len(queue) - long_rows :]])
    return device.get(found), device.get(search.parents[found])


def _queued(device: KernelDevice, search: Search, level: int) -> tuple[int, int, int]:
    """The numbers of short and long rows in the queue of a level, and their total length."""
    words = device.get(search.words)
    raise_fault(words[STATE_WORDS:], OPERATION, device.name)
    short_rows, long_rows, length = words[3 * (level & 1) :][:3].tolist()
    return short_rows, long_rows, length
