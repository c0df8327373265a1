"""Drives mining/clique_lists.cu: launches are repeated until no warp has work left.

Each launch fills an output of bounded size with ranks. They are converted to names on the device and copied to the host
in batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import ref

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import AnyArray, Int64Array, Task

OPERATION = "mining.clique_lists"
SOURCE = KernelSource("mining/clique_lists", ("clique_lists",), {"VERTEX_T": ("int", "long long")})

# Words of list_work and list_state in clique_lists.cu; the first two of the work are the status.
_DRAWN, _RESERVED, _VALID, _PAUSED, _WORDS = 2, 3, 4, 5, 6
_STATE_WORDS, _LEVEL = 4, 3
_NOT_BEGUN = -1

_WARPS = 4  # per block
_BLOCKS = 16  # per multiprocessor
_SCRATCH_BYTES = 1 << 29  # for all warps together; a graph with very long rows gets fewer warps
_OUTPUT_BYTES = 1 << 26  # of names
_COPIED_ROWS = 1 << 16  # smallest number of rows in a copy from the device, even if batches are smaller
_WORTH_PINNING = 1 << 19  # bytes of a copy
_MOST_PINNED = 12  # page-locked copies that the caller still refers to
STEPS = 1 << 14  # per warp and launch, so that a launch ends within a fraction of a second


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    batch_size: int,
    ids: Int64Array | None,
    sink: Callable[[AnyArray], None],
) -> dict[str, Any]:
    """Passes the cliques whose two lowest ranks are an entry of the tasks to the sink, as rows of names."""
    longest = view["row_counts"].size - 2
    vertices = view["vertices"]
    names = vertices.astype(np.int64) if ids is None else device.asarray(ids)[vertices]
    writer = _BatchWriter(device, names, batch_size, sink)
    total = 0
    search = _Search(device, view, k, longest) if longest >= k - 1 else None
    for task in tasks:
        if search is None or task.begin == task.end:
            control.advance(task.end - task.begin)
            continue
        for ranks in search.outputs(task, control):
            total += len(ranks)
            writer.write(ranks)
    return {"total": total}


def memory(device: KernelDevice, shape: Mapping[str, int], *, k: int, batch_size: int, **unused: Any) -> int:
    """Bytes in addition to the view: names, the warps' own memory, and the output as ranks and as names."""
    longest = min(shape["num_vertices"], math.isqrt(2 * shape["num_edges"]) + 1)
    size, vertex_bytes = min(k, longest + 1), shape["vertex_bytes"]
    blocks = grid_for(device, shape["num_edges"], size, longest, vertex_bytes)
    scratch = blocks * _WARPS * scratch_per_warp(size, longest, vertex_bytes)
    return 8 * shape["num_vertices"] + scratch + capacity(size, longest) * size * (8 + vertex_bytes)


def grid_for(device: KernelDevice, num_entries: int, k: int, longest: int, vertex_bytes: int) -> int:
    """Number of blocks of a launch: all that are resident, unless there is less work or too little memory."""
    grid, _ = launch_shape(device, num_entries, per_block=_WARPS, blocks_per_multiprocessor=_BLOCKS)
    most = _SCRATCH_BYTES // (_WARPS * scratch_per_warp(k, longest, vertex_bytes))
    return max(1, min(grid, most))


def capacity(k: int, longest: int) -> int:
    """Rows of the output: about a fixed number of bytes, and at least what a warp may write at once."""
    return max(32 * longest, _OUTPUT_BYTES // (8 * k), 1)


def scratch_per_warp(k: int, longest: int, vertex_bytes: int) -> int:
    words = -(-longest // 32)
    return vertex_bytes * (longest + k) + 4 * words * (longest + k) + 8 * _STATE_WORDS


class _Search:
    """The warps' memory, and launches that fill the output repeatedly."""

    def __init__(self, device: KernelDevice, view: Mapping[str, Any], k: int, longest: int) -> None:
        offsets, neighbors = view["offsets"], view["neighbors"]
        self._device = device
        self._kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
        self._grid = grid_for(device, len(neighbors), k, longest, neighbors.dtype.itemsize)
        self._warps = self._grid * _WARPS
        words = -(-longest // 32)
        self._capacity = capacity(k, longest)
        self._out = device.empty((self._capacity, k), neighbors.dtype)
        self._graph = (offsets, neighbors, np.int64(len(offsets) - 1))
        self._sizes = (np.int32(k), np.int32(longest))
        self._space = (
            device.empty(self._warps * longest, neighbors.dtype),
            device.empty(self._warps * k, neighbors.dtype),
            device.empty(self._warps * longest * words, np.uint32),
            device.empty(self._warps * (k - 2) * words, np.uint32),
        )

    def outputs(self, task: Task, control: Control) -> Iterator[Any]:
        """The cliques of a task as arrays of ranks; each array is overwritten by the next."""
        device = self._device
        states = device.zeros((self._warps, _STATE_WORDS), np.int64)
        states[:, _LEVEL] = 2**32 + _NOT_BEGUN  # the lower half is the level, the upper half the size
        per_draw = np.int32(max(1, min(32, (task.end - task.begin) // (16 * self._warps))))
        work = np.zeros(_WORDS, np.int64)
        work[_DRAWN] = task.begin
        while True:
            control.check()
            before = min(int(work[_DRAWN]), task.end)
            work[_RESERVED], work[_VALID], work[_PAUSED] = 0, self._capacity, 0
            on_device = device.asarray(work)
            limits = (per_draw, np.int32(STEPS), np.int64(self._capacity))
            arguments = (*self._graph, np.int64(task.end), *self._sizes, *limits, *self._space, states, self._out)
            self._kernels.launch("clique_lists", self._grid, 32 * _WARPS, (*arguments, on_device))
            work = np.array(device.get(on_device))
            raise_fault(work, OPERATION, device.name)
            rows = min(int(work[_RESERVED]), int(work[_VALID]))
            if rows:
                yield self._out[:rows]
            control.advance(min(int(work[_DRAWN]), task.end) - before)
            if work[_PAUSED] == 0 and int(work[_DRAWN]) >= task.end:
                return


class _BatchWriter:
    """Converts ranks on the device to batches of names on the host."""

    def __init__(self, device: KernelDevice, names: Any, batch_size: int, sink: Callable[[AnyArray], None]) -> None:
        self._device, self._names, self._batch_size, self._sink = device, names, batch_size, sink
        self._pinned: list[ref[AnyArray]] = []

    def write(self, ranks: Any) -> None:
        """Passes cliques to the sink. Batches are separate arrays, so a caller may keep one without keeping others."""
        step = self._batch_size * max(1, _COPIED_ROWS // self._batch_size)
        for begin in range(0, len(ranks), step):
            copied = self._get(self._names[ranks[begin : begin + step]])
            if len(copied) <= self._batch_size:
                self._sink(copied)
                continue
            for first in range(0, len(copied), self._batch_size):
                self._sink(copied[first : first + self._batch_size].copy())

    def _get(self, names: Any) -> AnyArray:
        """Copies to page-locked memory, four times as fast; limited, for a caller may keep all batches."""
        self._pinned = [batch for batch in self._pinned if batch() is not None]
        if names.nbytes < _WORTH_PINNING or len(self._pinned) >= _MOST_PINNED:
            found: AnyArray = self._device.get(names)
            return found
        found = self._device.get_pinned(names)
        self._pinned.append(ref(found))
        return found
