"""One shard's part of a breadth-first search on a CUDA device, by the kernels of analytics/bfs.cu.

The shard's rows are written out once. A step marks the frontier's level, queues its rows, of which those of other shards
are empty here, and finds the next level as far as they show it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.analytics.bfs import OPERATION, SOURCE, STATE_LEVEL, STATE_WORDS
from graphlode.cuda.graph import packed
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import AnyArray, BoolArray


@dataclass
class Search:
    offsets: Any
    neighbors: Any
    levels: Any
    parents: Any
    queues: Any


def begin(device: KernelDevice, state: Any, *, num_vertices: int, own: BoolArray) -> Search:
    rows = packed.csr(device, state)
    offsets, neighbors = rows["offsets"][: num_vertices + 1], rows["neighbors"]
    levels, parents = (device.empty(num_vertices, neighbors.dtype) for _ in range(2))
    levels.fill(-1)
    parents.fill(-1)
    return Search(offsets, neighbors, levels, parents, device.empty(2 * num_vertices, neighbors.dtype))


def entries_of(device: KernelDevice, search: Search, frontier: AnyArray) -> int:
    there = device.asarray(frontier)
    return int((search.offsets[there + 1] - search.offsets[there]).sum())


def step(
    device: KernelDevice, search: Search, frontier: AnyArray, *, level: int, backwards: bool, control: Control
) -> tuple[AnyArray, AnyArray]:
    control.check()
    num_vertices = len(search.levels)
    search.levels[device.asarray(frontier)] = level
    start = np.zeros(STATE_WORDS + 2, np.int64)
    start[STATE_LEVEL] = level
    words = device.asarray(start)
    arrays = (search.levels, search.parents, search.queues, words[:STATE_WORDS], words[STATE_WORDS:])
    arguments = (search.offsets, search.neighbors, np.int64(num_vertices), *arrays)
    kernels = device.load(SOURCE, VERTEX_T=vertex_define(search.neighbors.dtype))
    grid, block = launch_shape(device, num_vertices)
    if backwards:
        kernels.launch("bfs_look_back", grid, block, arguments)
    else:
        kernels.launch("bfs_collect", grid, block, arguments)
        kernels.launch("bfs_walk", grid, block, arguments)
    raise_fault(device.get(words)[STATE_WORDS:], OPERATION, device.name)
    found = device.xp.flatnonzero(search.levels == level + 1)
    return device.get(found.astype(np.int32)), device.get(search.parents[found])
