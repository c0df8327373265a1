"""Triangles on a CUDA device; see triangles.cu.

Two launches per task and one read-back at the end: rows that fit a warp's table, then the longer ones by blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, vertex_define
from graphlode.types import Task

SOURCE = KernelSource(
    "analytics/triangles",
    ("analytics_triangles_warp", "analytics_triangles_block"),
    {"VERTEX_T": ("int", "long long"), "GROUP": ("4", "8", "16", "32"), "COUNT": ("0", "1", "2")},
)

WARP_SLOTS, BLOCK_SLOTS, BLOCK_THREADS = 1024, 8192, 256  # mirrored in triangles.cu
_WARPS_PER_BLOCK = 4


def lanes_per_head(num_vertices: int, num_entries: int) -> int:
    """How many lanes walk the row of one head: about as many as such a row is long, so that few of them idle.

    Heads are met in proportion to how many rows they stand in, so their rows are longer than the average row.
    """
    average = num_entries / max(1, num_vertices)
    return 4 if average < 3 else 8 if average < 6 else 16 if average < 16 else 32


def launch(
    device: KernelDevice, view: Mapping[str, Any], tasks: Iterator[Task], *, control: Control, by: str | None
) -> dict[str, Any]:
    offsets, neighbors = view["offsets"], view["neighbors"]
    num_vertices, num_entries = int(offsets.size) - 1, int(neighbors.size)
    size = {None: 0, "vertex": num_vertices, "edge": num_entries}[by]
    module = device.load(
        SOURCE,
        VERTEX_T=vertex_define(neighbors.dtype),
        GROUP=str(lanes_per_head(num_vertices, num_entries)),
        COUNT={None: "0", "vertex": "1", "edge": "2"}[by],
    )
    counts = device.zeros(max(1, size), np.uint64)
    total = device.zeros(1, np.uint64)
    slot_bytes = neighbors.dtype.itemsize + (0 if by is None else 8)
    for task in tasks:
        draws = device.zeros(2, np.uint64)
        rows = np.int64(task.begin), np.int64(task.end)
        grid = max(1, min(-(-(task.end - task.begin) // _WARPS_PER_BLOCK), 16 * device.num_multiprocessors))
        heavy = np.int64(min(task.end - task.begin, 8 * grid * _WARPS_PER_BLOCK))
        module.launch(
            "analytics_triangles_warp",
            grid,
            32 * _WARPS_PER_BLOCK,
            (offsets, neighbors, *rows, heavy, counts, total, draws[:1]),
            shared_bytes=_WARPS_PER_BLOCK * WARP_SLOTS * slot_bytes,
        )
        resident = max(1, min(8, device.max_shared_bytes // (BLOCK_SLOTS * slot_bytes)))
        grid = resident * device.num_multiprocessors
        per_chunk = max(1, min(BLOCK_THREADS, (task.end - task.begin) // (4 * grid)))
        num_chunks = np.int64(-(-(task.end - task.begin) // per_chunk))
        module.launch(
            "analytics_triangles_block",
            grid,
            BLOCK_THREADS,
            (offsets, neighbors, *rows, num_chunks, counts, total, draws[1:]),
            shared_bytes=BLOCK_SLOTS * slot_bytes,
        )
        control.advance(task.end - task.begin)
    found = int(device.get(total)[0])
    return {"total": found, "counts": None if by is None else device.get(counts)[:size].astype(np.int64)}


def memory(device: KernelDevice, shape: Mapping[str, int], *, by: str | None) -> int:
    """Bytes beside the view: the counts."""
    return 8 * {None: 1, "vertex": shape["num_vertices"], "edge": shape["num_edges"]}[by]
