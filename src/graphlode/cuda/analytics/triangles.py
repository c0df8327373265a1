"""Drives analytics/triangles.cu: two launches and one check per piece of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import Task

OPERATION = "analytics.triangles"
SOURCE = KernelSource(
    "analytics/triangles",
    ("triangles_split", "triangles_count"),
    {"VERTEX_T": ("int", "long long"), "BY": ("BY_TOTAL", "BY_VERTEX", "BY_EDGE")},
)

# Words of triangle_work in triangles.cu; the first two are the status.
_TOTAL, _WORDS = 2, 6

# As in triangles.cu: a block has 8 warps, and rows too long for one warp are cut into parts of 256 neighbors.
_WARPS, _PART = 8, 256
_ENTRIES_PER_PIECE = 1 << 24
_SHORTEST_LONG_ROW = {4: 129, 8: 65}


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    by: Literal["vertex", "edge"] | None,
) -> dict[str, Any]:
    """Triangles whose lowest vertex is in the tasks' rows of an oriented view: number, and counts by rank or entry."""
    total, counts = count(device, view, tasks, control=control, by=by)
    return {"total": total, "counts": None if by is None else device.get(counts)}


def count(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    by: Literal["vertex", "edge"] | None,
) -> tuple[int, Any]:
    """The same as `launch`, with the counts on the device."""
    offsets, neighbors = view["offsets"], view["neighbors"]
    num_rows, num_entries = len(offsets) - 1, len(neighbors)
    kernels = device.load(
        SOURCE, VERTEX_T=vertex_define(neighbors.dtype), BY="BY_TOTAL" if by is None else f"BY_{by.upper()}"
    )
    counts = device.empty(1, np.int64)  # not used if only the total is wanted
    if by is not None:
        counts = device.zeros(num_rows if by == "vertex" else num_entries, np.int64)
    parts = device.empty(2 * _most_parts(num_entries, neighbors.dtype.itemsize), np.int64)
    total = 0
    for task in tasks:
        for piece in _pieces(device, offsets, task, num_entries):
            control.check()
            total += _count(device, kernels, view, piece, parts, counts)
            control.advance(piece.end - piece.begin)
    return total, counts


def memory(device: KernelDevice, shape: Mapping[str, int], *, by: Literal["vertex", "edge"] | None) -> int:
    """Bytes in addition to the view: the counts, and the parts of long rows."""
    counts = {None: 1, "vertex": shape["num_vertices"], "edge": shape["num_edges"]}[by]
    return 8 * counts + 16 * _most_parts(shape["num_edges"], shape["vertex_bytes"])


def _pieces(device: KernelDevice, offsets: Any, task: Task, num_entries: int) -> Iterator[Task]:
    """Cuts a task into pieces of about as many entries each, so that a stop takes effect soon."""
    count = min(num_entries // _ENTRIES_PER_PIECE, task.end - task.begin)
    if count < 2:
        yield task
        return
    first, last = (int(x) for x in device.get(offsets[[task.begin, task.end]]))
    goals = device.asarray(np.linspace(first, last, count + 1)[1:-1].astype(np.int64))
    inner = device.get(device.xp.searchsorted(offsets, goals))
    cuts = np.unique(np.clip([task.begin, *inner, task.end], task.begin, task.end)).tolist()
    yield from (Task(begin, end) for begin, end in pairwise(cuts))


def _count(device: KernelDevice, kernels: Any, view: Mapping[str, Any], task: Task, parts: Any, counts: Any) -> int:
    offsets, neighbors = view["offsets"], view["neighbors"]
    num_rows, rows = len(offsets) - 1, task.end - task.begin
    if rows == 0 or len(neighbors) == 0:
        return 0
    work = device.zeros(_WORDS, np.int64)
    begin, end = np.int64(task.begin), np.int64(task.end)
    grid, block = launch_shape(device, rows)
    kernels.launch("triangles_split", grid, block, (offsets, begin, end, np.int64(len(parts) // 2), parts, work))
    grid, block = launch_shape(device, rows, threads=32 * _WARPS, per_block=_WARPS)
    per_draw = np.int32(rows_per_draw(rows, grid * _WARPS))
    arguments = (offsets, neighbors, np.int64(num_rows), begin, end, per_draw, parts, counts, work)
    kernels.launch("triangles_count", grid, block, arguments)
    now = device.get(work)
    raise_fault(now, OPERATION, device.name)
    return int(now[_TOTAL])


def rows_per_draw(rows: int, warps: int) -> int:
    """Rows that a warp takes at a time: few, so that the last rows are spread; many, to spare the shared counter."""
    return max(1, min(32, rows // (16 * warps)))


def _most_parts(num_entries: int, itemsize: int) -> int:
    """An upper bound of the number of parts: each long row has at most one part that is not full."""
    return num_entries // _SHORTEST_LONG_ROW[itemsize] + num_entries // _PART + 1
