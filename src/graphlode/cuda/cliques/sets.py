"""Drives cliques/sets.cu: counts k-cliques by intersecting sorted lists, in slices of entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.cliques.plan import next_slice
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, vertex_define
from graphlode.types import Task

SOURCE = KernelSource("cliques/sets", ("clique_sets",), {"VERTEX_T": ("int", "long long")})

_WARPS = 8
_WORK_WORDS, _DRAWN = 3, 2
_FIRST_SLICE = 1 << 18


def count(device: KernelDevice, view: Mapping[str, Any], tasks: Iterator[Task], *, control: Control, k: int) -> int:
    """k-cliques (k >= 3) whose two lowest vertices are entries of the tasks."""
    offsets, neighbors = view["offsets"], view["neighbors"]
    kernel = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    longest = len(view["row_counts"]) - 2
    grid, block = launch_shape(device, len(neighbors), threads=32 * _WARPS, per_block=_WARPS)
    scratch = device.empty(max(1, grid * _WARPS * k * longest), neighbors.dtype)
    positions = device.empty(grid * _WARPS * 2 * k, np.int32)
    work = device.zeros(_WORK_WORDS, np.int64)
    size = _FIRST_SLICE
    for task in tasks:
        begin = task.begin
        while begin < task.end:
            control.check()
            end = min(task.end, begin + size)
            started = perf_counter()
            work[_DRAWN] = 0
            scalars = (np.int64(len(offsets) - 1), np.int64(begin), np.int64(end), np.int32(k), np.int32(longest))
            kernel.launch("clique_sets", grid, block, (offsets, neighbors, *scalars, scratch, positions, work))
            device.synchronize()
            size = next_slice(size, perf_counter() - started)
            control.advance(end - begin)
            begin = end
    low, high = (int(word) & (2**64 - 1) for word in device.get(work)[:2])
    return low + (high << 64)


def memory(device: KernelDevice, shape: Mapping[str, int], *, k: int) -> int:
    """Bytes in addition to the view: k lists per warp; a degeneracy order has no rows longer than sqrt(2 m)."""
    longest = int((2 * shape["num_edges"]) ** 0.5) + 1
    return 8 * _WARPS * device.num_multiprocessors * k * (longest * shape["vertex_bytes"] + 8)
